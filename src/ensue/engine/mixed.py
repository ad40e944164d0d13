"""Events of all types in one Arrow table that needs no conversion: read where it lies.

Most tables are like that: times without gaps in their order, a string for the type (or a number for one in a
dictionary), attributes of the types declared.
Everything else goes the long way through `ensue.data`, which knows what to do with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.data.columns import Columns as Names
from ensue.data.columns import Layout, find_layout
from ensue.data.errors import DataError
from ensue.data.events import Events
from ensue.data.form import Form
from ensue.engine.batch import Columns, Integers
from ensue.engine.reading import in_order, kinds_of
from ensue.engine.stream import NO_FLAGS, NO_FLOATS, NONE, Stream, Values, values_of
from ensue.engine.structures.values import Dictionary
from ensue.language import typed

EXPECTED = {
    "int": pa.int64(), "float": pa.float64(), "string": pa.string(), "bool": pa.bool_(),
    "timestamp": pa.timestamp("us"),
}  # fmt: skip

TYPES = (pa.string(), *(pa.dictionary(index, pa.string()) for index in (pa.int8(), pa.int16(), pa.int32())))
"""How the column of types may be held."""

FEW_TYPES = 16
"""Up to how many derived types each row is compared with them, too."""


@dataclass(frozen=True)
class Mixed:
    """A table of events in the order of their ends."""

    kind: np.ndarray[Any, np.dtype[np.int32]]
    """The rank of each row's type; -1 for types that the rules do not use."""
    start: Integers
    end: Integers
    columns: Mapping[str, pa.Array]
    events: Mapping[str, typed.EventType]
    unique: bool
    """Whether no two rows have the same end."""
    timestamps: bool
    timezone: str | None
    offset: int = 0
    """The position of the first row in the input."""

    def __len__(self) -> int:
        return len(self.end)

    def counts(self, types: Collection[str]) -> dict[str, int]:
        """How many rows there are of some types."""
        ranks = ((rank, name) for rank, name in enumerate(self.events) if name in types)
        return {name: int(np.count_nonzero(self.kind == rank)) for rank, name in ranks}

    def upto(self, time: int) -> tuple[Mixed, Mixed]:
        """What ends up to a time, and the rest."""
        cut = int(np.searchsorted(self.end, time, side="right"))
        return self.slice(0, cut), self.slice(cut, len(self))

    def slice(self, begin: int, end: int) -> Mixed:
        if begin == 0 and end == len(self):
            return self
        columns = {name: column.slice(begin, end - begin) for name, column in self.columns.items()}
        return replace(
            self, kind=self.kind[begin:end], start=self.start[begin:end], end=self.end[begin:end], columns=columns,
            offset=self.offset + begin,
        )  # fmt: skip

    def read(self, by_type: bool) -> Events:
        """What is known of the table as one that was read: no row of it is bad."""
        form = Form("arrow", by_type)
        first, last = int(self.end[0]), int(self.end[-1])
        return Events(
            {}, self.timestamps, self.timezone, first, last, (), 0, form, len(self), bool(self.kind.max() >= 0)
        )

    def by_type(self) -> dict[str, Columns]:
        """The events of each type as columns of their own."""
        found = {}
        for rank, (name, event) in enumerate(self.events.items()):
            rows = np.flatnonzero(self.kind == rank)
            if len(rows):
                indices = pa.array(rows)
                attributes = {a: self.columns[a].take(indices) for a in event.attributes}
                found[name] = Columns(self.start[rows], self.end[rows], attributes, rows + self.offset)
        return found

    def stream(self, inputs: Mapping[tuple[str, str], tuple[int, str]], dictionary: Dictionary) -> Stream:
        """The table as generated code takes it."""
        count = len(self)
        read: dict[tuple[str, str], Values] = {}
        everywhere = np.ones(count, np.uint8)
        columns: list[Values] = []
        nulls = False
        for (event, attribute), (_, kind) in inputs.items():
            if attribute not in self.columns or self.events[event].derived:
                columns.append((NO_FLOATS if kind == "f" else NONE, NO_FLAGS))
                continue
            if (attribute, kind) not in read:
                column = self.columns[attribute]
                values, flags = values_of(column, kind, dictionary, count, everywhere)
                read[attribute, kind] = values, flags
                nulls = nulls or column.null_count > 0
            columns.append(read[attribute, kind])
        return Stream(self.kind, self.start, self.end, columns, nulls)


@dataclass(frozen=True)
class _Fit:
    """Which columns of a table are read."""

    layout: Layout
    only: str | None
    types: Mapping[str, pa.DataType]

    @property
    def columns(self) -> list[str]:
        names = [self.layout.start, self.layout.end, *self.types]
        return list(dict.fromkeys(names + ([self.layout.type] if self.layout.type is not None else [])))


def fit(schema: pa.Schema, names: Names, events: Mapping[str, typed.EventType], only: str | None = None) -> _Fit | None:
    """What is read of a table that needs no conversion, None if it does."""
    if (
        names.sequence is not None
        or len(set(schema.names)) < len(schema.names)
        or (only is not None and only not in events)
    ):
        return None
    try:
        layout = find_layout(schema.names, names, only is not None, "the table")
    except DataError:
        return None
    used = [event for name, event in events.items() if only is None or name == only]
    types = _attributes(used)
    instant = any(event.instant and event.given for event in used)
    if layout.instant is not None or types is None or (instant and layout.start != layout.end):
        return None
    if any(name not in schema.names or schema.field(name).type != type_ for name, type_ in types.items()):
        return None
    when = schema.field(layout.end).type
    if schema.field(layout.start).type != when or not (
        when == pa.int64() or (pa.types.is_timestamp(when) and when.unit == "us")
    ):
        return None
    if layout.type is not None and schema.field(layout.type).type not in TYPES:
        return None
    return _Fit(layout, only, types)


def mixed_of(source: object, names: Names, events: Mapping[str, typed.EventType], offset: int = 0) -> Mixed | None:
    """A table as it is, None if it is not as plain as that."""
    only = None
    if isinstance(source, dict) and len(source) == 1:
        ((only, source),) = source.items()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if not isinstance(source, pa.Table) or not source.num_rows:
        return None
    found = fit(source.schema, names, events, only)
    if found is None:
        return None
    layout = found.layout
    columns = {name: _whole(source.column(name)) for name in found.types}
    if any(column.null_count == source.num_rows for column in columns.values()):
        return None
    end = _times(source.column(layout.end))
    start = end if layout.start == layout.end else _times(source.column(layout.start))
    if end is None or start is None:
        return None
    ordered = in_order(start, end)
    if ordered == 2:
        return None
    kind = _kinds(None if only is not None else source.column(str(layout.type)), only, events, source.num_rows)
    if kind is None:
        return None
    when = source.schema.field(layout.end).type
    timestamps = pa.types.is_timestamp(when)
    return Mixed(kind, start, end, columns, events, ordered == 1, timestamps, when.tz if timestamps else None, offset)


def _attributes(events: Collection[typed.EventType]) -> dict[str, pa.DataType] | None:
    """The type of each attribute, None if it is not one and the same, or is not declared."""
    types: dict[str, pa.DataType] = {}
    for event in events:
        if not (event.declared or event.derived):
            return None
        if event.derived:
            continue  # most likely not given; where it is, the table goes the long way
        for name, type_ in event.attributes.items():
            if type_ not in EXPECTED or types.setdefault(name, EXPECTED[type_]) != EXPECTED[type_]:
                return None
    return types


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _times(column: pa.ChunkedArray) -> Integers | None:
    """Times as integers, None if one is missing."""
    if column.null_count:
        return None
    whole = _whole(column)
    return np.asarray((whole if column.type == pa.int64() else whole.view(pa.int64())).to_numpy())


def _kinds(
    column: pa.ChunkedArray | None, only: str | None, events: Mapping[str, typed.EventType], count: int
) -> np.ndarray[Any, np.dtype[np.int32]] | None:
    """The rank of each row's type, None if a row has none or is of a type that is derived."""
    ranks = {name: rank for rank, name in enumerate(events)}
    if column is None:
        return None if events[str(only)].derived else np.full(count, ranks[str(only)], np.int32)
    if column.null_count:
        return None
    if pa.types.is_dictionary(column.type):
        return _kinds_in_dictionary(column, ranks, events)
    whole = _whole(column)
    kind = np.empty(count, np.int32)
    derived = [name for name, event in events.items() if event.derived]
    names = list(events) if len(derived) <= FEW_TYPES else [name for name in events if not events[name].derived]
    texts = [name.encode() for name in names]
    codes = np.array([ranks[name] for name in names], np.int32)
    _, offsets, data = whole.buffers()
    places = np.frombuffer(offsets, np.int32, count + 1, whole.offset * 4)
    held = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
    if kinds_of(places, held, texts, codes, kind):
        return None
    if len(derived) <= FEW_TYPES:
        return None if any(np.any(kind == ranks[name]) for name in derived) else kind
    others = kind < 0
    unknown = whole.filter(pa.array(others)).unique().to_pylist() if others.any() else []
    return kind if events.keys().isdisjoint(unknown) else None


def _kinds_in_dictionary(
    column: pa.ChunkedArray, ranks: Mapping[str, int], events: Mapping[str, typed.EventType]
) -> np.ndarray[Any, np.dtype[np.int32]] | None:
    """The same where each row has the number of its type in a dictionary."""
    whole = _whole(column.unify_dictionaries())
    names = whole.dictionary.to_pylist()
    if None in names:
        return None
    kind = np.array([ranks.get(name, -1) for name in names], np.int32)[whole.indices.to_numpy()]
    derived = [ranks[name] for name in names if name in events and events[name].derived]
    return None if derived and np.isin(kind, derived).any() else kind
