"""Calls from generated code to Python: one for each combination of values, since the answers are remembered."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.engine.assembly import CompilationUnit, Layer, UnitRule, generate
from ensue.engine.generate.unit import Question
from ensue.engine.operators.look_up import mixed_columns
from ensue.engine.sharing.shapes import Shape, shape_of
from ensue.language import typed
from ensue.plan.build import Planner
from ensue.plan.description import Phrases
from ensue.plan.late import ROW


def python_calls(program: typed.Program) -> dict[int, tuple[str, ...]]:
    """The conditions that each rule leaves to Python, as text, by the rule's number; joined static rows are left out.

    Rules of one shape have the same code. So if one of them calls Python for nothing, none of them does.
    """
    mixed, quiet = mixed_columns(program), set[Shape]()
    found = {}
    for number, rule in enumerate(program.rules):
        shape, _ = shape_of(rule, program.events[rule.event])
        if shape not in quiet:
            alone = CompilationUnit((Layer((UnitRule(rule, ""),), 0, False),), program.events, mixed_columns=mixed)
            conditions = dict.fromkeys(Phrases(program).conditions(_questions(alone)))
            if conditions:
                found[number] = tuple(conditions)
            else:
                quiet.add(shape)
    return found


def _questions(together: CompilationUnit) -> Iterator[typed.Expression]:
    """The expressions that Python computes; not those that only have values written in another way."""
    for question in generate(together, (), Planner(together.events)).unit.questions.values():
        if isinstance(question, Question):
            match question.expression:
                case typed.Operation(name=name, own=None) if name == ROW or name.startswith("as "):
                    pass
                case expression:
                    yield expression
