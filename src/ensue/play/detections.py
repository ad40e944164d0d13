"""Detections, as the page shows it: lines of JSON, counts by type, and all that is worth saying about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import pyarrow as pa

from ensue import compute as pc
from ensue.data.errors import describe_by_kind
from ensue.data.events import Events
from ensue.data.json_lines import json_lines_by_type
from ensue.program import Program
from ensue.request import Request

MOST_SHOWN = 5_000
"""Detections that are shown; all of them are counted."""


def detections(program: Program, found: Mapping[str, pa.Table], read: Events, request: Request) -> dict[str, Any]:
    """The first detections as JSON lines, how many there are of each type, bad rows, and notices."""
    first = {name: _first(table) for name, table in found.items()}
    return {
        "lines": list(islice(json_lines_by_type(first), MOST_SHOWN)),
        "counts": {name: table.num_rows for name, table in found.items()},
        "events": read.rows,
        "notices": list(_notices(program, read, request)),
        "bad": [{"line": _line(row.where), "reason": row.reason} for row in read.bad],
    }


def _first(table: pa.Table) -> pa.Table:
    """As many rows as are shown, by end and start; ties stay as they come."""
    if table.num_rows <= MOST_SHOWN:
        return table
    order = pc.sort_indices(table, sort_keys=[("end", "ascending"), ("start", "ascending")])
    return table.take(order[:MOST_SHOWN])


def _notices(program: Program, read: Events, request: Request) -> Iterator[str]:
    if read.bad_count:
        yield from describe_by_kind(read.bad, read.bad_count)
    if read.last_end is None:
        yield "There are no events."
    elif not any(event.derived for event in program.typed.events.values()):
        yield "There is no rule that derives an event yet."
    elif not read.used:
        used = ", ".join(name for name, event in program.typed.events.items() if event.declared or not event.derived)
        yield f"None of the events is of a type that the rules use ({used})."
    yield from program.empty_attributes(read)
    yield from program.plain_lengths(read.timestamps)
    yield from program.unused_columns(request.columns)
    yield from program.missing_tables(request.tables)
    for rule, count in program.suppressed_by_name(read.suppressed).items():
        if count:
            yield f"{rule}: {count} event{'s' if count != 1 else ''} not kept, because of `once` or `at most`."


def _line(where: str) -> int | None:
    """The line that a bad row stands on.

    >>> _line("events:12")
    12
    """
    found = re.search(r":(\d+)$", where)
    return int(found[1]) if found else None
