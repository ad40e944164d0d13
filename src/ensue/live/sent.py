"""Read events that are sent: every form that `ensue.data` knows, and single dicts.

Dicts take the fast path where they can. `ensue.data` reads the others behind a row that stands for all earlier events:
it has the columns that an event needs, and times of the kind that the first event had. So columns that one send lacks,
or has of another kind, make its rows bad, as if everything had been sent at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from ensue.data import BadRow, Columns, DataError, Events, Form, Schema, read_events
from ensue.data.arrange import paths_of, row_arranger
from ensue.data.frames import frame_kind
from ensue.engine.batch import Columns as EventColumns
from ensue.engine.batch import Row, columns_of, rows_of
from ensue.engine.mixed import Mixed
from ensue.engine.plain_tables import mixed_of
from ensue.language import typed
from ensue.live.plain_rows import Read, plain_reader
from ensue.records import dataclass

ROWS = Form("rows")
_BEFORE = "\0"
"""The type of the row that stands for all earlier events."""


@dataclass
class Sent:
    """The events of one send, the bad ones aside. Those of types that the rules do not use are only among the ends."""

    form: Form
    count: int
    """Number of rows that were sent."""
    rows: list[Row] = field(default_factory=list)
    columns: dict[str, EventColumns] = field(default_factory=dict)
    mixed: Mixed | None = None
    """A table that is read where it lies, instead of columns by type."""
    ends: list[int] = field(default_factory=list)
    """The ends of rows of types that the rules do not use: all of them, or the smallest and the largest."""
    bad: list[BadRow] = field(default_factory=list)
    bad_count: int = 0
    timestamps: bool | None = None
    """True if the times are timestamps; None where there is no time."""
    timezone: str | None = None
    originals: Sequence[Any] = ()
    """The dicts as they were sent, if they were."""

    def leave_out_after(self, time: int) -> list[int]:
        """Leave out the events that end after a time; gives their positions."""
        left = [row[5] for row in self.rows if row[3] > time]
        self.rows = [row for row in self.rows if row[3] <= time]
        for type_, columns in self.columns.items():
            self.columns[type_], later = columns.upto(time)
            left += [] if later.positions is None else later.positions.tolist()
        if self.mixed is not None:
            self.mixed, after = self.mixed.upto(time)
            left += after.places.tolist()
            self.mixed = self.mixed if len(self.mixed) else None
        self.columns = {type_: columns for type_, columns in self.columns.items() if len(columns)}
        self.ends = [end for end in self.ends if end <= time]
        return sorted(left)


@dataclass(frozen=True)
class Reading:
    """Reader of sent events. `timestamps` is None until the first event decides the kind of times."""

    events: Mapping[str, typed.EventType]
    columns: Columns
    timestamps: bool | None = None
    timezone: str | None = None
    used: frozenset[tuple[str, str]] | None = None
    """The attributes that rules read, each with its event."""

    @cached_property
    def asked(self) -> Schema:
        """The attributes of all events."""
        return {name: dict(event.attributes) for name, event in self.events.items()}

    @cached_property
    def arrange(self) -> Callable[[Mapping[str, Any]], Mapping[str, Any]] | None:
        """Brings a dict's keys to the names that rules have; None where they are so."""
        return row_arranger(self.columns, paths_of(self.asked, self.columns))

    @cached_property
    def plain(self) -> Read:
        """The short way for a dict."""
        if self.timestamps is None:
            return lambda event, position: None
        read = plain_reader(self.events, self.columns, self.timestamps, self.timezone is not None)
        arrange = self.arrange
        return read if arrange is None else lambda event, position: read(arrange(event), position)

    @cached_property
    def usual(self) -> bool:
        """True if tables come with the names that rules have, and with times that need not be read."""
        return self.columns == self.columns.plain_names and self.arrange is None

    @cached_property
    def schema(self) -> Schema:
        return {n: dict(e.attributes) for n, e in self.events.items() if e.declared or e.derived}

    @cached_property
    def instant(self) -> set[str]:
        return {name for name, event in self.events.items() if event.instant}

    @cached_property
    def derived(self) -> set[str]:
        """The types of which no row is taken."""
        return {name for name, event in self.events.items() if not event.given}

    def read(self, source: Any, position: int) -> Sent:
        """Events in any form, the first of which has a position among all that were sent."""
        items = _items(source)
        if items is None:
            return self._tables(source, position)
        if items and isinstance(items[0], str | Path):
            return self._tables(items, position)
        sent = Sent(ROWS, len(items), timestamps=self.timestamps, timezone=self.timezone, originals=items)
        long: list[int] = []
        for index, item in enumerate(items):
            row = self.plain(item, position + index) if type(item) is dict else None
            if row is None:
                long.append(index)
            elif row[0] in self.events:
                sent.rows.append(row)
            else:
                sent.ends.append(row[3])
        if long and self.timestamps is None:
            self._first(sent, position)
        elif long:
            self._others(sent, long, position)
        return sent

    def _first(self, sent: Sent, position: int) -> None:
        """Read the first dicts of all, which decide the kind of times. If all lack a column, its name may be wrong."""
        read = self._read(sent.originals, self.schema, set(self.events))
        sent.bad, sent.bad_count, sent.timezone = _moved(read.bad, position), read.bad_count, read.timezone
        if read.first_end is not None and read.last_end is not None:
            sent.timestamps = read.timestamps
            sent.ends = [read.first_end, read.last_end]
        for type_, table in read.tables.items():
            sent.rows += [(*row[:5], position + row[5]) for row in rows_of(type_, columns_of(table), self.events)]

    def _others(self, sent: Sent, indices: list[int], position: int) -> None:
        """Dicts that are not plain."""
        arrange = self.arrange
        odd = [sent.originals[index] for index in indices]
        if arrange is not None:  # the row before them has columns by the names that rules have
            odd = [arrange(item) if isinstance(item, Mapping) else item for item in odd]
        key = self.columns.type or "type"
        names = (item.get(key) for item in odd if isinstance(item, Mapping))
        types = (str(name) if type(name) is int else name for name in names)
        unused = {name for name in types if isinstance(name, str) and name not in self.events}
        schema = {**self.schema, **{name: {} for name in unused}, _BEFORE: {}}
        known = {*self.events, *unused, _BEFORE}
        try:
            read = self._read([self._before(odd), *odd], schema, known, arranged=True)
        except DataError as error:
            if len(odd) > 1:
                for index in indices:
                    self._others(sent, [index], position)
                return
            reason = str(error).removeprefix("The given table ")
            sent.bad.append(BadRow(f"row {position + indices[0]}", reason))
            sent.bad_count += 1
            return
        sent.timezone = sent.timezone or read.timezone
        sent.bad_count += read.bad_count
        for bad in read.bad:
            index = indices[int(bad.where.removeprefix("row ")) - 1]
            sent.bad.append(BadRow(f"row {position + index}", bad.reason))
        for type_, table in read.tables.items():
            if type_ in unused:
                sent.ends.extend(columns_of(table).end.tolist())
            elif type_ != _BEFORE:
                rows = rows_of(type_, columns_of(table), self.events)
                sent.rows += [(*row[:5], position + indices[row[5] - 1]) for row in rows]

    def _read(self, source: Any, schema: Schema, known: set[str], arranged: bool = False) -> Events:
        """The long way; rows that are `arranged` have columns by the names of rules."""
        columns = replace(self.columns, renamed=()) if arranged else self.columns
        return read_events(
            source, columns, schema, known=known, instant=self.instant, derived=self.derived, used=self.used,
            asked=self.asked, whole=False,
        )  # fmt: skip

    def _before(self, odd: Iterable[Any]) -> dict[str, Any]:
        """The row that stands for all earlier events."""
        columns = self.columns
        keys = {key for item in odd if isinstance(item, Mapping) for key in item}
        if columns.time is not None:
            times = [columns.time]
        elif columns.start is not None or columns.end is not None:
            times = [columns.start or "start", columns.end or "end"]
        elif {"start", "end"} <= keys:
            times = ["start", "end", *({"time"} & keys)]
        else:
            times = ["time"]
        moment = datetime(1970, 1, 1) if self.timestamps else 0
        before: dict[str, Any] = {columns.type or "type": _BEFORE, **dict.fromkeys(times, moment)}
        return before if columns.sequence is None else {columns.sequence: None, **before}

    def _tables(self, source: Any, position: int) -> Sent:
        """Tables are read as they are; one that cannot be read at all is an error, and nothing of it is taken."""
        mixed = None
        if self.usual:
            mixed = mixed_of(source, self.columns, self.events, position, used=(), sort=True, whole=True)
        if mixed is not None and not mixed.readable:
            mixed = None  # its bad rows are looked for
        if mixed is not None and self.timestamps in (None, mixed.timestamps):
            form = Form(mixed.form, by_type=isinstance(source, dict))
            return Sent(form, len(mixed), mixed=mixed, timestamps=mixed.timestamps, timezone=mixed.timezone)
        read = self._read(source, self.schema, set(self.events))
        sent = Sent(read.form, read.rows, bad=_moved(read.bad, position), bad_count=read.bad_count)
        if read.first_end is None or read.last_end is None:
            return sent
        sent.timestamps, sent.timezone = read.timestamps, read.timezone
        if self.timestamps is not None and read.timestamps is not self.timestamps:
            sent.bad, sent.bad_count = _of_another_kind(read, position), read.rows
            return sent
        sent.ends = [read.first_end, read.last_end]
        for name, table in read.tables.items():
            columns = columns_of(table)
            assert columns.positions is not None
            sent.columns[name] = replace(columns, positions=columns.positions + position)
        return sent


def _items(source: Any) -> list[Any] | None:
    """The items of an iterable that is no table, or the one event; None for tables."""
    if frame_kind(source) is not None or isinstance(source, str | Path | bytes | bytearray):
        return None
    if isinstance(source, Mapping):
        by_type = source and all(map(_is_table, source.values()))
        return None if by_type else [source]
    if not isinstance(source, Iterable) or hasattr(source, "read"):
        return None
    items = list(source)
    if items and not isinstance(items[0], str | Path) and not any(isinstance(item, Mapping) for item in items):
        read_events(items, Columns(), {})  # says what it is, and what can be sent
    return items


def _is_table(value: Any) -> bool:
    """True if a value in a dict is a table: an event has at least a time, which is none."""
    if isinstance(value, str | bytes | bytearray | Mapping):
        return False
    return isinstance(value, Iterable | Path) or frame_kind(value) is not None


def _moved(bad: Iterable[BadRow], position: int) -> list[BadRow]:
    """Bad rows with their positions among all that were sent; those in files and tables by type have their own."""
    return [
        BadRow(f"row {int(row.where[4:]) + position}", row.reason) if row.where.startswith("row ") else row
        for row in bad
    ]


def _of_another_kind(read: Events, position: int) -> list[BadRow]:
    kinds = ("an integer", "timestamps") if not read.timestamps else ("a timestamp", "integers")
    reason = f"its time is {kinds[0]}, and the times before it were {kinds[1]}"
    return [BadRow(f"row {position + row}", reason) for row in range(min(read.rows, 1000))]
