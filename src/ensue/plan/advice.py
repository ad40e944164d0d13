"""The description of a rule, with advice where it keeps something for ever."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ensue.language import typed
from ensue.plan.build import Planner
from ensue.plan.deep import deep_plans
from ensue.plan.describe import describe
from ensue.plan.description import Description

SOME = 2**56
"""A length of time, to see what any would do; longer than those that rules write."""


def describe_rule(rule: typed.Rule, program: typed.Program) -> Description:
    """How a rule is run, given the program's types; with advice that would bound what is kept for ever."""
    found = _described(rule, program)
    if all(kept.memory.bounded for part in found.walk() for kept in part.kept):
        return found
    body = rule.body
    bounded = replace(body, within=SOME) if body.within is None and not body.lasting else body
    with_length = {part.key: part for part in _described(replace(rule, body=bounded), program).walk()}
    return _advised(found, with_length)


def _described(rule: typed.Rule, program: typed.Program) -> Description:
    with deep_plans():
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
