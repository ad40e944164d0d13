"""The engine on a whole set of events: tables in, tables of derived events out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from ensue.data import Events
from ensue.engine.batch import columns_of
from ensue.engine.knowledge import Row
from ensue.engine.run import Run
from ensue.language import typed
from ensue.results import derived_table


def detect_tables(
    program: typed.Program, events: Events, until: int | None, tables: Mapping[str, Sequence[Row]], emit: Sequence[str]
) -> dict[str, pa.Table]:
    """What the program derives from events, for each type wanted."""
    horizon = until if until is not None else events.last_end
    run = Run(program, tables)
    batch = run.batch()
    if horizon is not None:
        batch.given = {name: columns_of(table).upto(horizon)[0] for name, table in events.tables.items()}
        first_end = None if events.first_end is None or events.first_end > horizon else events.first_end
        run.advance(batch, horizon, first_end)
    return {
        name: derived_table(
            program.events[name],
            [(e.start, e.end, e.attributes) for e in sorted(batch.derived.get(name, ()), key=lambda e: e.key)],
            events.timestamps,
            events.timezone,
        )
        for name in emit
    }
