"""Cuts: how the events of a program are split so that all rules run on each part, side by side on one machine.

Rules that cannot run on parts, as a window of the last 1000 events of all keys, run afterwards if they use only events
that the others derived.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ensue.language import typed
from ensue.partitioning.plan import stages
from ensue.partitioning.shapes import Shape, shape
from ensue.partitioning.stages import ByKey, ByRow, Stage
from ensue.partitioning.subprogram import stage_program
from ensue.plan.cuts import Cuts, SomeRules
from ensue.temporal.instants import with_instants

HASHED = ("int", "string")
"""Types of values by which events can be split."""


MOST_KEPT = 16
_kept: OrderedDict[tuple[int, tuple[str, ...], bool], tuple[typed.Program, Cuts | None]] = OrderedDict()
"""Earlier results, each with its program, so that the program's id stays its own."""


def cuts_of(program: typed.Program, wanted: Iterable[str], instant: bool = False) -> Cuts | None:
    """The ways in which the events can be cut to derive some types; None if there is none.

    `instant` is True if each given event has one time. The latest results are cached.
    """
    key = id(program), tuple(wanted), instant
    if key not in _kept:
        _kept[key] = program, _cuts(program, key[1], instant)
        if len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return _kept[key][1]


def _cuts(program: typed.Program, wanted: tuple[str, ...], instant: bool) -> Cuts | None:
    """The cuts for as many stages as can run on parts; the other stages run afterwards."""
    found = stages(with_instants(program) if instant else program, wanted)
    derived = _derived(found)
    for count in range(len(found), 0, -1):
        first, rest = found[:count], found[count:]
        extent, keys = _extent(program, first), _keys(program, first)
        reads = {name for stage in rest for name in stage.reads}
        twice = _derived(first) & _derived(rest)
        given = any(name not in derived or program.events[name].declared for name in reads)
        if (extent is None and keys is None) or twice or given:
            continue
        if not rest:
            return Cuts(extent, keys, SomeRules(program, wanted, tuple(range(len(program.rules)))))
        return Cuts(extent, keys, _part(program, first, {*wanted, *reads}), _part(program, rest, set(wanted)))
    return None


def _derived(some: Iterable[Stage]) -> set[str]:
    return {name for stage in some for name in stage.derives}


def _part(program: typed.Program, some: Sequence[Stage], wanted: set[str]) -> SomeRules:
    """Some stages as a program of their own."""
    rules = tuple(sorted(rule for stage in some for rule in stage.rules))
    derives = tuple(name for name in program.events if any(name in stage.derives for stage in some))
    whole = replace(some[0], rules=rules, derives=derives)
    return SomeRules(stage_program(program, whole), tuple(name for name in derives if name in wanted), rules)


def _extent(program: typed.Program, found: Iterable[Stage]) -> int | None:
    """Reach of all stages together: a stage looks back from events that earlier ones derived."""
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


def _keys(program: typed.Program, found: Sequence[Stage]) -> Mapping[str, str] | None:
    """The first attribute of each type's key: events with equal keys have equal values in it."""
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
