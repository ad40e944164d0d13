"""The short way in: an event that is a plain dict, with values of exactly the types that are declared.

Whatever is unusual about an event makes it go the long way, through `ensue.data`, which decides what it means or what
is wrong with it; so nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from ensue.data import Columns
from ensue.data.columns import TimeFormat
from ensue.data.iso import EPOCH, MICROSECOND, has_zone, micros_of_text
from ensue.data.python_values import LARGEST, SMALLEST, is_text
from ensue.engine.batch import Row
from ensue.language import typed
from ensue.language.limits import FARTHEST

Read = Callable[[Mapping[str, Any], int], Row | None]
"""A dict and its position as an event; None where it must go the long way."""

_NAIVE_EPOCH = EPOCH.replace(tzinfo=None)


def plain_reader(events: Mapping[str, typed.EventType], columns: Columns, timestamps: bool, zoned: bool) -> Read:
    """How to read plain dicts. `zoned` says that the zone of their times is known.

    Of types that the rules do not use only the times are read.

    >>> events = {"order": typed.EventType("order", {"id": "int"}, True, False)}
    >>> read = plain_reader(events, Columns(), timestamps=False, zoned=False)
    >>> read({"type": "order", "time": 3, "id": 42}, 7)
    ('order', {'id': 42}, 3, 3, None, 7)
    >>> read({"type": "order", "time": 3, "id": "42"}, 8)
    """
    times = _times(columns)
    moment = _moments(zoned, columns.times) if timestamps else plain_int
    sequence_key, type_key = columns.sequence, columns.type or "type"
    plans = {name: _plan(event, columns) for name, event in events.items()}
    unused: Plan = (_no_attributes, False)

    def read(event: Mapping[str, Any], position: int) -> Row | None:
        type_ = event.get(type_key)
        if type(type_) is int:
            type_ = str(type_)
        if type(type_) is not str or not type_:
            return None
        attributes_of, instant = plans.get(type_, unused)
        found = times(event)
        if found is None:
            return None
        start = moment(found[0])
        end = start if found[1] is found[0] else moment(found[1])
        if start is None or end is None or start > end or (instant and start != end):
            return None
        if start < -FARTHEST or end > FARTHEST:
            return None
        attributes = attributes_of(event)
        if attributes is None:
            return None
        sequence = None
        if sequence_key is not None:
            sequence = event.get(sequence_key)
            if sequence is not None and plain_int(sequence) is None:
                return None
        return type_, attributes, start, end, sequence, position

    return read


# --- attributes: None where one of them is not plain

Attributes = Callable[[Mapping[str, Any]], dict[str, Any] | None]
Plan = tuple[Attributes, bool]
"""How to read the attributes of a type, and whether it is instantaneous."""


def _plan(event: typed.EventType, columns: Columns) -> Plan:
    if not (event.declared or event.derived):
        return _own_attributes(columns), False
    if not event.given or not all(type_ in PLAIN for type_ in event.attributes.values()):
        return (lambda _: None), False
    return _declared_attributes([(name, PLAIN[type_]) for name, type_ in event.attributes.items()]), event.instant


def _declared_attributes(readers: list[tuple[str, Callable[[Any], Any]]]) -> Attributes:
    def read(event: Mapping[str, Any]) -> dict[str, Any] | None:
        attributes = {}
        for name, plain in readers:
            value = event.get(name)
            if value is not None:
                value = plain(value)
                if value is None:
                    return None
            attributes[name] = value
        return attributes

    return read


def _own_attributes(columns: Columns) -> Attributes:
    """Of a type that is not declared: all that the dict holds besides times, type and sequence."""
    times = {columns.time} if columns.time else {columns.start or "start", columns.end or "end"}
    taken = {*times, columns.type or "type", columns.sequence}
    usual = not (columns.time or columns.start or columns.end)

    def read(event: Mapping[str, Any]) -> dict[str, Any] | None:
        attributes = {}
        spans = usual and "start" in event and "end" in event
        for name, value in event.items():
            if usual and name in ("start", "end", "time"):
                if spans == (name == "time"):
                    return None  # both a time and an interval, or half of one
            elif name not in taken and value is not None:
                plain = OWN.get(type(value))
                if plain is None or type(name) is not str or not is_text(name) or plain(value) is None:
                    return None
                attributes[name] = value
        return attributes

    return read


def _no_attributes(event: Mapping[str, Any]) -> dict[str, Any]:
    """Of a type that the rules do not use."""
    return {}


def _times(columns: Columns) -> Callable[[Mapping[str, Any]], tuple[Any, Any] | None]:
    """The start and the end that a dict holds; None where it holds none, or must be looked at."""
    if columns.time is not None:
        key = columns.time

        def at(event: Mapping[str, Any]) -> tuple[Any, Any] | None:
            value = event.get(key)
            return None if value is None else (value, value)

        return at
    start_key, end_key = columns.start or "start", columns.end or "end"
    named = columns.start is not None or columns.end is not None

    def over(event: Mapping[str, Any]) -> tuple[Any, Any] | None:
        if named or (start_key in event and end_key in event):
            start, end = event.get(start_key), event.get(end_key)
            return None if start is None or end is None else (start, end)
        value = event.get("time")
        return None if value is None else (value, value)

    return over


# --- values: None where one is not plainly of its type


def plain_int(value: Any) -> int | None:
    return value if type(value) is int and SMALLEST <= value <= LARGEST else None


def plain_float(value: Any) -> float | None:
    if type(value) is float:
        return value
    return float(value) if type(value) is int and SMALLEST <= value <= LARGEST else None


def plain_string(value: Any) -> str | None:
    return value if type(value) is str and (value.isascii() or is_text(value)) else None


def plain_bool(value: Any) -> bool | None:
    return value if type(value) is bool else None


def plain_timestamp(value: Any) -> int | None:
    if type(value) is datetime:
        return (value - (_NAIVE_EPOCH if value.tzinfo is None else EPOCH)) // MICROSECOND
    return micros_of_text(value) if type(value) is str else None


def _moments(zoned: bool, how: TimeFormat) -> Callable[[Any], int | None]:
    """Times that are timestamps. The first that says its zone goes the long way, where the zone is noted."""
    if how:
        from ensue.data.times import time_reader

        return time_reader(how)
    if zoned:
        return plain_timestamp

    def without_zone(value: Any) -> int | None:
        if type(value) is datetime and value.tzinfo is not None:
            return None
        return None if type(value) is str and has_zone(value) else plain_timestamp(value)

    return without_zone


PLAIN: dict[str, Callable[[Any], Any]] = {
    "int": plain_int,
    "float": plain_float,
    "string": plain_string,
    "bool": plain_bool,
    "timestamp": plain_timestamp,
}
OWN: dict[type, Callable[[Any], Any]] = {int: plain_int, float: plain_float, str: plain_string, bool: plain_bool}
