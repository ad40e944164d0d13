"""The aggregates: their parameters, results and meanings. An aggregate is one record in `AGGREGATES`.

`meaning` computes it from all values at once; `follows` says how an execution may keep up with values that come and go
without looking at all of them again. To add an aggregate is to add a record: with ``all`` it is computed from the
values that are collected, with ``moments`` from their number and the sum of their squared distances from the mean, with
``rank`` from those at some place in their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import sqrt
from typing import Any, Literal

from ensue.language.semantics import greatest, identity, is_number, least, order, wrap
from ensue.language.types import NUMBERS, Type, is_list, list_of
from ensue.records import dataclass

Follows = Literal["count", "distinct", "sum", "mean", "moments", "rank", "least", "greatest", "first", "last", "all"]

Spread = Callable[[float, float], float]
"""Computes an aggregate of numbers from the sum of their squared distances from the mean, and their number."""


@dataclass(frozen=True)
class Aggregate:
    """An aggregate, with a sentence for the reference."""

    text: str
    type: Callable[[Type], Type | None]
    """The type that it gives for values of a type; None if it takes none such."""
    meaning: Callable[..., Any]
    """Computes it from one value or more, none of them null, in the order of their events, and from its constants;
    None is null."""
    follows: Follows = "all"
    spread: Spread | None = None
    """With ``moments``: a function that becomes machine code, for two values or more; of one value it is null."""
    empty: Any = None
    """The aggregate of no values."""
    ordered: bool = False
    """True if it depends on the order of events."""
    fraction: bool = False
    """True if it has a constant between 0 and 1 behind its argument."""


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


def _of_numbers(compute: Callable[..., Any]) -> Callable[..., Any]:
    """An aggregate that is null where one of the values is no number."""
    return lambda values, *constants: compute(values, *constants) if all(map(is_number, values)) else None


def _sum(values: list[Any]) -> Any:
    return wrap(sum(values)) if all(isinstance(v, int) for v in values) else _total(values)


def _mean(values: list[Any]) -> float:
    return _total(values) / len(values)


def _variance(values: list[Any]) -> float | None:
    if len(values) < 2:
        return None
    mean = _mean(values)
    if math.isinf(mean) and all(map(math.isfinite, values)):  # only their sum is too large
        mean = _total([v / len(values) for v in values])
    return _total([(v - mean) * (v - mean) for v in values]) / (len(values) - 1)


def _deviation(values: list[Any]) -> float | None:
    variance = _variance(values)
    return None if variance is None else math.sqrt(variance)


def spread_deviation(squares: float, count: float) -> float:
    return sqrt(squares / (count - 1.0))


def spread_variance(squares: float, count: float) -> float:
    return squares / (count - 1.0)


def _distinct(values: list[Any]) -> int:
    plain = {type(value) for value in values} in ({int}, {str}, {bool})
    return len(set(values) if plain else set(map(identity, values)))


def _quantile(values: list[Any], fraction: float = 0.5) -> float:
    """The value at a fraction of the way through all of them in order, between two in proportion."""
    ordered = sorted(values, key=order if any(value != value for value in values) else None)
    place = fraction * float(len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return between(float(ordered[below]), float(ordered[above]), place - float(below))


def between(low: float, high: float, share: float) -> float:
    """The number at a share of the way from one to another."""
    if share == 0.0 or low == high:
        return low
    return low * (1.0 - share) + high * share


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
    "count_distinct": Aggregate("how many different values", _count_type, _distinct, "distinct", empty=0),
    "sum": Aggregate("the sum", _sum_type, _of_numbers(_sum), "sum"),
    "avg": Aggregate("the mean", _mean_type, _of_numbers(_mean), "mean"),
    "min": Aggregate("the smallest", _same_type, least, "least"),
    "max": Aggregate("the largest", _same_type, greatest, "greatest"),
    "stddev": Aggregate(
        "the standard deviation of the sample, null for one value", _mean_type, _of_numbers(_deviation), "moments",
        spread=spread_deviation,
    ),
    "variance": Aggregate(
        "the variance of the sample, null for one value", _mean_type, _of_numbers(_variance), "moments",
        spread=spread_variance,
    ),
    "median": Aggregate("the value in the middle of all in order", _mean_type, _of_numbers(_quantile), "rank"),
    "quantile": Aggregate(
        "the value at a fraction of the way through all in order", _mean_type, _of_numbers(_quantile), "rank",
        fraction=True,
    ),
    "first": Aggregate("the value of the first event", _same_type, lambda values: values[0], "first", ordered=True),
    "last": Aggregate("the value of the last event", _same_type, lambda values: values[-1], "last", ordered=True),
    "list": Aggregate("all values, in order", _list_type, tuple, ordered=True),
}  # fmt: skip


def aggregate(name: str, values: list[Any], constants: tuple[float, ...] = ()) -> Any:
    """An aggregate over values in the order of their events; nulls have been left out.

    >>> aggregate("stddev", [1, 3, 5]), aggregate("count", []), aggregate("max", [])
    (2.0, 0, None)
    >>> aggregate("median", [3, 1, 2, 10]), aggregate("quantile", [3, 1, 2, 10], (1.0,))
    (2.5, 10.0)
    """
    record = AGGREGATES[name]
    return record.meaning(values, *constants) if values else record.empty
