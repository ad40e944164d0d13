"""Detection on streams: a streaming frame of detections from a streaming frame of events.

Events are packed by bucket, so that few rows go through the shuffle and into the stateful operator, which runs the
engine on each bucket (`processor`). Stages follow each other as operators of one query: what one derives reaches the
next in the same micro-batch. Time is Spark's watermark: a packed row without events carries the latest end that a task
saw, and the rows with events have no event time for Spark, so that it leaves it to us what is late.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ensue.data import Columns, DataError
from ensue.moments import Length, Moment, length_of, moment_of
from ensue.partitioning import ByKey, ByRow, Whole
from ensue.program import Program
from ensue.spark.buckets import MOST, Buckets
from ensue.spark.clock import Clock
from ensue.spark.distinct import DistinctProcessor
from ensue.spark.found import Found, arrow_schema, found_columns
from ensue.spark.frames import Given, given_events, known_types, time_of
from ensue.spark.job import Job
from ensue.spark.packing import PACKED, Packer, Unpacker
from ensue.spark.processor import Reader, StagePlan, StageProcessor
from ensue.spark.recognise import Frames
from ensue.spark.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUCKETS = 16
"""How many buckets there are where nobody says so. It does not depend on the cluster, as it cannot change later."""
LATE = "late"
METRICS = "ensue"
"""Under this name Spark reports how much was found, and how much came too late."""


def detect_stream(
    program: Program, frames: Frames, until: Moment | None, names: Columns,
    tables: Mapping[str, Sequence[tuple[Any, ...]]], wanted: Sequence[str], compiled: bool | None,
    lateness: Length, buckets: int | None = None, heartbeat: Length | None = None,
) -> DataFrame:  # fmt: skip
    """A streaming frame of what the rules find in streaming frames of events."""
    time, instants = time_of(frames, names)
    timestamps = time.typeName() != "long"
    program.check_unit(timestamps)
    source = program.file.source
    known = known_types(frames, program.typed.events)
    job = Job(
        source.text, source.name, tuple(wanted), timestamps, instants,
        tuple((event, tuple(types.items())) for event, types in known.items()), compiled,
    )  # fmt: skip
    given = given_events(frames, names, job.rules.events)
    found = found_columns(job.rules, wanted, time, given.wire, given.types)
    moment = None if until is None else moment_of(until, job.rules.unit, timestamps)
    late = length_of(lateness, job.rules.unit, timestamps, "the lateness")
    count = BUCKETS if buckets is None else buckets
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
        raise DataError(f"`buckets` is {buckets!r}; it is a number from 1 to {MOST}.")
    return Stream(job, given, found, tables, moment, late, count, Clock(timestamps)).result()


@dataclass(frozen=True)
class Stream:
    """What is the same for all stages of a stream."""

    job: Job
    given: Given
    found: Found
    tables: Mapping[str, Sequence[tuple[Any, ...]]]
    until: int | None
    lateness: int
    count: int
    clock: Clock

    def result(self) -> DataFrame:
        """Packed events, through all stages, then the columns that people see."""
        from pyspark.sql import functions as f

        rows = self._packed()
        for index in range(len(self.job.stages)):
            rows = self._operator(rows, StageProcessor(self._plan(index)))
        if self._repeated():
            last = DistinctProcessor(len(self.job.stages), self._repeated())
            rows = self._operator(rows, last)
        columns = self.found.columns_of(self.job.wanted)
        schema = self.found.spark_schema(columns).add(LATE, "string")
        unpacker = Unpacker(arrow_schema(schema), self.given.wire, LATE)
        events = rows.mapInArrow(unpacker, schema)
        events = events.observe(
            METRICS, f.count_if(f.col(LATE).isNull()).alias("found"), f.count_if(f.col(LATE).isNotNull()).alias("late")
        )
        return self.found.shown(events)

    def _packed(self) -> DataFrame:
        from pyspark.sql import functions as f

        stages = tuple(self._buckets(index) for index in range(len(self.job.stages)))
        firsts = tuple(index for index, stage in enumerate(self.job.stages) if stage.from_first_end)
        packer = Packer(self.given.wire, stages, firsts, self.clock)
        packed = self.given.frame.mapInArrow(packer, PACKED)
        packed = packed.withColumn("clock", f.timestamp_millis(f.col("clock")))
        timed = packed.withWatermark("clock", self.clock.delay(self.lateness))
        # Rows with a time have done their work; Spark does not move this before the watermark, as it is about the time.
        return timed.where(f.col("clock").isNull())

    def _operator(self, rows: DataFrame, processor: Any) -> DataFrame:
        return rows.groupBy("bucket").transformWithState(
            processor, PACKED.replace("clock bigint", "clock timestamp"), "append", "eventtime", None, "clock"
        )

    def _buckets(self, index: int) -> Buckets:
        stage = self.job.stages[index]
        one = stage.from_first_end or not isinstance(stage.parting, ByKey | ByRow)
        parting = Whole(()) if one else stage.parting
        return Buckets(stage.reads, parting, self.count)

    def _repeated(self) -> frozenset[str]:
        """The detections that several parts may derive."""
        stages = range(len(self.job.stages))
        return frozenset(name for index in stages for name in self._repeats(index) if name in self.job.wanted)

    def _repeats(self, index: int) -> frozenset[str]:
        stage = self.job.stages[index]
        return frozenset() if isinstance(self._buckets(index).parting, Whole) else stage.duplicates

    def _plan(self, index: int) -> StagePlan:
        job, stage, repeated = self.job, self.job.stages[index], self._repeated()
        emitted = job.emitted(index)
        columns = self.found.columns_of(emitted)
        earlier = range(index)
        before = {name for each in earlier for name in job.emitted(each)}
        reads = self.given.wire
        if index > 0:
            reads = Wire((*reads.columns, *self.found.columns_of(before)), instants=False, sequence=reads.sequence)
        read_before = {name for each in earlier for name in job.stages[each].reads}
        readers = [
            Reader(later, tuple(name for name in emitted if name in job.stages[later].reads), self._buckets(later))
            for later in range(index + 1, len(job.stages))
            if set(emitted) & set(job.stages[later].reads)
        ]
        again = tuple(name for name in emitted if name in repeated)
        if again:
            readers.append(Reader(len(job.stages), again, Buckets(again, ByRow(), self.count)))
        return StagePlan(
            job, index, self.count, self.clock, self.lateness, self.given.wire, reads, self._schema(reads),
            Wire(columns, instants=False, sequence=False), self.found.schema(columns), tuple(readers),
            tuple(name for name in emitted if name in job.wanted and name not in repeated),
            frozenset(name for each in earlier for name in self._repeats(each) if name in stage.reads),
            frozenset(stage.reads) - read_before, self.tables, self.until, self._timezone(),
        )  # fmt: skip

    def _schema(self, wire: Wire) -> pa.Schema:
        """The Arrow types of the columns of events."""
        from pyspark.sql.types import LongType, StringType, StructField, StructType

        types = {**self.given.types, **self.found.types}
        fields = [StructField("type", StringType()), *(StructField(name, self.found.time) for name in wire.times)]
        if wire.sequence:
            fields.append(StructField("sequence", self.given.frame.schema["sequence"].dataType or LongType()))
        return arrow_schema(StructType([*fields, *(StructField(c.name, types[c.name]) for c in wire.columns)]))

    def _timezone(self) -> str | None:
        return "UTC" if self.found.time.typeName() == "timestamp" else None
