"""Rules that mean the same and are cheaper to run. The rewrites are one list, and are applied in its order.

Each is a pure function of a body; bodies in parentheses are rewritten before those around them. What is written is
never lost: checking, the reference and messages know the rules as they were written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ensue.language import typed
from ensue.rewriting.bodies import with_bodies
from ensue.rewriting.drop_implied import drop_implied
from ensue.rewriting.merge_absences import merge_absences
from ensue.rewriting.merge_alternatives import merge_alternatives
from ensue.rewriting.relate_sides import relate_sides
from ensue.rewriting.select_constants import select_constants
from ensue.rewriting.split_absences import split_absences
from ensue.temporal.constraints import Events

Rewrite = Callable[[typed.Body, Events], typed.Body]

REWRITES: tuple[Rewrite, ...] = (
    merge_alternatives,
    split_absences,
    merge_absences,
    select_constants,
    drop_implied,
    relate_sides,
)


def rewritten(program: typed.Program) -> typed.Program:
    """The program with all its rules rewritten."""
    return replace(program, rules=tuple(rewritten_rule(rule, program.events)[0] for rule in program.rules))


def rewritten_rule(rule: typed.Rule, events: Events) -> tuple[typed.Rule, tuple[str, ...]]:
    """A rule after all rewrites, and the names of those that changed it."""
    names = []
    for rewrite in REWRITES:
        body = with_bodies(rule.body, lambda body, rewrite=rewrite: rewrite(body, events))  # type: ignore[misc]
        if body != rule.body:
            rule = replace(rule, body=body)
            names.append(rewrite.__name__)
    return rule, tuple(names)
