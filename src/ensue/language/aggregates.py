"""The aggregates: what each takes, gives and computes. An aggregate is one record in `AGGREGATES`.

`meaning` computes it from all values at once; `follows` says how an execution may keep up with values that come and go
without looking at all of them again. To add an aggregate is to add a record: with ``all`` it is computed from the
values that are collected, with ``moments`` from their number and the sum of their squared distances from the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

from ensue.language.types import NUMBERS, Type, is_list, list_of
from ensue.values import greatest, is_number, least, wrap

Follows = Literal["count", "sum", "mean", "moments", "least", "greatest", "first", "last", "all"]

Spread = Callable[[float, float], float]
"""Computes an aggregate of numbers from the sum of their squared distances from the mean, and their number."""


@dataclass(frozen=True)
class Aggregate:
    """An aggregate, with a sentence for the reference."""

    text: str
    type: Callable[[Type], Type | None]
    """The type that it gives for values of a type; None if it takes none such."""
    meaning: Callable[[list[Any]], Any]
    """Computes it from one value or more, none of them null, in the order of their events; None is null."""
    follows: Follows = "all"
    spread: Spread | None = None
    """With ``moments``: a function that becomes machine code, for two values or more; of one value it is null."""
    empty: Any = None
    """The aggregate of no values."""
    ordered: bool = False
    """True if it depends on the order of events."""


# --- types


def _count_type(argument: Type) -> Type:
    return "int"


def _sum_type(argument: Type) -> Type | None:
    return argument if argument in NUMBERS or argument in ("any", "null") else None


def _mean_type(argument: Type) -> Type | None:
    return "float" if argument in NUMBERS or argument in ("any", "null") else None


def _same_type(argument: Type) -> Type | None:
    return None if is_list(argument) else argument


def _list_type(argument: Type) -> Type | None:
    return None if is_list(argument) else list_of(argument)


# --- what they compute


def _of_numbers(compute: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """An aggregate that is null where one of the values is no number."""
    return lambda values: compute(values) if all(map(is_number, values)) else None


def _sum(values: list[Any]) -> Any:
    return wrap(sum(values)) if all(isinstance(v, int) for v in values) else _total(values)


def _mean(values: list[Any]) -> float:
    return _total(values) / len(values)


def _deviation(values: list[Any]) -> float | None:
    if len(values) < 2:
        return None
    mean = _mean(values)
    return math.sqrt(_total([(v - mean) * (v - mean) for v in values]) / (len(values) - 1))


def spread_deviation(squares: float, count: float) -> float:
    return sqrt(squares / (count - 1.0))


def _total(values: list[Any]) -> float:
    """The sum, exact before it is rounded once."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return sum(map(float, values))


AGGREGATES: dict[str, Aggregate] = {
    "count": Aggregate(
        "how many events (of a name) or values that are not null (of anything else)", _count_type, len, "count", empty=0
    ),
    "sum": Aggregate("the sum", _sum_type, _of_numbers(_sum), "sum"),
    "avg": Aggregate("the mean", _mean_type, _of_numbers(_mean), "mean"),
    "min": Aggregate("the smallest", _same_type, least, "least"),
    "max": Aggregate("the largest", _same_type, greatest, "greatest"),
    "stddev": Aggregate(
        "the standard deviation of the sample, null for one value", _mean_type, _of_numbers(_deviation), "moments",
        spread=spread_deviation,
    ),
    "first": Aggregate("the value of the first event", _same_type, lambda values: values[0], "first", ordered=True),
    "last": Aggregate("the value of the last event", _same_type, lambda values: values[-1], "last", ordered=True),
    "list": Aggregate("all values, in order", _list_type, tuple, ordered=True),
}  # fmt: skip


def aggregate(name: str, values: list[Any]) -> Any:
    """An aggregate over values in the order of their events; nulls have been left out.

    >>> aggregate("stddev", [1, 3, 5]), aggregate("count", []), aggregate("max", [])
    (2.0, 0, None)
    """
    record = AGGREGATES[name]
    return record.meaning(values) if values else record.empty
