"""Events on their way between Spark and the engine: one Arrow schema for events of all types.

Plain data, so that it can be sent to workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from ensue import compute as pc
from ensue.engine.provenance import SOURCES
from ensue.records import dataclass

DERIVED = "derived"
"""Column beside the event: true if an earlier stage derived it; given events of its type are not passed on."""

SLICE, BEGIN, OVER, UNTIL, FIRST = "slice", "begin", "over", "until", "first"
"""Columns beside the event: the slice of time that a row is for, where it begins and where it is over; the end of all
time, and the first end of all. Times here are integers."""

LARGE = 1 << 26
"""Number of bytes that are enough for the engine to take at once."""

WRONG = "wrong"
"""A column with the reason why a row is bad, where such rows are marked and not left out."""


@dataclass(frozen=True)
class Column:
    """A column for an attribute of some types, or of any; `type` is the Spark type, as Spark writes it."""

    name: str
    attribute: str
    type: str
    events: tuple[str, ...] | None = None

    def holds(self, event: str) -> bool:
        return self.events is None or event in self.events


@dataclass(frozen=True)
class Wire:
    """The columns of events: type, time (or start and end), a sequence where there is one, and attributes."""

    columns: tuple[Column, ...]
    instants: bool
    """True if each event has one time."""
    sequence: bool

    @property
    def times(self) -> tuple[str, ...]:
        return ("time",) if self.instants else ("start", "end")

    @property
    def outside(self) -> tuple[str, ...]:
        """The columns that are not attributes."""
        return ("type", *self.times, *(("sequence",) if self.sequence else ()))

    @property
    def of_any_type(self) -> bool:
        """True if each column holds its attribute for all types: then rows are one table of events."""
        return all(column.events is None for column in self.columns)

    def renamed(self, rows: pa.Table) -> pa.Table:
        """Rows as a table of events of all types."""
        names = {column.name: column.attribute for column in self.columns}
        kept = [*self.outside, *names, *_traced(rows)]
        return pa.table([rows.column(name) for name in kept], names=[names.get(name, name) for name in kept])

    def by_type(self, rows: pa.Table) -> dict[str, pa.Table]:
        """Rows as a table for each type; those without one are left out."""
        types = rows.column("type").cast(pa.string())
        names = pc.unique(types)
        if len(names) == 1 and names.null_count == 0:
            return {name: self.of_type(rows, name) for name in names.to_pylist()}
        return {name: self.of_type(rows.filter(pc.equal(types, name)), name) for name in names.drop_null().to_pylist()}

    def of_type(self, rows: pa.Table, event: str) -> pa.Table:
        """Rows that are all of one type as a table of its events; they need no column of the type."""
        columns = {name: rows.column(name) for name in (*self.outside, *_traced(rows)) if name != "type"}
        for column in self.columns:
            if column.holds(event):
                columns[column.attribute] = _either(columns.get(column.attribute), rows.column(column.name))
        return pa.table(columns)


def _traced(rows: pa.Table) -> tuple[str, ...]:
    """The column of sources, where rows have one."""
    return (SOURCES,) if SOURCES in rows.column_names else ()


def with_types(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """Rows that have the number of their type, with the types that these numbers stand for.

    >>> rows = pa.table({"type": pa.array([1, 0], pa.int32())})
    >>> with_types(rows, ["order", "shipped"]).column("type").to_pylist()
    ['shipped', 'order']
    """
    place, numbers = rows.column_names.index("type"), rows.column("type")
    known = pa.array(names, pa.string())
    chunks = [pa.DictionaryArray.from_arrays(chunk, known) for chunk in numbers.chunks]
    return rows.set_column(place, "type", pa.chunked_array(chunks, pa.dictionary(numbers.type, pa.string())))


def _either(one: pa.ChunkedArray | None, other: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of two columns for one attribute: a type that is given and derived may have them in both."""
    if one is None or one.null_count == len(one):
        return other
    if other.null_count == len(other):
        return one
    return pc.coalesce(one.cast(other.type), other)


def gathered(tables: Mapping[str, pa.Table], wire: Wire, schema: pa.Schema) -> Iterable[pa.RecordBatch]:
    """Tables of detections by type as batches of one schema."""
    for event, table in tables.items():
        if not table.num_rows:
            continue
        held = {column.name: column.attribute for column in wire.columns if column.holds(event)}
        arrays = []
        for field in schema:
            if field.name == "type":
                arrays.append(pa.chunked_array([pa.repeat(pa.scalar(event, pa.string()), table.num_rows)]))
            elif field.name in wire.times:
                arrays.append(table.column(field.name).cast(field.type))
            elif field.name == SOURCES and SOURCES in table.column_names:
                arrays.append(table.column(SOURCES).cast(field.type))
            elif field.name in held:
                arrays.append(table.column(held[field.name]).cast(field.type))
            else:
                arrays.append(pa.chunked_array([pa.nulls(table.num_rows, field.type)]))
        yield from pa.Table.from_arrays(arrays, schema=schema).combine_chunks().to_batches()


def handed_on(rows: pa.Table, schema: pa.Schema) -> Iterable[pa.RecordBatch]:
    """Rows as batches of another schema, which may have more columns."""
    arrays = [
        rows.column(field.name).cast(field.type)
        if field.name in rows.column_names
        else pa.chunked_array([pa.nulls(rows.num_rows, field.type)])
        for field in schema
    ]
    yield from pa.Table.from_arrays(arrays, schema=schema).combine_chunks().to_batches()


def together(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.Table]:
    """Batches as tables of `most` rows, or of fewer where these are large; none is empty."""
    waiting: list[pa.RecordBatch] = []
    count = size = 0
    for batch in batches:
        if not len(batch):
            continue
        waiting.append(batch)
        count += len(batch)
        size += batch.nbytes
        if count >= most or size >= LARGE:
            yield pa.Table.from_batches(waiting)
            waiting, count, size = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting)
