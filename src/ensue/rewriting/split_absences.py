"""`p without (q or r)` becomes `(p without q) without r`: each absence is checked on its own, stored by its key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ensue.language import typed
from ensue.language.walk import visible_variables
from ensue.temporal.constraints import Events


def split_absences(body: typed.Body, events: Events) -> typed.Body:
    """Split absences of an ``or``. Under a policy the choice between its sides is part of the absence, so they stay."""
    if body.restricted:
        return body
    absences = tuple(each for absence in body.absences for each in _split(absence))
    return body if absences == body.absences else replace(body, absences=absences)


def _split(absence: typed.Absence) -> Iterator[typed.Absence]:
    alternatives = _alternatives(absence.pattern)
    if alternatives is None or not all(set(absence.shared) <= visible_variables(each) for each in alternatives):
        yield absence
        return
    for each in alternatives:
        yield from _split(replace(absence, pattern=each))


def _alternatives(pattern: typed.Pattern) -> tuple[typed.Pattern, ...] | None:
    """The sides of an ``or``, which may stand in parentheses that hold nothing else."""
    match pattern:
        case typed.Either(alternatives=alternatives):
            return alternatives
        case typed.Nested(body=typed.Body(pattern=typed.Either(alternatives=alternatives)) as body):
            return alternatives if body == typed.Body(body.pattern, keep=body.keep) else None
        case _:
            return None
