"""Partners that what is stored cannot do without: parts of its body that are in every match it is in.

The closure says how long such a part can still come. When that is over it is there, stored by itself or as part of
something larger, or there will be no match. So what waits in one join goes for what is missing in another one, even if
nothing bounds how long it can find a partner in its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ensue.language import typed
from ensue.language.walk import visible_variables
from ensue.temporal.constraints import Events, selects
from ensue.temporal.distances import Distances
from ensue.temporal.joins import Side
from ensue.temporal.lifetimes import Frame, Interval, Lifetime, lifetime

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Reach:
    """Where a point lies, as seen from an interval: at least and at most so far from its start, and from its end."""

    start: Bounds
    end: Bounds

    def of(self, interval: Interval) -> Bounds:
        """From when to when that is, as seen from one interval."""
        (low, high), (lower, higher) = self.start, self.end
        return max(interval.start + low, interval.end + lower), min(interval.start + high, interval.end + higher)


@dataclass(frozen=True)
class Place:
    """A side of a pairing where a partner is stored, and what it must have in common with what needs it.

    `key` are the variables of that store, None where what needs the partner does not know them all; `shared` are others
    that both know. `starts` and `ends` say where the partner's start and end lie.
    """

    pair: int
    side: int
    key: tuple[str, ...] | None
    shared: tuple[str, ...]
    starts: Reach
    ends: Reach


@dataclass(frozen=True)
class Partner:
    """A pattern that is in every match: how long it can still come, and where it is stored after that."""

    pattern: typed.Pattern
    awaited: Lifetime
    places: tuple[Place, ...]


Partners = tuple[Partner, ...]


def partners_of(frame: Frame, pair: typed.Pair, sides: tuple[Side, Side], events: Events) -> tuple[Partners, Partners]:
    """What the instances stored on either side of a pairing cannot do without, if they do not go sooner by themselves.

    Only what the same joins put together counts: not what is in parentheses, or on another side of an ``or``. Where
    instances are chosen there are no partners, as what comes to nothing is used up all the same.
    """
    outer = _around(frame.body.pattern, pair)
    alone = not outer and _pairing(pair.left) is None and _pairing(pair.right) is None
    if alone or outer is None or selects(frame.whole) or frame.body.window is not None:
        return (), ()
    distances = frame.distances(pair.id, events)
    left, right = (
        tuple(_partners(of, sides[side].lifetime, ((pair, 1 - side), *outer), distances)) if sides[side].stored else ()
        for side, of in enumerate((pair.left, pair.right))
    )
    return left, right


Spot = tuple[typed.Pair, int]
"""A pairing and one of its sides."""


def _around(pattern: typed.Pattern | None, pair: typed.Pair, outer: tuple[Spot, ...] = ()) -> tuple[Spot, ...] | None:
    """The sides that a pairing is joined with further out, the nearest first; None if it is not in the pattern."""
    match pattern:
        case typed.Pair(left=left, right=right):
            if pattern.id == pair.id:
                return outer
            found = _around(left, pair, ((pattern, 1), *outer))
            return _around(right, pair, ((pattern, 0), *outer)) if found is None else found
        case typed.Either(alternatives=alternatives):
            inside = (_around(each, pair) for each in alternatives)
            return next((found for found in inside if found is not None), None)
        case typed.Lacking(pattern=inner):
            return _around(inner, pair, outer)
        case _:
            return None


def _partners(of: typed.Pattern, life: Lifetime, others: tuple[Spot, ...], distances: Distances) -> Iterator[Partner]:
    for pair, side in others:
        known: dict[int, Lifetime] = {}
        for pattern, spots in _stored(pair, side):
            known[pattern.id] = lifetime(distances, of.id, pattern)
            awaited = _sooner(known[pattern.id], life)
            whole = _pattern_at(spots[1]) if len(spots) > 1 else None
            if awaited.bounded and (whole is None or known[whole.id] != known[pattern.id]):
                yield Partner(pattern, awaited, tuple(_place(of, spot, set(pair.shared), distances) for spot in spots))


def _stored(
    pair: typed.Pair, side: int, outer: tuple[Spot, ...] = ()
) -> Iterator[tuple[typed.Pattern, tuple[Spot, ...]]]:
    """What every match has on a side of a pairing, with where it is stored: by itself, and as part of more."""
    spots = ((pair, side), *outer)
    pattern = _pattern_at(spots[0])
    yield pattern, spots
    inner = _pairing(pattern)
    if inner is not None:
        yield from _stored(inner, 0, spots)
        yield from _stored(inner, 1, spots)


def _pattern_at(spot: Spot) -> typed.Pattern:
    pair, side = spot
    return (pair.left, pair.right)[side]


def _pairing(pattern: typed.Pattern) -> typed.Pair | None:
    """The pairing that a pattern is, apart from what is absent from it."""
    while isinstance(pattern, typed.Lacking):
        pattern = pattern.pattern
    return pattern if isinstance(pattern, typed.Pair) else None


def _sooner(awaited: Lifetime, life: Lifetime) -> Lifetime:
    """A time to wait, as far as it may be over before a lifetime is."""

    def sooner(length: int | None, limit: int | None) -> int | None:
        return length if length is not None and (limit is None or length < limit) else None

    return Lifetime(sooner(awaited.start, life.start), sooner(awaited.end, life.end))


def _place(of: typed.Pattern, spot: Spot, equal: set[str], distances: Distances) -> Place:
    """Where something is stored that an instance of a pattern needs; `equal` are the variables in which they agree."""
    pair, side = spot
    pattern = _pattern_at(spot)
    common = equal & visible_variables(of) & visible_variables(pattern)
    starts, ends = (_reach(of, (pattern.id, end), distances) for end in (False, True))
    if not common.issuperset(pair.shared):
        return Place(pair.id, side, None, (), starts, ends)
    return Place(pair.id, side, pair.shared, tuple(sorted(common.difference(pair.shared))), starts, ends)


def _reach(of: typed.Pattern, point: tuple[int, bool], distances: Distances) -> Reach:
    def bounds(seen: tuple[int, bool]) -> Bounds:
        low, high = distances.shortest(seen, point), distances.longest(seen, point)
        return -math.inf if low is None else low, math.inf if high is None else high

    return Reach(bounds((of.id, False)), bounds((of.id, True)))
