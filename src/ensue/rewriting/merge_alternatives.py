"""`p or p` becomes `p`: an event that matches both sides is one instance."""

from __future__ import annotations

from dataclasses import replace

from ensue.language import typed
from ensue.rewriting.unnumbered import unnumbered
from ensue.temporal.constraints import Events


def merge_alternatives(body: typed.Body, events: Events) -> typed.Body:
    if body.pattern is None:
        return body
    pattern = _merged(body.pattern)
    return body if pattern == body.pattern else replace(body, pattern=pattern)


def _merged(pattern: typed.Pattern) -> typed.Pattern:
    match pattern:
        case typed.Either(alternatives=alternatives):
            kept: dict[typed.Pattern, typed.Pattern] = {}
            for each in map(_merged, alternatives):
                kept.setdefault(unnumbered(each), each)
            (first, *others) = kept.values()
            return replace(pattern, alternatives=(first, *others)) if others else first
        case typed.Pair(left=left, right=right):
            return replace(pattern, left=_merged(left), right=_merged(right))
        case typed.Lacking(pattern=inner):
            return replace(pattern, pattern=_merged(inner))
        case _:
            return pattern
