"""From rules to stages: as few as possible, partitioned by a key where there is one, else by time, else not at all.

Strata are taken in their order, and never split: a stage takes all strata that its key, or its slices, fit; the others
wait for the next. Rules of one event fit any stage; but if one of them prevents a key it goes first, for it needs no
shuffle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from ensue.language import typed
from ensue.language.walk import patterns
from ensue.partitioning.chaining import hindrance
from ensue.partitioning.keys import Keys, extended, key_of, told_apart
from ensue.partitioning.obstacles import Obstacle, obstacle
from ensue.partitioning.shapes import Shape
from ensue.partitioning.stages import ByKey, ByRow, BySlices, Parting, Stage, Whole
from ensue.partitioning.strata import Stratum, extent, needed_strata

Chosen = tuple[list[Stratum], Parting, frozenset[str]]
"""The strata of a stage, their partitioning, and the types of which two partitions may derive equal events."""


def stages(program: typed.Program, wanted: Iterable[str]) -> tuple[Stage, ...]:
    """The stages that derive the wanted types, each after those that it takes events from."""
    needed = needed_strata(program, wanted)
    plans = [_planned(program, needed, rows_first) for rows_first in (False, True)]
    return min(plans, key=_cost)


def _cost(plan: Sequence[Stage]) -> tuple[int, int, int]:
    """Numbers of stages without a key, of stages that need a shuffle, and of all stages."""
    without_key = sum(isinstance(stage.parting, BySlices | Whole) for stage in plan)
    return without_key, sum(not isinstance(stage.parting, ByRow) for stage in plan), len(plan)


def _planned(program: typed.Program, strata: Sequence[Stratum], rows_first: bool) -> tuple[Stage, ...]:
    waiting = list(strata)
    found = []
    while waiting:
        chosen, parting, duplicates = _next(program, waiting, rows_first)
        found.append(_stage(program, chosen, parting, duplicates))
        taken = {stratum.rules for stratum in chosen}
        waiting = [stratum for stratum in waiting if stratum.rules not in taken]
    return tuple(found)


def _next(program: typed.Program, waiting: Sequence[Stratum], rows_first: bool) -> Chosen:
    """The next stage: with a key if any stratum that can run now has one, then by slices, by row, or as a whole."""
    rows = _taken(waiting, lambda stratum, _: stratum.shape is Shape.ROW and not stratum.mixed)
    by_row = rows, ByRow(), _merged(program, _derived(rows))
    if rows and rows_first:
        return by_row
    chosen, keys = _keyed(program, waiting)
    if any(stratum.shape is Shape.SEVERAL for stratum in chosen):
        key = key_of(keys)
        alike = {event for event in _derived(chosen) if not told_apart(keys, key, program.events[event])}
        return chosen, ByKey(key.attributes, key.kinds, key.nulls), _merged(program, alike)
    chosen = _taken(waiting, lambda stratum, _: stratum.bounded)
    if any(stratum.shape is Shape.SEVERAL or stratum.mixed for stratum in chosen):
        return chosen, BySlices(extent(chosen) or 0), frozenset()
    if rows:
        return by_row
    timers = _taken(waiting, lambda stratum, _: stratum.shape is Shape.TIMERS)
    if timers:
        return timers, ByRow(), frozenset()
    chosen = _taken(waiting, lambda stratum, derived: _needs_all(program, stratum, derived))
    return chosen, Whole(tuple(_obstacles(program, chosen))), frozenset()


def _merged(program: typed.Program, types: Iterable[str]) -> frozenset[str]:
    """The types whose equal events are merged into one."""
    return frozenset(name for name in types if not program.events[name].each)


def _taken(waiting: Iterable[Stratum], fits: Callable[[Stratum, set[str]], bool]) -> list[Stratum]:
    """The strata that fit and can run now, each after those that it takes events from.

    The second argument of `fits` are the types that the strata taken so far derive.
    """
    chosen: list[Stratum] = []
    derived: set[str] = set()
    missing = set(_derived(waiting))
    for stratum in waiting:
        if (stratum.uses - stratum.derives).isdisjoint(missing) and fits(stratum, derived):
            chosen.append(stratum)
            missing -= stratum.derives
            derived |= stratum.derives
    return chosen


def _derived(strata: Iterable[Stratum]) -> frozenset[str]:
    return frozenset(chain.from_iterable(stratum.derives for stratum in strata))


def _keyed(program: typed.Program, waiting: Iterable[Stratum]) -> tuple[list[Stratum], Keys]:
    """The strata that one assignment of keys fits, and these keys."""
    keys = Keys()

    def fits(stratum: Stratum, _: set[str]) -> bool:
        nonlocal keys
        if stratum.shape is Shape.TIMERS or stratum.mixed:
            return False
        more = extended(keys, stratum.correlated, program.events)
        keys = more or keys
        return more is not None

    return _taken(waiting, fits), keys


def _needs_all(program: typed.Program, stratum: Stratum, derived: set[str]) -> bool:
    """True if a stratum needs all events in one partition; a rule of one event stays with the rules it depends on."""
    if stratum.shape is not Shape.SEVERAL and not stratum.mixed:
        return not stratum.uses.isdisjoint(derived)
    return not stratum.bounded and (stratum.mixed or extended(Keys(), stratum.correlated, program.events) is None)


def _obstacles(program: typed.Program, chosen: Iterable[Stratum]) -> Iterator[Obstacle]:
    """The rules that keep a stage in one partition; those of one event only if there is no other."""
    for stratum in chosen:
        if stratum.shape is Shape.SEVERAL or stratum.mixed:
            found = list(zip(stratum.rules, stratum.correlated, stratum.reaches, strict=True))
            unbounded = [each for each in found if stratum.recursive or each[2] is None]
            several = [each for each in unbounded if each[1].shape is Shape.SEVERAL]
            for rule, correlated, _ in several or unbounded:
                keyed = bool(correlated.correlations)
                no_stages = None if keyed or stratum.recursive else hindrance(program, rule)
                yield obstacle(program, rule, keyed, stratum.recursive, no_stages)


def _stage(program: typed.Program, chosen: list[Stratum], parting: Parting, duplicates: frozenset[str]) -> Stage:
    rules = tuple(sorted(rule for stratum in chosen for rule in stratum.rules))
    uses, derives = {use for stratum in chosen for use in stratum.uses}, _derived(chosen)
    bodies = [program.rules[rule].body for rule in rules]
    return Stage(
        rules,
        tuple(name for name in program.events if name in uses),
        tuple(name for name in program.events if name in derives),
        parting,
        extent(chosen),
        duplicates,
        any(map(_ends_by_itself, bodies)),
        any(isinstance(pattern, typed.Periodic) for body in bodies for pattern in patterns(body)),
    )


def _ends_by_itself(body: typed.Body) -> bool:
    """True if a match can end where no event does: with a timer, or ``each 5m``."""
    found = list(patterns(body))
    bodies = [body, *(pattern.body for pattern in found if isinstance(pattern, typed.Nested))]
    return any(isinstance(pattern, typed.Moment | typed.Periodic) for pattern in found) or any(
        any(timer.end_shift > 0 for timer in each.timers) or (each.window is not None and each.window.record.ends_later)
        for each in bodies
    )
