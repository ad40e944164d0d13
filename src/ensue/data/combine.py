"""Detections of all types as one table."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.data.errors import DataError


def combined(tables: Mapping[str, pa.Table]) -> pa.Table:
    """All detections as one table, in the order of events: type, start, end, then the union of the attributes."""
    if not tables:
        return pa.schema([("type", pa.string()), ("start", pa.int64()), ("end", pa.int64())]).empty_table()
    if len(tables) == 1:
        ((event, table),) = tables.items()
        return _with_type(table, event)
    schema = _schema(tables)
    found = {event: table for event, table in tables.items() if table.num_rows}
    whole = pa.concat_tables([_fitted(table, schema) for table in found.values()] or [schema.empty_table()])
    if len(found) == 1:
        return _with_type(whole, *found)
    places = np.repeat(np.arange(len(found)), [table.num_rows for table in found.values()])
    whole = whole.combine_chunks()
    by = _in_order(whole)
    return whole.take(pa.array(by)).add_column(0, "type", pa.array(found, pa.string()).take(pa.array(places[by])))


def _with_type(table: pa.Table, event: str) -> pa.Table:
    """A table with a column that has the same text everywhere: its chunks lie in one array, however many they are."""
    lengths = [len(chunk) for chunk in table.column("end").chunks]
    longest = pa.repeat(pa.scalar(event, pa.string()), max(lengths, default=0))
    return table.add_column(0, "type", pa.chunked_array([longest[:length] for length in lengths], pa.string()))


def _schema(tables: Mapping[str, pa.Table]) -> pa.Schema:
    """The columns of all tables, each of a type that holds all its values."""
    types: dict[str, tuple[str, pa.DataType]] = {}
    before = None
    for event, table in tables.items():
        if before is not None and table.schema.equals(before):
            continue
        before = table.schema
        for field in table.schema:
            if field.name not in types or pa.types.is_null(types[field.name][1]):
                types[field.name] = (event, field.type)
            elif not pa.types.is_null(field.type) and types[field.name][1] != field.type:
                types[field.name] = (event, _common(field.name, event, field.type, *types[field.name]))
    return pa.schema([(name, type_) for name, (_, type_) in types.items()])


def _fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with all columns of a schema: null in those that it does not have."""
    if table.schema.equals(schema):
        return table
    own = set(table.column_names)
    columns = [
        table[field.name].cast(field.type) if field.name in own else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _in_order(whole: pa.Table) -> Any:
    """The rows by end and start; else they stay as they are: those of a type are in order already."""
    start, end = (_integers(whole.column(name)) for name in ("start", "end"))
    by = None if np.array_equal(start, end) else np.argsort(start, kind="stable")
    return np.argsort(end, kind="stable") if by is None else by[np.argsort(end[by], kind="stable")]


def _integers(column: pa.ChunkedArray) -> Any:
    return (column if column.type == pa.int64() else column.cast(pa.int64())).to_numpy()


def _common(name: str, event: str, type_: pa.DataType, other: str, other_type: pa.DataType) -> pa.DataType:
    if {type_, other_type} == {pa.int64(), pa.float64()}:
        return pa.float64()
    raise DataError(
        f"The attribute {name!r} is {other_type} in {other!r} and {type_} in {event!r}, so one table cannot hold both. "
        f"Choose one of them with emit=[…] (--emit), rename one, or pass the events by type."
    )
