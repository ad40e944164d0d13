"""Joins of one body that know each other's stores: what waits in one goes for what is missing in another."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from operator import attrgetter

from ensue.engine.network.instances import NOTHING, Instance, correlation
from ensue.engine.network.node import Node, Setting
from ensue.engine.network.pairs import JoinNode
from ensue.engine.network.stores import Store
from ensue.language.walk import pairs
from ensue.temporal.lifetimes import Frame
from ensue.temporal.partners import Partner, Place, partners_of

MOST = 16
"""How many instances of a key are looked at for a partner; where there are more, one of them may be it."""


def link_partners(root: Node, frame: Frame, setting: Setting) -> None:
    """Has the joins of a body forget what lacks a partner. What is built for one match only is not worth it."""
    related = list(pairs(frame.body.pattern))
    if len(related) < 2 or not setting.options.partners or setting.outer is not NOTHING:
        return
    joins = {node.pair.id: node for node in root.walk() if isinstance(node, JoinNode)}
    for pair in related:
        join = joins.get(pair.id)
        if join is None:
            continue
        for store, partners in zip(join.stores, partners_of(frame, pair, join.sides, setting.events), strict=True):
            if partners:
                store.forget(lacking([(p, [joins[at.pair].stores[at.side] for at in p.places]) for p in partners]))


def lacking(partners: Sequence[tuple[Partner, Sequence[Store]]]) -> Callable[[Instance, int], bool]:
    """Whether an instance is without a partner that must have ended before a time.

    Then the partner would be stored. What may end at this time may still be to come in this step.
    """
    needed = [(p.awaited.over, list(zip(p.places, stores, strict=True))) for p, stores in partners]

    def lacks(instance: Instance, time: int) -> bool:
        for over, places in needed:
            if over(instance, time) and not any(may_hold(store, place, instance) for place, store in places):
                return True
        return False

    return lacks


_end = attrgetter("end")


def may_hold(store: Store, place: Place, instance: Instance) -> bool:
    """Whether a store holds a partner of an instance; where it is not known by which key, whether it holds anything."""
    if place.key is None:
        return bool(store)
    key = correlation(instance.values, place.key)
    there = () if key is None else store.get(key)
    if not there:
        return False
    low, high = place.ends.of(instance)
    first = bisect_left(there, low, key=_end)
    for at in range(first, len(there)):
        other = there[at]
        if other.end > high:
            return False
        if at == first + MOST or _agree(instance, other, place):
            return True
    return False


def _agree(instance: Instance, other: Instance, place: Place) -> bool:
    low, high = place.starts.of(instance)
    if not low <= other.start <= high:
        return False
    values = correlation(instance.values, place.shared)
    return values is not None and values == correlation(other.values, place.shared)
