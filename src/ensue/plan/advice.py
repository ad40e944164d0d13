"""The description of a rule, with advice where it keeps something for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ensue.language import typed
from ensue.language.contained import Apart, self_contained
from ensue.language.walk import patterns
from ensue.plan import operators as plan
from ensue.plan.build import Planner
from ensue.plan.describe import describe
from ensue.plan.description import Description, Kept
from ensue.temporal.constraints import BODY
from ensue.temporal.memory import UNBOUNDED
from ensue.temporal.said import events_said

SOME = 2**56
"""A length of time, to see what any would do; longer than those that rules write."""


def describe_rule(rule: typed.Rule, program: typed.Program) -> Description:
    """How a rule is run, given the program's types; with advice that would bound what is kept for ever."""
    try:
        found = _described(rule, program)
    except plan.NotPlannedError as error:
        return _not_planned(rule, error)
    if all(kept.memory.bounded for part in found.walk() for kept in part.kept):
        return found
    body = rule.body
    bounded = replace(body, within=SOME) if body.within is None and not body.lasting else body
    with_length = {part.key: part for part in _described(replace(rule, body=bounded), program).walk()}
    return _advised(found, with_length)


def _described(rule: typed.Rule, program: typed.Program) -> Description:
    return describe(Planner(program.events).rule(rule), program)


def _advised(part: Description, with_length: Mapping[str, Description]) -> Description:
    other = with_length.get(part.key)
    bounds = {} if other is None else {kept.what: kept.memory for kept in other.kept}
    kept = []
    for each in part.kept:
        if not each.memory.bounded and each.advice is None and each.what in bounds and bounds[each.what].bounded:
            each = replace(each, advice="say how long it may take, with `within` at the end of the rule")
        kept.append(each)
    return replace(part, kept=tuple(kept), parts=tuple(_advised(inner, with_length) for inner in part.parts))


def _not_planned(rule: typed.Rule, error: plan.NotPlannedError) -> Description:
    said = next(_matched_anew(rule.body), None)
    advice = None if said is None else f"let {said} share variables with the rest, instead of naming it in parentheses"
    return Description("body", BODY, "match", f"for each match: {error}", (Kept("every event", (), UNBOUNDED, advice),))


def _matched_anew(body: typed.Body) -> Iterator[str]:
    """What is negated or gathered and uses names from outside, so that it cannot be matched by itself."""
    bodies = [body, *(each.body for each in patterns(body) if isinstance(each, typed.Nested))]
    for each in bodies:
        apart: tuple[Apart, ...] = (*each.absences, *each.gatherings)
        for part in apart:
            if self_contained(part)[0] is None:
                yield events_said(part.pattern)
