"""Detections on their way out: as dicts without a detour, or as tables in the form in which events come in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import pyarrow as pa

from ensue.data.form import Form
from ensue.data.give_back import give_back
from ensue.data.iso import EPOCH
from ensue.data.results import derived_table
from ensue.engine.batch import Batch, rows_of
from ensue.engine.derived_tables import table_of
from ensue.engine.event import Event
from ensue.engine.provenance import with_sources
from ensue.language import typed
from ensue.language.types import is_list, item_of
from ensue.records import dataclass

Convert = Callable[[Any], Any]


@dataclass(frozen=True)
class Shown:
    """Converts events for output: times are integers, or timestamps of a zone."""

    events: Mapping[str, typed.EventType]
    timestamps: bool
    timezone: str | None
    provenance: bool

    def row(self, event: Event) -> dict[str, Any]:
        """A detection as `Program.detect` gives it among rows."""
        shown = self.given(event)
        if self.provenance:
            shown["sources"] = sorted(event.sources)
        return shown

    def given(self, event: Event) -> dict[str, Any]:
        """An event of any type as a dict."""
        attributes = event.attributes
        shown: dict[str, Any] = {"type": event.type, "start": event.start, "end": event.end}
        if self.timestamps:
            shown["start"], shown["end"] = self.moment(event.start), self.moment(event.end)
        known = self._converters.get(event.type)
        if known is None:
            shown.update(attributes)
            return shown
        for name, convert in known:
            value = attributes.get(name)
            shown[name] = value if convert is None or value is None else convert(value)
        return shown

    @cached_property
    def moment(self) -> Convert:
        return moments(self.timezone) if self.timestamps else lambda value: value

    def value(self, type_: str) -> Convert | None:
        """Conversion of values of a type for output; None where they stay unchanged."""
        if is_list(type_):
            inner = self.value(item_of(type_))
            return list if inner is None else lambda v: [i if i is None or inner is None else inner(i) for i in v]
        match type_:
            case "timestamp":
                return moments(self.timezone if self.timestamps else "UTC")
            case "time":
                return self.moment if self.timestamps else None
            case "any":
                return lambda value: list(value) if type(value) is tuple else value
            case _:
                return None

    @cached_property
    def _converters(self) -> dict[str, list[tuple[str, Convert | None]]]:
        return {
            name: [(attribute, self.value(type_)) for attribute, type_ in event.attributes.items()]
            for name, event in self.events.items()
            if event.declared or event.derived
        }

    def tables(self, batch: Batch | None, names: Iterable[str]) -> dict[str, pa.Table]:
        """Derived events, as a table for each type."""
        tables = {}
        for name in names:
            if batch is not None and name in batch.derived_columns and name not in batch.derived:
                columns, event = batch.derived_columns[name], self.events[name]
                tables[name] = table_of(columns, event, self.timestamps, self.timezone)
                continue
            found = [] if batch is None else derived(batch, [name])
            rows = [(event.start, event.end, event.attributes) for event in found]
            table = derived_table(self.events[name], rows, self.timestamps, self.timezone)
            tables[name] = with_sources(table, found) if self.provenance else table
        return tables

    def back(self, batch: Batch | None, names: Sequence[str], form: Form) -> Any:
        """Derived events, in a form."""
        return give_back(self.tables(batch, names), form)


def derived(batch: Batch, names: Iterable[str]) -> list[Event]:
    """Derived events of some types, in order."""
    found: list[Event] = []
    for name in names:
        found.extend(batch.derived.get(name, ()))
        if name in batch.derived_columns:
            found.extend(map(batch.derived_event, rows_of(name, batch.derived_columns[name], batch.types)))
    if len(found) > 1:
        found.sort(key=lambda event: event.key)
    return found


def moments(timezone: str | None) -> Convert:
    """Microseconds since 1970 as a datetime of a zone, as Arrow gives it; where Python has none, as they are.

    >>> moments("UTC")(1_000_000).isoformat()
    '1970-01-01T00:00:01+00:00'
    """
    if timezone is None:
        epoch, zone = EPOCH.replace(tzinfo=None), None
    else:
        epoch, zone = EPOCH, pa.scalar(0, pa.timestamp("us", tz=timezone)).as_py().tzinfo

    def moment(micros: int) -> datetime | int:
        try:
            found = epoch + timedelta(microseconds=micros)
            return found if zone is None else found.astimezone(zone)
        except OverflowError:  # before the year 1, or after 9999
            return micros

    return moment
