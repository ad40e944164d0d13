"""How the events of a program can be cut so that the parts run side by side on one machine, all rules in each part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ensue.language import typed
from ensue.partitioning.plan import stages
from ensue.partitioning.shapes import Shape, shape
from ensue.partitioning.stages import ByKey, ByRow, Stage

HASHED = ("int", "string")
"""Types of keys by which events are told apart."""


@dataclass(frozen=True)
class Cuts:
    """The ways in which events can be cut; None where one does not fit.

    `extent`: into slices of time. What ends at a time follows from events that end at most this long before it.
    `keys`: by the value of an attribute, for each type; one that is not among them may be anywhere.
    """

    extent: int | None
    keys: Mapping[str, str] | None


def cuts_of(program: typed.Program, wanted: Iterable[str]) -> Cuts:
    """The ways in which the events can be cut to derive some types."""
    found = stages(program, wanted)
    return Cuts(_extent(program, found), _keys(program, found))


def _extent(program: typed.Program, found: Iterable[Stage]) -> int | None:
    """How far all stages together look back: one looks back from what an earlier one derived."""
    behind: dict[str, int] = {}
    most = 0
    for stage in found:
        counts = any(program.rules[rule].quiet is not None for rule in stage.rules)
        if stage.extent is None or stage.from_first_end or counts:
            return None
        own = stage.extent + max((behind.get(name, 0) for name in stage.reads), default=0)
        behind.update(dict.fromkeys(stage.derives, own))
        most = max(most, own)
    return most


def _keys(program: typed.Program, found: tuple[Stage, ...]) -> Mapping[str, str] | None:
    """The first attribute of each type's key: events whose keys are equal have it in common."""
    rules = [program.rules[rule] for stage in found for rule in stage.rules]
    alone = any(rule.quiet is not None or shape(rule.body) is Shape.TIMERS for rule in rules)
    if len(found) != 1 or found[0].from_first_end or alone:
        return None
    match found[0].parting:
        case ByRow():
            return {}
        case ByKey(keys, kinds) if kinds[0] in HASHED:
            return {name: attributes[0] for name, attributes in keys.items()}
        case _:
            return None
