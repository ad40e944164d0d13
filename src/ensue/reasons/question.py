"""A question: the type of an event, its attributes and its end; and errors for questions that make no sense."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from ensue.data.errors import DataError, did_you_mean, listed, shortened
from ensue.data.iso import micros_of_moment, micros_of_text
from ensue.data.moments import Moment, moment_of
from ensue.language import typed
from ensue.language.semantics import identity, is_number
from ensue.records import dataclass

NEAREST = 5
"""Number of values that are named where the requested one does not exist."""
_FIRST, _LAST = (micros_of_moment(moment) or 0 for moment in (datetime.min, datetime.max))
OWN = ("type", "start", "end", "sources")
"""Columns of a detection that are no attributes."""


@dataclass(frozen=True)
class Question:
    """A requested event: its type, attributes, and its end and start if these are requested."""

    type: str
    key: Mapping[str, Any]
    at: int | None = None
    start: int | None = None

    def asks_for(self, start: int, end: int) -> bool:
        """True if the question includes an event with this start and end."""
        return self.at in (None, end) and self.start in (None, start)


@dataclass(frozen=True)
class Asked:
    """A question as it was put, before anything is known of the times of events."""

    type: str
    key: Mapping[str, Any]
    at: Moment | None = None
    start: Moment | None = None

    def on(self, program: typed.Program, timestamps: bool) -> Question:
        """The question with values and times as rules hold them."""
        key = self.values(program)
        at, start = (
            None if moment is None else _moment(moment, program.unit, timestamps) for moment in (self.at, self.start)
        )
        return Question(self.type, key, at, start)

    def values(self, program: typed.Program) -> dict[str, Any]:
        """The requested attributes, as rules hold them."""
        types = program.events[self.type].attributes
        return {name: value_of(value, types[name], name) for name, value in self.key.items()}


def _moment(moment: Moment, unit: str | None, timestamps: bool) -> int:
    """A time of a detection. One that no datetime can hold is given back as an integer, and asked for as one."""
    if timestamps and type(moment) is int and not _FIRST <= moment <= _LAST:
        return moment
    return moment_of(moment, unit, timestamps, "`at`")


def asked_of(
    program: typed.Program, detection: Any, type_: str | None, at: Moment | None, key: Mapping[str, Any]
) -> Asked:
    """A question from a detection, or from a type and attributes; `DataError` where these do not exist."""
    start: Moment | None = None
    if detection is not None:
        row = _row(detection)
        type_ = type_ or row.get("type")
        start, at = row.get("start"), row.get("end") if at is None else at
        declared = program.events.get(str(type_))
        own = declared.attributes if declared is not None else {}
        key = {**{n: v for n, v in row.items() if n in own and not (v is None and n not in own)}, **key}
    type_ = _type_of(program, type_)
    attributes = program.events[type_].attributes
    for name in key:
        if name not in attributes:
            raise DataError(
                f"{type_!r} has no attribute {name!r}; it has {listed(attributes)}.{did_you_mean(name, attributes)}"
            )
    return Asked(type_, key, at, start)


def _row(detection: Any) -> dict[str, Any]:
    if isinstance(detection, Mapping):
        return dict(detection)
    for name in ("asDict", "to_dict"):  # a row of Spark, or of pandas
        if callable(getattr(detection, name, None)):
            return dict(getattr(detection, name)())
    raise DataError(f"The detection is {shortened(detection)}; pass a row of the result of `detect`, as a dict.")


def _type_of(program: typed.Program, type_: str | None) -> str:
    derived = [name for name, event in program.events.items() if event.derived]
    if type_ is None:
        if len(derived) == 1:
            return derived[0]
        raise DataError(f"Name the type of event: the rules derive {listed(derived)}.")
    if type_ not in derived:
        given = " Events of that type are given, not derived." if type_ in program.events else ""
        raise DataError(
            f"No rule derives {type_!r}; the rules derive {listed(derived)}.{given}{did_you_mean(type_, derived)}"
        )
    return type_


def value_of(value: Any, type_: str, name: str) -> Any:
    """A value as rules hold it; text is read as the attribute's type.

    >>> value_of("42", "int", "id"), value_of("true", "bool", "ok"), value_of("42", "string", "id")
    (42, True, '42')
    """
    if hasattr(value, "item") and not isinstance(value, str):  # a number of NumPy
        value = value.item()
    if isinstance(value, float) and math.isnan(value) and type_ in ("int", "string", "bool", "timestamp"):
        return None  # as pandas has nulls
    match type_, value:
        case _, None:
            return None
        case "string", _:
            return value if isinstance(value, str) else str(value)
        case "timestamp" | "time", datetime() | date():
            return micros_of_moment(value)
        case _, str() if value == "null":
            return None
        case "timestamp", str():
            found = micros_of_text(value)
        case "time", str():
            found = int(value) if value.lstrip("+-").isdigit() else micros_of_text(value)
        case "bool", str():
            found = {"true": True, "false": False, "1": True, "0": False}.get(value.lower())
        case "int" | "float", str():
            found = _number(value, type_)
        case "any", str():
            return value if _number(value, "float") is None else _number(value, "int") or value
        case _, list():
            return tuple(value)
        case _:
            return value
    if found is None:
        raise DataError(f"{name!r} is {shortened(value)}, and the rules have a value of type {type_} there.")
    return found


def same(one: Any, other: Any) -> bool:
    """True if two values are the same; floats to a relative 1e-9, as executions may add up in different orders.

    >>> same(0.1 + 0.2, 0.3), same(None, None), same(1, 1.0), same(1, 2)
    (True, True, True, False)
    """
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (one != one and other != other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(identity(one) == identity(other))


def _number(text: str, type_: str) -> Any:
    try:
        return int(text) if type_ == "int" or text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return None


def nearest(value: Any, values: Iterable[Any]) -> list[Any]:
    """The existing values that are next to one that does not exist.

    >>> nearest(43, [1, 42, 44, 1000], )[:2], nearest("bpb", ["alice", "bob"])
    ([42, 44], ['bob', 'alice'])
    """
    there = [each for each in dict.fromkeys(values) if each is not None]
    if is_number(value):
        numbers = [each for each in there if is_number(each)]
        return sorted(numbers, key=lambda each: (abs(each - value), each))[:NEAREST]
    text = str(value)
    ranked = sorted(there, key=lambda each: -difflib.SequenceMatcher(None, text, str(each)).ratio())
    return ranked[:NEAREST]
