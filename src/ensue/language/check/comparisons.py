"""Comparisons of values, `in`, `between`, `like`, `is null`, and `case`, which chooses by them."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import NamedTuple

from ensue.language import syntax, typed
from ensue.language.check.lengths import mix_units
from ensue.language.check.names import Names
from ensue.language.check.phrases import a, converted
from ensue.language.check.scope import Scope
from ensue.language.source import Span
from ensue.language.types import NUMBERS, TIMES, Type, common, comparable, is_list

UNKNOWN = typed.Constant(None, "any")
"""Stands where something was wrong and has been reported; of any type, so that no error follows from it."""


class Side(NamedTuple):
    """One side of a comparison, and where it stands."""

    value: typed.Expression
    span: Span


class Comparisons(Names):
    """Checks comparisons; `expressions.Expressions` adds all other expressions."""

    @abstractmethod
    def resolve(self, node: syntax.Expression, scope: Scope, aggregates: bool = True) -> typed.Expression:
        """An expression with its type."""

    @abstractmethod
    def condition(self, node: syntax.Expression, scope: Scope, aggregates: bool = True) -> typed.Expression:
        """An expression that must be true or false."""

    def wrong_type(self, span: Span, wanted: Type, given: Type, hint: str | None = None) -> None:
        self.report.error("E202", span, f"{a(wanted)} is needed here, this is {a(given)}", hint or converted(wanted))

    def comparison(self, node: syntax.Comparison, scope: Scope, aggregates: bool) -> typed.Expression:
        self._report_many(node, scope)
        left, right = self.resolve(node.left, scope, aggregates), self.resolve(node.right, scope, aggregates)
        return self._compared(node.operator, Side(left, node.left.span), Side(right, node.right.span), node.span)

    def _report_many(self, node: syntax.Comparison, scope: Scope) -> None:
        """Report a comparison of a collected variable, which has many values, and suggest an aggregate."""
        extreme = {">": "min", ">=": "min", "<": "max", "<=": "max"}.get(node.operator)
        if extreme is None or not isinstance(node.left, syntax.Name) or self.incomplete:
            return
        name = node.left.text
        known = scope.find_variable(name) or scope.find_label(name) or name in scope.partial
        if not known and name in scope.all_gathered() and self.is_news(name):
            other = self.report.source.text[node.right.span.start : node.right.span.end]
            self.report.error(
                "E301", node.left.span, f"`{name}` belongs to collected events and has many values",
                f"for all, write `{extreme}({name}) {node.operator} {other}`; to leave some out, filter inside: "
                "`collect (p where …)`",
            )  # fmt: skip

    def _compared(self, operator: str, one: Side, other: Side, span: Span) -> typed.Expression:
        """A comparison of two values, which must have types that can be compared."""
        pair = self._comparable(one, other, span)
        if pair is None:
            return UNKNOWN
        if is_null(pair[1]):
            self.report.error(
                "E202", other.span, "nothing is equal to null, so this never holds",
                "write `x is null` or `x is not null`",
            )  # fmt: skip
        return typed.Operation(operator, pair, "bool")

    def _comparable(self, one: Side, other: Side, span: Span) -> tuple[typed.Expression, typed.Expression] | None:
        """Two values as they are compared, text as a moment beside a timestamp; None if they cannot be."""
        left, right = self._beside(one, other), self._beside(other, one)
        if is_list(left.type) or is_list(right.type):
            hint = "compare an aggregate instead, such as `count` or `max`"
            self.report.error("E202", span, "a list cannot be compared", hint)
            return None
        if {left.type, right.type} == {"int", "timestamp"} or not comparable(left.type, right.type):
            self.report.error(
                "E202", span, f"{a(left.type)} cannot be compared with {a(right.type)}", _comparable(left, right)
            )
            return None
        self.note_units(left, right)
        return left, right

    def note_units(self, *values: typed.Expression) -> None:
        """Have integer times of another unit refused, if values count microseconds and the program's unit."""
        if mix_units(values):
            self.declarations.mixed = True

    def _beside(self, one: Side, other: Side) -> typed.Expression:
        found = one.value
        if isinstance(found, typed.Constant) and isinstance(found.value, str) and other.value.type in TIMES:
            found = typed.Constant(self.declarations.timestamp(found.value, one.span), "timestamp")
        return self.in_time(found, one.span) if other.value.type == "time" else found

    def in_time(self, found: typed.Expression, span: Span) -> typed.Expression:
        """A value beside a time of an event: a constant timestamp in the unit of these."""
        if not isinstance(found, typed.Constant) or found.type != "timestamp" or not isinstance(found.value, int):
            return found
        self.declarations.durations = True  # so that integer times without a unit are refused
        return typed.Constant(self.declarations.in_units(found.value, span), "timestamp")

    def condition_of_words(
        self, node: syntax.Among | syntax.InRange | syntax.Like | syntax.IsNull, scope: Scope, aggregates: bool
    ) -> typed.Expression:
        """`in`, `between`, `like` or `is null`, as if it were not negated."""
        operand = Side(self.resolve(node.operand, scope, aggregates), node.operand.span)

        def side(part: syntax.Expression) -> Side:
            return Side(self.resolve(part, scope, aggregates), part.span)

        match node:
            case syntax.Among(values=values):
                pairs = [self._comparable(operand, side(value), value.span) for value in values]
                if any(pair is None for pair in pairs):
                    return UNKNOWN
                found = [pair for pair in pairs if pair is not None]
                return typed.Operation("in", (found[0][0], *(value for _, value in found)), "bool")
            case syntax.InRange(low=low, high=high):
                first = self._compared(">=", operand, side(low), low.span)
                second = self._compared("<=", operand, side(high), high.span)
                return UNKNOWN if UNKNOWN in (first, second) else typed.Operation("and", (first, second), "bool")
            case syntax.Like(word=word, pattern=pattern):
                parts = (operand, side(pattern))
                for part in parts:
                    if part.value.type not in ("string", "any", "null"):
                        self.wrong_type(part.span, "string", part.value.type)
                        return UNKNOWN
                return typed.Operation(word, tuple(part.value for part in parts), "bool")
            case syntax.IsNull():
                if is_list(operand.value.type):
                    self.wrong_type(operand.span, "value", operand.value.type)
                    return UNKNOWN
                return typed.Operation("is_null", (operand.value,), "bool")

    def case(self, node: syntax.Case, scope: Scope, aggregates: bool) -> typed.Expression:
        """Alternatives by conditions, the first that holds: each is `if_else` with the next in its last place."""
        conditions: list[typed.Expression] = []
        if node.operand is None:
            conditions = [self.condition(branch.condition, scope, aggregates) for branch in node.branches]
        else:
            operand = Side(self.resolve(node.operand, scope, aggregates), node.operand.span)
            for branch in node.branches:
                other = Side(self.resolve(branch.condition, scope, aggregates), branch.condition.span)
                conditions.append(self._compared("=", operand, other, other.span))
        values = [branch.value for branch in node.branches]
        values += [node.otherwise] if node.otherwise is not None else []
        found = [self.resolve(value, scope, aggregates) for value in values]
        type_: Type | None = "null"
        for node_of_value, value in zip(values, found, strict=True):
            type_ = None if type_ is None or is_list(value.type) else common(type_, value.type)
            if type_ is None:
                self.report.error(
                    "E202", node_of_value.span, "the values of this `case` have no type in common",
                    "convert them to one type: `int(…)`, `float(…)` or `string(…)`",
                )  # fmt: skip
                return UNKNOWN
        self.note_units(*found)
        if type_ == "time":
            found = [self.in_time(value, each.span) for each, value in zip(values, found, strict=True)]
        result: typed.Expression = found.pop() if node.otherwise is not None else typed.Constant(None, "null")
        for condition, value in zip(reversed(conditions), reversed(found), strict=True):
            result = typed.Operation("if_else", (condition, value, result), type_ or "null")
        return result


def is_null(expression: typed.Expression) -> bool:
    """True if an expression is the constant null, as it is written."""
    return isinstance(expression, typed.Constant) and expression.value is None and expression.type == "null"


def _comparable(left: typed.Expression, right: typed.Expression) -> str:
    """Hint that makes two values comparable."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, typed.Constant) and other.type in NUMBERS and re.fullmatch(r"[\d.]+", str(one.value)):
            return f"without the quotes it is a number: `{one.value}`"
        if isinstance(one, typed.Constant) and other.type == "bool" and str(one.value).lower() in ("true", "false"):
            return f"write `{str(one.value).lower()}` without quotes"
    return "convert one of them: `int(…)`, `float(…)`, `string(…)` or `timestamp(…)`"
