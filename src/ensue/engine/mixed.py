"""Events of all types in one Arrow table that needs hardly any conversion: read where it lies.

Most tables are like that: times without gaps, a string for the type (or a number for one in a dictionary), attributes
of the types declared or of narrower ones. Rows that are not in order are put in order, tables by type are put together.
Everything else goes the long way through `ensue.data`, which knows what to do with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.data.columns import Columns as Names
from ensue.data.columns import Layout, find_layout
from ensue.data.errors import DataError
from ensue.data.events import Events
from ensue.data.form import Form, Kind
from ensue.data.frames import frame_table
from ensue.data.iso import knows_zone
from ensue.engine.batch import Columns, Integers, arrow_of
from ensue.engine.reading import in_order, kinds_of, order_by
from ensue.engine.stream import NO_FLAGS, NO_FLOATS, NONE, Stream, Values, tie_order, values_of
from ensue.engine.structures.values import Dictionary
from ensue.language import typed
from ensue.language.limits import FARTHEST

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
"""Types of columns that are converted on the way, by what is expected; a value that would change is left to others."""

CODES = tuple(pa.dictionary(index, pa.string()) for index in (pa.int8(), pa.int16(), pa.int32()))
TYPES = (pa.string(), *CODES)
"""How the column of types may be held."""

UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000}
"""Microseconds of a timestamp."""

SMALL_PIECE = 1 << 15
"""Rows of a chunk from which on it is worth while to go through it by itself."""

FEW_TYPES = 16
"""Up to how many derived types each row is compared with them, too."""

Used = Collection[tuple[str, str]]
"""Attributes that rules use, each with its event."""


class Taken(Mapping[str, pa.Array]):
    """Columns in another order of rows, each put in order when it is first used: most rules use few."""

    def __init__(self, columns: Mapping[str, pa.Array], by: Integers) -> None:
        self.columns, self.by = columns, by
        self._taken: dict[str, pa.Array] = {}

    def __getitem__(self, name: str) -> pa.Array:
        if name not in self._taken:
            self._taken[name] = self.columns[name].take(arrow_of(self.by))
        return self._taken[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns


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
    positions: Integers | None = None
    """The position of each row, where they are not one after the other."""
    form: Kind = "arrow"

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
        columns = self.columns
        if isinstance(columns, Taken):
            columns = Taken(columns.columns, columns.by[begin:end])
        else:
            columns = {name: column.slice(begin, end - begin) for name, column in columns.items()}
        ends = self.end[begin:end]
        return replace(
            self, kind=self.kind[begin:end], end=ends, columns=columns,
            start=ends if self.start is self.end else self.start[begin:end],
            offset=self.offset + begin, positions=None if self.positions is None else self.positions[begin:end],
        )  # fmt: skip

    @property
    def places(self) -> Integers:
        """The position of each row in the input."""
        return np.arange(self.offset, self.offset + len(self)) if self.positions is None else self.positions

    def by_type(self) -> dict[str, Columns]:
        """The events of each type as columns of their own."""
        found = {}
        for rank, (name, event) in enumerate(self.events.items()):
            rows = np.flatnonzero(self.kind == rank)
            if len(rows):
                indices = pa.array(rows)
                attributes = {
                    a: self.columns[a].take(indices) if a in self.columns else pa.nulls(len(rows))
                    for a in event.attributes
                }
                found[name] = Columns(self.start[rows], self.end[rows], attributes, self.places[rows])
        return found

    @property
    def present(self) -> dict[str, int]:
        """The types that there are rows of, with their ranks: none of them is one that only rules derive."""
        if len(self.events) > FEW_TYPES:
            counts = np.bincount(self.kind[self.kind >= 0], minlength=len(self.events))
            return {name: rank for rank, name in enumerate(self.events) if counts[rank]}
        early = set(self.kind[:FEW_TYPES].tolist())  # most types come soon; the others are looked for
        return {
            name: rank
            for rank, (name, event) in enumerate(self.events.items())
            if not event.derived and (rank in early or np.any(self.kind == rank))
        }

    def stream(
        self, inputs: Mapping[tuple[str, str], tuple[int, str]], dictionary: Dictionary, ordered: bool, sourced: bool
    ) -> Stream:
        """The table as generated code takes it; with `ordered` events of one end are put in order.

        With `sourced` rows know their positions in the input.
        """
        count, present = len(self), self.present
        read: dict[tuple[str, str], Values] = {}
        everywhere = np.ones(count, np.uint8)
        columns: list[Values] = []
        nulls = False
        for (event, attribute), (_, kind) in inputs.items():
            if attribute not in self.columns or event not in present:
                columns.append((NO_FLOATS if kind == "f" else NONE, NO_FLAGS))
                continue
            if (attribute, kind) not in read:
                column = self.columns[attribute]
                values, flags = values_of(column, kind, dictionary, count, everywhere, attribute)
                read[attribute, kind] = values, flags
                nulls = nulls or column.null_count > 0
            columns.append(read[attribute, kind])
        found = Stream(self.kind, self.start, self.end, columns, nulls, positions=self.places if sourced else None)
        if self.unique or not ordered:
            return found
        names = {rank: list(self.events[name].attributes) for name, rank in present.items()}
        by, first = tie_order(self.kind, self.start, self.end, self.columns, names)
        return replace(found.taken(by), first=first)


def read_from(pieces: Sequence[Mixed], by_type: bool) -> Events:
    """Describe a table as one that was read: no row of it is bad."""
    one, first, last = pieces[0], int(pieces[0].end[0]), int(pieces[-1].end[-1])
    used = any(bool(piece.kind.max() >= 0) for piece in pieces)
    rows = sum(map(len, pieces))
    return Events({}, one.timestamps, one.timezone, first, last, (), 0, Form(one.form, by_type), rows, used)


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
    """The columns read of a table that needs hardly any conversion, None if it does, whatever types its rows have."""
    layout = _layout(schema, names, events, only)
    used = [event for name, event in events.items() if only is None or name == only]
    types = None if layout is None else _attributes(used, schema, None)
    return None if layout is None or types is None or _breaks_promise(used, layout) else _Fit(layout, only, types)


def _layout(schema: pa.Schema, names: Names, events: Mapping[str, typed.EventType], only: str | None) -> Layout | None:
    """The columns of times and types, None if they are not plain."""
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
    source: object, names: Names, events: Mapping[str, typed.EventType], used: Used | None = None
) -> tuple[Mixed, ...]:
    """A table as pieces that are read where they lie, one for each of its chunks; none if it is not that plain.

    Chunks that are small, out of order, or share an end with the next one, are put together.
    """
    only, table = next(iter(source.items())) if isinstance(source, dict) and len(source) == 1 else (None, source)
    if isinstance(table, pa.Table) and table.num_rows >= 2 * SMALL_PIECE:
        chunks = table.to_batches()
        if 1 < len(chunks) <= table.num_rows // SMALL_PIECE:
            pieces: list[Mixed] = []
            at = 0
            for chunk in chunks:
                piece = mixed_of(chunk if only is None else {only: chunk}, names, events, at, used=used)
                if piece is None or (pieces and pieces[-1].end[-1] >= piece.end[0]):
                    break
                pieces.append(piece)
                at += len(piece)
            if at == table.num_rows:
                return tuple(pieces)
    whole = mixed_of(source, names, events, used=used, sort=True)
    return () if whole is None else (whole,)


def _breaks_promise(events: Collection[typed.EventType], layout: Layout) -> bool:
    """Tell whether an event that is an instant may have a length here."""
    return layout.start != layout.end and any(event.instant and event.given for event in events)


def _attributes(
    events: Collection[typed.EventType], schema: pa.Schema, used: Used | None
) -> dict[str, pa.DataType] | None:
    """The type of each attribute, None if it is not one and the same, is not known, or its column has another.

    An attribute that no rule uses may have no column.
    """
    types: dict[str, pa.DataType] = {}
    for event in events:
        if event.derived:
            continue  # most likely not given; where it is, the table goes the long way
        for name, type_ in event.attributes.items():
            if name not in schema.names:
                if used is None or (event.name, name) in used:
                    return None
                continue
            held = schema.field(name).type
            expected = EXPECTED.get(type_)
            if expected is None or types.setdefault(name, expected) != expected:
                return None
            fits = held == expected or held in CONVERTED.get(expected, ())
            if not fits and not (type_ == "string" and held in CODES):
                return None
    return types


def schema_of(source: object) -> pa.Schema | None:
    """The schema of an Arrow table that holds all events."""
    if isinstance(source, dict) and len(source) == 1:
        (source,) = source.values()
    return source.schema if isinstance(source, pa.Table | pa.RecordBatch) else None


def mixed_of(
    source: object, names: Names, events: Mapping[str, typed.EventType], offset: int = 0, used: Used | None = None,
    sort: bool = False,
) -> Mixed | None:  # fmt: skip
    """A table, or several by type, as they are; None if they are not as plain as that.

    Attributes that are not `used` need no column; None stands for all. With `sort` rows need not be in order.
    """
    tables = list(source.items()) if isinstance(source, dict) else [(None, source)]
    if len(tables) > 1 and not sort:
        return None
    parts = []
    for only, each in tables:
        table, form = frame_table(each)
        part = None if table is None or not table.num_rows else _part(table, names, events, only, used)
        if part is None:
            return None
        parts.append(replace(part, form=form))
    found = parts[0] if len(parts) == 1 else _together(parts) if parts else None
    return None if found is None else _in_order(replace(found, offset=offset), sort)


def _part(
    table: pa.Table, names: Names, events: Mapping[str, typed.EventType], only: str | None, used: Used | None
) -> Mixed | None:
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
    found = Mixed(kind, start, end, {}, events, False, timestamps, zone)
    there = [events[name] for name in found.present]
    types = _attributes(there, table.schema, used)
    if types is None or _breaks_promise(there, layout):
        return None
    columns = {name: _converted(table.column(name), type_) for name, type_ in types.items()}
    if any(column is None or column.null_count == table.num_rows for column in columns.values()):
        return None
    return replace(found, columns=columns)


def _converted(column: pa.ChunkedArray, expected: pa.DataType) -> pa.Array | None:
    """A column as the type expected, or strings in a dictionary; None where a value would change."""
    if column.type in CODES:
        whole = _whole(column.unify_dictionaries())
        return None if whole.dictionary.null_count else whole
    try:
        return _whole(column if column.type == expected else column.cast(expected))
    except pa.ArrowInvalid:
        return None


def flowing(pieces: Iterable[Mixed | None]) -> Iterator[Mixed]:
    """Pieces in order, cut so that no end is in two of them; `NotPlainError` if one is None or out of order."""
    held: Mixed | None = None
    for piece in pieces:
        if piece is None or (held is not None and piece.end[0] < held.end[-1]):
            raise NotPlainError
        if held is not None and piece.end[0] == held.end[-1]:
            before, after = piece.upto(int(held.end[-1]))
            together = _together([held, before])
            if together is None:
                raise NotPlainError
            held = replace(together, unique=False)
            if not len(after):
                continue
            piece = after
        if held is not None:
            yield held
        done, held = piece.upto(int(piece.end[-1]) - 1)
        if len(done):
            yield done
    if held is not None:
        yield held


class NotPlainError(Exception):
    """Raised where a table turns out to need more care; it never comes out."""


def _together(parts: Sequence[Mixed]) -> Mixed | None:
    """Several tables as one, row after row."""
    first = parts[0]
    if any((part.timestamps, part.timezone, part.form) != (first.timestamps, first.timezone, first.form)
           for part in parts):  # fmt: skip
        return None
    types: dict[str, pa.DataType] = {}
    for part in parts:
        for name, column in part.columns.items():
            if types.setdefault(name, column.type) != column.type or column.type in CODES:
                return None
    columns = {
        name: pa.concat_arrays([p.columns[name] if name in p.columns else pa.nulls(len(p), type_) for p in parts])
        for name, type_ in types.items()
    }
    kind, end = np.concatenate([p.kind for p in parts]), np.concatenate([p.end for p in parts])
    start = end if all(p.start is p.end for p in parts) else np.concatenate([p.start for p in parts])
    return replace(first, kind=kind, start=start, end=end, columns=columns)


def _in_order(found: Mixed, sort: bool) -> Mixed | None:
    """The rows in the order of their ends, None if they are not, or one ends before it starts."""
    ordered = in_order(found.start, found.end)
    if ordered == 2 and sort:
        by, end = order_by(found.end)
        start = end if found.start is found.end else found.start[by]
        places = by + found.offset if found.positions is None else found.positions[by]
        found = replace(
            found, kind=found.kind[by], start=start, end=end, columns=Taken(found.columns, by), positions=places
        )  # fmt: skip
        ordered = in_order(start, end)
    if ordered == 2 or found.end[-1] > FARTHEST:
        return None
    if (found.start[0] if found.start is found.end else found.start.min()) < -FARTHEST:
        return None
    return replace(found, unique=ordered == 1)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def times_of(column: pa.ChunkedArray) -> Integers | None:
    """Times as integers, those of timestamps in microseconds; None if one is missing or too far."""
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
) -> np.ndarray[Any, np.dtype[np.int32]] | None:
    """The rank of each row's type, None if a row has none or is of a type that is derived."""
    ranks = {name: rank for rank, name in enumerate(events)}
    if column is None:
        return None if events[str(only)].derived else np.full(count, ranks[str(only)], np.int32)
    if column.null_count:
        return None
    if pa.types.is_dictionary(column.type):
        return _kinds_in_dictionary(column, ranks, events)
    whole = _whole(column if column.type == pa.string() else column.cast(pa.string()))
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
