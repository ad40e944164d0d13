"""An explanation as text: a tree for each rule, then shared parts, then the stages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ensue.explain.explained import Explained, RuleExplained
from ensue.explain.phrases import (
    describe_differing,
    describe_joined,
    describe_memory,
    describe_observed,
    describe_obstacles,
    describe_others,
    describe_rules,
    describe_sharing,
    describe_stage,
    describe_waiting,
    notes_of,
)
from ensue.language.print import show
from ensue.language.syntax import Literal
from ensue.plan.description import Description
from ensue.temporal.describe import describe_length


def written(explanation: Explained) -> str:
    lines: list[str] = []
    if not explanation.rules:
        return "There are no rules for events."
    if explanation.events is not None:
        lines += [f"{explanation.events:,} events, observed", ""]
    elif explanation.instants:
        lines += ["Input events are assumed to have one time each, not an interval.", ""]
    for rule in explanation.rules:
        lines += [*_rule(rule, explanation), ""]
    if explanation.families:
        lines += ["shared", *_shared(explanation), ""]
    lines.append("on Spark")
    for number, stage in enumerate(explanation.stages, 1):
        lines.append(f"  stage {number}, {describe_stage(stage, explanation.program)} → {', '.join(stage.derives)}")
        lines += [
            f"    {term}" for term in (*describe_joined(stage, explanation), *describe_obstacles(stage, explanation))
        ]
    return "\n".join(lines)


def _shared(explanation: Explained) -> Iterator[str]:
    for family in explanation.families:
        yield f"  {describe_rules(family.rules, explanation)} run as one, except for {', '.join(family.where)}"
        for number, constant in enumerate(family.constants, 1):
            yield f"    ${number} is {describe_differing(constant, explanation.program)}"


def _rule(rule: RuleExplained, explanation: Explained) -> Iterator[str]:
    program = explanation.program
    name = rule.event if rule.label is None else f"{rule.label}: {rule.event}"
    yield f"{name} (line {rule.line}){describe_others(rule, explanation)}"
    if rule.about.title is not None:
        yield f"  {rule.about.title}"
    if rule.about.settings:
        yield f"  {', '.join(f'{key} = {_value(value)}' for key, value in rule.about.settings)}"
    if not rule.possible:
        yield "  events that have one time each never match it; this is for events with a start and an end"
    yield f"  in a session: {describe_waiting(rule)}"
    if rule.extent is not None:
        yield f"  a match takes {describe_length(rule.extent, program)} at most"
    if rule.rewrites:
        yield f"  rewritten: {', '.join(rule.rewrites)}"
    if rule.fewer is not None:
        by = "times and variables" if explanation.events is None else "times, variables and numbers of events"
        yield f"  joined in another order: as written there are about {rule.fewer:,} times as many tuples, by {by}"
    elif "order_joins" in rule.rewrites:
        yield "  joined from its last event: nothing is joined before that comes"
    for term in rule.implied:
        yield f"  {term} follows from the rest, and is not checked"
    if rule.in_python:
        yield f"  computed in Python, once for each combination of values: {', '.join(rule.in_python)}"
    yield from _part(rule.plan, rule, explanation, "  ", "  ")


def _value(value: Any) -> str:
    return f"({', '.join(map(_value, value))})" if isinstance(value, tuple) else show(Literal(value))


def _part(part: Description, rule: RuleExplained, explanation: Explained, first: str, rest: str) -> Iterator[str]:
    program = explanation.program
    if part.event is not None and part.key not in rule.observed:
        shared = describe_sharing(part, rule, explanation)
        yield ", ".join([f"{first}{part.title}", part.cost, *notes_of(part, program), *shared])
        return
    yield f"{first}{part.title}"
    below = rest + ("│ " if part.parts else "  ")
    notes = [*describe_sharing(part, rule, explanation), *notes_of(part, program)]
    if part.kept:
        notes.append(f"memory: {describe_memory(part.memory, program)}")
    notes.append(f"cost: {part.cost}")
    if part.key in rule.observed:
        notes.append(f"observed: {describe_observed(rule.observed[part.key])}")
    yield from (below + note for note in notes)
    for inner in part.parts:
        last = inner is part.parts[-1]
        yield from _part(inner, rule, explanation, rest + ("└ " if last else "├ "), rest + ("  " if last else "│ "))
