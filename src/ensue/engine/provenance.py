"""The engine on a whole set of events, with the rows that each derived event came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from ensue.data import DataError, Events
from ensue.data.results import derived_table
from ensue.engine.batch import columns_of
from ensue.engine.event import Event
from ensue.engine.knowledge import Row
from ensue.engine.run import Run
from ensue.language import typed
from ensue.rewriting.rates import rates_of

SOURCES = "sources"


def detect_sources(
    program: typed.Program, events: Events, until: int | None, tables: Mapping[str, Sequence[Row]], emit: Sequence[str]
) -> dict[str, pa.Table]:
    """What the program derives from events, with a column of the numbers of the rows that it came from."""
    check_sources(program, emit)
    horizon = until if until is not None else events.last_end
    counts = {name: table.num_rows for name, table in events.tables.items()}
    run = Run(program, tables, provenance=True, rates=rates_of(program, counts))
    batch = run.batch()
    if horizon is not None:
        batch.given = {name: columns_of(table).upto(horizon)[0] for name, table in events.tables.items()}
        first_end = None if events.first_end is None or events.first_end > horizon else events.first_end
        run.advance(batch, horizon, first_end)
    found = {}
    for name in emit:
        own = sorted(batch.derived.get(name, ()), key=lambda event: event.key)
        rows = [(event.start, event.end, event.attributes) for event in own]
        found[name] = with_sources(derived_table(program.events[name], rows, events.timestamps, events.timezone), own)
    return found


def check_sources(program: typed.Program, emit: Iterable[str]) -> None:
    """The column for the sources needs its name for itself."""
    for name in emit:
        if SOURCES in program.events[name].attributes:
            raise DataError(
                f"{name!r} has an attribute {SOURCES!r}, and with provenance that is the column of the rows that an "
                "event came from. Rename the attribute."
            )


def with_sources(table: pa.Table, events: Sequence[Event]) -> pa.Table:
    """A table of derived events with the positions of the inputs that each came from."""
    positions = [sorted(event.sources) for event in events]
    return table.append_column(SOURCES, pa.array(positions, pa.list_(pa.int64())))
