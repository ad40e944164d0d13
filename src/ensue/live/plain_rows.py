"""The short way in: an event that is a plain dict, with values of exactly the types that are declared.

Whatever is unusual about an event makes it go the long way, through `ensue.data`, which decides what it means or what
is wrong with it; so nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from ensue.data import Columns
from ensue.data.iso import EPOCH, MICROSECOND, has_zone, micros_of_text
from ensue.data.python_values import LARGEST, SMALLEST, is_text
from ensue.engine.batch import Row
from ensue.language import typed

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
    moment = _moments(zoned) if timestamps else plain_int
    sequence_key, type_key = columns.sequence, columns.type or "type"
    plans = {name: plan for name, event in events.items() if (plan := _plan(event)) is not None}

    def read(event: Mapping[str, Any], position: int) -> Row | None:
        type_ = event.get(type_key)
        if type(type_) is not str:
            return None
        plan = plans.get(type_)
        if plan is None:
            if type_ in events or not type_:
                return None
            plan = _NOTHING
        found = times(event)
        if found is None:
            return None
        start = moment(found[0])
        end = start if found[1] is found[0] else moment(found[1])
        if start is None or end is None or start > end:
            return None
        attributes_of_type, instant = plan
        if instant and start != end:
            return None
        attributes = {}
        for name, plain in attributes_of_type:
            value = event.get(name)
            if value is not None:
                value = plain(value)
                if value is None:
                    return None
            attributes[name] = value
        sequence = None
        if sequence_key is not None:
            sequence = event.get(sequence_key)
            if sequence is not None and plain_int(sequence) is None:
                return None
        return type_, attributes, start, end, sequence, position

    return read


Plan = tuple[list[tuple[str, Callable[[Any], Any]]], bool]
"""How to read each attribute of a type, and whether it is instantaneous."""

_NOTHING: Plan = ([], False)


def _plan(event: typed.EventType) -> Plan | None:
    """How to read the attributes of a type; None where values must tell what they are."""
    if not (event.declared or event.derived) or not all(type_ in PLAIN for type_ in event.attributes.values()):
        return None
    return [(name, PLAIN[type_]) for name, type_ in event.attributes.items()], event.instant


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


def _moments(zoned: bool) -> Callable[[Any], int | None]:
    """Times that are timestamps. The first that says its zone goes the long way, where the zone is noted."""
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
