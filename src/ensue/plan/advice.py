"""The description of a rule, with advice where it keeps events for ever."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.build import Planner
from ensue.plan.deep import deep_plans
from ensue.plan.describe import describe
from ensue.plan.description import Description

SOME = 2**56
"""A length of time that stands for any bound; longer than those that rules contain."""


def describe_rule(rule: typed.Rule, program: typed.Program, known: plan.Derive | None = None) -> Description:
    """Description of a rule's plan, with advice on bounds for events that are kept for ever.

    `known` is its plan, if there is one already: together with other rules it may differ from the plan alone.
    """
    found, alone = _described(rule, program, known), _described(rule, program)
    for_ever = {(part.key, kept.what) for part in alone.walk() for kept in part.kept if not kept.memory.bounded}
    if not for_ever:
        return found
    body = rule.body
    bounded = replace(body, within=SOME) if body.within is None and not body.lasting else body
    with_length = {part.key: part for part in _described(replace(rule, body=bounded), program).walk()}
    return _advised(found, with_length, for_ever)


def _described(rule: typed.Rule, program: typed.Program, known: plan.Derive | None = None) -> Description:
    with deep_plans():
        return describe(known or Planner(program.events).rule(rule), program)


def _advised(
    part: Description, with_length: Mapping[str, Description], for_ever: Collection[tuple[str, str]]
) -> Description:
    """A description with advice on events that its rule, and not another that shares them, keeps for ever."""
    other = with_length.get(part.key)
    bounds = {} if other is None else {kept.what: kept.memory for kept in other.kept}
    kept = []
    for each in part.kept:
        bounded = each.what in bounds and bounds[each.what].bounded
        if bounded and each.advice is None and (part.key, each.what) in for_ever:
            each = replace(each, advice="say how long it may take, with `within` at the end of the rule")
        kept.append(each)
    parts = tuple(_advised(inner, with_length, for_ever) for inner in part.parts)
    return replace(part, kept=tuple(kept), parts=parts)
