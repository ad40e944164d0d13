"""What has arrived and whose step is not complete: events wait here until everything that ends no later has come."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from ensue.engine.batch import Columns, Row, rows_of
from ensue.engine.mixed import Mixed
from ensue.language import typed

FEW = 64
"""Tables of no more rows are taken apart: to look through many small ones costs more."""


class Waiting:
    """The events that wait, as they came: rows by their end, and columns by type, in the order of their ends."""

    def __init__(self) -> None:
        self.rows: dict[int, list[Row]] = {}
        self.ends: list[int] = []
        self.columns: dict[str, list[Columns]] = {}
        self.mixed: Mixed | None = None
        self.count = 0

    def add_row(self, row: Row) -> None:
        rows = self.rows.get(row[3])
        if rows is None:
            self.rows[row[3]] = [row]
            heapq.heappush(self.ends, row[3])
        else:
            rows.append(row)
        self.count += 1

    def add_columns(self, type_: str, columns: Columns, events: Mapping[str, typed.EventType] | None = None) -> None:
        """Adds events of a type. Where the types of `events` are known, a few are kept as rows."""
        if events is not None and len(columns) <= FEW:
            for row in rows_of(type_, columns, events):
                self.add_row(row)
        elif len(columns):
            self.columns.setdefault(type_, []).append(columns)
            self.count += len(columns)

    def add_mixed(self, mixed: Mixed) -> None:
        """Adds a table; only one is kept as it is."""
        if len(mixed) <= FEW and (self.mixed is not None or self.count):
            for type_, columns in mixed.by_type().items():
                self.add_columns(type_, columns, mixed.events)
            return
        if self.mixed is not None:
            self._split()
        self.mixed = mixed
        self.count += len(mixed)

    def _split(self) -> None:
        mixed, self.mixed = self.mixed, None
        if mixed is not None:
            self.count -= len(mixed)
            for type_, columns in mixed.by_type().items():
                self.add_columns(type_, columns, mixed.events)

    def take_mixed(self, time: int) -> tuple[int | None, Mixed | None]:
        """The table that waits, up to a time; and up to when what waits besides it must be taken before it."""
        mixed = self.mixed
        if mixed is None or mixed.end[0] > time:
            return None, None
        ends = [end for end in self.ends if end <= time]
        ends += [int(part.end[min(len(part), int(np.searchsorted(part.end, time, "right"))) - 1])
                 for parts in self.columns.values() for part in parts if part.end[0] <= time]  # fmt: skip
        last = max(ends, default=None)
        if last is not None and last >= mixed.end[-1]:
            self._split()  # nothing of it comes after the rest
            return None, None
        self.count -= len(mixed)
        self.mixed = None
        done, rest = mixed.upto(time)
        for type_, columns in rest.by_type().items():
            self.add_columns(type_, columns)
        if last is not None:
            before, done = done.upto(last)
            for type_, columns in before.by_type().items():
                self.add_columns(type_, columns)
        return (last, done) if len(done) else (None, None)

    def has(self, time: int) -> bool:
        """Whether something waits that ends up to a time."""
        if self.mixed is not None and self.mixed.end[0] <= time:
            return True
        if self.ends and self.ends[0] <= time:
            return True
        return bool(self.columns) and any(p.end[0] <= time for parts in self.columns.values() for p in parts)

    def earliest(self) -> int | None:
        """The smallest end of all that waits."""
        found = self.ends[0] if self.ends else None
        if self.mixed is None and not self.columns:
            return found
        ends = [] if found is None else [found]
        ends += [int(part.end[0]) for parts in self.columns.values() for part in parts]
        ends += [] if self.mixed is None else [int(self.mixed.end[0])]
        return min(ends, default=None)

    def copy(self) -> Waiting:
        """The same events, which wait for something else."""
        copy = Waiting()
        copy.rows = {end: list(rows) for end, rows in self.rows.items()}
        copy.ends = list(self.ends)
        copy.columns = {type_: list(parts) for type_, parts in self.columns.items()}
        copy.mixed, copy.count = self.mixed, self.count
        return copy

    def take(self, time: int, events: Mapping[str, typed.EventType]) -> tuple[list[Row], dict[str, Columns]]:
        """All that ends up to a time: rows, and columns by type."""
        rows: list[Row] = []
        while self.ends and self.ends[0] <= time:
            rows.extend(self.rows.pop(heapq.heappop(self.ends)))
        given: dict[str, Columns] = {}
        if self.columns:
            waiting: dict[str, list[Columns]] = {}
            for type_, parts in self.columns.items():
                done = [part for part in parts if part.end[-1] <= time]
                rest = [part for part in parts if part.end[0] > time]
                for one, other in (part.upto(time) for part in parts if part.end[0] <= time < part.end[-1]):
                    done.append(one)
                    rest.append(other)
                if done:
                    given[type_], others = merged(done)
                    rows.extend(row for part in others for row in rows_of(type_, part, events))
                if rest:
                    waiting[type_] = rest
            self.columns = waiting
        self.count -= len(rows) + sum(map(len, given.values()))
        return rows, given

    def all_rows(self, events: Mapping[str, typed.EventType]) -> list[Row]:
        """Everything that waits, as rows in the order in which it came."""
        self._split()
        found = [row for rows in self.rows.values() for row in rows]
        for type_, parts in self.columns.items():
            found.extend(row for part in parts for row in rows_of(type_, part, events))
        return sorted(found, key=lambda row: row[5])


def merged(parts: list[Columns]) -> tuple[Columns, list[Columns]]:
    """Several parts as one in the order of ends, and those that have other columns or types than the first."""
    first = parts[0]
    alike = [part for part in parts if _types(part) == _types(first)]
    if len(alike) == 1:
        return first, parts[1:]
    end = np.concatenate([part.end for part in alike])
    order = np.argsort(end, kind="stable")
    indices = pa.array(order)
    sequences = [part.sequence for part in alike if part.sequence is not None]
    one = Columns(
        np.concatenate([part.start for part in alike])[order],
        end[order],
        {name: pa.concat_arrays([part.attributes[name] for part in alike]).take(indices) for name in first.attributes},
        np.concatenate([part.positions for part in alike if part.positions is not None])[order],
        pa.concat_arrays(sequences).take(indices) if sequences else None,
    )
    return one, [part for part in parts if _types(part) != _types(first)]


def _types(columns: Columns) -> tuple[object, ...]:
    names = tuple((name, column.type) for name, column in columns.attributes.items())
    return (names, None if columns.sequence is None else columns.sequence.type)
