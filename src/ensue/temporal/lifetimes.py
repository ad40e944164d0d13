"""Lifetimes: how long a stored tuple can still take part in a match, from the closure of a body's distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Protocol

from ensue.language import typed
from ensue.language.walk import pairs, visible_labels
from ensue.records import dataclass
from ensue.temporal.constraints import BODY, Events, constrain, labelled, least, parts, selects, taken
from ensue.temporal.distances import Distances, Point


class Interval(Protocol):
    """Anything with a start and an end."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


@dataclass(frozen=True)
class Lifetime:
    """The largest distance from an instance's start, and from its end, to the end of the match that it is part of."""

    start: int | None = None
    end: int | None = None

    @property
    def bounded(self) -> bool:
        return self.start is not None or self.end is not None

    def over(self, instance: Interval, time: int) -> bool:
        return (self.start is not None and time > instance.start + self.start) or (
            self.end is not None and time > instance.end + self.end
        )


FOREVER = Lifetime()


@dataclass(frozen=True)
class Frame:
    """A body, the body around it whose conditions limit its useful instances, and its id there."""

    body: typed.Body
    whole: typed.Body
    id: int = BODY
    _known: dict[frozenset[int], tuple[Events, Distances]] = field(default_factory=dict, compare=False, repr=False)
    """Earlier answers, by the sides of alternatives that are taken: they hold for all patterns in these sides."""

    @staticmethod
    def of(body: typed.Body) -> Frame:
        """The frame of a body that stands for itself."""
        return Frame(body, body)

    def inside(self, nested: typed.Nested) -> Frame:
        """The frame of a body in parentheses. Inside contexts, a policy or a window it stands for itself.

        But no choice takes an instance that is longer than the body around may last.
        """
        if selects(self.whole) or self.whole.window is not None or nested.body.window is not None:
            longest = least(self.body.within, self.body.lasting)
            if self.whole.window is not None or nested.body.window is not None or selects(nested.body):
                longest = None
            return Frame.of(nested.body).lasting(longest)
        return Frame(nested.body, self.whole, nested.id)

    def lasting(self, longest: int | None) -> Frame:
        """The frame of a body whose instances are useful only up to a length; that is not checked."""
        if longest is None:
            return self
        return Frame(self.body, replace(self.whole, within=least(longest, self.whole.within)), self.id)

    def distances(self, toward: int, events: Events) -> Distances:
        """The distances within the whole body, as seen from one of its patterns."""
        sides = taken(self.whole, toward)
        known = self._known.get(sides)
        if known is None or known[0] is not events:
            known = self._known[sides] = (events, constrain(self.whole, events, toward))
        return known[1]


def distances_of(frame: Frame, pair: typed.Pair, events: Events) -> Distances:
    """The distances that apply to the two sides of a pairing.

    Where the body has contexts, only conditions within this pairing count, as for eligibility: an initiator that the
    rest of the body rules out is selected all the same.
    """
    body = frame.body
    if body.pattern is None or all(p.left_context is None for p in pairs(body.pattern)):
        return frame.distances(pair.id, events)
    labels = visible_labels(pair)
    timers = []
    for timer in body.timers:
        if timer.of in labels:
            timers.append(timer)
            labels = labels | ({timer.label} if timer.label is not None else set())
    related = tuple(r for r in body.related if r.left in labels and r.right in labels)
    within = [length for length in (body.within, body.lasting) if length is not None]
    local = typed.Body(pair, tuple(timers), related=related, within=min(within, default=None), keep=body.keep)
    return constrain(local, events)


def lifetime(distances: Distances, of: int, until: typed.Pattern) -> Lifetime:
    """Longest time for which an instance can still become part of a match of `until`."""
    ends = [(until.id, True), *((id_, True) for id_ in parts(typed.Body(until)))]
    return Lifetime(_latest(distances, (of, False), ends), _latest(distances, (of, True), ends))


def since(frame: Frame, point: tuple[int, bool], events: Events) -> int | None:
    """The largest distance from a point in a body to the body's end."""
    ends = [(frame.id, True), *((id_, True) for id_ in parts(frame.body))]
    return _latest(frame.distances(point[0], events), point, ends)


def scope_reach(scope: typed.Scope, frame: Frame, events: Events) -> int | None:
    """Largest distance from the beginning of a scope to the end of the body's match; None if nothing bounds it."""
    begin = _beginning(scope, frame.body)
    return None if begin is None else since(frame, begin, events)


def scope_length(scope: typed.Scope, frame: Frame, events: Events) -> int | None:
    """Largest length of a scope; None if nothing bounds it."""
    points = scope_points(scope, frame.body)
    if points is None:
        return None
    begin, end = points
    return frame.distances(begin[0], events).longest(begin, end)


def ends_last(scope: typed.Scope, frame: Frame, events: Events) -> bool:
    """True if a scope ends when the body's match ends."""
    points = scope_points(scope, frame.body)
    return points is not None and since(frame, points[1], events) == 0


def _beginning(scope: typed.Scope, body: typed.Body) -> tuple[int, bool] | None:
    points = scope_points(scope, body)
    return None if points is None else points[0]


def scope_points(scope: typed.Scope, body: typed.Body) -> tuple[tuple[int, bool], tuple[int, bool]] | None:
    """The points at which a scope begins and ends; None where these are not certain for every match."""
    match scope:
        case typed.During(label=label):
            labels = dict(labelled(body.pattern)) if body.pattern is not None else {}
            labels.update({timer.label: timer.id for timer in body.timers if timer.label is not None})
            return ((labels[label], False), (labels[label], True)) if label in labels else None
        case typed.Between(pair=id_):
            pair = _pair(body.pattern, id_)
            return None if pair is None else ((pair.left.id, True), (pair.right.id, False))
        case typed.Inside(pattern=id_):
            return (id_, False), (id_, True)


def _pair(pattern: typed.Pattern | None, id_: int) -> typed.Pair | None:
    match pattern:
        case typed.Pair(left=left, right=right):
            return pattern if pattern.id == id_ else _pair(left, id_) or _pair(right, id_)
        case typed.Lacking(pattern=inner):
            return _pair(inner, id_)
        case _:
            return None


def _latest(distances: Distances, point: Point, ends: Sequence[Point]) -> int | None:
    """The largest distance from a point to the first of some ends, which is the latest of the others."""
    whole, *each = ends
    bounds = [distances.longest(point, end) for end in each]
    own = distances.longest(point, whole)
    latest = None if not bounds or None in bounds else max(bound for bound in bounds if bound is not None)
    return min((bound for bound in (own, latest) if bound is not None), default=None)
