"""Plain tables: Arrow tables of events that need hardly any conversion, and are read in place.

Most tables are like that: times without nulls, a string for the type (or a code of a dictionary), attributes of the
declared types or of narrower ones. Unsorted rows are sorted, tables by type are joined. All others are normalised by
`ensue.data`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, starmap

import numpy as np
import pyarrow as pa

from ensue.data.columns import Columns as Names
from ensue.data.columns import Layout, find_layout
from ensue.data.errors import DataError
from ensue.data.form import Kind
from ensue.data.frames import frame_table
from ensue.data.iso import knows_zone
from ensue.data.raw import without_view
from ensue.engine.batch import Integers
from ensue.engine.capacity import current
from ensue.engine.mixed import FEW_TYPES, Kinds, Mixed, is_open, present
from ensue.engine.reading import kinds_of
from ensue.engine.tables_in_order import ordered, together
from ensue.language import typed
from ensue.records import dataclass

EXPECTED = {
    "int": pa.int64(), "float": pa.float64(), "string": pa.string(), "bool": pa.bool_(),
    "timestamp": pa.timestamp("us"),
}  # fmt: skip

NARROW = (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16(), pa.uint32())

CONVERTED: Mapping[pa.DataType, tuple[pa.DataType, ...]] = {
    pa.int64(): NARROW,
    pa.float64(): (pa.float32(), pa.int64(), *NARROW),
    pa.string(): (pa.large_string(), pa.string_view()),
}
"""Types of columns that are converted, by the expected type; a column with a value that would change is rejected."""

CODES = tuple(pa.dictionary(index, pa.string()) for index in (pa.int8(), pa.int16(), pa.int32()))

OWN: Mapping[pa.DataType, pa.DataType] = {
    **{held: pa.int64() for held in NARROW}, pa.float32(): pa.float64(), pa.large_string(): pa.string(),
    pa.string_view(): pa.string(), **{held: held for held in (*EXPECTED.values(), *CODES)},
}  # fmt: skip
"""Types of undeclared attributes, by the types of their columns."""

TYPES = (pa.string(), *CODES)
"""Arrow types that the column of types may have."""

UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000}
"""Microseconds of a timestamp."""

DERIVED = -2
"""The code of types that rules derive, while the types of rows are read."""

SMALL_PIECE = 1 << 15
"""Rows of a chunk from which on it pays to process it by itself."""

Used = Collection[tuple[str, str]]
"""Attributes that rules use, each with its event."""


@dataclass(frozen=True)
class _Fit:
    """The columns of a table that are read."""

    layout: Layout
    only: str | None
    types: Mapping[str, pa.DataType]

    @property
    def columns(self) -> list[str]:
        names = [self.layout.start, self.layout.end, *self.types]
        return list(dict.fromkeys(names + ([self.layout.type] if self.layout.type is not None else [])))


def fit(schema: pa.Schema, names: Names, events: Mapping[str, typed.EventType], only: str | None = None) -> _Fit | None:
    """The columns to read of a table that needs hardly any conversion; None if it needs more."""
    layout = _layout(schema, names, events, only)
    used = [event for name, event in events.items() if only is None or name == only]
    types = None if layout is None else _attributes(used, schema, None)
    return None if layout is None or types is None or _breaks_promise(used, layout) else _Fit(layout, only, types)


def _layout(schema: pa.Schema, names: Names, events: Mapping[str, typed.EventType], only: str | None) -> Layout | None:
    """The columns of times and types; None if they are not plain."""
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
    when = schema.field(layout.end).type
    if layout.instant is not None or schema.field(layout.start).type != when:
        return None
    if not (when == pa.int64() or pa.types.is_timestamp(when)):
        return None
    if layout.type is not None and schema.field(layout.type).type not in (*TYPES, *CONVERTED[pa.string()]):
        return None
    return layout


def pieces_of(
    source: object, names: Names, events: Mapping[str, typed.EventType], used: Used | None = None, threads: int = 1
) -> tuple[Mixed, ...]:
    """A table as pieces that are read in place, one for each of its chunks; none if it is not plain.

    Chunks that are small, out of order, or share an end with the next one, are put together. Of a large table several
    `threads` read chunks.
    """
    only, table = next(iter(source.items())) if isinstance(source, dict) and len(source) == 1 else (None, source)
    if isinstance(table, pa.Table) and table.num_rows >= 2 * SMALL_PIECE:
        chunks = table.to_batches()
        if 1 < len(chunks) <= table.num_rows // SMALL_PIECE:

            def piece_of(chunk: pa.RecordBatch, at: int) -> Mixed | None:
                return mixed_of(chunk if only is None else {only: chunk}, names, events, at, used=used)

            offsets = accumulate(map(len, chunks), initial=0)
            most = min(threads, table.num_rows // current().thread)
            pieces = _whileordered(_mapped(piece_of, list(zip(chunks, offsets, strict=False)), most))
            if len(pieces) == len(chunks):
                return tuple(pieces)
    whole = mixed_of(source, names, events, used=used, sort=True)
    return () if whole is None else (whole,)


def _mapped(
    piece_of: Callable[[pa.RecordBatch, int], Mixed | None], chunks: Sequence[tuple[pa.RecordBatch, int]], threads: int
) -> Iterator[Mixed | None]:
    """The pieces of chunks, in order. The first one is read before any thread starts: it may be all that is needed."""
    yield piece_of(*chunks[0])
    if threads <= 1:
        yield from starmap(piece_of, chunks[1:])
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(lambda chunk: piece_of(*chunk), chunks[1:])
    finally:
        pool.shutdown(cancel_futures=True)


def _whileordered(pieces: Iterator[Mixed | None]) -> list[Mixed]:
    """Pieces up to the first that is not plain, or does not begin after the end of the one before."""
    found: list[Mixed] = []
    for piece in pieces:
        if piece is None or (found and found[-1].end[-1] >= piece.end[0]):
            break
        found.append(piece)
    return found


def _breaks_promise(events: Collection[typed.EventType], layout: Layout) -> bool:
    """True if an event declared as an instant may have a length here."""
    return layout.start != layout.end and any(event.instant and event.given for event in events)


def _attributes(
    events: Collection[typed.EventType], schema: pa.Schema, used: Used | None, whole: bool = False
) -> dict[str, pa.DataType] | None:
    """The type of each attribute; None if types differ between events, are unknown, or a column has another.

    An attribute that is not needed may have no column. With `whole` unknown types are those of the columns, if any.
    """
    types: dict[str, pa.DataType] = {}
    for event in events:
        if event.derived:
            continue  # most likely not given; where it is, the table is normalised
        own = whole and is_open(event)
        for name, type_ in event.attributes.items():
            held = schema.field(name).type if name in schema.names else pa.null()
            if held == pa.null():
                if not own and _is_needed(event, name, used):
                    return None
                continue
            expected = OWN.get(held) if own and type_ == "any" else EXPECTED.get(type_)
            if expected is None or types.setdefault(name, expected) != expected:
                return None
            fits = held == expected or held in CONVERTED.get(expected, ()) or type_ == "any"
            if not fits and not (type_ == "string" and held in CODES):
                return None
    return types


def _is_needed(event: typed.EventType, name: str, used: Used | None) -> bool:
    """True if an attribute must have values for a table to be plain."""
    return used is None or not event.declared or (event.name, name) in used


def schema_of(source: object) -> pa.Schema | None:
    """The schema of an Arrow table that holds all events."""
    if isinstance(source, dict) and len(source) == 1:
        (source,) = source.values()
    return source.schema if isinstance(source, pa.Table | pa.RecordBatch) else None


def mixed_of(
    source: object, names: Names, events: Mapping[str, typed.EventType], offset: int = 0, used: Used | None = None,
    sort: bool = False, whole: bool = False,
) -> Mixed | None:  # fmt: skip
    """A table, or several by type, read in place; None if they are not plain.

    Attributes of declared types that are not `used` need no values; None stands for all. With `sort` rows need not be
    in order. With `whole` attributes of undeclared types have the types of their columns.
    """
    tables = list(source.items()) if isinstance(source, dict) else [(None, source)]
    if len(tables) > 1 and not sort:
        return None
    parts = []
    for only, each in tables:
        table, form = frame_table(each)
        part = None if table is None or not table.num_rows else _part(table, form, names, events, only, used, whole)
        if part is None:
            return None
        parts.append(part)
    if len({(part.timestamps, part.timezone, part.form) for part in parts}) != 1:
        return None
    found = together(parts)
    return None if found is None else ordered(found, sort, offset)


def _part(
    table: pa.Table, form: Kind, names: Names, events: Mapping[str, typed.EventType], only: str | None,
    used: Used | None, whole: bool,
) -> Mixed | None:  # fmt: skip
    """One table, whose rows may be in any order."""
    layout = _layout(table.schema, names, events, only)
    if layout is None:
        return None
    end = times_of(table.column(layout.end))
    start = end if layout.start == layout.end else times_of(table.column(layout.start))
    if end is None or start is None:
        return None
    kind = _kinds(None if only is not None else table.column(str(layout.type)), only, events, table.num_rows)
    if kind is None:
        return None
    when = table.schema.field(layout.end).type
    timestamps = pa.types.is_timestamp(when)
    zone = when.tz if timestamps else None
    if not knows_zone(zone):
        return None
    there = [events[name] for name in present(kind, events)]
    types = _attributes(there, table.schema, used, whole)
    if types is None or _breaks_promise(there, layout):
        return None
    columns: dict[str, pa.Array] = {}
    for name, type_ in types.items():
        column = _converted(table.column(name), type_)
        if column is None:
            return None
        empty = column.null_count == table.num_rows
        if empty and any(_is_needed(event, name, used) for event in there if name in event.attributes):
            return None
        columns[name] = column
    every = None
    if whole and any(map(is_open, there)):
        others = [name for name in table.column_names if name not in (layout.type, layout.start, layout.end)]
        every = {name: _whole(without_view(table.column(name))) for name in others}
    return Mixed(kind, start, end, columns, events, False, timestamps, zone, form=form, whole=every)


def _converted(column: pa.ChunkedArray, expected: pa.DataType) -> pa.Array | None:
    """A column as the expected type, or strings in a dictionary; None where a value would change."""
    if column.type in CODES:
        whole = _whole(column.unify_dictionaries())
        return None if whole.dictionary.null_count else whole
    try:
        return _whole(column if column.type == expected else column.cast(expected))
    except pa.ArrowInvalid:
        return None


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def times_of(column: pa.ChunkedArray) -> Integers | None:
    """Times as integers, those of timestamps in microseconds; None if one is missing or out of range."""
    if column.null_count:
        return None
    whole = _whole(column)
    if column.type == pa.int64():
        return np.asarray(whole.to_numpy())
    times: Integers = whole.view(pa.int64()).to_numpy()
    if column.type.unit == "ns":
        return times // 1_000
    factor = UNITS[column.type.unit]
    if factor > 1 and len(times) and max(abs(int(times.min())), abs(int(times.max()))) > 2**62 // factor:
        return None
    return times if factor == 1 else times * factor


def _kinds(
    column: pa.ChunkedArray | None, only: str | None, events: Mapping[str, typed.EventType], count: int
) -> Kinds | None:
    """The rank of each row's type; None if a row has none or is of a derived type."""
    if column is None:
        ranks = {name: rank for rank, name in enumerate(events)}
        return None if events[str(only)].derived else np.full(count, ranks[str(only)], np.int32)
    if column.null_count:
        return None
    if pa.types.is_dictionary(column.type):
        return _kinds_in_dictionary(column, {name: rank for rank, name in enumerate(events)}, events)
    whole = _whole(column if column.type == pa.string() else column.cast(pa.string()))
    kind = np.empty(count, np.int32)
    texts, codes, all_there = _texts_and_codes(tuple((name, event.derived) for name, event in events.items()))
    _, offsets, data = whole.buffers()
    places = np.frombuffer(offsets, np.int32, count + 1, whole.offset * 4)
    held = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
    if kinds_of(places, held, texts, codes, kind):
        return None
    if all_there:
        return None if DERIVED in codes and kind.min() == DERIVED else kind
    others = kind < 0
    unknown = whole.filter(pa.array(others)).unique().to_pylist() if others.any() else []
    return kind if events.keys().isdisjoint(unknown) else None


@lru_cache(maxsize=64)
def _texts_and_codes(events: tuple[tuple[str, bool], ...]) -> tuple[tuple[bytes, ...], tuple[int, ...], bool]:
    """The texts of types and their ranks; of derived types `DERIVED`, unless there are many, which are left out.

    True says that none is left out. Each event comes with whether rules derive it.
    """
    few = sum(derived for _, derived in events) <= FEW_TYPES
    codes = {
        name.encode(): DERIVED if derived else rank for rank, (name, derived) in enumerate(events) if few or not derived
    }
    return tuple(codes), tuple(codes.values()), few


def _kinds_in_dictionary(
    column: pa.ChunkedArray, ranks: Mapping[str, int], events: Mapping[str, typed.EventType]
) -> Kinds | None:
    """The same where each row has the code of its type in a dictionary."""
    whole = _whole(column.unify_dictionaries())
    held = whole.dictionary
    held = held if held.type == pa.string() else held.cast(pa.string())
    texts = held.view(pa.binary()).to_pylist()  # a text that is no UTF-8 names no type
    if None in texts:
        return None
    names = [text.decode("utf-8", "replace") for text in texts]
    kind = np.array([ranks.get(name, -1) for name in names], np.int32)[whole.indices.to_numpy()]
    derived = [ranks[name] for name in names if name in events and events[name].derived]
    return None if derived and np.isin(kind, derived).any() else kind
