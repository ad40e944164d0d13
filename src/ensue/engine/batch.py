"""Events on their way through the engine: those that are new up to a time, given and derived, by type.

They come as rows of Python values or as Arrow columns, and are converted when a lane needs the other form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ensue.data.raw import values_of
from ensue.engine.event import NO_SOURCES, Event
from ensue.engine.reading import order_by
from ensue.language import typed
from ensue.language.types import TIMES
from ensue.records import dataclass

if TYPE_CHECKING:
    from ensue.engine.mixed import Mixed

Integers = np.ndarray[Any, np.dtype[np.int64]]

FEW = 64
"""Rows that are a few."""

TypeRank = tuple[int, tuple[str, ...] | None]
"""The rank of a type and the attributes that order its events; None for a type that the program does not know."""

Row = tuple[str, Mapping[str, Any], int, int, Any, int]
"""A given event: type, attributes, start, end, sequence (None if there is none), position in the input."""


@dataclass(frozen=True)
class Columns:
    """Events of one type as columns, in the order of their ends.

    `positions` are those in the input (none for derived events); a null of `sequence` or of an attribute is Arrow's.
    `sources` are the positions of the inputs of derived events, where provenance is requested.
    """

    start: Integers
    end: Integers
    attributes: Mapping[str, pa.Array]
    positions: Integers | None = None
    sequence: pa.Array | None = None
    sources: pa.ListArray | None = None

    def __len__(self) -> int:
        return len(self.end)

    def upto(self, time: int) -> tuple[Columns, Columns]:
        """The events that end up to a time, and the others."""
        cut = int(np.searchsorted(self.end, time, side="right"))
        return self.slice(0, cut), self.slice(cut, len(self))

    def slice(self, begin: int, end: int) -> Columns:
        return Columns(
            self.start[begin:end],
            self.end[begin:end],
            {name: column.slice(begin, end - begin) for name, column in self.attributes.items()},
            None if self.positions is None else self.positions[begin:end],
            None if self.sequence is None else self.sequence.slice(begin, end - begin),
        )


def columns_of(table: pa.Table) -> Columns:
    """The columns of a table of events from the data layer, sorted by end."""
    first = table.column_names.index("row")  # attributes come after it, and may be called row or sequence
    end = _integers(table.column(1))
    if len(end) > 1 and np.any(end[1:] < end[:-1]):
        by_end, end = order_by(end)
        table = table.take(arrow_of(by_end))
    names, columns = table.column_names[first + 1 :], table.columns[first + 1 :]
    return Columns(
        _integers(table.column(0)),
        end,
        {name: _one_array(column) for name, column in zip(names, columns, strict=True)},
        _integers(table.column(first)),
        _one_array(table.column(2)) if first > 2 else None,
    )


def _integers(column: pa.ChunkedArray) -> Integers:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return np.asarray(column.to_numpy())


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def arrow_of(values: np.ndarray[Any, Any], valid: np.ndarray[Any, Any] | None = None) -> pa.Array:
    """Integers, floats or truth values as a column, without a copy. (``pa.array`` imports ``numpy.ma``.)"""
    type_ = {"i": pa.int64(), "f": pa.float64(), "b": pa.bool_()}[values.dtype.kind]
    held = np.packbits(values, bitorder="little") if values.dtype.kind == "b" else np.ascontiguousarray(values)
    flags = None if valid is None or valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(type_, len(values), [flags, pa.py_buffer(held)])


@dataclass
class Batch:
    """All events that end up to a time and are new since the last one."""

    places: Mapping[str, TypeRank]
    types: Mapping[str, typed.EventType]
    given: Mapping[str, Columns] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    provenance: bool = False
    sources_as_columns: bool = False
    """True if derived events come as columns even with provenance: where one unit derives everything."""
    derived: dict[str, list[Event]] = field(default_factory=dict)
    derived_columns: dict[str, Columns] = field(default_factory=dict)
    mixed: Mixed | None = None
    """All given events in one table, where they came so."""
    before: Batch | None = None
    """The batch just before this one, whose derived events are included here."""
    _events: dict[str, list[Event]] = field(default_factory=dict)

    def events(self, wanted: Iterable[str]) -> list[Event]:
        """The events of some types in the order of their ends."""
        wanted = list(wanted)
        found = [event for type_ in wanted for event in self._events_of(type_)]
        if self.before is not None:
            found += [event for event in self.before.events(wanted) if type(event.identity) is int]
        found.sort(key=attrgetter("end"))
        return found

    def _events_of(self, type_: str) -> list[Event]:
        if type_ not in self._events:
            found = [self.event(row) for row in self.rows if row[0] == type_]
            if type_ in self.all_given:
                found.extend(map(self.event, rows_of(type_, self.all_given[type_], self.types)))
            self._events[type_] = found
        found = self._events[type_] + self.derived.get(type_, [])
        if type_ in self.derived_columns:
            found.extend(self.derived_event(row) for row in rows_of(type_, self.derived_columns[type_], self.types))
        return found

    @property
    def is_few(self) -> bool:
        """True if its given events came as a few rows; what is derived from them is best left so, too."""
        return 0 < len(self.rows) <= FEW and not self.given and self.mixed is None

    @cached_property
    def all_given(self) -> Mapping[str, Columns]:
        """The given events that came as columns, by type."""
        return self.given if self.mixed is None else {**self.mixed.by_type(), **self.given}

    def columns_of(self, type_: str) -> list[Columns]:
        """The events of a type as columns, from each source."""
        found = [columns[type_] for columns in (self.all_given, self.derived_columns) if type_ in columns]
        rows = [row for row in self.rows if row[0] == type_]
        rows += [(e.type, e.attributes, e.start, e.end, None, -1) for e in self.derived.get(type_, ())]
        if rows:
            found.append(columns_of_rows(rows, self.types.get(type_)))
        return found

    def derived_of(self, types: Iterable[str]) -> bool:
        """True if events of some types were derived."""
        return any(self.derived.get(type_) or len(self.derived_columns.get(type_, ())) for type_ in types)

    def event(self, row: Row) -> Event:
        type_, attributes, start, end, sequence, position = row
        sources = frozenset((position,)) if self.provenance else NO_SOURCES
        return Event(type_, attributes, start, end, self.place(type_), position, sequence, sources)

    def derived_event(self, row: Row) -> Event:
        type_, attributes, start, end, _, _ = row
        return Event(type_, attributes, start, end, self.place(type_), (type_, start, end, tuple(attributes.items())))

    def place(self, type_: str) -> TypeRank:
        return self.places.get(type_) or (len(self.places), None)

    def takes_columns(self, type_: str, attributes: Iterable[pa.Array]) -> bool:
        """True if all derived events of a type are in columns of these types, as far as there are any."""
        held = self.derived_columns.get(type_)
        return type_ not in self.derived and (held is None or same_types(held.attributes.values(), attributes))

    def take_apart(self, type_: str) -> None:
        """Turn derived columns of a type into events."""
        columns = self.derived_columns.pop(type_, None)
        if columns is not None:
            self.add(map(self.derived_event, rows_of(type_, columns, self.types)))

    def after(self, before: Batch) -> Batch:
        """This batch with the derived events of the one before it, too."""
        for type_ in set(before.derived_columns).intersection(self.derived_columns):
            one, other = before.derived_columns[type_], self.derived_columns[type_]
            if same_types(one.attributes.values(), other.attributes.values()):
                self.derived_columns[type_] = joined(one, other)
            else:
                before.take_apart(type_)
                self.take_apart(type_)
        self.derived_columns = {**before.derived_columns, **self.derived_columns}
        for type_, events in before.derived.items():
            self.derived[type_] = events + self.derived.get(type_, [])
        self.before = before
        return self

    def add(self, events: Iterable[Event]) -> None:
        """Add derived events, for the lanes that follow."""
        for event in events:
            self.derived.setdefault(event.type, []).append(event)


def same_types(one: Iterable[pa.Array], other: Iterable[pa.Array]) -> bool:
    """True if columns have the same types, in order: those of attributes of any type may differ from time to time."""
    return [column.type for column in one] == [column.type for column in other]


def joined(first: Columns, second: Columns) -> Columns:
    """Derived events, followed by some that end later."""
    attributes = {n: pa.concat_arrays([column, second.attributes[n]]) for n, column in first.attributes.items()}
    start, end = np.concatenate([first.start, second.start]), np.concatenate([first.end, second.end])
    return Columns(start, end, attributes)


def columns_of_rows(rows: list[Row], type_: typed.EventType | None) -> Columns:
    """Rows of one type as columns."""
    rows = sorted(rows, key=lambda row: row[3])
    names = type_.attributes if type_ is not None else dict.fromkeys(n for row in rows for n in row[1])
    attributes = {}
    for name in names:
        values = [row[1].get(name) for row in rows]
        kind = ARROW.get(type_.attributes[name]) if type_ is not None else None
        try:
            attributes[name] = pa.array(values, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # values of several kinds, which no compiled rule uses
            attributes[name] = pa.array([None if value is None else str(value) for value in values], pa.string())
    return Columns(
        np.array([row[2] for row in rows], np.int64),
        np.array([row[3] for row in rows], np.int64),
        attributes,
        np.array([row[5] for row in rows], np.int64),
        pa.array([row[4] for row in rows]) if any(row[4] is not None for row in rows) else None,
    )


ARROW = {
    "int": pa.int64(), "float": pa.float64(), "string": pa.string(), "bool": pa.bool_(), "timestamp": pa.int64(),
    "time": pa.int64(),
}  # fmt: skip
"""Arrow types of columns that are made from rows of Python values; a timestamp is a number there."""


def rows_of(type_: str, columns: Columns, types: Mapping[str, typed.EventType]) -> Iterable[Row]:
    """Columns as rows of Python values."""
    attributes = types[type_].attributes if type_ in types else {}
    names = list(columns.attributes)
    values = [_values(column, attributes.get(name, "any")) for name, column in columns.attributes.items()]
    count = len(columns)
    sequence = [None] * count if columns.sequence is None else columns.sequence.to_pylist()
    positions = [-1] * count if columns.positions is None else columns.positions.tolist()
    starts, ends = columns.start.tolist(), columns.end.tolist()
    each = zip(*values, strict=True) if values else iter([()] * count)
    for start, end, number, position, row in zip(starts, ends, sequence, positions, each, strict=True):
        yield type_, dict(zip(names, row, strict=True)), start, end, number, position


def _values(column: pa.Array, type_: str) -> list[Any]:
    if type_ in TIMES and pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    elif type_ != "any" and pa.types.is_list(column.type) and pa.types.is_timestamp(column.type.value_type):
        column = column.cast(pa.list_(pa.int64()))
    values = values_of(column)
    return [tuple(value) if isinstance(value, list) else value for value in values] if type_ != "any" else values
