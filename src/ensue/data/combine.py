"""Detections of all types as one table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.data.errors import DataError


def combined(tables: Mapping[str, pa.Table]) -> pa.Table:
    """All detections as one table, in the order of events: type, start, end, then the union of the attributes."""
    types: dict[str, tuple[str, pa.DataType]] = {}
    for event, table in tables.items():
        for field in table.schema:
            if field.name not in types or pa.types.is_null(types[field.name][1]):
                types[field.name] = (event, field.type)
            elif not pa.types.is_null(field.type) and types[field.name][1] != field.type:
                types[field.name] = (event, _common(field.name, event, field.type, *types[field.name]))
    fields = [pa.field("type", pa.string()), *(pa.field(name, type_) for name, (_, type_) in types.items())]
    if not tables:
        return pa.schema([("type", pa.string()), ("start", pa.int64()), ("end", pa.int64())]).empty_table()
    parts = []
    for event, table in tables.items():
        columns = [pa.chunked_array([pa.repeat(pa.scalar(event, pa.string()), table.num_rows)])]
        for field in fields[1:]:
            if field.name in table.column_names:
                column = table[field.name]
                columns.append(column if column.type == field.type else column.cast(field.type))
            else:
                columns.append(pa.chunked_array([pa.nulls(table.num_rows, field.type)]))
        parts.append(pa.table(columns, names=[field.name for field in fields]))
    whole = pa.concat_tables(parts)
    return whole if sum(part.num_rows > 0 for part in parts) < 2 else whole.take(_in_order(parts))


def _in_order(parts: Sequence[pa.Table]) -> pa.Array:
    """The rows of all parts by end, start and part; in each part they are in order already."""
    times = [np.concatenate([_integers(part.column(name)) for part in parts]) for name in ("start", "end")]
    return pa.array(np.lexsort(times))


def _integers(column: pa.ChunkedArray) -> Any:
    return (column if column.type == pa.int64() else column.cast(pa.int64())).to_numpy()


def _common(name: str, event: str, type_: pa.DataType, other: str, other_type: pa.DataType) -> pa.DataType:
    if {type_, other_type} == {pa.int64(), pa.float64()}:
        return pa.float64()
    raise DataError(
        f"The attribute {name!r} is {other_type} in {other!r} and {type_} in {event!r}, so one table cannot hold both. "
        f"Ask for one of them with emit=[…] (--emit), rename one, or hand the events over by type."
    )
