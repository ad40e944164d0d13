"""Builds an explanation from the typed program and from the modules that plan it for each execution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ensue.engine.units import units_of
from ensue.explain.explained import Observed, RuleExplained
from ensue.explain.explanation import Explanation
from ensue.explain.python_calls import python_calls
from ensue.explain.same_shape import rules_with, same_shape_rules
from ensue.language import typed
from ensue.language.source import Source
from ensue.partitioning import chained, stages
from ensue.plan.advice import describe_rule
from ensue.plan.certain import waiting_rules
from ensue.plan.deep import deep_plans
from ensue.plan.description import Description
from ensue.rewriting import rewritten, rewritten_rule
from ensue.rewriting.rates import UNKNOWN, Rates
from ensue.temporal.constraints import constrain, parts
from ensue.temporal.describe import describe_length, describe_relation
from ensue.temporal.implied import implied
from ensue.temporal.instants import possible, with_instants

Observations = Mapping[int, Mapping[str, Observed]]
"""Observed counts, by the number of a rule and the key of a part of its description."""


def explained(
    program: typed.Program, source: Source, wanted: Sequence[str], instants: bool = True,
    observed: Observations | None = None, events: int | None = None, rates: Rates = UNKNOWN,
) -> Explanation:  # fmt: skip
    """The explanation of a program that derives the wanted types."""
    known = with_instants(program) if instants else program
    at_work = rewritten(known, rates)
    with deep_plans():
        units = units_of(at_work, ())
    plans = {part.number: unit.plans.get(part.name) for unit in units for part in unit.parts}
    sharing = rules_with(units)
    families, calls = tuple(same_shape_rules(at_work, units)), python_calls(at_work)
    family_of = {rule: number for number, family in enumerate(families) for rule in family.rules}
    rules, waits = [], waiting_rules(program)
    for number, rule in enumerate(program.rules):
        can_match = possible(rule.body, known.events)
        types = known if can_match else program
        run = rewritten_rule(rule, types.events, rates)
        plan = describe_rule(run.rule, types, plans.get(number) if can_match else None)
        rules.append(
            RuleExplained(
                number,
                rule.event,
                rule.label,
                source.position(rule.span.start)[0],
                family_of.get(number),
                can_match,
                plan,
                tuple(_implied(rule.body, types)),
                _extent(rule.body, types),
                run.names,
                calls.get(number, ()),
                waits[number],
                None if run.ordered is None else run.ordered.times,
                (observed or {}).get(number, {}) if can_match else {},  # it was run by another plan, in vain
                rule.about,
                _shared(plan, number, sharing),
            )
        )
    parted = chained(known, wanted)
    return Explanation(known, instants, tuple(rules), families, parted, stages(parted.program, wanted), events)


def _shared(plan: Description, number: int, sharing: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The parts of a rule that are built once, each with the other rules that use them."""
    names = (part.shared for part in plan.walk() if part.shared is not None)
    return {name: tuple(other for other in sharing[name] if other != number) for name in names}


def _implied(body: typed.Body, program: typed.Program) -> Iterator[str]:
    length = partial(describe_length, program=program)
    for each in implied(body, program.events):
        match each.of:
            case typed.Related(left=left, right=right, relation=relation):
                limit = f"{left} {describe_relation(relation, length)} {right}"
            case typed.Pair(relation=relation):
                limit = describe_relation(relation, length)
            case typed.Body(within=within):
                limit = f"within {describe_length(within or 0, program)}"
        yield f"`{limit}`" if each.whole else f"a limit of `{limit}`"


def _extent(body: typed.Body, program: typed.Program) -> int | None:
    """The largest distance from the first start to the last end of a body's match."""
    if body.window is not None or body.pattern is None:
        return None
    distances, covered = constrain(body, program.events), list(parts(body))
    lengths = [distances.longest((one, False), (other, True)) for one in covered for other in covered]
    known = [length for length in lengths if length is not None]
    return max(known) if len(known) == len(lengths) else None
