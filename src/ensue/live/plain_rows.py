"""Fast path for an event that is a plain dict, with values of exactly the declared types.

Any other event is read by `ensue.data`, which decides its meaning or its fault; so nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from ensue.data import Columns
from ensue.data.columns import TimeFormat
from ensue.data.iso import has_zone
from ensue.data.python_values import LARGEST, SMALLEST, is_text
from ensue.engine.batch import Row
from ensue.language import typed
from ensue.live.row_code import ATTRIBUTES, Moments, ReadType, plain_timestamp, row_reader

Read = Callable[[Mapping[str, Any], int], Row | None]
"""A dict and its position as an event; None where it must go the long way."""


def plain_reader(events: Mapping[str, typed.EventType], columns: Columns, timestamps: bool, zoned: bool) -> Read:
    """Reader of plain dicts. `zoned` says that the zone of their times is known.

    Of types that the rules do not use only the times are read.

    >>> events = {"order": typed.EventType("order", {"id": "int"}, True, False)}
    >>> read = plain_reader(events, Columns(), timestamps=False, zoned=False)
    >>> read({"type": "order", "time": 3, "id": 42}, 7)
    ('order', {'id': 42}, 3, 3, None, 7)
    >>> read({"type": "order", "time": 3, "id": "42"}, 8)
    """
    readers = _Readers(events, columns, _moments(zoned, columns.times) if timestamps else None)
    type_key = columns.type or "type"

    def read(event: Mapping[str, Any], position: int) -> Row | None:
        type_ = event.get(type_key)
        if type(type_) is int:
            type_ = str(type_)
        if type(type_) is not str:
            return None
        return readers[type_](event, position, type_)

    return read


class _Readers(dict[str, ReadType]):
    """Readers by type, each made when the first event of its type comes."""

    def __init__(self, events: Mapping[str, typed.EventType], columns: Columns, moment: Moments | None) -> None:
        super().__init__({"": _never})
        self._events, self._columns, self._moment = events, columns, moment
        self._unused = row_reader({}, columns, moment)

    def __missing__(self, type_: str) -> ReadType:
        event = self._events.get(type_)
        if event is None:
            return self._unused
        made = self[type_] = _reader(event, self._columns, self._moment)
        return made


def _never(event: Mapping[str, Any], position: int, type_: str) -> None:
    """Of types that must always be looked at."""


def _reader(event: typed.EventType, columns: Columns, moment: Moments | None) -> ReadType:
    if not (event.declared or event.derived):
        return _undeclared(columns, moment)
    if not event.given or not all(type_ in ATTRIBUTES for type_ in event.attributes.values()):
        return _never
    return row_reader(event.attributes, columns, moment, event.instant)


def _undeclared(columns: Columns, moment: Moments | None) -> ReadType:
    times, attributes_of = row_reader({}, columns, moment), _own_attributes(columns)

    def read(event: Mapping[str, Any], position: int, type_: str) -> Row | None:
        row = times(event, position, type_)
        attributes = None if row is None else attributes_of(event)
        return None if row is None or attributes is None else (row[0], attributes, *row[2:])

    return read


# --- attributes of types that are not declared


def _own_attributes(columns: Columns) -> Callable[[Mapping[str, Any]], dict[str, Any] | None]:
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
                if plain is None or type(name) is not str or not is_text(name) or not plain(value):
                    return None
                attributes[name] = value
        return attributes

    return read


# --- times


def _moments(zoned: bool, how: TimeFormat) -> Callable[[Any], int | None]:
    """Reader of timestamps. The first one with a zone is left to `ensue.data`, which notes the zone."""
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


OWN: dict[type, Callable[[Any], bool]] = {
    int: lambda value: SMALLEST <= value <= LARGEST,
    float: lambda value: True,
    str: lambda value: value.isascii() or is_text(value),
    bool: lambda value: True,
}
"""Tests for plain values, by type."""
