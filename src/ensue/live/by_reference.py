"""The reference on Arrow tables: events as rows of Python values in, tables of derived events out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ensue import compute as pc
from ensue.data import Events, attributes_of
from ensue.data.raw import values_of
from ensue.data.results import derived_table
from ensue.engine.limits import OPEN, Limits
from ensue.language import typed
from ensue.reference.detect import Given, detect
from ensue.reference.static import Row


def detect_tables(
    program: typed.Program, events: Events, until: int | None, tables: Mapping[str, Sequence[Row]], emit: Sequence[str],
    suppressed: dict[int, int] | None = None, limits: Limits = OPEN,
) -> dict[str, pa.Table]:  # fmt: skip
    """Events that the program derives, as a table for each wanted type."""
    rows = given(events, program)
    most = limits.most_matches(len(rows))
    found = detect(program, rows, until, tables, events.first_end, events.last_end, suppressed, most)
    return {
        name: derived_table(
            program.events[name],
            [(e.start, e.end, e.attributes) for e in found if e.type == name],
            events.timestamps,
            events.timezone,
        )
        for name in emit
    }


def given(events: Events, program: typed.Program) -> list[Given]:
    """The events as rows, in the order of the input."""
    rows: list[tuple[int, Given]] = []
    for name, table in events.tables.items():
        types = program.events[name].attributes if name in program.events else {}
        columns = {n: _values(c, types.get(n, "any")) for n, c in attributes_of(table).items()}
        first = table.column_names.index("row")  # attributes come after it, and may be called row or sequence
        starts, ends, *sequences = (table.column(i).to_pylist() for i in range(first))
        sequence = sequences[0] if sequences else [None] * table.num_rows
        for i, position in enumerate(table.column(first).to_pylist()):
            attributes = {n: values[i] for n, values in columns.items()}
            rows.append((position, (name, attributes, starts[i], ends[i], sequence[i])))
    return [row for _, row in sorted(rows, key=lambda r: r[0])]


def _values(column: pa.ChunkedArray, type_: str) -> list[Any]:
    if type_ == "timestamp":
        column = pc.cast(column, pa.int64())
    return values_of(column)
