"""Derived events as Arrow tables, one for each type, in the order of events."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ensue.data.results import arrow_type, derived_table, time_type
from ensue.engine.batch import Batch, Columns, Integers, arrow_of
from ensue.language import typed
from ensue.records import dataclass


@dataclass(frozen=True)
class Shown:
    """The wanted types of a program, and the form in which times are shown."""

    program: typed.Program
    emit: Sequence[str]
    timestamps: bool
    timezone: str | None

    @property
    def as_columns(self) -> bool:
        """True if all wanted types are derived as columns: attributes of any type are not."""
        return not any("any" in self.program.events[name].attributes.values() for name in self.emit)

    def tables(self, batch: Batch) -> dict[str, pa.Table]:
        return derived_tables(batch, self.program, self.emit, self.timestamps, self.timezone)

    def table(self, name: str, columns: Columns | None) -> pa.Table:
        """The events of one type; None stands for no events."""
        event = self.program.events[name]
        if columns is None:
            return derived_table(event, [], self.timestamps, self.timezone)
        return table_of(columns, event, self.timestamps, self.timezone)


def derived_tables(
    batch: Batch, program: typed.Program, emit: Sequence[str], timestamps: bool, timezone: str | None
) -> dict[str, pa.Table]:
    """The derived events of a batch as a table for each type, in the order of events."""
    found = {}
    for name in emit:
        event = program.events[name]
        if name in batch.derived_columns:
            found[name] = table_of(batch.derived_columns[name], event, timestamps, timezone)
        else:
            rows = [(e.start, e.end, e.attributes) for e in sorted(batch.derived.get(name, ()), key=lambda e: e.key)]
            found[name] = derived_table(event, rows, timestamps, timezone)
    return found


def table_of(columns: Columns, event: typed.EventType, timestamps: bool, timezone: str | None) -> pa.Table:
    """Derived events of one type, which are in order, as a table."""
    when = time_type(timestamps, timezone)
    made = [_times(columns.start, when), _times(columns.end, when)]
    for attribute, type_ in event.attributes.items():
        arrow = arrow_type(type_, timestamps, timezone)
        column = columns.attributes[attribute]
        made.append(column if arrow is None or column.type == arrow else _cast(column, arrow))
    return pa.Table.from_arrays(made, names=["start", "end", *event.attributes])


def _cast(column: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(type_) and pa.types.is_timestamp(column.type):
        return column.view(pa.int64()).view(type_)
    return column.cast(type_)


def _times(values: Integers, type_: pa.DataType) -> pa.Array:
    column = arrow_of(values)
    return column if type_ == pa.int64() else column.view(type_)
