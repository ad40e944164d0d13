"""Units whose rules have equal parts become one unit, in which these parts are built once (`sharing/parts.py`).

Units of one level are joined as long as there is room; in a session units whose detections come out at once are not
joined with others. Rules that shared a part before rules changed stay together, with all units between them; where they
cannot, the change is refused, since their state is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ensue.data.errors import DataError
from ensue.engine.assembly import CompilationUnit
from ensue.engine.capacity import current
from ensue.engine.joining import derived_by, joined, levels_of
from ensue.engine.sharing.parts import NEW, Candidate, Forms, History, candidates, share
from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.build import Planner
from ensue.plan.walk import walk


def with_common_parts(
    units: Sequence[CompilationUnit], program: typed.Program, planner: Planner, history: History = NEW,
    certain: frozenset[str] = frozenset(),
) -> list[CompilationUnit]:  # fmt: skip
    """The units with the plans of their rules, equal parts being one. `history` is what ran before rules changed.

    Units that derive only `certain` types may run ahead of the others, so they are not joined with these.
    """
    ranks = {name: rank for rank, name in enumerate(program.events)}
    plans = {
        part.name: planner.rule(part.rule) for unit in units for part in unit.parts if isinstance(part.rule, typed.Rule)
    }
    forms = Forms(program.events)
    found = candidates(forms, [each for unit in units for each in _plans(unit, plans)], history)
    at = {part.name: number for number, unit in enumerate(units) for part in unit.parts if part.name in plans}
    units = _beside(*_as_before(list(units), found, at, ranks), found, ranks, certain)
    done = []
    for unit in units:
        own, common = share(forms, list(_plans(unit, plans)), history)
        done.append(replace(unit, plans=own, common=common))
    _check(done, history)
    return done


def _plans(
    unit: CompilationUnit, plans: Mapping[str, plan.Derive]
) -> Iterator[tuple[str, plan.Derive, frozenset[str]]]:
    """The rules of a unit with their plans, and the types that are derived in their layers or later ones."""
    for number, layer in enumerate(unit.layers):
        derived = frozenset(part.rule.event for later in unit.layers[number:] for part in later.parts)
        for part in layer.parts:
            if part.name in plans:
                yield part.name, plans[part.name], derived


# --- units that must stay together


def _as_before(
    units: list[CompilationUnit], found: Iterable[Candidate], at: dict[str, int], ranks: Mapping[str, int]
) -> tuple[list[CompilationUnit], dict[str, int]]:
    """Units with rules that shared a part before as one; and the unit of each rule."""
    sets: dict[str, set[int]] = {}
    for each in found:
        if each.part:
            sets.setdefault(each.part, set()).add(at[each.site.user])
    merged = [own for own in _overlapping(list(sets.values())) if len(own) > 1]
    if not merged:
        return units, at
    merged = _convex(units, merged)
    of = {number: own for own in merged for number in own}
    done: list[CompilationUnit] = []
    place: dict[int, int] = {}
    for own in _in_turn(units, of):
        place |= dict.fromkeys(own, len(done))
        done.append(joined([units[number] for number in own], ranks))
    for unit in done:
        if unit.uses & {head for heads in unit.heads.values() for head in heads}:
            raise _not_together()
    return done, {name: place[number] for name, number in at.items()}


def _overlapping(sets: list[set[int]]) -> list[set[int]]:
    """Sets, with overlapping ones merged."""
    found: list[set[int]] = []
    for own in sets:
        apart = [other for other in found if not own & other]
        found = [*apart, own.union(*(other for other in found if own & other))]
    return found


def _convex(units: Sequence[CompilationUnit], sets: list[set[int]]) -> list[set[int]]:
    """Sets of units with all units that lie between them."""
    before = _sources(units)
    after = {number: {other for other, own in before.items() if number in own} for number in before}
    while True:
        grown = [own | (_reached(own, before) & _reached(own, after)) for own in sets]
        grown = _overlapping(grown)
        if grown == sets:
            return sets
        sets = grown


def _sources(units: Sequence[CompilationUnit]) -> dict[int, set[int]]:
    """For each unit the others that it takes events from."""
    deriving: dict[str, set[int]] = {}
    for number, unit in enumerate(units):
        for event in derived_by(unit):
            deriving.setdefault(event, set()).add(number)
    return {n: set[int]().union(*(deriving.get(e, set()) for e in unit.uses)) - {n} for n, unit in enumerate(units)}


def _reached(start: set[int], edges: Mapping[int, set[int]]) -> set[int]:
    found, rest = set(start), list(start)
    while rest:
        new = edges[rest.pop()] - found
        found |= new
        rest += new
    return found


def _in_turn(units: Sequence[CompilationUnit], of: Mapping[int, set[int]]) -> Iterator[list[int]]:
    """Units in sets, each after those that it takes events from."""
    before, done = _sources(units), set[int]()

    def visit(number: int) -> Iterator[list[int]]:
        own = of.get(number, {number})
        if number in done:
            return
        done.update(own)
        for source in sorted(set[int]().union(*(before[each] for each in own)) - own):
            yield from visit(source)
        yield sorted(own)

    for number in range(len(units)):
        yield from visit(number)


# --- units that may be joined


def _beside(
    units: list[CompilationUnit], at: Mapping[str, int], found: Iterable[Candidate], ranks: Mapping[str, int],
    certain: frozenset[str],
) -> list[CompilationUnit]:  # fmt: skip
    """Units of one level with rules that have parts in common as one, as long as there is room."""
    sites: dict[str, list[Candidate]] = {}
    for each in found:
        if not each.part:
            sites.setdefault(each.form, []).append(each)
    kinds = [(level, certain.issuperset(derived_by(unit))) for level, unit in zip(levels_of(units), units, strict=True)]
    into = list(range(len(units)))
    sizes = [len(unit.parts) for unit in units]

    def now(number: int) -> int:
        while into[number] != number:
            number = into[number]
        return number

    for own in sorted(sites.values(), key=lambda own: -sum(1 for _ in walk(own[0].site.node))):
        open_: dict[tuple[int, bool], int] = {}
        for number in dict.fromkeys(now(at[each.site.user]) for each in own):
            number = now(number)
            other = open_.get(kinds[number])
            if other is None:
                open_[kinds[number]] = number
            elif now(other) != number:
                one, two = sorted((now(other), number))
                if sizes[one] + sizes[two] <= current().unit:
                    into[two] = one
                    sizes[one] += sizes[two]
                    open_[kinds[number]] = one
                else:
                    open_[kinds[number]] = number
    if all(now(number) == number for number in range(len(units))):
        return units
    members: dict[int, list[int]] = {}
    for number in range(len(units)):
        members.setdefault(now(number), []).append(number)
    order = sorted(members.items(), key=lambda item: (kinds[item[0]][0], item[0]))
    return [joined([units[number] for number in own], ranks) for _, own in order]


# --- parts that were shared before


def _check(units: Sequence[CompilationUnit], history: History) -> None:
    """Raises `DataError` where a rule that is still there does not use a part that it used."""
    uses = {(part.name, user) for unit in units for part in unit.common for user in part.users}
    there = {part.name for unit in units for part in unit.parts} | {name for name, _ in uses}
    if any(user in there and (part.name, user) not in uses for part in history.parts for user in part.users):
        raise _not_together()


def _not_together() -> DataError:
    return DataError(
        "Some of the rules keep what they have in common once for all of them, and after the change they could not: "
        "an event that they use would depend on what they derive. Start another session with all of the rules."
    )
