"""Detections as JSON lines: one object an event."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

import pyarrow as pa

from ensue import compute as pc
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


def json_lines_by_type(tables: Mapping[str, pa.Table]) -> Iterator[str]:
    """The detections of a table for each type, one line each, in the order of events: end, start, then as types come.

    No table need hold them all, so an attribute may be of one type here and of another there.

    >>> late, sold = pa.table({"start": [3], "end": [9], "id": [42]}), pa.table({"start": [4], "end": [4], "id": ["x"]})
    >>> for line in json_lines_by_type({"late": late, "sold": sold}):
    ...     print(line)
    {"type": "sold", "start": 4, "end": 4, "id": "x"}
    {"type": "late", "start": 3, "end": 9, "id": 42}
    """
    keyed = (_keyed_lines(rank, event_type, table) for rank, (event_type, table) in enumerate(tables.items()))
    for *_, line in heapq.merge(*keyed, key=itemgetter(0, 1, 2)):
        yield line


def _keyed_lines(rank: int, event_type: str, table: pa.Table) -> Iterator[tuple[int, int, int, str]]:
    """The lines of one type in order, each with its end, its start and the rank of its type."""
    times = pa.table({name: table.column(name).cast(pa.int64()) for name in ("end", "start")})
    in_order = pc.sort_indices(
        times, sort_keys=[("end", "ascending"), ("start", "ascending")]
    )  # ties stay as they come
    typed = table.add_column(0, "type", pa.array([event_type] * table.num_rows, pa.string()))
    ends, starts = times.take(in_order).columns
    for end, start, line in zip(_integers(ends), _integers(starts), json_lines(typed.take(in_order)), strict=True):
        yield end, start, rank, line


def _integers(column: pa.ChunkedArray) -> Iterator[int]:
    for offset in range(0, len(column), BATCH):
        yield from column.slice(offset, BATCH).to_pylist()


def with_moments_as_text(table: pa.Table) -> pa.Table:
    """The table with its columns of timestamps in ISO 8601."""
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(index, field.name, texts_of_column(table.column(index)))
    return table
