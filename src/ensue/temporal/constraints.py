"""The temporal conditions of a body as difference constraints between the start and end points of what it matches.

A point is ``(id, end)``: the id of a pattern or timer, and whether it is its end. ``BODY`` stands for the whole body.
An alternative (``or``) is one pair of points; what holds inside only one of its sides says nothing about the others.
Where the question is about something inside one side, that side is the one that was taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ensue.language import typed
from ensue.language.walk import patterns
from ensue.temporal.distances import Distances

BODY = 0

Events = Mapping[str, typed.EventType]


def constrain(body: typed.Body, events: Events, toward: int | None = None) -> Distances:
    """The constraints of a rule's body; `toward` is the id of a pattern for which they are asked."""
    distances = Distances()
    _constrain_body(body, BODY, events, distances, toward)
    return distances


def _covers(outer: int, inner: int, distances: Distances) -> None:
    distances.require((outer, False), (inner, False), low=0)
    distances.require((inner, True), (outer, True), low=0)


def _constrain_body(body: typed.Body, id_: int, events: Events, distances: Distances, toward: int | None) -> None:
    distances.require((id_, False), (id_, True), low=0)
    labels: dict[str, int] = {}
    if body.pattern is not None:
        _constrain_pattern(body.pattern, events, distances, toward)
        _covers(id_, body.pattern.id, distances)
        labels.update(labelled(body.pattern))
    for timer in body.timers:
        distances.require((timer.id, False), (timer.id, True), low=0)
        _covers(id_, timer.id, distances)
        if timer.of in labels:
            of = labels[timer.of]
            for end, shift in ((False, timer.start_shift), (True, timer.end_shift)):
                distances.require((of, end), (timer.id, end), shift, shift, timer)
        if timer.label is not None:
            labels[timer.label] = timer.id
    for related in body.related:
        if related.left in labels and related.right in labels:
            relate(related.relation, labels[related.left], labels[related.right], distances, related)
    if not selects(body):
        for condition in (*body.on, *body.where):
            _compare(condition, labels, distances)
    if body.within is not None:
        distances.require((id_, False), (id_, True), high=body.within, reason=("within", body))
    if body.lasting is not None:
        distances.require((id_, False), (id_, True), body.lasting, body.lasting, ("lasting", body))


def selects(body: typed.Body) -> bool:
    """Whether instances are chosen, so that one which comes to nothing may still keep others from being matched."""
    return body.restricted or any(
        isinstance(each, typed.Pair) and each.left_context is not None for each in patterns(body)
    )


def relate(relation: typed.Relation, left: int, right: int, distances: Distances, reason: object) -> None:
    """Adds what a relation says of the points of its two sides."""
    sides = (left, right)
    for distance in relation.distances:
        (earlier, earlier_end), (later, later_end) = distance.earlier, distance.later
        distances.require((sides[earlier], earlier_end), (sides[later], later_end), distance.low, distance.high, reason)


_COMPARED = {"<": (1, None), "<=": (0, None), "=": (0, 0), ">=": (None, 0), ">": (None, -1)}
"""How far the right side of a comparison is after the left one."""


def _compare(condition: typed.Expression, labels: Mapping[str, int], distances: Distances) -> None:
    """Adds what a condition says of two points, where it compares just these: a sum may have exceeded 64 bits."""
    match condition:
        case typed.Operation(name="and", arguments=conjuncts):
            for conjunct in conjuncts:
                _compare(conjunct, labels, distances)
        case typed.Operation(name=name, arguments=(typed.TimeOf() as left, typed.TimeOf() as right)):
            if name in _COMPARED and left.label in labels and right.label in labels:
                earlier, later = (labels[left.label], left.end), (labels[right.label], right.end)
                distances.require(earlier, later, *_COMPARED[name], condition)


def _constrain_pattern(pattern: typed.Pattern, events: Events, distances: Distances, toward: int | None) -> None:
    id_ = pattern.id
    start, end = (id_, False), (id_, True)
    distances.require(start, end, low=0)
    match pattern:
        case typed.Atom(event=event):
            if event in events and events[event].instant:
                distances.require(start, end, 0, 0, pattern)
        case typed.Moment() | typed.Periodic():
            distances.require(start, end, 0, 0, pattern)
        case typed.Pair(left=left, right=right, relation=relation):
            for side in (left, right):
                _constrain_pattern(side, events, distances, toward)
                _covers(id_, side.id, distances)
            relate(relation, left.id, right.id, distances, pattern)
        case typed.Lacking(pattern=inner):
            _constrain_pattern(inner, events, distances, toward)
            _same(inner.id, id_, distances)
        case typed.Either(alternatives=alternatives) if toward is not None:
            for taken in alternatives:
                if any(each.id == toward for each in patterns(typed.Body(taken))):
                    _constrain_pattern(taken, events, distances, toward)
                    _same(taken.id, id_, distances)
        case typed.Nested(body=body):
            _constrain_body(body, id_, events, distances, toward)


def _same(one: int, other: int, distances: Distances) -> None:
    for end in (False, True):
        distances.require((one, end), (other, end), 0, 0)


def labelled(pattern: typed.Pattern) -> Iterator[tuple[str, int]]:
    """The names of what is matched, with their ids; those of gathered events aside."""
    match pattern:
        case typed.Atom(label=label) | typed.Moment(label=label) | typed.Periodic(label=label):
            if label is not None:
                yield label, pattern.id
        case typed.Pair():
            if pattern.left_gathering is None:
                yield from labelled(pattern.left)
            if pattern.right_gathering is None:
                yield from labelled(pattern.right)
        case typed.Lacking(pattern=inner):
            yield from labelled(inner)
        case typed.Nested(body=body, label=label):
            if label is not None:
                yield label, pattern.id
            if body.pattern is not None:
                yield from labelled(body.pattern)
            for timer in body.timers:
                if timer.label is not None:
                    yield timer.label, timer.id


def parts(body: typed.Body) -> Iterator[int]:
    """The ids of what a body covers: events, timers, and alternatives and runs as a whole."""
    if body.pattern is not None:
        yield from _parts(body.pattern)
    for timer in body.timers:
        yield timer.id


def _parts(pattern: typed.Pattern) -> Iterator[int]:
    match pattern:
        case typed.Pair(left=left, right=right):
            yield from _parts(left)
            yield from _parts(right)
        case typed.Lacking(pattern=inner):
            yield from _parts(inner)
        case typed.Nested(body=body):
            yield from parts(body)
        case _:
            yield pattern.id


def bodies(body: typed.Body) -> Iterator[typed.Body]:
    """The bodies that must be possible on their own: the whole, each side of an `or`, what is negated or gathered."""
    yield body
    inner: list[typed.Pattern] = [absence.pattern for absence in body.absences]
    inner += [gathering.pattern for gathering in body.gatherings]
    if body.window is not None:
        inner.append(body.window.pattern)
        if body.window.beginning is not None:
            inner.append(body.window.beginning)
    if body.pattern is not None:
        inner += _apart(body.pattern)
    for pattern in inner:
        yield from bodies(typed.Body(pattern))


def _apart(pattern: typed.Pattern) -> list[typed.Pattern]:
    """Patterns inside one whose constraints are not joined to its own."""
    match pattern:
        case typed.Pair(left=left, right=right):
            return _apart(left) + _apart(right)
        case typed.Either(alternatives=alternatives):
            return list(alternatives)
        case typed.Lacking(pattern=inner):
            return _apart(inner)
        case typed.Run(pattern=inner):
            return [inner]
        case typed.Nested(body=body):
            inner_patterns = [a.pattern for a in body.absences] + [g.pattern for g in body.gatherings]
            if body.window is not None:
                inner_patterns.append(body.window.pattern)
            return inner_patterns + (_apart(body.pattern) if body.pattern is not None else [])
        case _:
            return []
