"""Shapes of bodies by the events that a match needs: none, single ones, or several together."""

from __future__ import annotations

from enum import Enum

from ensue.language import typed
from ensue.language.walk import atoms


class Shape(Enum):
    """The events that a body or pattern depends on."""

    TIMERS = "timers"
    """No event: it matches the same wherever it runs."""
    ROW = "row"
    """Each event for itself."""
    SEVERAL = "several"


def has_events(pattern: typed.Pattern | None) -> bool:
    """True if a pattern has an event, and not timers alone."""
    return pattern is not None and next(atoms(typed.Body(pattern)), None) is not None


def shape(body: typed.Body) -> Shape:
    if next(atoms(body), None) is None:
        return Shape.TIMERS
    apart: list[typed.Pattern | None] = [absence.pattern for absence in body.absences]
    apart += [gathering.pattern for gathering in body.gatherings]
    apart += [body.window.pattern, body.window.beginning] if body.window is not None else []
    if body.restricted or body.pattern is None or any(map(has_events, apart)):
        return Shape.SEVERAL
    return _shape(body.pattern)


def _shape(pattern: typed.Pattern) -> Shape:
    if not has_events(pattern):
        return Shape.TIMERS
    match pattern:
        case typed.Atom():
            return Shape.ROW
        case typed.Pair(left=left, right=right, left_context=None):
            sides = [side for side in (left, right) if has_events(side)]
            return _shape(sides[0]) if len(sides) == 1 else Shape.SEVERAL
        case typed.Either(alternatives=alternatives):
            # A timer on one side is a match without an event; partitions without events would have to find it, too.
            return Shape.ROW if all(_shape(each) is Shape.ROW for each in alternatives) else Shape.SEVERAL
        case typed.Lacking(pattern=inner):
            return _shape(inner)
        case typed.Nested(body=body):
            return shape(body)
        case _:
            return Shape.SEVERAL
