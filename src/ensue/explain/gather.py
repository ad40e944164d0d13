"""Putting an explanation together, from the typed program and from what plans it for each execution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ensue.engine.compiled.lane import Code
from ensue.engine.compiled.source import rule_names
from ensue.engine.lanes import Plan, plan_of
from ensue.explain.alike import alike_rules
from ensue.explain.explanation import Explanation, Observed, RuleExplained, Shared
from ensue.language import typed
from ensue.language.source import Source
from ensue.partitioning import stages
from ensue.rewriting import rewritten_rule
from ensue.rewriting.rates import UNKNOWN, Rates
from ensue.temporal.constraints import constrain, parts
from ensue.temporal.feeding import awaited_rules
from ensue.temporal.implied import implied
from ensue.temporal.instants import possible, with_instants
from ensue.temporal.plan import plan_of_rule, without_partners
from ensue.temporal.said import length_said, relation_said

Observations = Mapping[int, Mapping[str, Observed]]
"""What was observed, by the number of a rule and the key of a part of its plan."""


def explained(
    program: typed.Program, source: Source, wanted: Sequence[str], instants: bool = True,
    observed: Observations | None = None, events: int | None = None, rates: Rates = UNKNOWN,
) -> Explanation:  # fmt: skip
    """The explanation of a program that derives the types that are wanted."""
    known = with_instants(program) if instants else program
    plan = plan_of(program, wanted, instants, rates=rates)
    units = {rule: unit for unit, code in enumerate(_codes(plan)) for rule in code.rules}
    reasons = dict(plan.reasons)
    families = tuple(alike_rules(plan))
    family_of = {rule: number for number, family in enumerate(families) for rule in family.rules}
    awaited = awaited_rules(plan.program, wanted)
    rules = []
    for number, rule in enumerate(program.rules):
        can_match = possible(rule.body, known.events)
        types = known if can_match else program
        run = rewritten_rule(rule, types.events, rates)
        steps = plan_of_rule(run.rule, types.events, partial(length_said, program=program))
        rules.append(
            RuleExplained(
                number,
                rule.event,
                rule.label,
                source.position(rule.span.start)[0],
                units.get(number),
                reasons.get(number),
                family_of.get(number),
                can_match,
                steps if number not in units or observed is not None else without_partners(steps),
                tuple(_implied(rule.body, types)),
                _extent(rule.body, types),
                run.names,
                awaited.get(number, ()) if number in reasons or observed is not None else (),
                None if run.ordered is None else run.ordered.times,
                (observed or {}).get(number, {}),
            )
        )
    shared = tuple(_shared(plan))
    return Explanation(known, instants, tuple(rules), families, shared, stages(known, wanted), events)


def _codes(plan: Plan) -> list[Code]:
    return [part for part in plan.parts if isinstance(part, Code)]


def _shared(plan: Plan) -> Iterator[Shared]:
    """The stores of generated code that several rules use, families apart: that these do is said of them."""
    for code in _codes(plan):
        names: dict[str, tuple[int, ...]] = {
            name: (rule,) for rule, name in rule_names(plan.program, code.rules).items()
        }
        names |= {family.seed.name: family.members for family in code.families}
        for what, store in code.layout.stores.items():
            users = [names[user] for user in store.users if user in names]
            if len(users) > 1 and what[0] == "atom":
                yield Shared(what[1], tuple(what[2]), tuple(sorted(rule for rules in users for rule in rules)))


def _implied(body: typed.Body, program: typed.Program) -> Iterator[str]:
    length = partial(length_said, program=program)
    for each in implied(body, program.events):
        match each.of:
            case typed.Related(left=left, right=right, relation=relation):
                said = f"{left} {relation_said(relation, length)} {right}"
            case typed.Pair(relation=relation):
                said = relation_said(relation, length)
            case typed.Body(within=within):
                said = f"within {length_said(within or 0, program)}"
        yield f"`{said}`" if each.whole else f"a limit of `{said}`"


def _extent(body: typed.Body, program: typed.Program) -> int | None:
    """The largest distance from the first start to the last end of what a body matches."""
    if body.window is not None or body.pattern is None:
        return None
    distances, covered = constrain(body, program.events), list(parts(body))
    lengths = [distances.longest((one, False), (other, True)) for one in covered for other in covered]
    known = [length for length in lengths if length is not None]
    return max(known) if len(known) == len(lengths) else None
