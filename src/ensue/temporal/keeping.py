"""Effects of a program's longest lifetime (``keep 7d.``) on rules: events of a match may have ended longer before it.

The closure of the other conditions bounds how long before the end of a match each of its events can end. Where that is
no longer than events are kept anyway, nothing has to be checked, and the rule finds the same as without the lifetime.
"""

from __future__ import annotations

from collections.abc import Iterator

from ensue.language import typed
from ensue.language.contained import Apart
from ensue.language.walk import patterns
from ensue.temporal.constraints import BODY, Events, constrain, made_of, parts
from ensue.temporal.lifetimes import scope_points


def may_be_older(body: typed.Body, events: Events) -> bool:
    """True if an event of a match can end longer before it than events are kept, by the other conditions."""
    if body.keep is None or body.pattern is None:
        return False
    if body.window is not None or any(isinstance(each, typed.Run) for each in _positive(body.pattern)):
        return True  # nothing bounds how long before its last event a run began
    ids = made_of(body.pattern, every=True)
    return any(_beyond(_before_end(body, (id_, True), events), body.keep) for id_ in ids)


def _positive(pattern: typed.Pattern) -> Iterator[typed.Pattern]:
    """The patterns that a match of a pattern is made of, in parentheses or not."""
    match pattern:
        case typed.Pair(left=left, right=right):
            yield from _positive(left)
            yield from _positive(right)
        case typed.Lacking(pattern=inner):
            yield from _positive(inner)
        case typed.Either(alternatives=alternatives):
            for each in alternatives:
                yield from _positive(each)
        case typed.Nested(body=typed.Body(pattern=inner_)) if inner_ is not None:
            yield from _positive(inner_)
        case _:
            yield pattern


def can_change(rule: typed.Rule, events: Events) -> bool:
    """True if a rule may find something else than without a longest lifetime."""
    whole = typed.Nested(BODY, rule.body)
    return any(_changes(each.body, events) for each in (whole, *patterns(rule.body)) if isinstance(each, typed.Nested))


def _changes(body: typed.Body, events: Events) -> bool:
    keep = body.keep
    if keep is None:
        return False
    apart: tuple[Apart, ...] = () if body.restricted else (*body.absences, *body.gatherings)
    alone = [typed.Body(each.pattern, keep=keep) for each in apart]
    if body.window is not None:
        collected = (body.window.pattern, body.window.beginning)
        alone += [typed.Body(each, keep=keep) for each in collected if each is not None]
    return (
        may_be_older(body, events)
        or (body.restricted and body.within == keep)
        or any(_reaches(each, body, events) for each in apart)
        or (body.window is not None and _window_reaches(body.window, keep))
        or any(may_be_older(each, events) for each in alone)
    )


def _reaches(part: Apart, body: typed.Body, events: Events) -> bool:
    """True if an event in a scope may have ended too long before the end of the match."""
    points = scope_points(part.scope, body)
    strict = not typed.includes_start(part.scope)
    return points is None or _beyond(_before_end(body, points[0], events), (body.keep or 0) + strict)


def _window_reaches(window: typed.Window, keep: int) -> bool:
    """True if a window sees events that ended longer before its own end than events are kept."""
    return _beyond(window.extent, keep)


def _before_end(body: typed.Body, point: tuple[int, bool], events: Events) -> int | None:
    """Largest distance of a point from the end of a match, by all conditions but the longest lifetime."""
    distances = constrain(body, events, point[0], kept=False)
    own = distances.longest(point, (BODY, True))
    ends = [distances.longest(point, (id_, True)) for id_ in parts(body)]
    latest = None if not ends or None in ends else max(end for end in ends if end is not None)
    return min((length for length in (own, latest) if length is not None), default=None)


def _beyond(length: int | None, limit: int) -> bool:
    return length is None or length > limit
