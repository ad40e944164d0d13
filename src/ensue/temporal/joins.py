"""Joins that need less, because of the temporal conditions: sides that need not be stored, or not even evaluated.

A side that always ends after the other only looks back, and is not stored: the join streams it. A side whose events all
start after a point of the other is of no use while nothing waits there: the join suppresses it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ensue.language import typed
from ensue.language.walk import patterns
from ensue.temporal.constraints import Events, parts
from ensue.temporal.distances import Distances, Point
from ensue.temporal.lifetimes import Frame, Lifetime, distances_of, lifetime


@dataclass(frozen=True)
class Side:
    """One side of a pairing: how long it can find partners, and what need not be done for it.

    `stored` is False where it can only match what came before: then the join streams this side. `looks` is False where
    it can only match what comes later. `suppressed` says that it need not be evaluated while nothing waits on the
    other side.
    """

    lifetime: Lifetime
    stored: bool
    looks: bool
    suppressed: bool


def sides_of(frame: Frame, pair: typed.Pair, events: Events) -> tuple[Side, Side]:
    """The two sides of a pairing in a body.

    With a context what comes is selected in its order, so that both sides are evaluated whatever waits.
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
    """Whether an instance of one pattern always ends strictly before one of another that it is matched with.

    That is so if each of its parts ends before some part of the other does.
    """
    later = _ends(other)
    return any(
        bool(ends) and all(any(before(end, each, distances) for each in later) for end in ends)
        for ends in ([(one.id, True)], [(id_, True) for id_ in parts(typed.Body(one))])
    )


def waits_for(one: typed.Pattern, other: typed.Pattern, distances: Distances) -> bool:
    """Whether all events of one pattern start strictly after one and the same end in the other.

    Then an event that ends while nothing of the other is there is too early for whatever is still to come.
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
    """Whether a pattern depends on nothing but the events that it consists of, and not on others or on time itself."""
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
