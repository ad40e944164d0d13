"""Detections in the form in which the events came in."""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ensue.data.form import Form, Kind
from ensue.data.iso import python_values

TIMES = ("start", "end")


def give_back(detections: pa.Table, form: Form, attributes: Mapping[str, Sequence[str]]) -> object:
    """Give back a table of detections; `attributes` has each derived type's own ones, in order.

    >>> found = pa.table({"type": ["a", "b"], "start": [1, 2], "end": [3, 4], "x": [7, None], "y": [None, 8]})
    >>> give_back(found, Form("rows"), {"a": ["x"], "b": ["y"]})
    [{'type': 'a', 'start': 1, 'end': 3, 'x': 7}, {'type': 'b', 'start': 2, 'end': 4, 'y': 8}]
    >>> give_back(found, Form("rows", by_type=True), {"a": ["x"], "c": []})
    {'a': [{'start': 1, 'end': 3, 'x': 7}], 'c': []}
    """
    if form.by_type:
        own_tables = {name: _of_type(detections, name, own) for name, own in attributes.items()}
        return {name: _in_kind(table, form.kind) for name, table in own_tables.items()}
    if form.kind == "rows":
        return own_rows(detections, attributes)
    return _in_kind(detections, form.kind)


def own_rows(detections: pa.Table, attributes: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The detections as dicts, each with the attributes of its own type."""
    rows: list[dict[str, Any]] = python_values(detections)
    keys = {event_type: ("type", *TIMES, *own) for event_type, own in attributes.items()}
    return [{key: row[key] for key in keys.get(row["type"], row)} for row in rows]


def _of_type(detections: pa.Table, event_type: str, own: Sequence[str]) -> pa.Table:
    return detections.filter(pc.equal(detections.column("type"), event_type)).select([*TIMES, *own])


def _in_kind(table: pa.Table, kind: Kind) -> object:
    match kind:
        case "pandas":
            return _pandas(table)
        case "polars":
            return importlib.import_module("polars").from_arrow(table)
        case "rows":
            return python_values(table)
        case _:
            return table


def _pandas(table: pa.Table) -> object:
    """Integers and truth values with gaps in pandas's own types for that: as floats, large integers would be others."""
    pandas: Any = importlib.import_module("pandas")
    gaps = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    series = {
        name: column.to_pandas(types_mapper=gaps.get if column.null_count else None)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return pandas.DataFrame(series, columns=table.column_names)
