"""Events, and instances of patterns: what was matched, when, and what makes it itself.

The order of instances is by end, then start, then part by part. Keys of that order are computed when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ensue.engine.event import NO_SOURCES, Event
from ensue.values import equality

TIMER_RANK = 2**31
"""Timers come after all events in the order of parts, and rows of static predicates after them."""


class Mark:
    """A part of an instance that is no event: a timer, or a row of a static predicate."""

    __slots__ = ("identity", "key")

    event = False

    def __init__(self, key: tuple[Any, ...], identity: Any) -> None:
        self.key = key
        self.identity = identity


Named = tuple[int, int, Mapping[str, Any]]
"""What a name stands for: start, end, attributes (none for a timer or a nested pattern)."""


class Instance:
    """An instance of a pattern.

    `spans` says where the scopes of absences and gatherings lie, by the id of the pattern; `gathered` what was
    collected, by the id of the gathering.
    """

    __slots__ = ("end", "gathered", "labels", "parts", "sources", "spans", "start", "values")

    def __init__(
        self, start: int, end: int, values: Mapping[str, Any], labels: Mapping[str, Named],
        parts: tuple[Event | Mark, ...], spans: Mapping[int, tuple[int, int]],
        gathered: Mapping[int, tuple[Instance, ...]], sources: frozenset[Any],
    ) -> None:  # fmt: skip
        self.start = start
        self.end = end
        self.values = values
        self.labels = labels
        self.parts = parts
        self.spans = spans
        self.gathered = gathered
        self.sources = sources

    def knows(self, name: str) -> bool:
        return name in self.values or name in self.labels


NONE: Mapping[Any, Any] = {}
NOTHING = Instance(2**80, -(2**80), NONE, NONE, (), NONE, NONE, NO_SOURCES)
"""An instance of nothing: what a body starts from. It lies nowhere, and covers nothing."""


def order_of(instance: Instance) -> tuple[Any, ...]:
    return (instance.end, instance.start, tuple(part.key for part in instance.parts))


def identity_of(instance: Instance) -> tuple[Any, ...]:
    return tuple(part.identity for part in instance.parts)


def in_order(instances: Iterable[Instance]) -> list[Instance]:
    found = list(instances)
    if len(found) > 1:
        found.sort(key=order_of)
    return found


def correlation(values: Mapping[str, Any], names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """The values of some variables as a key; None where one of them equals nothing."""
    key = []
    for name in names:
        value = values[name]
        kind = type(value)
        if kind is int or kind is str:
            key.append(value)
        elif value is None or value != value:
            return None
        else:
            key.append(value if kind is float else equality(value))
    return tuple(key)


def both(left: Instance, right: Instance) -> Instance:
    """Two instances as one, which covers both."""
    return Instance(
        min(left.start, right.start),
        max(left.end, right.end),
        {**left.values, **right.values},
        {**left.labels, **right.labels} if left.labels or right.labels else NONE,
        left.parts + right.parts,
        {**left.spans, **right.spans} if left.spans or right.spans else NONE,
        {**left.gathered, **right.gathered} if left.gathered or right.gathered else NONE,
        left.sources | right.sources,
    )


def seeing(instance: Instance, outer: Instance) -> Instance:
    """An instance that also knows what is known outside it."""
    if outer is NOTHING:
        return instance
    return changed(instance, values={**outer.values, **instance.values}, labels={**outer.labels, **instance.labels})


def changed(
    instance: Instance, *, start: int | None = None, end: int | None = None, values: Mapping[str, Any] | None = None,
    labels: Mapping[str, Named] | None = None, parts: tuple[Event | Mark, ...] | None = None,
    spans: Mapping[int, tuple[int, int]] | None = None, gathered: Mapping[int, tuple[Instance, ...]] | None = None,
    sources: frozenset[Any] | None = None,
) -> Instance:  # fmt: skip
    return Instance(
        instance.start if start is None else start,
        instance.end if end is None else end,
        instance.values if values is None else values,
        instance.labels if labels is None else labels,
        instance.parts if parts is None else parts,
        instance.spans if spans is None else spans,
        instance.gathered if gathered is None else gathered,
        instance.sources if sources is None else sources,
    )


def named(instance: Instance, label: str | None) -> Instance:
    if label is None:
        return instance
    return changed(instance, labels={**instance.labels, label: (instance.start, instance.end, NONE)})


def covering(instance: Instance, start: int, end: int) -> Instance:
    return changed(instance, start=min(instance.start, start), end=max(instance.end, end))


def gather(instance: Instance, gathering: int, members: list[Instance]) -> Instance:
    """An instance with what was collected for it; that does not change its interval."""
    sources = instance.sources.union(*(member.sources for member in members))
    return changed(instance, gathered={**instance.gathered, gathering: tuple(members)}, sources=sources)


def together(members: list[Instance], gathering: int, shared: tuple[str, ...]) -> Instance:
    """Several instances as one composite: only the shared values are known of it."""
    return Instance(
        min(member.start for member in members),
        max(member.end for member in members),
        {name: members[0].values[name] for name in shared},
        NONE,
        tuple(part for member in members for part in member.parts),
        NONE,
        {gathering: tuple(members)},
        NO_SOURCES.union(*(member.sources for member in members)),
    )


def interval(id_: int, label: str | None, start: int, end: int) -> Instance:
    """A timer."""
    labels = {label: (start, end, NONE)} if label is not None else NONE
    mark = Mark((end, start, (0,), TIMER_RANK, ()), ("timer", id_, start, end))
    return Instance(start, end, NONE, labels, (mark,), NONE, NONE, NO_SOURCES)
