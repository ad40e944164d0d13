"""Rules that mean the same and are cheaper to run. The rewrites are one list, and are applied in its order.

Each is a pure function of a body; bodies in parentheses are rewritten before those around them. Finally the joins of a
rule are ordered by the known frequencies of events. The written rules stay available: checking, the reference and
messages use them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ensue.language import typed
from ensue.records import dataclass
from ensue.rewriting.bodies import with_bodies
from ensue.rewriting.drop_implied import drop_implied
from ensue.rewriting.merge_absences import merge_absences
from ensue.rewriting.merge_alternatives import merge_alternatives
from ensue.rewriting.order_joins import Ordered, order_joins, ordered
from ensue.rewriting.rates import UNKNOWN, Rates
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


@dataclass(frozen=True)
class Rewritten:
    """A rule after all rewrites, the names of those that changed it, and the new order of its joins if it changed."""

    rule: typed.Rule
    names: tuple[str, ...]
    ordered: Ordered | None = None


def rewritten(program: typed.Program, rates: Rates = UNKNOWN, ordering: bool = True) -> typed.Program:
    """The program with all its rules rewritten; with `ordering` their joins are ordered, too."""
    rules = (rewritten_rule(rule, program.events, rates, ordering).rule for rule in program.rules)
    return replace(program, rules=tuple(rules))


def rewritten_rule(rule: typed.Rule, events: Events, rates: Rates = UNKNOWN, ordering: bool = True) -> Rewritten:
    """A rule after all rewrites."""
    names = []
    for rewrite in REWRITES:
        body = with_bodies(rule.body, lambda body, rewrite=rewrite: rewrite(body, events))  # type: ignore[misc]
        if body != rule.body:
            rule = replace(rule, body=body)
            names.append(rewrite.__name__)
    joined = ordered(rule.body, events, rates) if ordering else None
    if joined is None:
        return Rewritten(rule, tuple(names))
    return Rewritten(replace(rule, body=joined.body), (*names, order_joins.__name__), joined)
