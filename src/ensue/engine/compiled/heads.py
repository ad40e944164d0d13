"""The end of a match: what must hold of it as a whole, what is gathered for it, and the event that its head makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ensue.engine.compiled.adjacency import decided_before
from ensue.engine.compiled.aggregates import Walk
from ensue.engine.compiled.expressions import Code, as_kind
from ensue.engine.compiled.fields import Fields
from ensue.engine.compiled.parts import RuleParts
from ensue.engine.compiled.relations import lasting, related
from ensue.engine.compiled.scopes import aggregates_of, inner_find, seen_in, walk
from ensue.engine.compiled.writing import all_of
from ensue.language import typed


def finish(rule: RuleParts, env: Fields, start: str) -> None:
    """A match that ends now: its length and its relations, then the rest."""
    tests = lasting(rule.body, start, rule.length)
    for each in rule.body.related:
        tests.append(related(rule, each.relation, (env, env), (rule.labels[each.left], rule.labels[each.right])))
    with rule.unit.writer.when(all_of(*tests)):
        _gather(rule, env, start, rule.body.gatherings, {})


def _gather(
    rule: RuleParts, env: Fields, start: str, gatherings: Sequence[typed.Gathering],
    aggregates: Mapping[typed.Aggregate, Code],
) -> None:  # fmt: skip
    """Gathers what there is to gather, one after the other."""
    if not gatherings:
        _check_absences(rule, env, start, aggregates)
        return
    gathering, *rest = gatherings
    gathered = Walk(rule.unit, aggregates_of(rule, gathering))
    walk(rule, gathering, env, lambda inner: gathered.add(inner_find(rule, gathering, inner, env)))
    enough = f"{gathered.count} >= {gathering.low}" if gathering.low > 0 else "True"
    few = "True" if gathering.high is None else f"{gathered.count} <= {gathering.high}"
    with rule.unit.writer.when(all_of(enough, few)):
        _gather(rule, env, start, rest, {**aggregates, **gathered.results()})


def _check_absences(rule: RuleParts, env: Fields, start: str, aggregates: Mapping[typed.Aggregate, Code]) -> None:
    w = rule.unit.writer
    absent: list[str] = []
    for absence in rule.body.absences:
        if not decided_before(rule, absence):
            absent.append(seen_in(rule, absence, env, unless=absent))
    with w.when(all_of(*(f"not {name}" for name in absent))):
        _derive(rule, env, start, aggregates)


def _derive(rule: RuleParts, env: Fields, start: str, aggregates: Mapping[typed.Aggregate, Code]) -> None:
    unit, find = rule.unit, rule.find(env, aggregates)
    with unit.writer.when(all_of(*rule.truths(rule.checked_last, find))):
        if rule.rule.beginning is not None:
            start = env["start", rule.labels[rule.rule.beginning]].value
        derived = unit.layout.derived[rule.rule.event]
        values = []
        for (_, term), kind in zip(rule.rule.head, derived.kinds, strict=True):
            code = unit.expressions.code(term, find)
            values.append(Code("0", "False", kind) if code.valid == "False" else as_kind(code, kind))
        unit.derive(derived, start, values)
