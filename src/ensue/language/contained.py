"""What is negated or gathered, as far as it can be matched without knowing the match that it belongs to."""

from __future__ import annotations

from dataclasses import replace

from ensue.language import typed
from ensue.language.walk import has_aggregate, names_used, visible_labels, visible_variables

Apart = typed.Absence | typed.Gathering


def self_contained(part: Apart) -> tuple[typed.Pattern | None, tuple[typed.Expression, ...]]:
    """A pattern without its conditions that use names from outside, and these; None where that is not enough."""
    pattern = part.pattern
    if part.self_contained:
        return pattern, ()
    if not isinstance(pattern, typed.Nested):
        return None, ()
    body = pattern.body
    plain = typed.Nested(0, body)
    known = visible_variables(plain) | visible_labels(plain)
    outer = tuple(c for c in body.where if not set(names_used(c)) <= known)
    rest = [*body.on, *(c for c in body.where if c not in outer)]
    inner: list[Apart] = [*body.absences, *body.gatherings]
    ok = (
        all(set(names_used(c)) <= known for c in rest)
        and all({r.left, r.right} <= known for r in body.related)
        and all(each.self_contained and _known_scope(each.scope, known) for each in inner)
        and not any(has_aggregate(c) for c in outer)
        and _simple(body.pattern)
    )
    return (replace(pattern, body=replace(body, where=tuple(rest[len(body.on) :]))), outer) if ok else (None, ())


def _known_scope(scope: typed.Scope, known: set[str]) -> bool:
    return not isinstance(scope, typed.During) or scope.label in known


def _simple(pattern: typed.Pattern | None) -> bool:
    """Whether a pattern holds no nested body, which might look outside, too."""
    match pattern:
        case typed.Pair(left=left, right=right):
            return _simple(left) and _simple(right)
        case typed.Either(alternatives=alternatives):
            return all(map(_simple, alternatives))
        case typed.Lacking(pattern=inner) | typed.Run(pattern=inner):
            return _simple(inner)
        case typed.Nested():
            return False
        case _:
            return True
