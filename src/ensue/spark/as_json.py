"""Rows that take no part, as JSON."""

from __future__ import annotations

import pyarrow as pa

from ensue.data.json_lines import json_lines
from ensue.spark.wire import Wire


def as_json(rows: pa.Table, wire: Wire) -> pa.Array:
    """Each row as an object: its type, its times, and the attributes that the rules use.

    >>> from ensue.spark.wire import Column
    >>> rows = pa.table({"type": ["a"], "time": [3], "c0": [7]})
    >>> as_json(rows, Wire((Column("c0", "x", "bigint"),), instants=True, sequence=False)).to_pylist()
    ['{"type": "a", "time": 3, "x": 7}']
    """
    found: list[str] = []
    for event, own in wire.by_type(rows).items():
        typed = own.add_column(0, "type", pa.array([event] * own.num_rows, pa.string()))
        found.extend(json_lines(typed))
    return pa.array(found, pa.string())
