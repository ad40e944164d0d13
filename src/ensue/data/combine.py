"""Detections of all types as one table."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

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
    for rank, (event, table) in enumerate(tables.items()):
        columns = [pa.array([event] * table.num_rows, pa.string())]
        for field in fields[1:]:
            if field.name in table.column_names:
                columns.append(table[field.name].cast(field.type))
            else:
                columns.append(pa.nulls(table.num_rows, field.type))
        position = pa.array(range(table.num_rows), pa.int64())
        ranks = pa.array([rank] * table.num_rows, pa.int64())
        parts.append(pa.table([*columns, ranks, position], names=[*(f.name for f in fields), "\0rank", "\0position"]))
    whole = pa.concat_tables(parts)
    keys = [(name, "ascending") for name in ("end", "start", "\0rank", "\0position")]
    return whole.take(pc.sort_indices(whole, sort_keys=keys)).drop_columns(["\0rank", "\0position"])


def _common(name: str, event: str, type_: pa.DataType, other: str, other_type: pa.DataType) -> pa.DataType:
    if {type_, other_type} == {pa.int64(), pa.float64()}:
        return pa.float64()
    raise DataError(
        f"The attribute {name!r} is {other_type} in {other!r} and {type_} in {event!r}, so one table cannot hold both. "
        f"Ask for one of them with emit=[…] (--emit), rename one, or hand the events over by type."
    )
