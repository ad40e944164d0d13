"""Detection on a whole set of events, with the input rows of each derived event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from ensue.data import DataError, Events
from ensue.data.results import derived_table
from ensue.engine.batch import Batch, columns_of
from ensue.engine.derived_tables import table_of
from ensue.engine.event import Event
from ensue.engine.knowledge import Row
from ensue.engine.mixed import Mixed
from ensue.engine.run import Run
from ensue.engine.tables import note_suppressed
from ensue.language import typed
from ensue.rewriting.rates import joined_types, powers, rates_of

SOURCES = "sources"


def detect_sources(
    program: typed.Program, events: Events, until: int | None, tables: Mapping[str, Sequence[Row]], emit: Sequence[str],
    compiled: bool | None = None, suppressed: dict[int, int] | None = None,
) -> dict[str, pa.Table]:  # fmt: skip
    """The derived events as tables, with a column of the numbers of their input rows."""
    check_sources(program, emit)
    horizon = until if until is not None else events.last_end
    counts = {name: table.num_rows for name, table in events.tables.items()}
    run = Run(program, tables, provenance=True, compiled=compiled, rates=rates_of(program, counts))
    batch = run.batch()
    batch.sources_as_columns = len(run.lanes) == 1
    if horizon is not None:
        batch.given = {name: columns_of(table).upto(horizon)[0] for name, table in events.tables.items()}
        first_end = None if events.first_end is None or events.first_end > horizon else events.first_end
        run.advance(batch, horizon, first_end)
    note_suppressed(run, suppressed)
    return traced_tables(batch, program, emit, events.timestamps, events.timezone)


def detect_mixed_sources(
    program: typed.Program, events: Mixed, until: int | None, tables: Mapping[str, Sequence[Row]], emit: Sequence[str],
    compiled: bool | None = None, suppressed: dict[int, int] | None = None,
) -> dict[str, pa.Table]:  # fmt: skip
    """The same for one table that is read in place."""
    check_sources(program, emit)
    first, last = int(events.end[0]), int(events.end[-1])
    horizon = last if until is None else until
    rates = powers(events.counts(joined_types(program)))
    run = Run(program, tables, provenance=True, compiled=compiled, rates=rates)
    batch = run.batch()
    batch.sources_as_columns = len(run.lanes) == 1
    batch.mixed = events if horizon >= last else events.upto(horizon)[0]
    run.advance(batch, horizon, first if first <= horizon else None)
    note_suppressed(run, suppressed)
    return traced_tables(batch, program, emit, events.timestamps, events.timezone)


def traced_tables(
    batch: Batch, program: typed.Program, emit: Sequence[str], timestamps: bool, timezone: str | None
) -> dict[str, pa.Table]:
    """The derived events of a batch as a table for each type, with a column of their sources."""
    found = {}
    for name in emit:
        event = program.events[name]
        if name in batch.derived_columns:
            columns = batch.derived_columns[name]
            found[name] = table_of(columns, event, timestamps, timezone).append_column(SOURCES, columns.sources)
            continue
        own = sorted(batch.derived.get(name, ()), key=lambda each: each.key)
        rows = [(each.start, each.end, each.attributes) for each in own]
        found[name] = with_sources(derived_table(event, rows, timestamps, timezone), own)
    return found


def check_sources(program: typed.Program, emit: Iterable[str]) -> None:
    """Raise an error if an attribute has the name of the column for the sources."""
    for name in emit:
        if SOURCES in program.events[name].attributes:
            raise DataError(
                f"{name!r} has an attribute {SOURCES!r}, and with provenance that is the column of the rows that an "
                "event came from. Rename the attribute."
            )


def with_sources(table: pa.Table, events: Sequence[Event]) -> pa.Table:
    """A table of derived events with the positions of their inputs."""
    positions = [sorted(event.sources) for event in events]
    return table.append_column(SOURCES, pa.array(positions, pa.list_(pa.int64())))
