"""Units as data: the types that each derives, their levels, and several units as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ensue.engine.assembly import CompilationUnit
from ensue.engine.operators.members import Expansion
from ensue.language import typed


def derived_by(unit: CompilationUnit) -> Iterator[str]:
    """The types of the program that a unit derives; what common rules find is none of them."""
    found = {part.rule.family.found.name for part in unit.parts if isinstance(part.rule, Expansion)}
    for event in unit.derives - found:
        yield from unit.heads.get(event, (event,))


def levels_of(units: Sequence[CompilationUnit]) -> list[int]:
    """The level of each of some units that are in order: above those of all that it takes events from."""
    deriving: dict[str, list[int]] = {}
    found: list[int] = []
    for number, unit in enumerate(units):
        for event in derived_by(unit):
            deriving.setdefault(event, []).append(number)
    for number, unit in enumerate(units):
        sources = {source for event in unit.uses for source in deriving.get(event, ()) if source < number}
        found.append(max((found[source] + 1 for source in sources), default=0))
    return found


def joined(units: Sequence[CompilationUnit], ranks: Mapping[str, int]) -> CompilationUnit:
    """Several units, or groups of rules, as one unit."""
    if len(units) == 1:
        return units[0]
    events = {name: event for unit in units for name, event in unit.events.items()}
    return replace(
        units[0],
        layers=tuple(layer for unit in units for layer in unit.layers),
        events=_in_order(events, ranks),
        heads={event: heads for unit in units for event, heads in unit.heads.items()},
    )


def _in_order(events: Mapping[str, typed.EventType], ranks: Mapping[str, int]) -> dict[str, typed.EventType]:
    """Types in the order of the program's; hidden ones come last."""
    return dict(sorted(events.items(), key=lambda item: ranks.get(item[0], len(ranks))))
