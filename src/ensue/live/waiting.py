"""Waiting events: they have arrived, and wait until every event that ends no later has come."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from ensue.engine.batch import Columns, Row, rows_of
from ensue.engine.capacity import current
from ensue.engine.mixed import Mixed
from ensue.engine.tables_in_order import in_time_order
from ensue.language import typed
from ensue.language.limits import FARTHEST


class Waiting:
    """The events that wait, as they came: rows by their end, tables, and columns by type, in the order of their ends.

    Tables and columns are in heaps by their first end, with numbers that say in which order they came: a call looks at
    those that are due, not at all that wait.
    """

    def __init__(self) -> None:
        self.rows: dict[int, list[Row]] = {}
        self.ends: list[int] = []
        self.columns: dict[str, list[tuple[int, int, Columns]]] = {}
        self.came = 0
        self.tables: list[tuple[int, int, Mixed]] = []
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
        if events is not None and len(columns) <= current().waiting:
            for row in rows_of(type_, columns, events):
                self.add_row(row)
        elif len(columns):
            self.came += 1
            heapq.heappush(self.columns.setdefault(type_, []), (int(columns.end[0]), self.came, columns))
            self.count += len(columns)

    def add_mixed(self, mixed: Mixed) -> None:
        """Adds a table. A few rows are kept as rows: to look through many small tables costs more."""
        if self.count and len(mixed) <= current().waiting:
            for type_, columns in mixed.by_type().items():
                self.add_columns(type_, columns, mixed.events)
        elif len(mixed):
            self.came += 1
            heapq.heappush(self.tables, (int(mixed.end[0]), self.came, mixed))
            self.count += len(mixed)

    def split(self) -> None:
        """Splits tables by type; so they no longer depend on the number that a type has."""
        tables, self.tables = sorted(self.tables, key=lambda one: one[1]), []
        for _, _, mixed in tables:
            self._add_split(mixed)
            self.count -= len(mixed)

    def _add_split(self, mixed: Mixed) -> None:
        for type_, columns in mixed.by_type().items():
            self.add_columns(type_, columns)

    def take_tables(self, time: int) -> list[Mixed]:
        """Tables that follow each other, of events that end up to a time and after all other waiting ones that do.

        The rest of the tables up to this time is split by type; so it waits with the other events.
        """
        due: list[tuple[int, Mixed]] = []
        while self.tables and self.tables[0][0] <= time:
            _, came, mixed = heapq.heappop(self.tables)
            now, rest = mixed.upto(time)
            due.append((came, now))
            self.count -= len(now)
            if len(rest):
                heapq.heappush(self.tables, (int(rest.end[0]), came, rest))
        if not due:
            return []
        tables = [now for _, now in sorted(due, key=lambda one: one[0])]
        found = in_time_order(tables)
        last = self._last_of_others(time)
        if found is not None and last is None:
            return found
        if found is None or last is None:
            found, last = tables, time
        cut = [table.upto(last) for table in found]
        for before, _ in cut:
            self._add_split(before)
        return [after for _, after in cut if len(after)]

    def _last_of_others(self, time: int) -> int | None:
        """The largest end up to a time of events that are not in tables."""
        ends = [end for end in self.ends if end <= time]
        ends += [int(part.end[min(len(part), int(np.searchsorted(part.end, time, "right"))) - 1])
                 for parts in self.columns.values() for first, _, part in parts if first <= time]  # fmt: skip
        return max(ends, default=None)

    def has(self, time: int) -> bool:
        """True if an event waits that ends up to a time."""
        if self.tables and self.tables[0][0] <= time:
            return True
        if self.ends and self.ends[0] <= time:
            return True
        return any(parts[0][0] <= time for parts in self.columns.values())

    def earliest(self) -> int | None:
        """The smallest end of all that waits."""
        found = self.ends[0] if self.ends else None
        if not self.tables and not self.columns:
            return found
        ends = [] if found is None else [found]
        ends += [parts[0][0] for parts in self.columns.values()]
        ends += [first for first, _, _ in self.tables[:1]]
        return min(ends, default=None)

    def copy(self) -> Waiting:
        """The same events, which wait for something else."""
        copy = Waiting()
        copy.rows = {end: list(rows) for end, rows in self.rows.items()}
        copy.ends = list(self.ends)
        copy.columns = {type_: list(parts) for type_, parts in self.columns.items()}
        copy.tables = list(self.tables)
        copy.count, copy.came = self.count, self.came
        return copy

    def take(self, time: int, events: Mapping[str, typed.EventType]) -> tuple[list[Row], dict[str, Columns]]:
        """All that ends up to a time: rows, and columns by type."""
        rows: list[Row] = []
        while self.ends and self.ends[0] <= time:
            rows.extend(self.rows.pop(heapq.heappop(self.ends)))
        given: dict[str, Columns] = {}
        for type_, parts in list(self.columns.items()):
            due = []
            while parts and parts[0][0] <= time:
                due.append(heapq.heappop(parts))
            done = []
            for _, number, part in sorted(due, key=lambda one: one[1]):
                now, rest = (part, None) if part.end[-1] <= time else part.upto(time)
                done.append(now)
                if rest is not None:
                    heapq.heappush(parts, (int(rest.end[0]), number, rest))
            if done:
                given[type_], others = merged(done)
                rows.extend(row for part in others for row in rows_of(type_, part, events))
            if not parts:
                del self.columns[type_]
        self.count -= len(rows) + sum(map(len, given.values()))
        return rows, given

    def take_single(self, time: int) -> Row | None:
        """The one event that ends up to a time, where there is one and no more, without a number in a sequence."""
        ends = self.ends
        if not ends or (end := ends[0]) > time or self.columns or self.tables:
            return None
        rows = self.rows[end]
        row = rows[0]
        if len(rows) > 1 or row[4] is not None or end > FARTHEST or row[2] < -FARTHEST:
            return None
        if len(ends) == 1:
            ends.clear()
        elif ends[1] <= time or (len(ends) > 2 and ends[2] <= time):
            return None
        else:
            heapq.heappop(ends)
        del self.rows[end]
        self.count -= 1
        return row

    def all_rows(self, events: Mapping[str, typed.EventType]) -> list[Row]:
        """Everything that waits, as rows in the order in which it came."""
        self.split()
        found = [row for rows in self.rows.values() for row in rows]
        for type_, parts in self.columns.items():
            found.extend(row for _, _, part in parts for row in rows_of(type_, part, events))
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
