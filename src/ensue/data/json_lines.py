"""Detections as JSON lines: one object an event."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from ensue.data.give_back import own_rows
from ensue.data.iso import python_values, texts_of_column
from ensue.data.json_text import to_json

BATCH = 10_000


def json_lines(detections: pa.Table, attributes: Mapping[str, Sequence[str]] | None = None) -> Iterator[str]:
    """The detections, one line each; with `attributes` a line has its own type's ones, without it all columns.

    >>> found = pa.table({"type": ["late"], "start": [3], "end": [9], "id": [42], "note": [None]})
    >>> print(*json_lines(found, {"late": ["id"]}))
    {"type": "late", "start": 3, "end": 9, "id": 42}
    """
    for batch in detections.to_batches(max_chunksize=BATCH):
        table = with_moments_as_text(pa.Table.from_batches([batch]))
        for row in python_values(table) if attributes is None else own_rows(table, attributes):
            yield to_json(row)


def with_moments_as_text(table: pa.Table) -> pa.Table:
    """The table with its columns of timestamps in ISO 8601."""
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(index, field.name, texts_of_column(table.column(index)))
    return table
