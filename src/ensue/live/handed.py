"""Detections that were emitted before their step was settled: each is emitted once, and other rules can use it.

Columns are kept as they are until a lookup needs their events. Detections are remembered until their step is settled,
so the lateness bounds this state.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.batch import Batch, Columns, joined, rows_of, same_types
from ensue.engine.event import Event, content
from ensue.engine.stream import merged
from ensue.records import dataclass

MOST_PARTS = 16
"""Number of tables that are kept as they are."""


@dataclass
class _OfType:
    """Emitted detections of one type: tables as they came, and events by their end and content."""

    tables: list[Columns] = field(default_factory=list)
    events: dict[int, dict[Any, Event]] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)
    last: int | None = None

    def see(self, end: int) -> None:
        self.last = end if self.last is None else max(self.last, end)

    def add(self, event: Event) -> None:
        of_end = self.events.get(event.end)
        if of_end is None:
            of_end = self.events[event.end] = {}
            heapq.heappush(self.ends, event.end)
        of_end[content(event)] = event

    def has(self, event: Event) -> bool:
        return event.end in self.events and content(event) in self.events[event.end]


class Handed:
    """The detections of all types that are emitted and not settled."""

    def __init__(self) -> None:
        self._types: dict[str, _OfType] = {}

    @property
    def types(self) -> Collection[str]:
        return self._types.keys()

    def has(self, time: int) -> bool:
        """Tell whether something ends up to a time."""
        return any(
            (own.ends and own.ends[0] <= time) or any(table.end[0] <= time for table in own.tables)
            for own in self._types.values()
        )

    def new(self, found: Batch, types: Iterable[str]) -> None:
        """Leaves in a batch the detections of some types that have not been emitted, and remembers them."""
        for type_ in types:
            self.leave_new(found, type_)
            own = self._types.get(type_)
            if own is None and (type_ in found.derived or type_ in found.derived_columns):
                own = self._types[type_] = _OfType()
            for event in found.derived.get(type_, ()):
                assert own is not None
                own.add(event)
                own.see(event.end)
            if type_ in found.derived_columns:
                assert own is not None
                columns = found.derived_columns[type_]
                own.tables.append(columns)
                own.see(int(columns.end[-1]))
                first = own.tables[0].attributes.values()
                if len(own.tables) > MOST_PARTS or not same_types(first, columns.attributes.values()):
                    _look_into(own, type_, found)

    def leave_new(self, found: Batch, type_: str) -> None:
        """Leaves in a batch the detections of a type that have not been emitted."""
        own = self._types.get(type_)
        if own is not None and own.last is not None:
            columns = found.derived_columns.get(type_)
            if (columns is not None and columns.end[0] <= own.last) or found.derived.get(type_):
                _look_into(own, type_, found)
            if columns is not None and columns.end[0] <= own.last:
                found.derived_columns[type_] = _without(columns, own, type_, found)
            if type_ in found.derived:
                found.derived[type_] = [event for event in found.derived[type_] if not own.has(event)]
        if not found.derived.get(type_):
            found.derived.pop(type_, None)
        if not len(found.derived_columns.get(type_, ())):
            found.derived_columns.pop(type_, None)

    def settle(self, time: int, types: Collection[str], wanted: Collection[str], batch: Batch) -> None:
        """Forgets detections of some types that end up to a time; those of wanted types go into a batch."""
        for type_ in [type_ for type_ in self._types if type_ in types]:
            own = self._types[type_]
            events: list[Event] = []
            while own.ends and own.ends[0] <= time:
                events.extend(own.events.pop(heapq.heappop(own.ends)).values())
            done = [table.upto(time)[0] for table in own.tables if table.end[0] <= time]
            own.tables = [
                table if table.end[0] > time else table.upto(time)[1] for table in own.tables if table.end[-1] > time
            ]
            if type_ in wanted and events:
                batch.derived[type_] = events
            if type_ in wanted and done:
                one = done[0]
                for table in done[1:]:
                    one = joined(one, table) if table.end[0] > one.end[-1] else merged(one, table)
                batch.derived_columns[type_] = one
            if not own.ends and not own.tables:
                del self._types[type_]

    def saved(self, batch: Batch) -> list[Any]:
        """All of it as plain values."""
        found = []
        for type_, own in self._types.items():
            _look_into(own, type_, batch)
            events = [event for of_end in own.events.values() for event in of_end.values()]
            found += [[type_, dict(event.attributes), event.start, event.end] for event in events]
        return found

    def restore(self, state: Iterable[Any], batch: Batch) -> None:
        for type_, attributes, start, end in state:
            own = self._types.setdefault(type_, _OfType())
            own.add(batch.derived_event((type_, attributes, start, end, None, -1)))
            own.see(end)


def _look_into(own: _OfType, type_: str, batch: Batch) -> None:
    """Turns the tables of a type into events."""
    for table in own.tables:
        for event in _events(type_, table, batch):
            own.add(event)
    own.tables = []


def _events(type_: str, columns: Columns, batch: Batch) -> Iterator[Event]:
    return map(batch.derived_event, rows_of(type_, columns, batch.types))


def _without(columns: Columns, own: _OfType, type_: str, batch: Batch) -> Columns:
    """The rows of a table that have not been emitted; all rows that end after the last emitted one are new."""
    assert own.last is not None
    near, far = columns.upto(own.last)
    new = [not own.has(event) for event in _events(type_, near, batch)]
    if all(new):
        return columns
    rows = np.concatenate([np.flatnonzero(new), np.arange(len(near), len(near) + len(far))])
    attributes: Mapping[str, pa.Array] = {n: column.take(pa.array(rows)) for n, column in columns.attributes.items()}
    return Columns(columns.start[rows], columns.end[rows], attributes)
