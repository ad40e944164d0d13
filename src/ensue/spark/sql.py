"""SQL text: names, values and times as they stand in expressions of Spark.

Expressions are written as text because Spark takes it in one call; built from functions, each part of it is a call of
its own, and a program of a few rules has hundreds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

_DAY = 86_400_000_000
"""In microseconds."""


def quoted(name: str | None) -> str:
    """A name of a column.

    >>> quoted("a.b`c")
    '`a.b``c`'
    """
    return "`" + str(name).replace("`", "``") + "`"


def literal(value: str | int | float | bool) -> str:
    """A value. Text with signs that mean something in SQL is written byte by byte.

    >>> literal("tea"), literal("it's"), literal(True), literal(-3), literal(2.5)
    ("'tea'", "cast(X'69742773' as string)", 'true', '-3L', "double('2.5')")
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value}L" if value > -(2**63) else f"(-{2**63 - 1}L - 1L)"
    if isinstance(value, float):
        return f"double('{value!r}')" if math.isfinite(value) else f"double('{_word(value)}')"
    if any(sign in value for sign in "'\\$"):
        return f"cast(X'{value.encode().hex()}' as string)"
    return f"'{value}'"


def _word(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def among(column: str, values: Iterable[str]) -> str:
    """A condition: a column holds one of some texts.

    >>> among("type", ["a", "b"])
    "`type` in ('a', 'b')"
    """
    listed = ", ".join(map(literal, values))
    return f"{quoted(column)} in ({listed})" if listed else "false"


def numbered(column: str, values: Sequence[str]) -> str:
    """Index of the text that a column holds, as SQL.

    >>> numbered("type", ["a", "b"])
    "case `type` when 'a' then 0 when 'b' then 1 end"
    """
    cases = " ".join(f"when {literal(value)} then {number}" for number, value in enumerate(values))
    return f"case {quoted(column)} {cases} end"


def as_integer(time: str, type_: str) -> str:
    """A time, or an attribute of that kind, as the integer that it is in the engine; `type_` is its Spark type."""
    match type_:
        case "timestamp":
            return f"unix_micros({time})"
        case "timestamp_ntz":  # part by part: in the session's zone an hour may be missing, or come twice
            clock = f"(hour({time}) * 3600L + minute({time}) * 60L) * 1000000L"
            seconds = f"cast(extract(second from {time}) * 1000000 as bigint)"
            return f"({as_integer(f'cast({time} as date)', 'date')} + {clock} + {seconds})"
        case "date":
            return f"unix_date({time}) * {_DAY}L"
        case _:
            return f"try_cast({time} as bigint)"


def as_time(integer: int, type_: str) -> str:
    """A time of a Spark type from the integer that it is in the engine."""
    match type_:
        case "timestamp":
            return f"timestamp_micros({literal(integer)})"
        case "timestamp_ntz":
            return f"(timestamp_ntz'1970-01-01' + {literal(integer)} * interval '0.000001' second)"
        case _:
            return literal(integer)
