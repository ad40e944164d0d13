"""Semantics of values: equality, order and arithmetic, with SQL's nulls. `ensue.language.functions` has functions.

None is null. A comparison with null is null, and so is nearly every function of it; NaN equals nothing, and comes last
in an order. Integers are 64 bits wide and wrap around. 0.0 and -0.0 are equal and cannot be distinguished: in text and
in derived events it is 0.0.
"""

from __future__ import annotations

import math
import operator as operators
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "=": operators.eq, "!=": operators.ne,
    "<": operators.lt, "<=": operators.le, ">": operators.gt, ">=": operators.ge,
}  # fmt: skip

SAME = frozenset({"int", "string", "bool", "timestamp"})
"""The types of which equal values are the same, however they are written."""


def wrap(number: int) -> int:
    """An integer in 64 bits, as two's complement has it."""
    return (number + 2**63) % 2**64 - 2**63


def kind(value: Any) -> int:
    """Values of different kinds are never equal and not comparable: truth, numbers, text, lists."""
    match value:
        case bool():
            return 0
        case int() | float():
            return 1
        case str():
            return 2
        case _:
            return 3


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def equality(value: Any) -> Any:
    """A key that is equal exactly for values that are equal; None where nothing is."""
    return None if value is None or is_nan(value) else (kind(value), _plain(value))


def identity(value: Any) -> Any:
    """A key for values that are the same, where null is the same as null: groups, and derived events."""
    if value is None:
        return ("null",)
    if isinstance(value, tuple):
        return ("list", *map(identity, value))
    return ("nan",) if is_nan(value) else (kind(value), _plain(value))


def held(value: Any, type_: str) -> Any:
    """A value as a derived event holds it, so that equal ones are the same.

    >>> held(1, "float"), held(-0.0, "float"), held((-0.0, 1.5), "list<float>"), held(None, "float")
    (1.0, 0.0, (0.0, 1.5), None)
    """
    match value:
        case float():
            return value + 0.0
        case tuple():
            return tuple(held(item, type_.removeprefix("list<").removesuffix(">")) for item in value)
        case int() if type_ == "float" and not isinstance(value, bool):
            return float(value)
    return value


def order(value: Any) -> Any:
    """A key for the order of values: nulls first, lists behind other values, NaN last."""
    if value is None:
        return (0,)
    if is_nan(value):
        return (2,)
    if isinstance(value, tuple):
        return (1, kind(value), 1, tuple(map(order, value)))
    return (1, kind(value), 0, _plain(value))


def _plain(value: Any) -> Any:
    """A value that can be compared and looked up: nested ones, which only undeclared events carry, go by their text."""
    return value if isinstance(value, int | float | str | tuple) else repr(value)


def compare(operator: str, left: Any, right: Any) -> bool | None:
    """Compare two values; null where one is null, or their kinds have no order.

    >>> compare("<", 1, 2.5), compare("=", 1, "1"), compare("<", [1], ["a"])
    (True, None, None)
    """
    if left is None or right is None or kind(left) != kind(right):
        return None
    try:
        return bool(COMPARED[operator](left, right))
    except TypeError:  # nested values, which only undeclared events carry
        return None


def among(value: Any, *others: Any) -> bool | None:
    """Equal to one of several; null where it is equal to none, and null or not comparable to one of them.

    >>> among(1, 1, None), among(2, 1, None), among(2, 1, 3)
    (True, None, False)
    """
    found = [compare("=", value, other) for other in others]
    return True if True in found else None if None in found else False


def calculate(operator: str, left: Any, right: Any) -> Any:
    if not (is_number(left) and is_number(right)):
        return None
    whole = isinstance(left, int) and isinstance(right, int)
    match operator:
        case "+":
            return wrap(left + right) if whole else left + right
        case "-":
            return wrap(left - right) if whole else left - right
        case "*":
            return wrap(left * right) if whole else left * right
        case "/" | "//" | "%" if right == 0:
            return None
        case "/":
            return float(left) / float(right)
        case "//":
            return wrap(left // right) if whole else floating(lambda: left // right)
        case "%":
            return left % right if whole else floating(lambda: left % right)
        case _:
            raise LookupError(f"there is no operator {operator}")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def floating(compute: Callable[[], float]) -> float | None:
    try:
        return compute()
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return None


def as_text(value: Any, timestamp: bool = False) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if timestamp and isinstance(value, int):
        return (EPOCH + timedelta(microseconds=value)).isoformat().replace("+00:00", "Z")
    return str(value + 0.0 if isinstance(value, float) else value)


def as_integer(value: Any) -> int | None:
    try:
        if isinstance(value, str):
            value = int(value.strip()) if re.fullmatch(r"\s*[+-]?\d+\s*", value) else float(value)
        found = int(value)
    except (ValueError, OverflowError, TypeError):
        return None
    return found if -(2**63) <= found < 2**63 else None


def as_float(value: Any) -> float | None:
    try:
        return float(value)
    except (ValueError, TypeError):
        return None


def as_timestamp(value: Any) -> int | None:
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        return (found - EPOCH) // timedelta(microseconds=1)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def rounded(value: float, decimals: int = 0) -> Any:
    """Round to a number of decimals, halves away from zero."""
    if isinstance(value, int):
        if decimals >= 0:
            return value
        if decimals < -18:
            return 0
        unit = 10**-decimals
        return wrap((abs(value) + unit // 2) // unit * unit * (1 if value >= 0 else -1))
    if not math.isfinite(value) or decimals > 300:
        return value
    scale = 10.0**decimals
    scaled = abs(value) * scale
    if not math.isfinite(scaled) or scale == 0.0:
        return value if scale else 0.0
    return math.copysign(math.floor(scaled + 0.5) / scale, value)


def least(values: list[Any]) -> Any:
    return min((v for v in values if v is not None), key=order, default=None)


def greatest(values: list[Any]) -> Any:
    return max((v for v in values if v is not None), key=order, default=None)
