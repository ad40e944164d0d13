"""What generated code cannot do by itself: it asks Python, once for each combination of values, and remembers the answer."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.engine.generate.program import generate, of_strata
from ensue.engine.generate.unit import Question, Unit
from ensue.language import typed
from ensue.plan.build import Planner
from ensue.plan.operators import NotPlannedError
from ensue.temporal.said import expression_said


def asked_by(program: typed.Program) -> dict[int, tuple[str, ...]]:
    """What the rules of a program ask, by their numbers, in their words; static rows that are joined apart."""
    names = {rule: str(rule) for rule in range(len(program.rules))}
    found: dict[int, dict[str, None]] = {}
    for stratum in program.strata:
        try:
            unit = generate(of_strata(program, [stratum], names), (), Planner(program.events)).unit
        except NotPlannedError:
            continue
        for owner, expression in _questions(unit):
            found.setdefault(int(owner), {})[expression_said(expression, program)] = None
    return {rule: tuple(said) for rule, said in found.items()}


def _questions(unit: Unit) -> Iterator[tuple[str, typed.Expression]]:
    for name, question in unit.questions.items():
        if isinstance(question, Question) and not _converts(question.expression):
            yield unit.structures[name].owner, question.expression


def _converts(expression: typed.Expression) -> bool:
    """Whether a question only has a value written in another way."""
    return isinstance(expression, typed.Operation) and expression.name.startswith("as ")
