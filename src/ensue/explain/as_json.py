"""An explanation as plain dicts and lists, for programs that read it. Lengths are in the unit of the time column."""

from __future__ import annotations

from typing import Any

from ensue.explain.explained import Explained, RuleExplained, SameShape
from ensue.explain.phrases import describe_obstacles
from ensue.partitioning import ByKey, ByRow, BySlices, Stage
from ensue.plan.description import Description
from ensue.temporal.memory import Memory


def as_json(explanation: Explained) -> dict[str, Any]:
    found: dict[str, Any] = {
        "instants": explanation.instants,
        "rules": [_rule(rule) for rule in explanation.rules],
        "families": [_family(family) for family in explanation.families],
        "stages": [_stage(stage, explanation) for stage in explanation.stages],
    }
    return found if explanation.events is None else {"events": explanation.events, **found}


def _rule(rule: RuleExplained) -> dict[str, Any]:
    return {
        "rule": rule.number,
        "event": rule.event,
        "name": rule.label,
        "line": rule.line,
        "title": rule.about.title,
        "about": dict(rule.about.settings),
        "family": rule.family,
        "possible": rule.possible,
        "extent": rule.extent,
        "implied": list(rule.implied),
        "rewrites": list(rule.rewrites),
        "in_python": list(rule.in_python),
        "waits": rule.waits,
        "fewer": rule.fewer,
        "plan": _part(rule.plan, rule),
    }


def _family(family: SameShape) -> dict[str, Any]:
    constants = [{"type": each.type, "values": list(each.values), "use": each.use} for each in family.constants]
    return {"rules": list(family.rules), "where": list(family.where), "constants": constants}


def _part(part: Description, rule: RuleExplained) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": part.kind,
        "id": part.id,
        "title": part.title,
        "cost": part.cost,
        "memory": _memory(part.memory),
        "keeps": [
            {
                "what": k.what,
                "key": list(k.key),
                "lifetime": k.lifetime,
                "memory": _memory(k.memory),
                "after": k.after,
                "advice": k.advice,
            }
            for k in part.kept
        ],
        "streams": list(part.streams),
        "suppresses": list(part.suppresses),
        "checks": list(part.checks),
        "shared": None if part.shared is None else list(rule.shared[part.shared]),
    }
    if part.key in rule.observed:
        observed = rule.observed[part.key]
        found["observed"] = {"in": observed.rows_in, "out": observed.rows_out, "most_kept": observed.most_kept}
        if observed.suppressed is not None:
            found["observed"]["suppressed"] = observed.suppressed
    return found | {"parts": [_part(inner, rule) for inner in part.parts]}


def _memory(memory: Memory) -> dict[str, Any]:
    return {"bound": memory.kind.name.lower(), "size": memory.size, "by": memory.by or None}


def _stage(stage: Stage, explanation: Explained) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rules": list(dict.fromkeys(map(explanation.parted.written, stage.rules))), "reads": list(stage.reads),
        "derives": list(stage.derives), "extent": stage.extent,
    }  # fmt: skip
    joined = [each for each in explanation.parted.joined if each.event in stage.derives]
    if joined:
        found["joined"] = [{"event": each.event, "rule": each.rule, "key": each.key} for each in joined]
    match stage.parting:
        case ByKey(keys=keys):
            return found | {"parting": "key", "keys": {name: list(key) for name, key in keys.items()}}
        case BySlices():
            return found | {"parting": "slices"}
        case ByRow():
            return found | {"parting": "row"}
        case _:
            return found | {"parting": "whole", "because": list(describe_obstacles(stage, explanation))}
