"""Bounds of time that do not hold, in words, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ensue.language import typed
from ensue.reasons.answer import Stop
from ensue.records import dataclass
from ensue.reference.matches import Match, Occurrence

Length = Callable[[int], str]


@dataclass(frozen=True)
class Side:
    """An operand of a relation: its name, and its interval."""

    name: str
    when: Match | Occurrence
    timer: bool = False

    def point(self, end: bool) -> int:
        return self.when.end if end else self.when.start

    def describe(self, end: bool) -> str:
        """Its start or its end; of an instant just its name."""
        if self.when.start == self.when.end:
            return self.name
        return f"the {'end' if end else 'start'} of {self.name}"


def relation_stops(relation: typed.Relation, left: Side, right: Side, length: Length) -> Iterator[Stop]:
    """Describe why a relation between two intervals does not hold.

    >>> order, shipped = Side("order", Occurrence(0, 0)), Side("shipped", Occurrence(64, 64))
    >>> bound = typed.Distance((0, True), (1, False), 1, 60)
    >>> for stop in relation_stops(typed.Relation("before", (bound,)), order, shipped, str):
    ...     print(stop.text)
    shipped came 4 after the deadline: 64 after order, at most 60
    """
    sides = (left, right)
    for distance in relation.distances:
        (earlier, earlier_end), (later, later_end) = distance.earlier, distance.later
        gap = sides[later].point(later_end) - sides[earlier].point(earlier_end)
        one, other = sides[later].describe(later_end), sides[earlier].describe(earlier_end)
        low, high = distance.low, distance.high
        if low is not None and gap < low:
            if sides[later].timer and low in (0, 1) and gap < 0:
                text = f"{other} is {length(-gap)} after {one}, not before it"
            else:
                text = _early(one, other, gap, low, high, length)
            yield Stop("time", text, _weight(low - gap, low))
        elif high is not None and gap > high:
            yield Stop("time", _late(one, other, gap, low, high, length), _weight(gap - high, high))


def _early(one: str, other: str, gap: int, low: int, high: int | None, length: Length) -> str:
    if low == high == 0:
        return f"{one} is {length(-gap)} before {other}, not at the same time"
    if low in (0, 1) and gap == 0:
        return f"{one} is at the same time as {other}, not after it"
    if low in (0, 1):
        return f"{one} is {length(-gap)} before {other}, not after it"
    needed = length(low) if low == high else f"at least {length(low)}"
    when = f"{length(gap)} after" if gap >= 0 else f"{length(-gap)} before"
    return f"{one} came {length(low - gap)} too early: {when} {other}, {needed} after it is needed"


def _late(one: str, other: str, gap: int, low: int | None, high: int, length: Length) -> str:
    if low == high == 0:
        return f"{one} is {length(gap)} after {other}, not at the same time"
    if high < 0:
        when = f"{length(gap)} after" if gap >= 0 else f"{length(-gap)} before"
        return f"{one} came {length(gap - high)} too late: {when} {other}, {length(-high)} before it is needed"
    needed = f"exactly {length(high)}" if low == high else f"at most {length(high)}"
    return f"{one} came {length(gap - high)} after the deadline: {length(gap)} after {other}, {needed}"


def within_stop(taken: int, bound: int, word: str, length: Length) -> Stop:
    """A match that is too long, or not as long as it must be."""
    if taken > bound:
        text = f"it takes {length(taken)}, {length(taken - bound)} more than `{word} {length(bound)}`"
    else:
        text = f"it takes {length(taken)}, {length(bound - taken)} less than `{word} {length(bound)}`"
    return Stop("time", text, _weight(abs(taken - bound), bound))


def _weight(excess: int, bound: int) -> float:
    """Weight of a missed bound, from 0 for a near miss to 1 for a distant one."""
    return excess / (excess + abs(bound) + 1)
