"""Assigns rules to units of generated code.

Rules that pass events to each other, directly or indirectly, are one unit, so that derived events reach the others
without leaving it; all others are separate. Two kinds of events pass between units instead: those of a family whose
members derive several types, which are separated outside, and those of a stratum of very many rules, which is cut. A
unit is no larger than `Capacity.unit`, so that the time to build all of them grows only with their number.

Units have levels. A unit takes events from itself and from lower levels; so they run in the order of levels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from ensue.engine.assembly import CompilationUnit, Generated, Layer, UnitRule
from ensue.engine.capacity import current
from ensue.engine.common_parts import with_common_parts
from ensue.engine.joining import derived_by as derived_by
from ensue.engine.joining import joined
from ensue.engine.lasting import known_lengths
from ensue.engine.operators.members import Expansion
from ensue.engine.options import ALL, Options
from ensue.engine.rule_groups import FamilyAssignment, Sharing
from ensue.engine.sharing.families import Family, Seed
from ensue.engine.sharing.parts import NEW
from ensue.engine.sharing.shapes import rule_names
from ensue.language import typed
from ensue.plan.build import Planner
from ensue.plan.certain import certain_types
from ensue.records import dataclass


def units_of(
    program: typed.Program, emit: Collection[str], apart: bool = False, decided: FamilyAssignment | None = None,
    options: Options = ALL,
) -> list[CompilationUnit]:  # fmt: skip
    """The units of a program in the order in which they run. `emit` are the types that are wanted outside.

    With `apart` each stratum is a unit of its own, except for families and rules with equal parts, so that rules can be
    added and removed: `decided` is the earlier assignment.
    """
    groups = Sharing(program, decided, options.sharing).groups()
    units = groups if apart else _units(groups, {name: rank for rank, name in enumerate(program.events)})
    if options.parts:
        history = NEW if decided is None else decided.history
        certain = certain_types(program) if apart else frozenset[str]()
        units = with_common_parts(units, program, planner_of(program, options, apart), history, certain)
    users: dict[str, set[int]] = {}
    for number, unit in enumerate(units):
        for event in unit.uses:
            users.setdefault(event, set()).add(number)
    wanted = frozenset(emit)
    return [
        replace(unit, emit=frozenset(e for e in derived_by(unit) if e in wanted or users.get(e, set()) - {number}))
        for number, unit in enumerate(units)
    ]


def families_of(units: Iterable[CompilationUnit]) -> tuple[Family, ...]:
    """The rules that run as one, with the table of their constants; see `ensue.engine.sharing`."""
    return tuple(part.rule.family for unit in units for part in unit.parts if isinstance(part.rule, Expansion))


def rules_of(unit: CompilationUnit) -> tuple[int, ...]:
    """The rules of a unit by number, the members of families among them."""
    numbers = [part.number for part in unit.parts if part.number is not None]
    return tuple(sorted([*numbers, *(i for family in families_of([unit]) for i in family.members)]))


def planner_of(program: typed.Program, options: Options, apart: bool = False) -> Planner:
    """The planner for the rules of a program; with `apart` static facts may change."""
    return Planner(program.events, options.lifetimes, options.streaming, options.ending, options.suppressing, apart)


def decided_of(program: typed.Program, codes: Iterable[Generated]) -> FamilyAssignment:
    """The assignment of rules to shared state, which later rules must respect."""
    codes = list(codes)
    names = rule_names(program, range(len(program.rules)))
    seeds: dict[str, Seed] = {}
    members: dict[str, tuple[str, ...]] = {}
    for family in families_of(code.together for code in codes):
        seeds[family.seed.name] = family.seed
        members[family.seed.name] = tuple(sorted(names[number] for number in family.members))
    parts = [part.before(tuple(code.unit.shared[part.name].wanted)) for code in codes for part in code.together.common]
    lengths = known_lengths(program.events)
    return FamilyAssignment(
        tuple(seeds.values()), frozenset(names.values()), lengths, tuple(parts), tuple(members.values())
    )


# --- rules that belong together


@dataclass(eq=False)
class _Unit:
    """Groups that become one unit, by their numbers."""

    level: int
    groups: list[int]
    parts: int


@dataclass
class _Joining:
    """Units as they grow, and the unit that derives each type; events of `closed` types pass outside."""

    units: list[_Unit] = field(default_factory=list)
    deriving: dict[str, list[_Unit]] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    joined: dict[_Unit, _Unit] = field(default_factory=dict)

    def now(self, unit: _Unit) -> _Unit:
        """The unit that a unit has been merged into."""
        while unit in self.joined:
            unit = self.joined[unit]
        return unit

    def add(self, number: int, group: CompilationUnit, alone: bool) -> None:
        """A group joins the units that it takes events from, if there is room; else, or if it is `alone`, it runs
        after."""
        sources = [(event, self.now(u)) for event in group.uses for u in self.deriving.get(event, ())]
        level = max((unit.level + (event in self.closed) for event, unit in sources), default=0)
        beside = {id(u): u for event, u in sources if u.level == level and event not in self.closed}
        parts = len(group.parts)
        if beside and (alone or parts + sum(unit.parts for unit in beside.values()) > current().unit):
            level, beside = level + 1, {}
        unit = _Unit(level, [number], parts)
        self.units.append(unit)
        for other in beside.values():
            unit.groups += other.groups
            unit.parts += other.parts
            self.joined[other] = unit
        for event in derived_by(group):
            self.deriving.setdefault(event, []).append(unit)
        self.closed |= {head for heads in group.heads.values() for head in heads}


def _units(groups: Sequence[CompilationUnit], ranks: Mapping[str, int]) -> list[CompilationUnit]:
    joining = _Joining()
    pieces: list[CompilationUnit] = []
    for group in groups:
        own = list(_pieces(group)) if len(group.parts) > current().unit else [group]
        for piece in own:
            joining.add(len(pieces), piece, alone=len(own) > 1)
            pieces.append(piece)
        if len(own) > 1:
            joining.closed |= set(derived_by(group))
    units = [unit for unit in joining.units if unit not in joining.joined]
    units.sort(key=lambda unit: (unit.level, min(unit.groups)))
    return [joined([pieces[number] for number in sorted(unit.groups)], ranks) for unit in units]


def _pieces(group: CompilationUnit) -> Iterator[CompilationUnit]:
    """A stratum of many rules for one type in several groups, a family in one with its common rule."""
    *before, last = group.layers
    if any(layer.recursive for layer in group.layers) or len({layer.stratum for layer in group.layers}) > 1:
        yield group
        return
    common = {part.rule.event: part for layer in before for part in layer.parts}
    own: list[UnitRule] = []
    for part in last.parts:
        rule = part.rule
        more = [common[rule.family.found.name], part] if isinstance(rule, Expansion) else [part]
        if len(own) + len(more) > current().unit:
            yield _piece(group, own, common)
            own = []
        own += more
    yield _piece(group, own, common)


def _piece(group: CompilationUnit, parts: Sequence[UnitRule], common: Mapping[str, UnitRule]) -> CompilationUnit:
    last = group.layers[-1]
    first = tuple(part for part in parts if part.rule.event in common)
    layers: tuple[Layer, ...] = (replace(last, parts=tuple(part for part in parts if part.rule.event not in common)),)
    if first:
        layers = (Layer(first, last.stratum, recursive=False), *layers)
    piece = replace(group, layers=layers)
    needed = piece.uses | piece.derives
    return replace(piece, events={name: event for name, event in group.events.items() if name in needed})
