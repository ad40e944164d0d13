"""The functions of expressions: their parameters, results and meanings. A function is one record in `FUNCTIONS`.

A parameter is a type, or one of three groups: ``number`` (int or float), ``time`` (a timestamp, or the start or end of
an event) and ``value`` (anything that can be compared). A trailing ``...`` repeats the last parameter. A result of
``same`` is the common type of the arguments marked with a group; ``number`` arguments of type any give any. Every
execution computes a function by its meaning, or has machine code that does the same: of a function that is marked
`machine` the meaning itself becomes machine code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ensue import regex
from ensue.language import calendar
from ensue.language.hashing import stable_hash
from ensue.language.like import is_like, is_like_in_any_case
from ensue.language.semantics import (
    as_float,
    as_integer,
    as_text,
    as_timestamp,
    calculate,
    compare,
    floating,
    greatest,
    is_nan,
    is_number,
    least,
    rounded,
    wrap,
)
from ensue.language.types import Type, common
from ensue.records import dataclass

Meaning = Callable[..., Any]
"""Computes a function from the values of its arguments; None is null."""


@dataclass(frozen=True)
class Signature:
    """Signature of a function: types of its parameters and result, with a sentence for the reference pages."""

    parameters: tuple[str, ...]
    result: str
    text: str
    meaning: Meaning
    optional: int = 0
    """Number of parameters at the end that may be left out."""
    nulls: bool = False
    """True if the meaning takes nulls, too; if not, a null among the arguments makes the result null."""
    texts: bool = False
    """True if the meaning takes its arguments as text."""
    machine: bool = False
    """True if the meaning is a function that can become machine code. Its annotations are all int, float or bool, it
    uses only operations of machine code, and is never null."""
    pattern: int | None = None
    """The place of the argument that is a regular expression."""
    zone: int | None = None
    """The place of the argument that is the name of a time zone."""
    span: int | None = None
    """The place of the argument that is the word for a span of the calendar."""
    per: int | None = None
    """Microseconds by which a length of time is divided; the checker, which knows the unit, adds the division."""
    many: Callable[..., list[Any]] | None = None
    """Computes the function of many first arguments, which are strings, with the same others: a list of the results,
    where one call costs much more than one result."""

    @property
    def variadic(self) -> bool:
        return self.parameters[-1] == "..."

    def accepts(self, count: int) -> bool:
        if self.variadic:
            return count >= len(self.parameters) - 1
        return len(self.parameters) - self.optional <= count <= len(self.parameters)

    def parameter(self, index: int) -> str:
        fixed = self.parameters[:-1] if self.variadic else self.parameters
        return fixed[min(index, len(fixed) - 1)]

    def arity(self) -> str:
        """Number of arguments that it takes, in words."""
        if self.variadic:
            return f"{_counted(len(self.parameters) - 1)} or more"
        most = len(self.parameters)
        return _counted(most) if not self.optional else f"{most - self.optional} or {_counted(most)}"

    def shown(self, name: str) -> str:
        """Show a call of it, with the types of its parameters.

        >>> FUNCTIONS["substring"].shown("substring")
        'substring(string, int[, int])'
        """
        fixed = list(self.parameters[:-1] if self.variadic else self.parameters)
        needed, optional = fixed[: len(fixed) - self.optional], fixed[len(fixed) - self.optional :]
        text = ", ".join(needed) + "".join(f"[, {parameter}]" for parameter in optional)
        return f"{name}({text}{', …' if self.variadic else ''})"


def _counted(count: int) -> str:
    return f"{count} argument{'s' if count != 1 else ''}"


def _f(parameters: str, result: str, text: str, meaning: Meaning, optional: int = 0, **flags: Any) -> Signature:
    return Signature(tuple(parameters.split()), result, text, meaning, optional, **flags)


# --- meanings of functions


def substring(text: str, position: int, length: int | None = None) -> str:
    """Characters from a position on, the first being 1; positions before the first give no characters."""
    end = len(text) + 1 if length is None else position + max(0, length)
    return text[max(1, position) - 1 : max(1, end) - 1]


def _left(text: str, count: int) -> str:
    return text[: max(0, count)]


def _right(text: str, count: int) -> str:
    return text[len(text) - min(len(text), max(0, count)) :]


def _replace(text: str, old: str, new: str) -> str:
    return text.replace(old, new) if old else text


def _integer_of(function: Callable[[float], int]) -> Meaning:
    def apply(value: Any) -> int | None:
        return value if isinstance(value, int) else as_integer(function(value)) if math.isfinite(value) else None

    return apply


def _logarithm(function: Callable[[float], float]) -> Meaning:
    return lambda value: function(value) if value > 0 else None if not is_nan(value) else math.nan


def _power(base: Any, exponent: Any) -> float | None:
    """Null where there is no real number: of zero to a negative exponent, of a negative number to a fraction."""
    base, exponent = float(base), float(exponent)
    if base < 0 and math.isfinite(base) and math.isfinite(exponent) and not exponent.is_integer():
        return None
    return floating(lambda: base**exponent)


def _absolute(x: Any) -> Any:
    return wrap(abs(x)) if isinstance(x, int) else abs(x)


def _least(*values: Any) -> Any:
    return least(list(values))


def _greatest(*values: Any) -> Any:
    return greatest(list(values))


def _concat(*texts: str | None) -> str:
    return "".join(text for text in texts if text is not None)


def _if_else(condition: Any, one: Any, other: Any) -> Any:
    return one if condition is True else other


def _coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _nullif(one: Any, other: Any) -> Any:
    return None if compare("=", one, other) is True else one


def _negated(x: Any) -> Any:
    return (wrap(-x) if isinstance(x, int) else -x) if is_number(x) else None


def _extract(text: str, pattern: str, group: int | None = None) -> str | None:
    return extract_all([text], pattern, group)[0]


def extract_all(texts: Sequence[str], pattern: str, group: int | None = None) -> list[str | None]:
    """A group of the first place that matches in each text; without a number the first, or all if there are none."""
    if regex.problem(pattern) is not None:
        return [None] * len(texts)
    groups = regex.count_groups(pattern)
    number = min(groups, 1) if group is None else group
    if not 0 <= number <= groups:
        return [None] * len(texts)
    return [None if found is None else found[number] for found in regex.groups_all(texts, pattern)]


def _split(text: str, separator: str, number: int) -> str | None:
    """A part of a text between separators; the first is 1, the last -1. Null where there is none."""
    parts = text.split(separator) if separator else [text]
    if number == 0 or not -len(parts) <= number <= len(parts):
        return None
    return parts[number - 1 if number > 0 else number]


LONGEST_PADDED = 1_000_000
"""No text is filled up to more characters."""


def _padding(text: str, length: int, fill: str) -> str | None:
    """The padding that is missing to a length; None if that is too long."""
    missing = max(0, length - len(text)) if fill else 0
    return None if length > LONGEST_PADDED else (fill * (missing // len(fill or " ") + 1))[:missing]


def _lpad(text: str, length: int, fill: str = " ") -> str | None:
    padding = _padding(text, length, fill)
    return None if padding is None else padding + text[: max(0, length)]


def _rpad(text: str, length: int, fill: str = " ") -> str | None:
    padding = _padding(text, length, fill)
    return None if padding is None else text[: max(0, length)] + padding


def _part(name: str, text: str) -> Signature:
    return _f("time string", "int", text, calendar.part(name), 1, zone=1)


def _length(word: str, size: int) -> Signature:
    return _f("number", "float", f"a difference of times in {word}", lambda d: float(d) / size, per=size)


FUNCTIONS: dict[str, Signature] = {
    # numbers
    "abs": _f("number", "same", "the absolute value", _absolute),
    "sign": _f("number", "int", "-1, 0 or 1", lambda x: None if is_nan(x) else (x > 0) - (x < 0)),
    "round": _f("number int", "same", "to so many decimals (none if left out), halves away from zero", rounded, 1),
    "floor": _f("number", "int", "the largest integer not above", _integer_of(math.floor)),
    "ceil": _f("number", "int", "the smallest integer not below", _integer_of(math.ceil)),
    "trunc": _f("number", "int", "without its decimals", _integer_of(math.trunc)),
    "sqrt": _f("number", "float", "the square root; null below zero", lambda x: None if x < 0 else math.sqrt(x)),
    "exp": _f("number", "float", "e to that power", lambda x: floating(lambda: math.exp(x))),
    "ln": _f("number", "float", "the natural logarithm; null at or below zero", _logarithm(math.log)),
    "log10": _f("number", "float", "the decimal logarithm; null at or below zero", _logarithm(math.log10)),
    "power": _f("number number", "float", "the first to the power of the second", _power),
    "mod": _f(
        "number number", "same", "the remainder, as `%`: it has the sign of the divisor",
        lambda x, y: calculate("%", x, y),
    ),
    "hash": _f("value", "int", "a number that is the same for equal values, everywhere and for ever", stable_hash),
    "is_nan": _f("number", "bool", "whether it is not a number", is_nan),
    # any value
    "least": _f("value value ...", "same", "the smallest of the arguments, without nulls", _least, nulls=True),
    "greatest": _f("value value ...", "same", "the largest of the arguments, without nulls", _greatest, nulls=True),
    "coalesce": _f("value value ...", "same", "the first argument that is not null", _coalesce, nulls=True),
    "nullif": _f("value value", "same", "null if both are equal, else the first", _nullif, nulls=True),
    "is_null": _f("value", "bool", "whether it is null", lambda value: value is None, nulls=True),
    "is_not_null": _f("value", "bool", "whether it is not null", lambda value: value is not None, nulls=True),
    "if_else": _f(
        "bool value value", "same", "the second argument where the first is true, else the third", _if_else, nulls=True
    ),
    # strings
    "lower": _f("string", "string", "in lower case", str.lower),
    "upper": _f("string", "string", "in upper case", str.upper),
    "length": _f("string", "int", "how many characters", len),
    "trim": _f("string", "string", "without spaces at both ends", lambda text: text.strip(" ")),
    "ltrim": _f("string", "string", "without spaces at the beginning", lambda text: text.lstrip(" ")),
    "rtrim": _f("string", "string", "without spaces at the end", lambda text: text.rstrip(" ")),
    "left": _f("string int", "string", "the first so many characters", _left),
    "right": _f("string int", "string", "the last so many characters", _right),
    "substring": _f(
        "string int int", "string", "from a position (the first is 1), so many characters or the rest", substring, 1
    ),
    "replace": _f(
        "string string string", "string", "with each occurrence of the second replaced by the third", _replace
    ),
    "concat": _f(
        "value ...", "string", "the arguments one after the other as text, without nulls", _concat, nulls=True,
        texts=True,
    ),
    "starts_with": _f("string string", "bool", "whether it begins with the second", str.startswith),
    "ends_with": _f("string string", "bool", "whether it ends with the second", str.endswith),
    "contains": _f("string string", "bool", "whether the second occurs in it", lambda text, part: part in text),
    "matches": _f(
        "string string", "bool", "whether the regular expression is found in it", regex.search, pattern=1,
        many=regex.search_all,
    ),
    "extract": _f(
        "string string int", "string",
        "a group of the regular expression where it is first found (without a number the first group, or all of it)",
        _extract, 1, pattern=1, many=extract_all,
    ),
    "split": _f("string string int", "string", "a part between separators: the first is 1, the last -1", _split),
    "lpad": _f("string int string", "string", "filled up on the left to a length, or cut to it", _lpad, 1),
    "rpad": _f("string int string", "string", "filled up on the right to a length, or cut to it", _rpad, 1),
    # times
    "year": _part("year", "the year"),
    "month": _part("month", "the month, 1 to 12"),
    "day": _part("day", "the day of the month"),
    "hour": _part("hour", "the hour, 0 to 23"),
    "minute": _part("minute", "the minute of the hour"),
    "second": _part("second", "the second of the minute"),
    "weekday": _part("weekday", "the day of the week: Monday is 1, Sunday 7"),
    "date_trunc": _f(
        "string time string", "same", "the beginning of the second, minute, hour, day, week, month, quarter or year",
        calendar.date_trunc, 1, zone=2, span=0,
    ),
    "seconds": _length("seconds", calendar.SECOND),
    "minutes": _length("minutes", 60 * calendar.SECOND),
    "hours": _length("hours", 3600 * calendar.SECOND),
    "days": _length("days", calendar.DAY),
    # conversions
    "int": _f("value", "int", "as an integer: decimals cut off, text read; null if it is none", as_integer),
    "float": _f("value", "float", "as a floating point number; null if it is none", as_float),
    "string": _f("value", "string", "as text", str, texts=True),
    "timestamp": _f(
        "value", "timestamp", "as a timestamp: ISO 8601 text, or microseconds since 1970; else null", as_timestamp
    ),
}  # fmt: skip

OPERATORS: dict[str, Meaning] = {"neg": _negated, "like": is_like, "ilike": is_like_in_any_case}
"""Operators that are computed as functions are."""


def apply(name: str, arguments: Sequence[Any], types: Sequence[Type] = ()) -> Any:
    """The value of a function for arguments of some types; null for those of a kind that it does not take.

    >>> apply("coalesce", [None, 2]), apply("abs", [None]), apply("string", [0], ["timestamp"])
    (2, None, '1970-01-01T00:00:00Z')
    """
    if name in OPERATORS:
        meaning, nulls, texts = OPERATORS[name], False, False
    elif name in FUNCTIONS:
        record = FUNCTIONS[name]
        meaning, nulls, texts = record.meaning, record.nulls, record.texts
    else:
        raise LookupError(f"there is no function {name}")
    if not nulls and any(argument is None for argument in arguments):
        return None
    if texts:
        arguments = [
            None if value is None else as_text(value, timestamp=type_ == "timestamp")
            for value, type_ in zip(arguments, types, strict=True)
        ]
    try:
        return meaning(*arguments)
    except (TypeError, AttributeError):
        return None


TIMERS: dict[str, str] = {
    "extend": "from the event's start to so long after its end",
    "extend_backward": "from so long before the event's start to its end",
    "shift": "the event's interval, moved",
    "following": "from the event's end to so long after it",
    "preceding": "from so long before the event's start to that start",
    "at": "that instant",
    "every": "each multiple of that length",
}


def result_type(signature: Signature, arguments: list[Type]) -> Type | None:
    """The type that a function gives, None if its arguments have no type in common."""
    if signature.result != "same":
        return signature.result
    result: Type | None = "null"
    for index, argument in enumerate(arguments):
        if signature.parameter(index) in ("number", "value", "time"):
            result = common(result, argument) if result else None
    return result
