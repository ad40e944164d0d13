"""Units of lengths of time: differences of timestamps count microseconds, all other lengths the program's unit."""

from __future__ import annotations

from collections.abc import Iterable

from ensue.language import typed
from ensue.language.types import TIMES

MICROSECONDS = "microseconds"
OWN = "the program's unit"

_KEEPING = frozenset({"+", "-", "neg", "abs", "round", "least", "greatest", "coalesce", "nullif", "if_else"})
"""Operators and functions whose result is in the unit of their arguments; others may convert."""


def units_of(expression: typed.Expression | None) -> frozenset[str]:
    """The units that a number may count in; none where it is a plain number, or nothing is known."""
    match expression:
        case typed.Constant(timed=True):
            return frozenset({OWN})
        case typed.Operation(name="-", arguments=(left, right)) if left.type in TIMES and right.type in TIMES:
            return frozenset({MICROSECONDS if left.type == right.type == "timestamp" else OWN})
        case typed.Operation(name=name, type=type_) if name not in _KEEPING or type_ in TIMES:
            return frozenset()
        case typed.Operation(name="if_else", arguments=(_, *values)) | typed.Operation(arguments=values):
            return frozenset().union(*map(units_of, values))
        case typed.Aggregate(name=name, argument=argument) if name != "count":
            return units_of(argument)
        case _:
            return frozenset()


def mix_units(values: Iterable[typed.Expression]) -> bool:
    """True if values that are compared, added or chosen from mix two units of time.

    Constant timestamps are converted to the unit of times that they stand beside.
    """
    found = list(values)
    times = {value.type for value in found if not isinstance(value, typed.Constant)}
    return times >= TIMES or len(frozenset().union(*map(units_of, found))) > 1
