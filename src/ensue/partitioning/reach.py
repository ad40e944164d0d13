"""Reach of a match: the longest time before its end at which an event that it depends on can end.

It follows from the closure of the distances of each body. Two lengths bound the events that a pattern depends on: one
counts back from the end of a match, one from its start. The second is for patterns inside others, which bound their
start. None is no bound. A choice between instances, by a context, a policy, a count or the latest of all, may have been
made any time ago, so it reaches back without bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ensue.language import typed
from ensue.language.walk import atoms, leaves, pairs, visible_labels
from ensue.partitioning.shapes import has_events
from ensue.temporal.constraints import labelled
from ensue.temporal.lifetimes import Frame, since

Events = Mapping[str, typed.EventType]


def reach(body: typed.Body, events: Events) -> int | None:
    """The largest distance from the end of an event that can matter to the end of a match."""
    if next(atoms(body), None) is None:
        return 0
    if body.restricted or any(pair.left_context is not None for pair in pairs(body.pattern)):
        return None
    if body.window is not None:
        return _least(_window(body, body.window, events), _kept(body, events))
    found: list[int | None] = []
    for unit in _units(body.pattern):
        from_start = _sum(since(Frame.of(body), (unit.id, False), events), _from_start(unit, events))
        from_end = _sum(since(Frame.of(body), (unit.id, True), events), _from_end(unit, events))
        found.append(_least(from_start, from_end))
    for part in _apart(body):
        if has_events(part.pattern):
            beginning = _beginning(part.scope, body)
            inside = _from_start(part.pattern, events)
            found.append(None if beginning is None else _sum(since(Frame.of(body), beginning, events), inside))
    return _least(_most(found), _kept(body, events))


def _kept(body: typed.Body, events: Events) -> int | None:
    """Reach of a body whose events have a largest lifetime: that long, plus the reach of each part by itself.

    A window beside a pattern may have ended that long ago, and have seen events that ended as long before its own end.
    """
    if body.keep is None:
        return None
    apart = [part.pattern for part in _apart(body)]
    found = [_alone(unit, body.keep, events) for unit in (*_units(body.pattern), *apart)]
    if body.window is not None:
        window = (body.window.pattern, body.window.beginning)
        own = _most(_alone(each, body.keep, events) for each in window if each is not None)
        found.append(own if body.pattern is None else _sum(own, body.keep))
    return _sum(_most(found), body.keep)


def _alone(pattern: typed.Pattern, keep: int, events: Events) -> int | None:
    """Reach of a pattern from its own end, where its parts have a largest lifetime."""
    match pattern:
        case typed.Run(pattern=inner):
            return _alone(inner, keep, events)
        case typed.Pair() | typed.Lacking():
            return reach(typed.Body(pattern, keep=keep), events)
        case typed.Either(alternatives=alternatives):
            return _most(_alone(each, keep, events) for each in alternatives)
        case _:
            return _from_end(pattern, events)


def _window(body: typed.Body, window: typed.Window, events: Events) -> int | None:
    """Reach of a window: it covers its events, or ends at most its extent after one. Other parts are unrelated."""
    if body.pattern is not None or body.absences or body.gatherings:
        return None
    own, members = _from_end(window.pattern, events), _from_start(window.pattern, events)
    extent = window.extent
    if extent is None:
        return None
    return _sum(extent, own) if window.record.ends_later else _most([own, _sum(extent, members)])


def _from_end(pattern: typed.Pattern, events: Events) -> int | None:
    """Reach of a pattern by itself from the end of a match."""
    match pattern:
        case typed.Atom() | typed.Moment() | typed.Periodic():
            return 0
        case typed.Either(alternatives=alternatives):
            return _most(_from_end(each, events) for each in alternatives)
        case typed.Run():
            return None
        case typed.Nested(body=body):
            return reach(body, events)
        case _:
            return reach(typed.Body(pattern), events)


def _from_start(pattern: typed.Pattern, events: Events) -> int | None:
    """Reach of a pattern from the start of a match, after which all its events lie."""
    match pattern:
        case typed.Atom() | typed.Moment() | typed.Periodic():
            return 0
        case typed.Pair(left=left, right=right):
            if pattern.left_context is not None:
                return None
            return _most([_from_start(left, events), _from_start(right, events)])
        case typed.Either(alternatives=alternatives):
            return _most(_from_start(each, events) for each in alternatives)
        case typed.Lacking(pattern=inner):
            return _from_start(inner, events)
        case typed.Run(pattern=inner):
            # Members are neighbours, so all events that end after the start matter, however early they start.
            return _from_end(inner, events)
        case typed.Nested(body=body):
            return _least(_body_from_start(body, events), reach(body, events))


def _body_from_start(body: typed.Body, events: Events) -> int | None:
    if body.restricted or body.window is not None or body.pattern is None:
        return None
    parts = _apart(body)
    if any(_beginning(part.scope, body) is None for part in parts):
        return None  # the scope is an interval outside these parentheses
    return _most([_from_start(body.pattern, events), *(_from_start(part.pattern, events) for part in parts)])


def _apart(body: typed.Body) -> tuple[typed.Absence | typed.Gathering, ...]:
    return (*body.absences, *body.gatherings)


def _units(pattern: typed.Pattern | None) -> Iterator[typed.Pattern]:
    """The units of a body: events, alternatives, runs, nested patterns. Timers need no event."""
    units = typed.Atom | typed.Either | typed.Run | typed.Nested
    return (each for each in leaves(pattern) if isinstance(each, units) and has_events(each))


def _beginning(scope: typed.Scope, body: typed.Body) -> tuple[int, bool] | None:
    """A point at or after which a scope begins; None if it is not in this body."""
    if body.pattern is None:
        return None
    match scope:
        case typed.During(label=label):
            labels = dict(labelled(body.pattern)) | {t.label: t.id for t in body.timers if t.label is not None}
            if label in labels:
                return (labels[label], False)
            eithers = (each for each in leaves(body.pattern) if isinstance(each, typed.Either))
            return next(((each.id, False) for each in eithers if label in visible_labels(each)), None)
        case typed.Between(pair=id_) | typed.Inside(pattern=id_):
            return _place(body.pattern, id_)


def _place(pattern: typed.Pattern, id_: int) -> tuple[int, bool] | None:
    """The point where the scope between the sides of a pair, or inside a pattern, begins; for an `or`, its start."""
    match pattern:
        case typed.Pair(left=left, right=right):
            return (left.id, True) if pattern.id == id_ else _place(left, id_) or _place(right, id_)
        case typed.Lacking(pattern=inner):
            return (pattern.id, False) if pattern.id == id_ else _place(inner, id_)
        case typed.Either(alternatives=alternatives):
            return (pattern.id, False) if any(_place(each, id_) for each in alternatives) else None
        case _:
            return None


# --- lengths that may have no bound


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _least(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _most(lengths: Iterable[int | None]) -> int | None:
    most = 0
    for length in lengths:
        if length is None:
            return None
        most = max(most, length)
    return most
