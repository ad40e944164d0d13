"""Alternatives: one of several patterns. A match that several of them find is given once in a step.

Two matches are equal if they have the same parts, values, names and gathered members; while an absence or a gathering
is still to be checked, its scope distinguishes them. State: the matches seen in the current step.
"""

from __future__ import annotations

from functools import partial

from ensue.engine.generate.expressions import convert
from ensue.engine.generate.fields import START, Column, Env, Field
from ensue.engine.generate.operator import Operator, Passing, nothing
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import NOTHING, Code, Writer
from ensue.engine.operators.keys import group_parts
from ensue.engine.structures.seen import Seen, seen_function, seen_layout
from ensue.language import typed
from ensue.language.walk import patterns, visible_labels, visible_variables
from ensue.plan import operators as plan


class Alternatives(Operator):
    """Matches of several inputs. A part or scope that one of them lacks is missing in its matches."""

    def __init__(self, unit: Unit, node: plan.Alternatives, inputs: list[Operator], layer: int) -> None:
        super().__init__(unit, "either", layer)
        self.inputs = inputs
        for number, input_ in enumerate(inputs):
            input_.feed(partial(self.take, number=number))

    @property
    def parts(self) -> int:
        return max(input_.parts for input_ in self.inputs)

    @property
    def chains(self) -> frozenset[int]:
        return frozenset().union(*(input_.chains for input_ in self.inputs))

    @property
    def ragged(self) -> bool:
        return any(input_.ragged or input_.parts < self.parts for input_ in self.inputs)

    def has(self, field: Field) -> bool:
        some = [input_.has(field) for input_ in self.inputs]
        return any(some) if field[0] in ("span", "part", "agg", "cell") else all(some)

    def require(self, fields: list[Field]) -> None:
        for input_ in self.inputs:
            input_.want(field for field in fields if _gives(input_, field))

    def column(self, field: Field) -> Column:
        columns = [input_.column(field) for input_ in self.inputs if _gives(input_, field)]
        kinds = {column.kind for column in columns}
        kind = kinds.pop() if len(kinds) == 1 else "f" if kinds == {"i", "f"} else "o"
        missing = len(columns) < len(self.inputs) and field[0] not in ("part", "cell")
        return Column(kind, missing or any(column.nullable for column in columns))

    def take(self, w: Writer, env: Env, number: int) -> None:
        self.push(w, self.unified(w, env))

    def unified(self, w: Writer, env: Env) -> Env:
        """A match of one input with the fields of all of them."""
        found = Env({START: env[START]})
        for field in self.wanted:
            column = self.column(field)
            if field in env:
                found[field] = w.held(convert(self.unit, w, env[field], column.kind))
            elif field[0] == "part":
                found[field] = Code(str(-(2**62)), "True", "i")
            elif field[0] == "agg" and isinstance(field[1], typed.Aggregate) and field[1].name == "count":
                found[field] = Code("0", "True", "i")
            elif field[0] == "cell":
                found[field] = Code(NOTHING[column.kind], "True", column.kind)
            else:
                found[field] = nothing(column)
        return found


def _gives(input_: Operator, field: Field) -> bool:
    """True if an input has a field; only a part that stands for many has a chain of others."""
    if field[0] == "part" and field[2] == "more":
        return field[1] in input_.chains
    return input_.has(field)


class Distinct(Passing):
    """Matches, each once in a step. `spans` are scopes that distinguish matches."""

    def __init__(self, unit: Unit, pattern: typed.Pattern, input_: Operator, layer: int, spans: bool) -> None:
        super().__init__(unit, "distinct", input_, layer)
        self.fields: list[Field] = [("part", n, which) for n in range(input_.parts) for which in ("end", "k", "start")]
        self.fields += [("part", n, "more") for n in sorted(input_.chains)]
        self.fields += [("var", name) for name in sorted(visible_variables(pattern))]
        for label in sorted(visible_labels(pattern)):
            self.fields += [("time", label, "start"), ("time", label, "end")]
        if spans:
            ids = [each.id for each in patterns(typed.Body(pattern))]
            self.fields += [("span", id_, which) for id_ in ids for which in ("start", "end")]
        self.fields = [field for field in self.fields if input_.has(field)]
        input_.want(self.fields)

    def take(self, w: Writer, env: Env) -> None:
        # A step may come in pieces, and `k` is unique within one piece only: attributes of names distinguish events.
        more = [field for field in self.wanted if field[0] == "attr" and field not in self.fields]
        parts = group_parts([env[START], *(env[field] for field in [*self.fields, *more])])
        with w.block(f"if {first_seen(self, parts)}:"):
            self.push(w, env)


def first_seen(operator: Operator, parts: list[str]) -> str:
    """Source that is true if numbers are new in the current step."""
    parts = parts or ["0"]
    width = len(parts)
    seen = operator.structure("seen", Seen, seen_layout(width), width)
    operator.unit.keys(width)
    operator.unit.use(seen_function(width))
    return f"first_seen_{width}({', '.join([seen, 'clock.now', *parts])})"
