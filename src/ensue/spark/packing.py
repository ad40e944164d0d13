"""Many events in few rows: Spark's stateful operators take rows one by one, so a row holds a whole table.

A packed row has the stage and the bucket that it is for, and the kind of its content: given events, events that an
earlier stage derived, detections, or rejected rows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ensue import compute as pc
from ensue.records import dataclass
from ensue.spark.as_json import as_json
from ensue.spark.buckets import NOWHERE, Buckets, Numbers
from ensue.spark.clock import Clock
from ensue.spark.wire import WRONG, Wire, handed_on, together

if TYPE_CHECKING:
    from pyspark.sql import Row

GIVEN, DERIVED, FOUND, REJECTED, FIRST = "given", "derived", "found", "rejected", "first"
COUNTED = "counted"
TIME, CLOCK = "time", "clock"
"""Kinds of packed rows: given events; events that an earlier stage derived; detections; rejected rows with reasons;
the smallest end of some events; numbers of suppressed events, by rule; the latest end that a task saw, sent to every
bucket, so that all know how far the micro-batch goes; and that end for the watermark."""

FOR_PEOPLE = (FOUND, REJECTED, COUNTED)
"""Kinds that pass through all stages unchanged."""

PACKED = "bucket int, stage int, kind string, size bigint, low bigint, high bigint, clock bigint, blob binary"
"""The columns of packed rows as they are made: of given events, how many there are and the smallest and largest end;
`clock` is milliseconds, and null but for rows of that kind."""
SCHEMA = pa.schema([("bucket", pa.int32()), ("stage", pa.int32()), ("kind", pa.string()), ("size", pa.int64()),
                    ("low", pa.int64()), ("high", pa.int64()), ("clock", pa.int64()),
                    ("blob", pa.binary())])  # fmt: skip

TOGETHER = 1 << 20
"""Largest number of events that are packed at once."""

_END = struct.Struct("<q")


NO_REASONS = pa.table({"reason": pa.array([], pa.string()), "row": pa.array([], pa.string())})


def rejects(reasons: pa.Array, rows: pa.Array) -> pa.Table:
    """Rows that take no part, as JSON, and why."""
    return pa.table({"reason": reasons, "row": rows})


def packed(table: pa.Table) -> bytes:
    """A table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


def unpacked(blob: bytes | bytearray | pa.Buffer) -> pa.Table:
    """The table that bytes hold."""
    return pa.ipc.open_stream(pa.py_buffer(blob)).read_all()


def packed_row(bucket: int, stage: int, kind: str, rows: pa.Table) -> Row:
    """A packed row as a stateful operator gives it on."""
    from pyspark.sql import Row

    return Row(
        bucket=bucket, stage=stage, kind=kind, size=None, low=None, high=None, clock=None, blob=packed(rows)
    )  # fmt: skip


def packed_time(time: int) -> bytes:
    return _END.pack(time)


def unpacked_time(blob: bytes) -> int:
    return int(_END.unpack(blob)[0])


def in_buckets(rows: pa.Table, numbers: Numbers) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each bucket, in the order in which they are."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    cuts = [*np.flatnonzero(np.diff(ordered, prepend=numbers.dtype.type(NOWHERE))).tolist(), len(ordered)]
    if cuts[0] == len(ordered):
        return
    taken = rows if cuts == [0, len(ordered)] else rows.take(pa.array(order))
    for begin, end in pairwise(cuts):
        yield int(ordered[begin]), taken.slice(begin, end - begin)


@dataclass(frozen=True)
class Packer:
    """Packs events as they come from the source: a function from batches to batches that Spark can send around."""

    wire: Wire
    stages: tuple[Buckets, ...]
    firsts: tuple[int, ...]
    """The stages that depend on the first end of all."""
    clock: Clock

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in together(batches, TOGETHER):
            yield pa.RecordBatch.from_pylist(list(self._rows(rows.combine_chunks())), SCHEMA)

    def _rows(self, rows: pa.Table) -> Iterator[dict[str, Any]]:
        time = self.wire.times[-1]
        rows, rejected = self._usable(rows)
        if rejected.num_rows:
            yield {"bucket": 0, "stage": 0, "kind": REJECTED, "blob": packed(rejected)}
        least, most = _bounds(rows.column(time)) if rows.num_rows else (None, None)
        for stage, buckets in enumerate(self.stages):
            for bucket in buckets.used:
                yield {"bucket": bucket, "stage": stage, "kind": TIME, "high": most}
        if least is None or most is None:
            return
        for stage, buckets in enumerate(self.stages):
            for bucket, part in in_buckets(rows, buckets.of(rows, self.wire)):
                low, high = _bounds(part.column(time))
                yield {"bucket": bucket, "stage": stage, "kind": GIVEN, "size": part.num_rows, "low": low,
                       "high": high, "blob": packed(part)}  # fmt: skip
        for stage in self.firsts:
            yield {"bucket": 0, "stage": stage, "kind": FIRST, "blob": packed_time(least)}
        yield {"bucket": 0, "stage": 0, "kind": CLOCK, "clock": self.clock.milliseconds(most)}

    def _usable(self, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
        """The rows that can be used, and why others cannot."""
        why: list[pa.Table] = [NO_REASONS]
        if WRONG in rows.column_names:
            wrong = rows.column(WRONG)
            if wrong.null_count < len(wrong):
                said = wrong.drop_null()
                parts = pc.split_pattern(said, "\n", max_splits=1)
                why.append(rejects(pc.list_element(parts, 0), pc.list_element(parts, 1)))
                rows = rows.filter(pc.is_null(wrong))
            rows = rows.drop_columns([WRONG])
        if rows.num_rows:
            low, high = self.clock.range
            least, most = _bounds(rows.column(self.wire.times[-1]))
            if least < low or most > high:
                ends = rows.column(self.wire.times[-1]).cast(pa.int64())
                outside = pc.or_(pc.less(ends, low), pc.greater(ends, high))
                reason = f"the times of a stream are from {low} to {high}"
                json = as_json(rows.filter(outside), self.wire)
                why.append(rejects(pa.array([reason] * len(json), pa.string()), json))
                rows = rows.filter(pc.invert(outside))
        return rows, pa.concat_tables(why)


def _bounds(times: pa.ChunkedArray) -> tuple[int, int]:
    """The smallest and the largest of times, as integers."""
    low, high = pc.min_max(times.cast(pa.int64())).values()
    return low.as_py(), high.as_py()


@dataclass(frozen=True)
class Unpacker:
    """Turns packed detections, rejected rows and counts into rows again."""

    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for kind, blob in zip(batch.column("kind").to_pylist(), batch.column("blob"), strict=True):
                if kind in FOR_PEOPLE:
                    yield from handed_on(unpacked(blob.as_buffer()), self.schema)
