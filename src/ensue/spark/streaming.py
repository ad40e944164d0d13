"""Detection on streams: a streaming frame of detections from a streaming frame of events.

Events are packed by bucket, so that few rows go through the shuffle and into the stateful operator, which runs the
engine on each bucket (`processor`). Stages follow each other as operators of one query: derived events reach the
next in the same micro-batch. Time is Spark's watermark: a packed row without events carries the latest end that a task
saw, and the rows with events have no event time for Spark, so that we decide which events are late.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ensue.data import DataError
from ensue.data.moments import length_of, moment_of
from ensue.data.results import picked
from ensue.data.spark_frames import Frames
from ensue.data.wall_clock import USUAL_AHEAD, WallClock
from ensue.errors import OnePartitionWarning
from ensue.partitioning import ByKey, ByRow, BySlices, Whole, hindrance
from ensue.partitioning.obstacles import describe_hindrance, rule_and_line
from ensue.records import dataclass
from ensue.request import Request
from ensue.rules import Rules
from ensue.spark.batch import warn_of_frames
from ensue.spark.buckets import MOST, Buckets
from ensue.spark.clock import Clock
from ensue.spark.distinct import DistinctProcessor
from ensue.spark.found import Found, arrow_schema, found_columns
from ensue.spark.frames import Given, given_events, job_of
from ensue.spark.heartbeat import Heartbeat
from ensue.spark.job import Job
from ensue.spark.local import ROCKS, STATE_STORE
from ensue.spark.options import check_stream_options
from ensue.spark.packing import PACKED, Packer, Unpacker
from ensue.spark.processor import LATE, Reader, StagePlan, StageProcessor
from ensue.spark.suppressed import SUPPRESSED, SUPPRESSED_TYPE, check_columns, counts_suppressed
from ensue.spark.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUCKETS = 16
"""Default number of buckets. It does not depend on the cluster, as it cannot change later."""
METRICS = "ensue"
"""Name under which Spark reports the numbers of detections, of late and of bad rows, and of suppressed events if a
rule has ``once`` or ``at most``."""


def detect_stream(program: Rules, frames: Frames, request: Request) -> DataFrame:
    """A streaming frame of the detections in streaming frames of events."""
    check_stream_options(request)
    tables, wanted = program.rows_of_tables(request.tables), picked(program.typed, request.emit)
    for name, frame in frames.items():
        if not frame.isStreaming:
            raise DataError(f"The frame of {name!r} is a table, and others are streams: read it with spark.readStream.")
        _check_state_store(frame)
    job, time = job_of(program, frames, request.columns, wanted, request.compiled, request.limits)
    clock, heartbeat, ahead = Clock(job.timestamps), request.heartbeat, request.max_ahead
    beat = None if heartbeat is None else Heartbeat.of(heartbeat, program.typed.unit, clock)
    if ahead is None and beat is not None:
        ahead = USUAL_AHEAD  # time advances by the clock
    wall = None if ahead is None else WallClock.of(ahead, job.rules.unit, job.timestamps)
    given = given_events(
        frames, request.columns, job.rules.events, request.strict, program.typed.events, True, request.rejected, wall,
        program.read_attributes,
    )  # fmt: skip
    found = found_columns(job.rules, wanted, time, given.wire, given.types)
    until, buckets = request.until, request.buckets
    moment = None if until is None else moment_of(until, job.rules.unit, job.timestamps)
    late = length_of(request.lateness, job.rules.unit, job.timestamps, "the lateness")
    count = BUCKETS if buckets is None else buckets
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
        raise DataError(f"`buckets` is {buckets!r}; it is a number from 1 to {MOST}.")
    stream = Stream(job, given, found, tables, moment, late, count, clock, beat)
    for obstacle in stream.obstacles():
        warnings.warn(obstacle, OnePartitionWarning, stacklevel=5)
    warn_of_frames(program, job, frames, given, request)
    check_columns(request, found.shown_types)
    return stream.result(request.rejected, request.suppressed)


def _check_state_store(frame: DataFrame) -> None:
    """Spark's operator for state wants a store that is not its default; else a query fails when it starts."""
    if "RocksDB" not in str(frame.sparkSession.conf.get(STATE_STORE, "")):
        raise DataError(
            "Streams keep their state in RocksDB, and this session does not: "
            f"spark.conf.set({STATE_STORE!r}, {ROCKS!r})"
        )


@dataclass(frozen=True)
class Stream:
    """Settings shared by all stages of a stream."""

    job: Job
    given: Given
    found: Found
    tables: Mapping[str, Sequence[tuple[Any, ...]]]
    until: int | None
    lateness: int
    count: int
    clock: Clock
    heartbeat: Heartbeat | None = None

    def result(self, rejected: bool, suppressed: bool) -> DataFrame:
        """Packed events, through all stages, then the columns that people see."""
        from pyspark.sql import functions as f

        rows = self._packed()
        for processor in self.processors():
            rows = self._operator(rows, processor)
        columns = self.found.columns_of(self.job.wanted)
        schema = self.found.spark_schema(columns).add("reason", "string").add("row", "string")
        metrics = [
            f.count_if(f.col("type").isNotNull()).alias("found"),
            f.count_if(f.col("reason") == LATE).alias("late"),
            f.count_if(f.col("reason") != LATE).alias("bad"),
        ]
        counting = counts_suppressed(self.job.rules)
        if counting:
            schema = schema.add("rule", "string").add("count", "long")
            metrics.append(f.coalesce(f.sum("count"), f.lit(0)).alias("suppressed"))
        events = rows.mapInArrow(Unpacker(arrow_schema(schema)), schema).observe(METRICS, *metrics)
        if suppressed:
            value = "if(rule is null, null, named_struct('rule', rule, 'count', count))" if counting else "null"
            events = events.selectExpr("*", f"cast({value} as {SUPPRESSED_TYPE}) as {SUPPRESSED}")
        return self.found.shown(events, rejected, suppressed)

    def packer(self) -> Packer:
        """Packer of the given events."""
        stages = tuple(self._buckets(index) for index in range(len(self.job.stages)))
        firsts = tuple(index for index, stage in enumerate(self.job.stages) if stage.from_first_end)
        return Packer(self.given.wire, stages, firsts, self.clock)

    def processors(self) -> list[StageProcessor | DistinctProcessor]:
        """Stateful processors that packed rows pass through, one after the other."""
        stages, repeated = range(len(self.job.stages)), self._repeated()
        found: list[StageProcessor | DistinctProcessor] = [StageProcessor(self._plan(index)) for index in stages]
        return [*found, DistinctProcessor(len(stages), repeated)] if repeated else found

    def _packed(self) -> DataFrame:
        from pyspark.sql import functions as f

        packed = self.given.frame.mapInArrow(self.packer(), PACKED)
        if self.heartbeat is not None:
            packed = packed.unionByName(self.heartbeat.rows(packed.sparkSession), allowMissingColumns=True)
        packed = packed.withColumn("clock", f.timestamp_millis(f.col("clock")))
        timed = packed.withWatermark("clock", f"{self.clock.delay(self.lateness)} milliseconds")
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

    def obstacles(self) -> Iterator[str]:
        """Reasons why stages run in one part, in plain words."""
        rules, source = self.job.rules, self.job.program.file.source
        for stage in self.job.stages:
            match stage.parting:
                case Whole(obstacles):
                    yield from (obstacle.describe(rules, source) for obstacle in obstacles)
                case BySlices():
                    for rule in stage.rules:
                        reason = hindrance(rules, rule)
                        no_stages = "" if reason is None else f", and {describe_hindrance(reason)}"
                        yield (
                            f"{rule_and_line(rules, rule, source)} runs in one part: no variable has one value in "
                            f"everything that it matches{no_stages}. On a table time would be cut into slices; on a "
                            "stream it is not."
                        )
                case ByKey() if stage.from_first_end:
                    yield from (
                        f"{rule_and_line(rules, rule, source)} runs in one part: it depends on the first event of all, "
                        "as `every` does."
                        for rule in stage.rules
                    )

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
            job.code(index, reads, self.tables, fixed=False),
        )  # fmt: skip

    def _schema(self, wire: Wire) -> pa.Schema:
        """The Arrow types of the columns of events."""
        from pyspark.sql.types import StringType, StructField, StructType

        types = {**self.given.types, **self.found.types}
        fields = [StructField("type", StringType()), *(StructField(name, self.found.time) for name in wire.times)]
        if wire.sequence:
            fields.append(StructField("sequence", self.given.frame.schema["sequence"].dataType))
        return arrow_schema(StructType([*fields, *(StructField(c.name, types[c.name]) for c in wire.columns)]))

    def _timezone(self) -> str | None:
        return "UTC" if self.found.time.typeName() == "timestamp" else None
