"""The engine on a whole set of events: tables in, tables of derived events out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ensue.data import Events
from ensue.data.results import arrow_type, derived_table, time_type
from ensue.engine.batch import Batch, Columns, Integers, arrow_of, columns_of
from ensue.engine.knowledge import Row
from ensue.engine.mixed import Mixed
from ensue.engine.run import Run
from ensue.language import typed
from ensue.rewriting.rates import joined_types, powers, rates_of


def detect_tables(
    program: typed.Program, events: Events, until: int | None, tables: Mapping[str, Sequence[Row]], emit: Sequence[str],
    compiled: bool | None = None, suppressed: dict[int, int] | None = None,
) -> dict[str, pa.Table]:  # fmt: skip
    """Derive events, for each type wanted.

    `suppressed` takes how many events each rule did not keep because of ``once`` or ``at most``, by its number.
    """
    horizon = until if until is not None else events.last_end
    counts = {name: table.num_rows for name, table in events.tables.items()}
    given = {name: columns_of(table) for name, table in events.tables.items()}
    instant = all(np.array_equal(columns.start, columns.end) for columns in given.values())
    run = Run(
        program,
        tables,
        compiled=compiled,
        emit=emit,
        instant=instant,
        rates=rates_of(program, counts),
    )
    batch = run.batch()
    if horizon is not None:
        batch.given = {name: columns.upto(horizon)[0] for name, columns in given.items()}
        first_end = None if events.first_end is None or events.first_end > horizon else events.first_end
        run.advance(batch, horizon, first_end)
    note_suppressed(run, suppressed)
    return derived_tables(batch, program, emit, events.timestamps, events.timezone)


def detect_mixed(
    program: typed.Program, pieces: Sequence[Mixed], until: int | None, tables: Mapping[str, Sequence[Row]],
    emit: Sequence[str], compiled: bool | None = None, suppressed: dict[int, int] | None = None,
) -> dict[str, pa.Table]:  # fmt: skip
    """The same for one table that is read where it lies, piece by piece."""
    first, last = int(pieces[0].end[0]), int(pieces[-1].end[-1])
    horizon = last if until is None else until
    instant = all(piece.start is piece.end or np.array_equal(piece.start, piece.end) for piece in pieces)
    joined = joined_types(program)
    counts = Counter[str]()
    for piece in pieces if joined else ():
        counts.update(piece.counts(joined))
    run = Run(program, tables, compiled=compiled, emit=emit, instant=instant, rates=powers(counts))
    found = []
    for number, piece in enumerate(pieces):
        is_last = number + 1 == len(pieces)
        to = horizon if is_last else min(horizon, int(piece.end[-1]))
        batch = run.batch()
        batch.mixed = piece if to >= piece.end[-1] else piece.upto(to)[0]
        run.advance(batch, to, first if first <= to else None)
        found.append(derived_tables(batch, program, emit, piece.timestamps, piece.timezone))
        if to < piece.end[-1]:
            break
    note_suppressed(run, suppressed)
    return {name: pa.concat_tables([each[name] for each in found]) for name in emit}


def note_suppressed(run: Run, suppressed: dict[int, int] | None) -> None:
    """Puts down how many events rules did not keep, by their numbers, if somebody asks for it."""
    if suppressed is not None:
        suppressed.update(run.suppressed())


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
