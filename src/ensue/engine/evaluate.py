"""The value of an operation on Python values: what generated code asks for, and remembers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ensue.language import typed
from ensue.values import apply, as_integer, as_text, calculate, compare, greatest, least


def operate(operation: typed.Operation, values: Sequence[Any]) -> Any:
    """The value of an operator or function; None is null."""
    name, terms = operation.name, operation.arguments
    match name:
        case "and" | "or":
            decisive = name == "or"
            if any(value is decisive for value in values):
                return decisive
            return None if any(value is None for value in values) else not decisive
        case "not":
            return None if values[0] is None else not values[0]
        case "=" | "!=" | "<" | "<=" | ">" | ">=":
            return compare(name, *values)
        case "+" | "-" | "*" | "/" | "//" | "%":
            return calculate(name, *values)
        case "is_null":
            return values[0] is None
        case "is_not_null":
            return values[0] is not None
        case "concat":
            return "".join(_text(v, t) for v, t in zip(values, terms, strict=True) if v is not None)
        case "string":
            return None if values[0] is None else _text(values[0], terms[0])
        case "coalesce":
            found = next((value for value in values if value is not None), None)
        case "least":
            found = least(list(values))
        case "greatest":
            found = greatest(list(values))
        case "nullif":
            found = None if compare("=", *values) is True else values[0]
        case "as i" | "as f" | "as b" | "as s" | "as o":
            return converted(values[0], name[-1])
        case _:
            found = apply(name, list(values))
    return float(found) if operation.type == "float" and isinstance(found, int) else found


def converted(value: Any, kind: str) -> Any:
    """A value as generated code holds one of a kind; None where it is no such value."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "i":
            return as_integer(value) if number else None
        case "f":
            return float(value) if number else None
        case "b":
            return value if isinstance(value, bool) else None
        case "s":
            return value if isinstance(value, str) else None
        case _:
            return value


def _text(value: Any, term: typed.Expression) -> str:
    return as_text(value, timestamp=term.type == "timestamp")
