"""Derived events are a set: where several parts may derive the same one, one of them is kept.

They end at the same time, so the same micro-batch derives all of them, and nothing needs to be remembered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues

from ensue import compute as pc
from ensue.spark.packing import DERIVED, FOUND, packed_row, unpacked


def distinct(rows: pa.Table, types: Collection[str]) -> pa.Table:
    """Rows, of some types each one once.

    >>> rows = pa.table({"type": ["a", "a", "b", "b"], "x": [1, 1, 2, 2]})
    >>> distinct(rows, {"a"}).to_pydict()
    {'type': ['b', 'b', 'a'], 'x': [2, 2, 1]}
    """
    if not types:
        return rows
    repeated = pc.is_in(rows.column("type"), pa.array(sorted(types), pa.string()))
    own, others = rows.filter(repeated), rows.filter(pc.invert(repeated))
    try:
        once = own.group_by(own.column_names, use_threads=False).aggregate([])
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # nested values
        seen = {repr(row): index for index, row in enumerate(own.to_pylist())}
        once = own.take(pa.array(sorted(seen.values()), pa.int64()))
    return pa.concat_tables([others, once.select(rows.column_names).cast(rows.schema)])


class DistinctProcessor(StatefulProcessor):
    """The last stage of a stream whose detections may repeat. `stage` is its number."""

    def __init__(self, stage: int, types: Collection[str]) -> None:
        self.stage = stage
        self.types = types

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Nothing is kept; but Spark wants an operator with state to have some."""
        self._nothing = handle.getValueState("nothing", "text string")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        """Spark requires these names."""
        found = []
        for row in rows:
            if row.kind == DERIVED and row.stage == self.stage:
                found.append(unpacked(bytes(row.blob)))
            else:
                yield row
        if found:
            once = distinct(pa.concat_tables(found, promote_options="default"), self.types)
            yield packed_row(key[0], self.stage, FOUND, once)

    def close(self) -> None:
        """Nothing is open."""
