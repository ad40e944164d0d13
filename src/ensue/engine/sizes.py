"""How much a program at work keeps: keys, tuples and bytes, for each part of its rules that keeps anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ensue.engine.compiled.arrays import NEVER
from ensue.engine.compiled.lane import CompiledLane
from ensue.engine.compiled.sliding import COUNT
from ensue.engine.compiled.source import rule_names
from ensue.engine.network.instances import NOTHING, Event, Instance
from ensue.engine.network.node import Node
from ensue.engine.network.stores import Store
from ensue.engine.network.stratum import Stratum
from ensue.engine.state import encode
from ensue.language import typed


@dataclass(frozen=True)
class Size:
    """How much one part of a rule keeps.

    `rule` is the rule's label, or else the event that it derives; None where rules of several names share what is kept,
    as those do that run as one. `node` says which part it is. `tuples` are kept until they make room, so some may be of
    no use any more; `keys` are the values by which they are looked up, None where they are not. `bytes` is what all of
    it takes in a saved state, before that is compressed: in the network about, as some of the tuples tell.
    """

    rule: str | None
    node: str
    keys: int | None
    tuples: int
    bytes: int = 0


def sizes_of(program: typed.Program, lanes: Iterable[Stratum | CompiledLane]) -> list[Size]:
    """What each part of the rules keeps, in the order of the lanes. It takes a look at each key, not at each tuple."""
    found: list[Size] = []
    for lane in lanes:
        found.extend(_in_network(lane) if isinstance(lane, Stratum) else _in_arrays(program, lane))
    return found


def added(sizes: Iterable[Size]) -> list[Size]:
    """Sizes of several runs of one program, added up.

    >>> added([Size("late", "queue", None, 2), Size("late", "queue", None, 3)])
    [Size(rule='late', node='queue', keys=None, tuples=5, bytes=0)]
    """
    sums: dict[tuple[str | None, str], Size] = {}
    for size in sizes:
        place = (size.rule, size.node)
        other = sums.get(place, Size(size.rule, size.node, None, 0))
        keys = other.keys if size.keys is None else size.keys + (other.keys or 0)
        sums[place] = Size(*place, keys, size.tuples + other.tuples, size.bytes + other.bytes)
    return list(sums.values())


def _name(rule: typed.Rule) -> str:
    return rule.label or rule.event


# --- the network


def _in_network(stratum: Stratum) -> Iterator[Size]:
    for rule in stratum.rules.values():
        for node in rule.body.walk():
            for name in node.STATE:
                held = getattr(node, name)
                amount = _amount(held)
                if amount is not None:
                    yield Size(_name(rule.rule), f"{_kind(node)} {name}{_of(node)}", *amount, _bytes(held, amount[1]))


def _amount(held: Any) -> tuple[int | None, int] | None:
    """Keys and tuples of what a node holds; None where that is a single value."""
    if isinstance(held, Store):
        held = held.by_value
    if isinstance(held, Mapping):
        return len(held), _count(held)
    return (None, _count(held)) if isinstance(held, list) else None


def _count(held: Any) -> int:
    """How many instances and events there are, or plain values by key; those of one list are not looked at singly."""
    if held is NOTHING:
        return 0
    match held:
        case Mapping():
            return sum(map(_count, held.values()))
        case list() if held and isinstance(held[0], _TUPLES) and isinstance(held[-1], _TUPLES):
            return len(held)
        case list() | tuple():
            return sum(_count(each) for each in held if isinstance(each, (*_TUPLES, *_CONTAINERS)))
        case _:
            return 1


def _bytes(held: Any, tuples: int) -> int:
    """About how many bytes so many tuples take, as the first of them do."""
    some = list(islice(_tuples(held.by_value if isinstance(held, Store) else held), _SOME))
    return len(encode(some)) * tuples // len(some) if some else 0


def _tuples(held: Any) -> Iterator[Any]:
    """What `_count` counts."""
    match held:
        case Mapping():
            for each in held.values():
                yield from _tuples(each)
        case list() | tuple():
            for each in held:
                yield from _tuples(each) if isinstance(each, (*_TUPLES, *_CONTAINERS)) else ()
        case _ if held is not NOTHING:
            yield held


_SOME = 64
_TUPLES = (Instance, Event)
_CONTAINERS = (Mapping, list, tuple)


def _kind(node: Node) -> str:
    return type(node).__name__.removesuffix("Node").lower()


def _of(node: Node) -> str:
    """The events below a node, by which people recognise it."""
    names = dict.fromkeys(event for part in node.walk() if (event := getattr(part, "event", None)) is not None)
    return f" of {', '.join(map(str, names))}" if names else ""


# --- generated code


def _in_arrays(program: typed.Program, lane: CompiledLane) -> Iterator[Size]:
    arrays, layout = lane.arrays, lane.layout
    names = rule_names(lane.program, lane.code.rules)
    rules: dict[str, str | None] = {name: _name(program.rules[number]) for number, name in names.items()}
    only = _only(rules.values())
    rules |= {f.seed.name: _only(_name(program.rules[number]) for number in f.members) for f in lane.code.families}
    for what, store in layout.stores.items():
        n = store.number
        low, high = arrays.number(f"lo{n}"), arrays.number(f"hi{n}")
        free = 0 if store.ended_by is None else arrays.number(f"fc{n}")
        tuples = high - (low if store.ended_by is None else free)
        keys = None
        if store.space is not None:
            heads = arrays[f"H{n}"][: arrays.number(f"kc{store.space.number}")]
            keys = int(np.count_nonzero(heads >= (low if store.ended_by is None else 0)))
        rule, event = _described(what, rules)
        yield Size(rule or only, f"store{event}", keys, tuples, 8 * (tuples * store.width + (keys or 0)))
    for number, queue in layout.queues.items():
        n = queue.number
        waits = arrays.number(f"qh{n}") - arrays.number(f"ql{n}") if queue.ordered else arrays.number(f"qs{n}")
        yield Size(rules.get(number, only), "queue", None, waits, 8 * waits * queue.width)
    for number, groups in layout.groups.items():
        space = groups.space
        count = 1 if space is None else arrays.number(f"kc{space.number}")
        held = arrays[f"G{groups.number}"][:count, COUNT]
        keys = None if space is None else int(np.count_nonzero(held))
        tuples = int(held.sum())
        kept = 8 * (tuples * groups.width + (keys or 1) * groups.columns)
        yield Size(rules.get(number, only), "window", keys, tuples, kept if tuples else 0)
    for mark in layout.marks.values():
        count = 1 if mark.space is None else arrays.number(f"kc{mark.space.number}")
        noted = int(np.count_nonzero(arrays[f"L{mark.number}"][:count] != NEVER))
        yield Size(only, "mark", None if mark.space is None else noted, noted, 8 * noted)


def _only(names: Iterable[str | None]) -> str | None:
    """The name that all rules have, None if they have several."""
    one, *others = set(names)
    return None if others else one


def _described(what: Any, rules: Mapping[str, str | None]) -> tuple[str | None, str]:
    """The rule that a store belongs to, if it does to one, and which events it holds, if that can be said."""
    match what:
        case ("atom", str(event), *_):
            return None, f" of {event}"
        case ("inside", str(number), "atom", str(event), *_):
            return rules.get(number), f" of {event}"
        case ("window", str(number), *_):
            return rules.get(number), " of a window"
        case (_, str(number), int(), int(side), *_):
            return rules.get(number), f" of the {('left', 'right')[side]} side"
        case _:
            return None, ""
