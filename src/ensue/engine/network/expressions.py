"""Expressions as Python functions of an instance. None is null."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ensue.engine.network.instances import NONE, Instance
from ensue.language import typed
from ensue.language.functions import apply
from ensue.values import aggregate, as_text, calculate, compare, greatest, kind, least

if TYPE_CHECKING:
    from ensue.engine.knowledge import Knowledge

Value = Callable[[Instance], Any]

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def holding(conditions: tuple[typed.Expression, ...], knowledge: Knowledge) -> Callable[[Instance], bool]:
    """Whether all conditions are true of an instance: null is not true."""
    values = [value_of(condition, knowledge) for condition in conditions]
    if len(values) == 1:
        (only,) = values
        return lambda instance: only(instance) is True
    return lambda instance: all(value(instance) is True for value in values)


def value_of(expression: typed.Expression, knowledge: Knowledge) -> Value:
    """The function that gives an expression's value for an instance."""
    match expression:
        case typed.Constant(value=value):
            return lambda instance: value
        case typed.Variable(name=name):
            return lambda instance: instance.values[name]
        case typed.AttributeOf(label=label, attribute=attribute):
            return lambda instance: instance.labels[label][2].get(attribute)
        case typed.TimeOf(label=label, end=end):
            point = 1 if end else 0
            return lambda instance: instance.labels[label][point]
        case typed.Holds(predicate=predicate, arguments=terms):
            matter = [term is not None for term in terms]
            arguments = [value_of(typed.Constant(None, "null") if t is None else t, knowledge) for t in terms]
            return lambda instance: knowledge.held(predicate, [a(instance) for a in arguments], matter)
        case typed.Aggregate():
            return _aggregate(expression, knowledge)
        case typed.Operation():
            return _operation(expression, knowledge)


def _aggregate(expression: typed.Aggregate, knowledge: Knowledge) -> Value:
    name, path = expression.name, expression.path
    if expression.argument is None:
        return lambda instance: len(_rows(instance, path))
    argument = value_of(expression.argument, knowledge)

    def aggregated(instance: Instance) -> Any:
        values = [argument(row) for row in _rows(instance, path)]
        return aggregate(name, [value for value in values if value is not None])

    return aggregated


def _rows(instance: Instance, path: tuple[int, ...]) -> list[Instance]:
    """Each gathered instance at the end of the path, with everything known around it."""
    rows = [instance]
    for gathering in path:
        rows = [_within(row, member) for row in rows for member in row.gathered.get(gathering, ())]
    return rows


def _within(outer: Instance, member: Instance) -> Instance:
    return Instance(
        member.start, member.end, {**outer.values, **member.values}, {**outer.labels, **member.labels}, (), NONE,
        {**outer.gathered, **member.gathered}, member.sources,
    )  # fmt: skip


def _operation(operation: typed.Operation, knowledge: Knowledge) -> Value:
    name, terms = operation.name, operation.arguments
    arguments = [value_of(term, knowledge) for term in terms]
    match name:
        case "and" | "or":
            return _logic(name == "or", arguments)
        case "if_else":
            condition, then, otherwise = arguments
            return lambda i: then(i) if condition(i) is True else otherwise(i)
        case "not":
            (one,) = arguments
            return lambda i: None if (value := one(i)) is None else not value
        case "=" | "!=" | "<" | "<=" | ">" | ">=":
            return _comparison(name, *arguments)
        case "+" | "-" | "*" | "/" | "//" | "%":
            left, right = arguments
            return lambda i: calculate(name, left(i), right(i))
        case "is_null":
            (one,) = arguments
            return lambda i: one(i) is None
        case "is_not_null":
            (one,) = arguments
            return lambda i: one(i) is not None
        case "concat":
            texts = [_text(argument, term) for argument, term in zip(arguments, terms, strict=True)]
            return lambda i: "".join(text for each in texts if (text := each(i)) is not None)
        case "string":
            return _text(arguments[0], terms[0])
        case "coalesce":
            function: Callable[[list[Any]], Any] = _coalesce
        case "least":
            function = least
        case "greatest":
            function = greatest
        case "nullif":
            function = _nullif
        case _:
            return _typed(operation.type, lambda i: apply(name, [argument(i) for argument in arguments]))
    return _typed(operation.type, lambda i: function([argument(i) for argument in arguments]))


def _typed(type_: str, value: Value) -> Value:
    if type_ != "float":
        return value
    return lambda i: float(found) if isinstance(found := value(i), int) else found


def _logic(decisive: bool, arguments: list[Value]) -> Value:
    def logic(instance: Instance) -> Any:
        unknown = False
        for argument in arguments:
            value = argument(instance)
            if value is decisive:
                return decisive
            unknown = unknown or value is None
        return None if unknown else not decisive

    return logic


def _comparison(name: str, left: Value, right: Value) -> Value:
    operate = COMPARISONS[name]

    def compared(instance: Instance) -> Any:
        one, other = left(instance), right(instance)
        if one is None or other is None:
            return None
        if type(one) is type(other) or kind(one) == kind(other):
            return bool(operate(one, other))
        return compare(name, one, other)

    return compared


def _text(argument: Value, term: typed.Expression) -> Value:
    timestamp = term.type == "timestamp"
    return lambda i: None if (value := argument(i)) is None else as_text(value, timestamp=timestamp)


def _coalesce(values: list[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _nullif(values: list[Any]) -> Any:
    return None if compare("=", *values) is True else values[0]
