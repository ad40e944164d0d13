"""A body with a function applied to it and to all bodies inside it, the innermost first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ensue.language import typed

Change = Callable[[typed.Body], typed.Body]


def with_bodies(body: typed.Body, change: Change) -> typed.Body:
    """The body after changing it and all bodies inside it, including negated, gathered and collected ones."""

    def inside(pattern: typed.Pattern) -> typed.Pattern:
        match pattern:
            case typed.Pair(left=left, right=right):
                return replace(pattern, left=inside(left), right=inside(right))
            case typed.Either(alternatives=alternatives):
                return replace(pattern, alternatives=tuple(map(inside, alternatives)))
            case typed.Lacking(pattern=inner) | typed.Run(pattern=inner):
                return replace(pattern, pattern=inside(inner))
            case typed.Nested(body=nested):
                return replace(pattern, body=with_bodies(nested, change))
            case _:
                return pattern

    window = body.window
    if window is not None:
        beginning = None if window.beginning is None else inside(window.beginning)
        window = replace(window, pattern=inside(window.pattern), beginning=beginning)
    return change(
        replace(
            body,
            pattern=None if body.pattern is None else inside(body.pattern),
            absences=tuple(replace(each, pattern=inside(each.pattern)) for each in body.absences),
            gatherings=tuple(replace(each, pattern=inside(each.pattern)) for each in body.gatherings),
            window=window,
        )
    )
