"""One Python value as one of the five attribute types; None where it is not one and does not become one without loss.

Rows that are dicts may hold anything, so their columns are read value by value where Arrow has no type for the mixture.
Timestamps are microseconds since the epoch.
"""

import re
import sys
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from ensue.data.iso import micros_of_moment, micros_of_text

LARGEST = 2**63 - 1
SMALLEST = -(2**63)

# JSON has no numbers for these; they are written, and read again, as these strings, also where nothing is declared.
FLOAT_WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}

_FLOAT_TEXT = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*(e[+-]?[0-9]+)?|\.[0-9]+(e[+-]?[0-9]+)?|nan|inf|infinity)", re.IGNORECASE
)
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_INT_TEXT = re.compile(r"(?P<sign>[+-]?)(?P<digits>[0-9]+)(\.0*)?")


def as_int(value: object) -> int | None:
    """
    >>> as_int(3.0), as_int(3.5), as_int(True), as_int("3"), as_int(2**63)
    (3, None, None, 3, None)
    """
    match value:
        case bool():
            return None
        case str():
            return as_int_text(value)
        case int():
            whole = value
        case float() if value.is_integer():
            whole = int(value)
        case Decimal() if value.is_finite() and value.adjusted() < 20 and value == value.to_integral_value():
            whole = int(value)
        case _:
            return None
    return whole if SMALLEST <= whole <= LARGEST else None


def as_int_text(text: str) -> int | None:
    """The integer that a text holds.

    >>> as_int_text(" -12 "), as_int_text("12.0"), as_int_text("12.5"), as_int_text("9" * 30)
    (-12, 12, None, None)
    """
    match = _INT_TEXT.fullmatch(text.strip())
    # Python refuses to read thousands of digits; without leading zeros, 64 bits are nineteen of them.
    digits = match["digits"].lstrip("0") or "0" if match else ""
    return as_int(int(match["sign"] + digits)) if match and len(digits) < 20 else None


def as_float(value: object) -> float | None:
    """
    >>> as_float(3), as_float(Decimal("0.5")), as_float("-Infinity"), as_float("3"), as_float("x")
    (3.0, 0.5, -inf, 3.0, None)
    """
    match value:
        case bool():
            return None
        case int() | float() | Decimal():
            try:
                return float(value)
            except (OverflowError, ValueError):
                return None
        case str():
            return as_float_text(value)
        case _:
            return None


def as_float_text(text: str) -> float | None:
    """The number that a text holds.

    >>> as_float_text(" 2.5"), as_float_text("1e3"), as_float_text("nan"), as_float_text("2,5")
    (2.5, 1000.0, nan, None)
    """
    stripped = text.strip()
    return float(stripped) if _FLOAT_TEXT.fullmatch(stripped) else None


def as_string(value: object) -> str | None:
    """
    >>> as_string("a"), as_string(1), as_string(True), as_string(1.5)
    ('a', '1', 'true', None)
    """
    match value:
        case str():
            return value if is_text(value) else None
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if SMALLEST <= value <= LARGEST else None
        case _:
            return None


def is_text(value: str) -> bool:
    """True if a string can be stored: half a surrogate pair is no character.

    >>> is_text("é"), is_text("\\ud800")
    (True, False)
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_bool(value: object) -> bool | None:
    """
    >>> as_bool(False), as_bool(0), as_bool(1.0), as_bool("True"), as_bool(2)
    (False, False, True, True, None)
    """
    match value:
        case bool():
            return value
        case str():
            return _TRUTH.get(value.strip().lower())
        case int() | float() if value in (0, 1):
            return bool(value)
        case _:
            return None


def as_timestamp(value: object) -> int | None:
    """
    >>> as_timestamp(date(1970, 1, 2)), as_timestamp("1970-01-01T00:00:01Z"), as_timestamp(5), as_timestamp("5")
    (86400000000, 1000000, 5, None)
    """
    return as_moment(value) if isinstance(value, date | str) else as_int(value)


def as_moment(value: object) -> int | None:
    """A timestamp in microseconds, from a value that can only be one; a bare number cannot.

    >>> as_moment("1970-01-01T00:00:01Z"), as_moment(5)
    (1000000, None)
    """
    match value:
        case date():
            micros = micros_of_moment(value)
            return micros if micros is not None and SMALLEST <= micros <= LARGEST else None
        case str():
            return micros_of_text(value)
        case _:
            return None


READERS: dict[str, Callable[[object], Any]] = {
    "int": as_int,
    "float": as_float,
    "string": as_string,
    "bool": as_bool,
    "timestamp": as_timestamp,
}

_BUILT_IN = frozenset({int, float, str, bool, datetime, date, Decimal, list, tuple, dict, bytes, type(None)})


def plain(value: Any) -> Any:
    """A value without NumPy's and pandas's own types around it; their marks for a missing value are None.

    >>> class Colour(str): pass
    >>> type(plain(Colour("red")))
    <class 'str'>
    """
    kind = type(value)
    if kind in _BUILT_IN:
        return value
    if kind.__name__ in ("NAType", "NaTType") and kind.__module__.startswith("pandas"):
        return None
    if kind.__module__ == "numpy" and "numpy" in sys.modules:
        return _from_numpy(value, sys.modules["numpy"])
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    return value


def _from_numpy(value: Any, numpy: Any) -> Any:
    if isinstance(value, numpy.datetime64):
        return value.astype("datetime64[us]").item()
    return value.tolist()
