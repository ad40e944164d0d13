"""Detection on Spark tables: a lazy frame of detections from a lazy frame of events.

Each stage of the program (`ensue.partitioning`) is a shuffle and one call of the engine for each partition. A stage
takes the events that it reads, and hands on what it derives; what earlier stages derived and is still wanted goes
through it as it is, so that nothing is computed twice.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ensue.data import Columns
from ensue.language.limits import LATEST
from ensue.moments import Moment, moment_of
from ensue.partitioning import ByKey, BySlices, Stage, Whole
from ensue.program import Program
from ensue.spark.found import Found, found_columns
from ensue.spark.frames import Given, given_events, known_types, time_of
from ensue.spark.job import Job
from ensue.spark.keys import key_columns, without_null_keys
from ensue.spark.recognise import Frames
from ensue.spark.stats import as_integer, first_and_last
from ensue.spark.wire import BEGIN, FIRST, OVER, SLICE, UNTIL, Wire
from ensue.spark.worker import Part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class OnePartitionWarning(UserWarning):
    """A stage of the program cannot be run in parallel."""


@dataclass(frozen=True)
class Detection:
    """What is the same for all stages of a detection."""

    job: Job
    given: Given
    found: Found
    tables: Mapping[str, Sequence[tuple[Any, ...]]]
    until: int | None
    slices: int | None
    stats: DataFrame

    def result(self) -> DataFrame:
        """All stages, one after the other, then the columns that people see."""
        before: DataFrame | None = None
        for index in range(len(self.job.stages)):
            before = self._stage(index, before)
        assert before is not None
        return self.found.shown(before)

    def _stage(self, index: int, before: DataFrame | None) -> DataFrame:
        stage = self.job.stages[index]
        passed = self._passed(index)
        events, wire = self._events(index, before, passed), self._wire(index)
        sliced = self._sliced(stage)
        end = wire.times[-1]
        if sliced:
            events = self._in_slices(events, end, stage.extent or 0)
        elif self._needs_stats(stage):
            events = _beside(events, self.stats)
        events = self._parted(events, stage, wire, sliced).sortWithinPartitions(*([SLICE] if sliced else []), end)
        emitted = self.job.emitted(index)
        columns = self.found.columns_of({*emitted, *passed})
        part = Part(
            self.job, index, wire, Wire(columns, instants=False, sequence=False), self.found.schema(columns),
            self.tables, self.until, passed, sliced,
        )  # fmt: skip
        result = events.mapInArrow(part, self.found.spark_schema(columns))
        return result.dropDuplicates() if stage.duplicates & {*emitted} else result

    def _sliced(self, stage: Stage) -> bool:
        """Whether time is cut into slices: where there is no key, or keys have more events than one part can take."""
        keyed = isinstance(stage.parting, ByKey) and stage.extent is not None
        return isinstance(stage.parting, BySlices) or (keyed and self.slices is not None)

    def _sees_all(self, stage: Stage) -> bool:
        """Whether the one part of a stage can see for itself when time begins and ends: it takes all events."""
        return _in_one_part(stage) and ((stage.ends_by_itself and self.until is None) or stage.from_first_end)

    def _needs_stats(self, stage: Stage) -> bool:
        return not _in_one_part(stage) and ((stage.ends_by_itself and self.until is None) or stage.from_first_end)

    def _passed(self, index: int) -> tuple[str, ...]:
        """The types that earlier stages derived and that are wanted after this one."""
        stages = self.job.stages
        later = {name for stage in stages[index + 1 :] for name in stage.reads}
        earlier = [name for stage in range(index) for name in self.job.emitted(stage)]
        return tuple(dict.fromkeys(name for name in earlier if name in self.job.wanted or name in later))

    def _wire(self, index: int) -> Wire:
        """The columns of what a stage reads: of given events, then of what earlier stages derived."""
        given = self.given.wire
        if index == 0:
            return given
        earlier = {name for stage in range(index) for name in self.job.emitted(stage)}
        return Wire((*given.columns, *self.found.columns_of(earlier)), instants=False, sequence=given.sequence)

    def _events(self, index: int, before: DataFrame | None, passed: tuple[str, ...]) -> DataFrame:
        """The events that a stage reads, and those that it hands on."""
        from pyspark.sql import functions as f

        stage, events = self.job.stages[index], self.given.frame
        if not self._sees_all(stage):
            events = events.where(f.col("type").isin(list(stage.reads)))
        if before is None:
            return events
        if self.given.wire.instants:
            events = events.withColumns({"start": f.col("time"), "end": f.col("time")}).drop("time")
        read = before.where(f.col("type").isin([*stage.reads, *passed]))
        return events.unionByName(read, allowMissingColumns=True)

    def _in_slices(self, events: DataFrame, end: str, extent: int) -> DataFrame:
        """A row for each slice of time that an event matters for."""
        from pyspark.sql import functions as f

        count = self.slices or 4 * _parallelism(events)
        at = as_integer(f.col(end), self.found.time)
        events = _beside(events, self.stats)
        if self.until is not None:
            events = events.withColumn(UNTIL, f.lit(self.until).cast("bigint"))
        length = f.greatest(f.expr(f"({UNTIL} - {FIRST}) div {count} + 1"), f.lit(max(extent, 1)))
        events = events.withColumns({"at": at, "length": length})
        place = f"least((at - {FIRST}) div length, {count - 1})"
        last = f"least((at + {extent} - {FIRST}) div length, {count - 1})"
        events = events.withColumn(SLICE, f.explode(f.expr(f"sequence(greatest({place}, 0), greatest({last}, 0))")))
        begin = f"if({SLICE} = 0, {-LATEST}, {FIRST} + {SLICE} * length)"
        over = f"if({SLICE} = {count - 1}, {LATEST}, {FIRST} + ({SLICE} + 1) * length)"
        return events.withColumns({BEGIN: f.expr(begin), OVER: f.expr(over)}).drop("at", "length")

    def _parted(self, events: DataFrame, stage: Stage, wire: Wire, sliced: bool) -> DataFrame:
        if _in_one_part(stage):
            return events.repartition(1)
        match stage.parting:
            case ByKey() as parting:
                events = without_null_keys(events, parting, wire)
                keys = key_columns(parting, wire)
                return events.repartition(*keys, *([SLICE] if sliced else []))
            case BySlices():
                return events.repartition(SLICE)
            case _:
                return events


def detect_frames(
    program: Program, frames: Frames, until: Moment | None, names: Columns,
    tables: Mapping[str, Sequence[tuple[Any, ...]]], wanted: Sequence[str], compiled: bool | None,
    slices: int | None = None,
) -> DataFrame:  # fmt: skip
    """A lazy frame of what the rules find in frames of events."""
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
    for obstacle in (o for stage in job.stages if isinstance(stage.parting, Whole) for o in stage.parting.obstacles):
        warnings.warn(obstacle.said(job.rules, source), OnePartitionWarning, stacklevel=4)
    return Detection(job, given, found, tables, moment, slices, first_and_last(given.ends)).result()


def _in_one_part(stage: Stage) -> bool:
    """Whether a stage has one part; one that reads nothing, but the time, runs once."""
    return isinstance(stage.parting, Whole) or not stage.reads


def _beside(events: DataFrame, stats: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    return events.crossJoin(f.broadcast(stats))


def _parallelism(events: DataFrame) -> int:
    return int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
