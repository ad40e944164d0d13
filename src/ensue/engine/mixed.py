"""Events of all types in one Arrow table that is read in place: rows in the order of their ends, with the number of the
type of each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.data.events import Events
from ensue.data.form import Form, Kind
from ensue.data.infer import own_values
from ensue.data.raw import has_text, is_readable
from ensue.engine.batch import Columns, Integers
from ensue.engine.lazy_columns import Taken, types_of
from ensue.engine.stream import NO_FLAGS, NO_FLOATS, NONE, Stream, Values, tie_order, values_of
from ensue.engine.structures.values import Dictionary
from ensue.language import typed
from ensue.records import dataclass

Kinds = np.ndarray[Any, np.dtype[np.int32]]
"""The rank of each row's type; -1 for types that the rules do not use."""

FEW_TYPES = 16
"""Most derived types that each row's type is compared with."""


@dataclass(frozen=True)
class Mixed:
    """A table of events in the order of their ends. An attribute without a column is null."""

    kind: Kinds
    start: Integers
    end: Integers
    columns: Mapping[str, pa.Array]
    events: Mapping[str, typed.EventType]
    unique: bool
    """True if no two rows have the same end."""
    timestamps: bool
    timezone: str | None
    offset: int = 0
    """The position of the first row in the input."""
    positions: Integers | None = None
    """The position of each row, where they are not consecutive."""
    form: Kind = "arrow"
    whole: Mapping[str, pa.Array] | None = None
    """All columns of attributes as they came, if events of undeclared types have those that no rule reads, too."""

    def __len__(self) -> int:
        return len(self.end)

    def counts(self, types: Collection[str]) -> dict[str, int]:
        """Number of rows of each of some types."""
        ranks = ((rank, name) for rank, name in enumerate(self.events) if name in types)
        return {name: int(np.count_nonzero(self.kind == rank)) for rank, name in ranks}

    def upto(self, time: int) -> tuple[Mixed, Mixed]:
        """The events that end up to a time, and the others."""
        cut = int(np.searchsorted(self.end, time, side="right"))
        return self.slice(0, cut), self.slice(cut, len(self))

    def slice(self, begin: int, end: int) -> Mixed:
        if begin == 0 and end == len(self):
            return self
        ends = self.end[begin:end]
        starts = ends if self.start is self.end else self.start[begin:end]
        positions = None if self.positions is None else self.positions[begin:end]
        return Mixed(
            self.kind[begin:end], starts, ends, _sliced(self.columns, begin, end), self.events, self.unique,
            self.timestamps, self.timezone, self.offset + begin, positions, self.form,
            None if self.whole is None else _sliced(self.whole, begin, end),
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
                if self.whole is not None and is_open(event):
                    attributes = self._own_attributes(self.whole, indices)
                else:
                    attributes = {
                        a: self.columns[a].take(indices) if a in self.columns else pa.nulls(len(rows))
                        for a in event.attributes
                    }
                found[name] = Columns(self.start[rows], self.end[rows], attributes, self.places[rows])
        return found

    def _own_attributes(self, whole: Mapping[str, pa.Array], rows: pa.Array) -> dict[str, pa.Array]:
        """All attributes that have a value in some rows of an undeclared type."""
        taken = {name: self.columns.get(name, column).take(rows) for name, column in whole.items()}
        return {
            name: column if name in self.columns else own_values(column)
            for name, column in taken.items()
            if column.null_count < len(rows)
        }

    @property
    def present(self) -> dict[str, int]:
        """The types that have rows, with their ranks; none of them is one that only rules derive."""
        return present(self.kind, self.events)

    @property
    def readable(self) -> bool:
        """True if all text is UTF-8, which Arrow takes on trust."""
        columns = self.columns if self.whole is None else {**self.whole, **self.columns}
        return all(is_readable(columns[name]) for name, type_ in types_of(columns).items() if has_text(type_))

    def stream(
        self, inputs: Mapping[tuple[str, str], tuple[int, str]], dictionary: Dictionary, ordered: bool, sourced: bool
    ) -> Stream:
        """The table as generated code takes it; with `ordered` events of one end are sorted.

        With `sourced` rows know their positions in the input.
        """
        count, present = len(self), self.present
        read: dict[tuple[str, str], Values] = {}
        everywhere = np.ones(count, np.uint8)
        columns: list[Values] = []
        nulls = False
        for (event, attribute), (_, kind) in inputs.items():
            if event not in present:
                columns.append((NO_FLOATS if kind == "f" else NONE, NO_FLAGS))
                continue
            if (attribute, kind) not in read:
                column = self.columns.get(attribute)
                values, flags = values_of(column, kind, dictionary, count, everywhere, attribute)
                read[attribute, kind] = values, flags
                nulls = nulls or column is None or column.null_count > 0
            columns.append(read[attribute, kind])
        found = Stream(self.kind, self.start, self.end, columns, nulls, positions=self.places if sourced else None)
        if self.unique or not ordered:
            return found
        names = {rank: list(self.events[name].attributes) for name, rank in present.items()}
        by, first = tie_order(self.kind, self.start, self.end, self.columns, names)
        return replace(found.taken(by), first=first)


def present(kind: Kinds, events: Mapping[str, typed.EventType]) -> dict[str, int]:
    """The types that have rows, with their ranks; none of them is one that only rules derive."""
    if len(events) > FEW_TYPES:
        counts = np.bincount(kind[kind >= 0], minlength=len(events))
        return {name: rank for rank, name in enumerate(events) if counts[rank]}
    early = set(kind[:FEW_TYPES].tolist())  # most types come soon; the others are searched
    return {
        name: rank
        for rank, (name, event) in enumerate(events.items())
        if not event.derived and (rank in early or np.any(kind == rank))
    }


def _sliced(columns: Mapping[str, pa.Array], begin: int, end: int) -> Mapping[str, pa.Array]:
    if isinstance(columns, Taken):
        return columns.slice(begin, end)
    return {name: column.slice(begin, end - begin) for name, column in columns.items()}


def is_open(event: typed.EventType) -> bool:
    """True if events of a type are given and not declared: they have whatever columns there are."""
    return not (event.declared or event.derived)


def read_from(pieces: Sequence[Mixed], by_type: bool) -> Events:
    """Describe a table as read, without bad rows."""
    one, first, last = pieces[0], int(pieces[0].end[0]), int(pieces[-1].end[-1])
    used = any(bool(piece.kind.max() >= 0) for piece in pieces)
    rows = sum(map(len, pieces))
    return Events({}, one.timestamps, one.timezone, first, last, (), 0, Form(one.form, by_type), rows, used)


class NotPlainError(Exception):
    """Raised where a table turns out not to be plain; callers catch it."""
