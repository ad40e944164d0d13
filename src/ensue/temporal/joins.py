"""Joins that temporal conditions make cheaper: sides that need not be stored, or not even evaluated.

A side that always ends after the other only looks back, and is not stored: the join streams it. A side whose events all
start after a point of the other is useless while nothing waits there: the join suppresses it.
"""

from __future__ import annotations

from ensue.language import typed
from ensue.language.walk import patterns
from ensue.records import dataclass
from ensue.temporal.constraints import Events, parts
from ensue.temporal.distances import Distances, Point
from ensue.temporal.lifetimes import Frame, Lifetime, distances_of, lifetime


@dataclass(frozen=True)
class Side:
    """One side of a pairing: its lifetime, and the work that it saves.

    `stored` is False where it can only match earlier instances: then the join streams this side. `looks` is False where
    it can only match later ones. `suppressed` is True where it need not be evaluated while nothing waits on the other
    side.
    """

    lifetime: Lifetime
    stored: bool
    looks: bool
    suppressed: bool


def sides_of(frame: Frame, pair: typed.Pair, events: Events) -> tuple[Side, Side]:
    """The two sides of a pairing in a body.

    A context selects instances in the order of their arrival, so both sides are always evaluated.
    """
    distances = distances_of(frame, pair, events)
    left, right = pair.left, pair.right
    first, last = ends_earlier(left, right, distances), ends_earlier(right, left, distances)
    plain = pair.left_context is None
    return (
        Side(lifetime(distances, left.id, pair), not last, not first, plain and waits_for(left, right, distances)),
        Side(lifetime(distances, right.id, pair), not first, not last, plain and waits_for(right, left, distances)),
    )


def ends_earlier(one: typed.Pattern, other: typed.Pattern, distances: Distances) -> bool:
    """True if an instance of one pattern always ends strictly before its partner of the other.

    This holds if each of its parts ends before some part of the other.
    """
    later = _ends(other)
    return any(
        bool(ends) and all(any(before(end, each, distances) for each in later) for end in ends)
        for ends in ([(one.id, True)], [(id_, True) for id_ in parts(typed.Body(one))])
    )


def waits_for(one: typed.Pattern, other: typed.Pattern, distances: Distances) -> bool:
    """True if all events of one pattern start strictly after one and the same end in the other.

    Then an event that ends before any instance of the other is too early for all later ones.
    """
    if not plain(one):
        return False
    starts = [(id_, False) for id_ in parts(typed.Body(one))]
    return any(all(before(end, start, distances) for start in starts) for end in _ends(other))


def _ends(pattern: typed.Pattern) -> list[Point]:
    return [(pattern.id, True), *((id_, True) for id_ in parts(typed.Body(pattern)))]


def before(earlier: Point, later: Point, distances: Distances) -> bool:
    shortest = distances.shortest(earlier, later)
    return shortest is not None and shortest >= 1


def plain(pattern: typed.Pattern) -> bool:
    """True if a pattern depends only on its own events, and neither on others nor on time itself."""
    return all(_plain_part(each) for each in patterns(typed.Body(pattern)))


def _plain_part(pattern: typed.Pattern) -> bool:
    match pattern:
        case typed.Atom():
            return True
        case typed.Pair(left_context=context):
            return context is None
        case typed.Nested(body=body):
            apart = body.absences or body.gatherings or body.window or body.timers
            return not apart and not body.restricted
        case typed.Either():
            return True
        case _:
            return False
