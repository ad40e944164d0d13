"""The plan of rules as the page draws it: a tree for each rule, with a description of each part."""

from __future__ import annotations

from typing import Any

from ensue.explain import Explanation, RuleExplained
from ensue.explain.phrases import (
    describe_kept,
    describe_memory,
    describe_observed,
    describe_sharing,
    describe_stage,
    describe_waiting,
    notes_of,
)
from ensue.plan.description import Description
from ensue.temporal.describe import describe_length


def plan_of(explanation: Explanation) -> dict[str, Any]:
    """Rules with their trees, then the stages on a cluster.

    >>> import ensue
    >>> program = ensue.compile("event a(k: int). event b(k: int). d(k) <- a(k) seq b(k) within 10.")
    >>> rule = plan_of(program.explain())["rules"][0]
    >>> rule["name"], rule["memory"], rule["tree"]["parts"][0]["title"]
    ('d', 'proportional to the events of 10', 'seq')
    """
    return {
        "events": explanation.events,
        "rules": [_rule(rule, explanation) for rule in explanation.rules],
        "stages": [
            f"{describe_stage(stage, explanation.program)} → {', '.join(stage.derives)}" for stage in explanation.stages
        ],
    }


def _rule(rule: RuleExplained, explanation: Explanation) -> dict[str, Any]:
    program = explanation.program
    most = max((part.memory for part in rule.plan.walk()), key=lambda memory: (memory.kind, memory.size))
    details = [describe_waiting(rule)]
    if not rule.possible:
        details.append("events that have one time each never match it")
    if rule.extent is not None:
        details.append(f"a match takes {describe_length(rule.extent, program)} at most")
    if rule.rewrites:
        details.append(f"rewritten: {', '.join(rule.rewrites)}")
    details += [f"{each} follows from the rest, and is not checked" for each in rule.implied]
    return {
        "name": rule.name,
        "event": rule.event,
        "title": rule.about.title,
        "line": rule.line,
        "details": details,
        "memory": describe_memory(most, program),
        "bounded": most.bounded,
        "tree": _part(rule.plan, rule, explanation),
    }


def _part(part: Description, rule: RuleExplained, explanation: Explanation) -> dict[str, Any]:
    program = explanation.program
    kept = {f"keeps {describe_kept(each, program)}": each.memory.bounded for each in part.kept}
    notes = [*describe_sharing(part, rule, explanation), *notes_of(part, program)]
    return {
        "kind": part.kind,
        "title": part.title,
        "event": part.event,
        "cost": part.cost,
        "notes": [{"text": note, "unbounded": not kept.get(note, True)} for note in notes],
        "observed": describe_observed(rule.observed[part.key]) if part.key in rule.observed else None,
        "parts": [_part(inner, rule, explanation) for inner in part.parts],
    }
