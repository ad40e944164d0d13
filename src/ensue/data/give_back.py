"""Detections in the form in which the events came in."""

import importlib
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa

from ensue.data.combine import combined
from ensue.data.errors import DataError
from ensue.data.form import Form, Kind
from ensue.data.iso import BEYOND_PYTHON, python_values

TIMES = ("start", "end")


def give_back(detections: Mapping[str, pa.Table], form: Form) -> object:
    """Give back the detections, which are a table for each derived type: start, end, attributes.

    >>> late, sold = pa.table({"start": [2], "end": [4], "x": [7]}), pa.table({"start": [1], "end": [3], "x": ["y"]})
    >>> found = {"a": late, "b": sold}
    >>> give_back(found, Form("rows"))
    [{'type': 'b', 'start': 1, 'end': 3, 'x': 'y'}, {'type': 'a', 'start': 2, 'end': 4, 'x': 7}]
    >>> give_back(found, Form("rows", by_type=True))
    {'a': [{'start': 2, 'end': 4, 'x': 7}], 'b': [{'start': 1, 'end': 3, 'x': 'y'}]}
    """
    if form.by_type:
        return {name: in_kind(table, form.kind) for name, table in detections.items()}
    if form.kind == "rows":
        return _rows_in_order(detections)
    return in_kind(combined(detections), form.kind)


def _rows_in_order(detections: Mapping[str, pa.Table]) -> list[dict[str, Any]]:
    """The rows of all types by end, start and type; no table need hold them all, so their types may differ."""
    rows = [
        (end, start, rank, {"type": name, **row})
        for rank, (name, table) in enumerate(detections.items())
        for end, start, row in zip(*_integers(table), python_rows(table), strict=True)
    ]
    return [row for *_, row in sorted(rows, key=itemgetter(0, 1, 2))]


def _integers(table: pa.Table) -> tuple[list[int], list[int]]:
    return table.column("end").cast(pa.int64()).to_pylist(), table.column("start").cast(pa.int64()).to_pylist()


def python_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table as dicts. A timestamp that no datetime holds is an integer: microseconds since 1970.

    >>> python_rows(pa.table({"t": pa.array([0, 10**18], pa.timestamp("us"))}))
    [{'t': datetime.datetime(1970, 1, 1, 0, 0)}, {'t': 1000000000000000000}]
    """
    try:
        rows: list[dict[str, Any]] = python_values(table)
    except DataError:
        columns = [[_python(value) for value in column] for column in table.columns]
        return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]
    return rows


def _python(value: Any) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError) as error:
        if pa.types.is_timestamp(value.type):
            return value.cast(pa.timestamp("us", value.type.tz)).value
        if pa.types.is_list(value.type) or pa.types.is_large_list(value.type):
            return [_python(each) for each in value]
        raise DataError(BEYOND_PYTHON) from error


def own_rows(detections: pa.Table, attributes: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The detections as dicts, each with the attributes of its own type."""
    rows: list[dict[str, Any]] = python_values(detections)
    keys = {event_type: ("type", *TIMES, *own) for event_type, own in attributes.items()}
    return [{key: row[key] for key in keys.get(row["type"], row)} for row in rows]


def in_kind(table: pa.Table, kind: Kind) -> object:
    match kind:
        case "pandas":
            return _pandas(table)
        case "polars":
            return importlib.import_module("polars").from_arrow(table)
        case "rows":
            return python_rows(table)
        case _:
            return table


def _pandas(table: pa.Table) -> object:
    """Integers and truth values with gaps in pandas's own types for that: as floats, large integers would be others."""
    pandas: Any = importlib.import_module("pandas")
    gaps = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    if not any(column.null_count and column.type in gaps for column in table.columns):
        return table.to_pandas(use_threads=False)  # to start threads takes longer than most tables
    series = {
        name: column.to_pandas(types_mapper=gaps.get if column.null_count else None)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return pandas.DataFrame(series, columns=table.column_names)
