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
    found = {event: table for event, table in tables.items() if table.num_rows}
    places = np.repeat(np.arange(len(found)), [table.num_rows for table in found.values()])
    columns = [pa.array(found, pa.string()).take(pa.array(places))]
    parts = [(table, set(table.column_names)) for table in found.values()]
    columns += [_column(field, parts) for field in fields[1:]]
    whole = pa.table(columns, names=[field.name for field in fields])
    return whole if len(found) < 2 else whole.take(_in_order(whole))


def _column(field: pa.Field, parts: Sequence[tuple[pa.Table, set[str]]]) -> pa.ChunkedArray:
    """A column of all parts, one after the other: null in those that do not have it."""
    chunks: list[pa.Array] = []
    for table, names in parts:
        if field.name not in names:
            chunks.append(pa.nulls(table.num_rows, field.type))
        else:
            column = table[field.name]
            chunks += (column if column.type == field.type else column.cast(field.type)).chunks
    return pa.chunked_array(chunks, field.type)


def _in_order(whole: pa.Table) -> pa.Array:
    """The rows by end and start; else they stay as they are: those of a type are in order already."""
    return pa.array(np.lexsort([_integers(whole.column(name)) for name in ("start", "end")]))


def _integers(column: pa.ChunkedArray) -> Any:
    return (column if column.type == pa.int64() else column.cast(pa.int64())).to_numpy()


def _common(name: str, event: str, type_: pa.DataType, other: str, other_type: pa.DataType) -> pa.DataType:
    if {type_, other_type} == {pa.int64(), pa.float64()}:
        return pa.float64()
    raise DataError(
        f"The attribute {name!r} is {other_type} in {other!r} and {type_} in {event!r}, so one table cannot hold both. "
        f"Ask for one of them with emit=[…] (--emit), rename one, or hand the events over by type."
    )
