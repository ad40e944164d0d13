"""Read the state of a stream from its checkpoint with Spark's state reader, while the stream runs or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ensue.data import DataError
from ensue.engine.sizes import Size, added
from ensue.engine.state import StateError
from ensue.records import dataclass
from ensue.spark.bucket_state import About, state_of
from ensue.spark.packing import unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OPERATOR = "transformWithState"
"""Prefix of Spark's names of our operators."""


@dataclass
class StageState:
    """State of one stage of a stream, over all its buckets."""

    stage: int
    rules: str
    """The rules of the whole stream, as they were written."""
    buckets: int
    used: int = 0
    """Number of buckets that have seen an event."""
    timestamps: bool | None = None
    time: int | None = None
    """Time up to which events have been evaluated; None where no time is complete yet."""
    received: int = 0
    late: int = 0
    waiting: int = 0
    """Events whose time is not complete."""
    waiting_bytes: int = 0
    engine_bytes: int = 0
    nodes: list[Size] = field(default_factory=list)


def read_checkpoint(spark: SparkSession, path: str) -> list[StageState]:
    """State of each stage of a stream, in the order of the stages.

    Raises `DataError` where there is no checkpoint of a stream of ensue's.
    """
    stages = sorted(
        (stage for operator in _operators(spark, path) for stage in _stage(spark, path, operator)),
        key=lambda stage: stage.stage,
    )
    if not stages:
        raise DataError(f"{path} has no state of an Ensue stream, or not yet: no micro-batch is complete.")
    return stages


def rules_with_state(spark: SparkSession, path: str) -> list[str]:
    """The rules, as texts, whose state is in a checkpoint: several where not all buckets were evaluated since a change.

    There are none where no checkpoint can be read; if it is damaged, a stream that starts there says so.
    """
    from pyspark.errors import PySparkException

    found: dict[str, None] = {}
    try:
        operators = _operators(spark, path)
    except DataError:
        return []
    for operator in operators:
        try:
            rows = _variable(spark, path, operator, "about").select("value.text").collect()
            abouts = [About.read(row.text) for row in rows]
        except (PySparkException, StateError):  # such as the operator that only keeps repeated detections apart
            continue
        found |= dict.fromkeys(about.job for about in abouts if about.session is not None)
    return list(found)


def _operators(spark: SparkSession, path: str) -> list[int]:
    """The numbers of the stateful operators of a stream that are ours."""
    from pyspark.errors import PySparkException

    try:
        found = spark.read.format("state-metadata").load(path).select("operatorId", "operatorName").distinct().collect()
    except PySparkException as error:
        raise DataError(f"{path} is not the checkpoint of a stream, or no micro-batch of it is complete.") from error
    return sorted(row.operatorId for row in found if row.operatorName.startswith(OPERATOR))


def _stage(spark: SparkSession, path: str, operator: int) -> Iterator[StageState]:
    """The state of the stage that an operator runs; the one that only keeps repeated detections apart runs none."""
    from pyspark.errors import PySparkException

    try:
        rows = _variable(spark, path, operator, "about").select("key.bucket", "value.text").collect()
    except PySparkException:
        return
    if not rows:
        return
    abouts = {row.bucket: About.read(row.text) for row in rows}
    first, *_ = abouts.values()
    times = [about.time for about in abouts.values() if about.time is not None]
    state = StageState(first.stage, first.job, first.buckets, used=len(abouts), time=max(times, default=None))
    state.received = sum(about.received for about in abouts.values())
    state.late = sum(about.late for about in abouts.values())
    state.engine_bytes = sum(about.size for about in abouts.values())
    evaluated = {bucket: about.time for bucket, about in abouts.items()}
    pieces = _variable(spark, path, operator, "waiting").select("key.bucket", "user_map_value.rows")
    for bucket, rows in pieces.toLocalIterator():
        state.waiting += _after(unpacked(bytes(rows)), evaluated.get(bucket))
        state.waiting_bytes += len(rows)
    sizes: list[Size] = []
    sessions = _variable(spark, path, operator, "session").select("key.bucket", "value.state")
    for bucket, session in sessions.toLocalIterator():
        # Rules may have changed since a bucket was looked at last: its state is of those that it had then.
        kept = state_of(bytes(session), abouts[bucket].fingerprint)
        state.timestamps = kept["timestamps"]
        sizes.extend(Size(*size) for size in kept["sizes"])
    state.nodes = added(sizes)
    yield state


def _after(rows: pa.Table, time: int | None) -> int:
    """Number of events that end after a time."""
    ends = rows.column("end" if "end" in rows.column_names else "time").cast(pa.int64()).to_numpy()
    return rows.num_rows if time is None else int(np.count_nonzero(ends > time))


def _variable(spark: SparkSession, path: str, operator: int, name: str) -> DataFrame:
    reader = spark.read.format("statestore").option("operatorId", operator).option("stateVarName", name)
    return reader.load(path)
