"""Events of several types as columns side by side, in the order in which generated code takes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.batch import Batch, Columns, Integers
from ensue.engine.reading import order_by, sorted_ties
from ensue.engine.structures.values import Dictionary
from ensue.language.semantics import order
from ensue.records import dataclass

Array = np.ndarray[Any, Any]
Values = tuple[Array, Array]
"""Values, and a flag for each that is not null."""

FEW = 64
"""Most rows that are processed one by one."""

NONE = np.empty(0, np.int64)
NO_FLOATS = np.empty(0, np.float64)
NO_FLAGS = np.empty(0, np.uint8)


@dataclass(frozen=True)
class Stream:
    """Rows in order: the rank of the type, start and end of each, and the columns that are read."""

    kind: np.ndarray[Any, np.dtype[np.int32]]
    start: Integers
    end: Integers
    columns: Sequence[Values]
    nulls: bool
    """True if a value is null."""
    sequenced: Array | None = None
    """Flags of rows with a number in a sequence, if any has one."""
    first: Array | None = None
    """For each row the first equal one; None where all differ, or order does not matter."""
    positions: Integers | None = None
    """The positions of rows in the input; None where a row has none."""

    def taken(self, by: Array | None) -> Stream:
        """The rows in another order."""
        if by is None:
            return self
        held: dict[int, Values] = {}
        columns: list[Values] = []
        for values, flags in self.columns:
            if len(values) and id(values) not in held:
                held[id(values)] = values[by], flags[by]
            columns.append(held.get(id(values), (values, flags)))
        return replace(
            self,
            kind=self.kind[by],
            start=self.start[by],
            end=self.end[by],
            columns=columns,
            sequenced=None if self.sequenced is None else self.sequenced[by],
            positions=None if self.positions is None else self.positions[by],
        )


@dataclass(frozen=True)
class Piece:
    """Events of one type from one source."""

    event: str
    columns: Columns


def stream_of(
    batch: Batch, types: Collection[str], ranks: Mapping[str, int], inputs: Mapping[tuple[str, str], tuple[int, str]],
    ordered: bool, dictionary: Dictionary, sourced: bool = False,
) -> Stream:  # fmt: skip
    """The new events of some types, with the columns that are read; with `sourced` they have their positions."""
    mixed, derived = batch.mixed, batch.derived_of(types)
    if mixed is not None and not (batch.given or batch.rows or derived):
        return mixed.stream(inputs, dictionary, ordered, sourced)
    if mixed is None and not batch.given and not derived and len(batch.rows) <= FEW:
        return _few_rows(batch, types, ranks, inputs, ordered, dictionary)
    pieces = [Piece(event, columns) for event in sorted(types) for columns in batch.columns_of(event)]
    pieces = [piece for piece in pieces if len(piece.columns)]
    count = sum(len(piece.columns) for piece in pieces)
    kind = np.empty(count, np.int32)
    start, end = np.empty(count, np.int64), np.empty(count, np.int64)
    columns = [_blank(event, kind_, pieces, count) for (event, _), (_, kind_) in inputs.items()]
    at, nulls = 0, False
    for piece in pieces:
        to = at + len(piece.columns)
        kind[at:to] = ranks[piece.event]
        start[at:to], end[at:to] = piece.columns.start, piece.columns.end
        for (event, attribute), (index, kind_) in inputs.items():
            if event == piece.event:
                values, flags = values_of(
                    piece.columns.attributes.get(attribute), kind_, dictionary, to - at, name=attribute,
                    tuples=batch.types[event].attributes[attribute] != "any",
                )  # fmt: skip
                columns[index][0][at:to], columns[index][1][at:to] = values, flags
                nulls = nulls or not flags.all()
        at = to
    numbered = _sequenced([piece.columns for piece in pieces])
    given = [piece.columns.positions for piece in pieces if piece.columns.positions is not None]
    positions = np.concatenate(given) if given and len(given) == len(pieces) else None
    by, first = _in_order(batch, pieces, kind, start, end, ordered)
    return replace(Stream(kind, start, end, columns, nulls, numbered, positions=positions).taken(by), first=first)


def _sequenced(columns: Sequence[Columns]) -> Array | None:
    """Flags of rows with a number in a sequence; None if none has one."""
    if all(each.sequence is None for each in columns):
        return None
    flags = [
        np.zeros(len(each), bool) if each.sequence is None else each.sequence.is_valid().to_numpy(zero_copy_only=False)
        for each in columns
    ]
    return np.concatenate(flags)


def _few_rows(
    batch: Batch, types: Collection[str], ranks: Mapping[str, int], inputs: Mapping[tuple[str, str], tuple[int, str]],
    ordered: bool, dictionary: Dictionary,
) -> Stream:  # fmt: skip
    """The same for a few rows of Python values, without Arrow."""
    rows = [row for row in batch.rows if row[0] in types]
    first = None
    if len(rows) > 1 and ordered:
        keyed = sorted(((batch.event(row).key, row) for row in rows), key=lambda pair: pair[0])
        first = first_alike(np.array([one[0] == other[0] for one, other in pairwise(keyed)]))
        rows = [row for _, row in keyed]
    elif len(rows) > 1:
        rows.sort(key=lambda row: row[3])
    columns: list[Values] = []
    nulls, present = False, {row[0] for row in rows}
    for (event, attribute), (_, kind) in inputs.items():
        if event not in present:
            columns.append((NO_FLOATS if kind == "f" else NONE, NO_FLAGS))
            continue
        values = [row[1].get(attribute) if row[0] == event else 0 for row in rows]
        there = [value is not None for value in values]
        if not all(there):
            nulls = True
        if kind in "so":
            values = [0 if value is None or row[0] != event else dictionary.code(value)
                      for row, value in zip(rows, values, strict=True)]  # fmt: skip
        elif not all(there):
            values = [0 if value is None else value for value in values]
        numbers = np.array(values, np.float64 if kind == "f" else np.int64)
        columns.append((numbers, np.array(there, np.uint8)))
    return Stream(
        np.array([ranks[row[0]] for row in rows], np.int32),
        np.array([row[2] for row in rows], np.int64),
        np.array([row[3] for row in rows], np.int64),
        columns,
        nulls,
        np.array([row[4] is not None for row in rows]) if any(row[4] is not None for row in rows) else None,
        first,
    )


def _blank(event: str, kind: str, pieces: Iterable[Piece], count: int) -> Values:
    if not any(piece.event == event for piece in pieces):
        return (NO_FLOATS if kind == "f" else NONE), NO_FLAGS
    return np.zeros(count, np.float64 if kind == "f" else np.int64), np.zeros(count, np.uint8)


def values_of(
    column: pa.Array | None, kind: str, dictionary: Dictionary, count: int, everywhere: Array | None = None,
    name: str = "", tuples: bool = True,
) -> Values:  # fmt: skip
    """A column as numbers, and flags of those that are not null; `everywhere` are such flags, all set.

    `name` is its name in messages; lists are `tuples` where they are declared as lists.
    """
    if column is None or pa.types.is_null(column.type):
        return np.zeros(count, np.float64 if kind == "f" else np.int64), np.zeros(count, np.uint8)
    if column.null_count:
        flags = column.is_valid().to_numpy(zero_copy_only=False).view(np.uint8)
    else:
        flags = np.ones(count, np.uint8) if everywhere is None else everywhere
    if kind in "so":
        return dictionary.encode(column, name, tuples), flags
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    if column.null_count:
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    values = column.to_numpy(zero_copy_only=False)
    return values.astype(np.float64 if kind == "f" else np.int64, copy=False), flags


# --- order


def _in_order(
    batch: Batch, pieces: Sequence[Piece], kind: Array, start: Integers, end: Integers, ordered: bool
) -> tuple[Array | None, Array | None]:
    """The order of rows by end; where it matters by start, sequence, type and attributes, too. None if they are sorted.

    And where it matters, the first of equal rows: see `Stream`.
    """
    if len(end) < 2:
        return None, None
    by, ends = (None, end) if np.all(end[1:] >= end[:-1]) else order_by(end)
    same = ends[1:] == ends[:-1]
    if not ordered or not same.any():
        return by, None
    tied = np.zeros(len(end), bool)
    tied[1:] |= same
    tied[:-1] |= same
    places = np.flatnonzero(tied)  # the others are where they belong
    rows = places if by is None else by[places]
    sequence = sequence_keys([piece.columns for piece in pieces])
    keys = [key[rows] for key in (*attribute_keys(batch, pieces), kind, *sequence, start, end)]
    inner = np.lexsort(keys)
    whole = np.arange(len(end)) if by is None else by.copy()
    whole[places] = rows[inner]
    alike = np.ones(len(inner) - 1, bool)
    for key in reversed(keys):
        held = key[inner]
        alike &= held[1:] == held[:-1]
        if not alike.any():
            return whole, None
    first = np.arange(len(end))
    first[places] = places[first_alike(alike)]
    return whole, first


def tie_order(
    kind: Array, start: Integers, end: Integers, columns: Mapping[str, pa.Array], names: Mapping[int, Sequence[str]]
) -> tuple[Array | None, Array | None]:
    """The order of rows sorted by end, with ties sorted by start, type and attributes; None if they are sorted.

    `names` are the attributes of each type that occurs, by its rank. And the first of equal rows: see `Stream`.
    """
    same = end[1:] == end[:-1]
    tied = np.zeros(len(end), bool)
    tied[1:] |= same
    tied[:-1] |= same
    tied &= kind >= 0
    rows = np.flatnonzero(tied)
    if not len(rows):
        return None, None
    held = {name: sortable(column.take(pa.array(rows)), len(rows)) for name, column in columns.items()}
    kinds = kind[rows]
    keys: list[Array] = [start[rows], kinds.astype(np.int64)]
    for position in range(max(map(len, names.values()), default=0)):
        at = {rank: own[position] for rank, own in names.items() if position < len(own) and own[position] in held}
        values, flags = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.uint8)
        if len(at) == len(names) and len(set(at.values())) == 1:
            values, flags = held[next(iter(at.values()))]
        else:
            for rank, name in at.items():
                own = kinds == rank
                values[own], flags[own] = held[name][0][own], held[name][1][own]
        keys += [flags.astype(np.int64), values]
    different = [key for key in keys if np.any(key[1:] != key[0])]
    by, alike = sorted_ties(np.stack([end[rows], *different], axis=1))
    whole = np.arange(len(end))
    whole[rows] = rows[by]
    first = None
    if alike.any():
        first = np.arange(len(end))
        chosen = first_alike(alike[1:])
        assert chosen is not None
        first[rows] = rows[chosen]
    return whole, first


def first_alike(alike: Array) -> Array | None:
    """For each row the first equal one, from flags of rows equal to the one before; None if all differ.

    >>> first_alike(np.array([False, True, True, False])).tolist()
    [0, 1, 1, 1, 4]
    """
    if not alike.any():
        return None
    rows = np.arange(len(alike) + 1)
    found: Array = np.maximum.accumulate(np.where(np.concatenate([[False], alike]), 0, rows))
    return found


def sequence_keys(columns: Sequence[Columns]) -> list[Array]:
    """The sequence of rows as numbers in its order, null first; the last key is the most significant."""
    if all(each.sequence is None for each in columns):
        return []
    values = [
        v for each in columns for v in (each.sequence.to_pylist() if each.sequence is not None else [None] * len(each))
    ]
    return [_dense(values)]


def attribute_keys(batch: Batch, pieces: Sequence[Piece]) -> list[Array]:
    """Attributes as numbers in their order, the first attribute last."""
    names = [_names(batch, piece) for piece in pieces]
    places: dict[str, list[int]] = {}
    for place, piece in enumerate(pieces):
        places.setdefault(piece.event, []).append(place)
    keys: list[Array] = []
    for position in reversed(range(max(map(len, names), default=0))):
        found: dict[int, tuple[Integers, Array]] = {}
        for own in places.values():
            columns = [
                pieces[k].columns.attributes.get(names[k][position]) if position < len(names[k]) else None for k in own
            ]
            found |= zip(own, sortable_together(columns, [len(pieces[k].columns) for k in own]), strict=True)
        keys += [np.concatenate([found[k][part] for k in range(len(pieces))]) for part in (0, 1)]
    return keys


def _names(batch: Batch, piece: Piece) -> Sequence[str]:
    names = batch.place(piece.event)[1]
    return sorted(piece.columns.attributes) if names is None else names


def sortable_together(columns: Sequence[pa.Array | None], counts: Sequence[int]) -> list[tuple[Integers, Array]]:
    """Columns of one attribute as integers in the order of all their values, and flags that put nulls first."""
    if len(columns) == 1:
        return [sortable(columns[0], counts[0])]
    types = {column.type for column in columns if column is not None and not pa.types.is_null(column.type)}
    if len(types) == 1 and not pa.types.is_dictionary(type_ := next(iter(types))):
        values, flags = sortable(
            pa.concat_arrays([
                pa.nulls(count, type_) if column is None or column.type != type_ else column
                for column, count in zip(columns, counts, strict=True)
            ]),
            sum(counts),
        )  # fmt: skip
    else:
        held = [
            value
            for column, count in zip(columns, counts, strict=True)
            for value in ([None] * count if column is None else column.to_pylist())
        ]
        values, flags = _dense(held), np.array([value is not None for value in held], np.uint8)
    ends = np.cumsum(counts)[:-1]
    return list(zip(np.split(values, ends), np.split(flags, ends), strict=True))


def sortable(column: pa.Array | None, count: int) -> tuple[Integers, Array]:
    """A column as integers in the order of its values, and a flag that puts nulls first."""
    if column is None or pa.types.is_null(column.type):
        return np.zeros(count, np.int64), np.zeros(count, np.uint8)
    flags = column.is_valid().to_numpy(zero_copy_only=False).view(np.uint8)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        filled = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
        return filled.to_numpy(zero_copy_only=False).astype(np.int64), flags
    if pa.types.is_floating(column.type):
        values = column.fill_null(0.0).to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
        bits = values.view(np.int64)
        bits = np.where(bits < 0, np.int64(-(2**63)) - bits - 1, bits)
        return np.where(np.isnan(values), np.int64(2**63 - 1), bits), flags
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        places = _dense(encoded.dictionary.to_pylist() or [None])
        return places[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)], flags
    return _dense(column.to_pylist()), flags


def _dense(values: list[Any]) -> Integers:
    """Values as their ranks."""
    keys = [order(value) for value in values]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys], np.int64)


def merged(one: Columns, other: Columns, each: bool = False) -> Columns:
    """Events of one type that were derived separately, sorted; equal ones are merged, unless `each` is set."""
    start, end = (np.concatenate([a, b]) for a, b in ((one.start, other.start), (one.end, other.end)))
    attributes = {name: pa.concat_arrays([one.attributes[name], other.attributes[name]]) for name in one.attributes}
    keys: list[Any] = [end, start]
    for column in attributes.values():
        values, there = sortable(column, len(end))
        keys += [there, values]
    by = np.lexsort(keys[::-1])
    differs = np.full(max(0, len(by) - 1), each)
    for key in keys:
        differs |= key[by][1:] != key[by][:-1]
    by = by[np.concatenate([np.ones(min(1, len(by)), bool), differs])]
    taken = {name: column.take(pa.array(by)) for name, column in attributes.items()}
    return Columns(start[by], end[by], taken)
