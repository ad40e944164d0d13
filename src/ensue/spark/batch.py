"""Detection on Spark tables: a lazy frame of detections from a lazy frame of events.

Each stage of the program (`ensue.partitioning`) is a shuffle and one call of the engine for each partition. A stage
takes the events that it reads, and passes on the events that it derives. Events of earlier stages that are still
wanted pass through it unchanged, so that nothing is computed twice.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ensue.data import DataError
from ensue.data.moments import moment_of
from ensue.data.results import picked
from ensue.data.spark_frames import Frames
from ensue.engine.provenance import check_sources
from ensue.errors import (
    BadRowsWarning,
    EmptyAttributeWarning,
    MissingTableWarning,
    NoEffectWarning,
    OnePartitionWarning,
    PlainLengthWarning,
    UnusedTypeWarning,
)
from ensue.language.limits import LATEST
from ensue.partitioning import ByKey, BySlices, Stage, Whole
from ensue.records import dataclass
from ensue.request import Request
from ensue.rules import Rules, no_value
from ensue.spark.found import Found, arrow_schema, found_columns
from ensue.spark.frames import (
    Given,
    given_events,
    job_of,
    missing_attributes,
    unreadable_attributes,
)
from ensue.spark.job import Job
from ensue.spark.keys import alike_for_all, key_columns, without_null_keys
from ensue.spark.options import check_options
from ensue.spark.provenance import type_of, with_numbers, with_sources
from ensue.spark.pushdown import pushed
from ensue.spark.rejected import with_rejected
from ensue.spark.sql import among, as_integer, as_time, literal, numbered, quoted
from ensue.spark.stats import first_and_last
from ensue.spark.suppressed import COUNT, check_columns, with_counts
from ensue.spark.wire import BEGIN, DERIVED, FIRST, OVER, SLICE, UNTIL, Wire
from ensue.spark.worker import PartitionTask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


MOST_NUMBERED = 16
"""Largest number of types that get numbers: each row is compared with one after the other."""


@dataclass(frozen=True)
class Detection:
    """Settings shared by all stages of a detection."""

    job: Job
    given: Given
    found: Found
    tables: Mapping[str, Sequence[tuple[Any, ...]]]
    until: int | None
    slices: int | None
    strict: bool
    suppressed: bool = False
    """True if rows carry the numbers of suppressed events."""
    apart: DataType | None = None
    """The type of the identifier of rows, where detections carry the rows that they came from."""

    @cached_property
    def stats(self) -> DataFrame:
        """The first end and the last one of all events, or `until` instead of it."""
        ends = self.given.ends
        if self.until is None:
            return first_and_last(ends)
        return first_and_last(ends.where(f"`end` <= {literal(self.until)}"), literal(self.until))

    def result(self) -> DataFrame:
        """All stages, one after the other, then the columns that people see.

        Where there is one stage, it makes these itself: another look at each row costs as much as detection.
        """
        stage, *more = self.job.stages
        shown = None if self.suppressed else self.found.as_shown()
        if shown is not None and not more and not stage.duplicates:
            return replace(self, found=shown)._stage(0, None)
        before: DataFrame | None = None
        for index in range(len(self.job.stages)):
            before = self._stage(index, before)
        assert before is not None
        return self.found.shown(before, suppressed=self.suppressed)

    def _stage(self, index: int, before: DataFrame | None) -> DataFrame:
        stage = self.job.stages[index]
        passed = self._passed(index)
        events, wire = self._events(index, before, passed), self._wire(index)
        sliced = self._sliced(stage)
        end = wire.times[-1]
        if sliced:
            events = self._in_slices(events, end, stage)
        elif self._needs_stats(stage):
            events = _beside(events, self.stats)
        only = self._only(stage) if before is None else None
        types = self._numbered(stage) if before is None and only is None else ()
        events = self._parted(events, stage, wire, passed, sliced, only, types)
        events = events.sortWithinPartitions(*([SLICE] if sliced else []), end)
        emitted = self.job.emitted(index)
        columns = self.found.columns_of({*emitted, *passed})
        schema = self.found.spark_schema(columns)
        schema = schema if self.apart is None else with_sources(schema, self.apart)
        schema = with_counts(schema) if self.suppressed else schema
        part = PartitionTask(
            self.job, index, wire, Wire(columns, instants=False, sequence=False), arrow_schema(schema),
            self.tables, self.until, passed, sliced, only, types, self.suppressed, self.apart is not None,
            self.job.code(index, wire, self.tables, True, self.apart is not None),
        )  # fmt: skip
        result = events.mapInArrow(part, schema)
        if not stage.duplicates & {*emitted}:
            return result
        apart = [name for name in (*emitted, *passed) if name == COUNT or self.job.rules.events[name].each]
        return self.found.distinct(result, columns, apart)

    def _sliced(self, stage: Stage) -> bool:
        """True if time is cut into slices: there is no key, or keys have more events than one part can take."""
        keyed = isinstance(stage.parting, ByKey) and stage.extent is not None
        return isinstance(stage.parting, BySlices) or (keyed and self.slices is not None)

    def _sees_all(self, stage: Stage) -> bool:
        """True if the only part of a stage must itself find when time begins and ends, from all events."""
        return _in_one_part(stage) and ((stage.ends_by_itself and self.until is None) or stage.from_first_end)

    def _needs_stats(self, stage: Stage) -> bool:
        return not _in_one_part(stage) and ((stage.ends_by_itself and self.until is None) or stage.from_first_end)

    def _only(self, stage: Stage) -> str | None:
        """The only type of given events that a stage reads, partitioned by key: its rows need no column of the type."""
        given = {source.only for source in self.given.sources}
        read = [name for name in stage.reads if None in given or name in given]
        keyed = isinstance(stage.parting, ByKey) and not _in_one_part(stage) and {*read} <= {*stage.parting.keys}
        return read[0] if keyed and len(read) == 1 else None

    def _numbered(self, stage: Stage) -> tuple[str, ...]:
        """The types that a stage reads, if numbers stand for them in its rows: they are few, and keys need no type."""
        parting, types = stage.parting, stage.reads
        if not isinstance(parting, ByKey) or _in_one_part(stage) or len(types) > MOST_NUMBERED:
            return ()
        return types if alike_for_all(parting, self.given.wire, types) else ()

    def _passed(self, index: int) -> tuple[str, ...]:
        """The types that earlier stages derived and that are wanted after this one."""
        stages = self.job.stages
        later = {name for stage in stages[index + 1 :] for name in stage.reads}
        earlier = [name for stage in range(index) for name in self.job.emitted(stage)]
        found = dict.fromkeys(name for name in earlier if name in self.job.wanted or name in later)
        return (*found, COUNT) if self.suppressed and index else tuple(found)

    def _wire(self, index: int) -> Wire:
        """The columns of the events that a stage reads: given ones, then those that earlier stages derived."""
        given = self.given.wire
        if index == 0:
            return given
        earlier = {name for stage in range(index) for name in self.job.emitted(stage)}
        return Wire((*given.columns, *self.found.columns_of(earlier)), instants=False, sequence=given.sequence)

    def _events(self, index: int, before: DataFrame | None, passed: tuple[str, ...]) -> DataFrame:
        """The events that a stage reads, and those that it passes on."""
        stage, events, given = self.job.stages[index], self.given.frame, self.given
        if not self._sees_all(stage):
            rules = self.job.stage_rules(index).typed
            # To be strict is to look at every row, so nothing but its type, where that is done, may decide.
            mattering = (
                among("type", stage.reads) if self.strict else pushed(rules, stage.reads, given.wire, given.types)
            )
            events = events.where(mattering)
        if self.until is not None:
            events = events.where(f"{quoted(given.wire.times[-1])} <= {as_time(self.until, given.time.simpleString())}")
        if before is None:
            return events
        if given.wire.instants:
            others = (quoted(name) for name in events.columns if name != "time")
            events = events.selectExpr(*others, "`time` as `start`", "`time` as `end`")
        read = before.where(among("type", [*stage.reads, *passed]))
        if passed:
            read = read.selectExpr("*", f"true as {DERIVED}")
        return events.unionByName(read, allowMissingColumns=True)

    def _in_slices(self, events: DataFrame, end: str, stage: Stage) -> DataFrame:
        """A row for each slice of time that an event matters for; where time alone can matter, one for each slice."""
        count, extent = self.slices or 4 * _parallelism(events), stage.extent or 0
        at = as_integer(quoted(end), self.found.time.simpleString())
        # Times may lie as far apart as integers can; then a difference is none, and the last slice takes the rest.
        begin = f"coalesce({FIRST}, {UNTIL})"
        length = f"greatest(coalesce(try_subtract({UNTIL}, {begin}), {LATEST}) div {count} + 1, {max(extent, 1)}L)"
        times = self.stats.selectExpr("*", f"{length} as length")
        place = f"least(coalesce(try_subtract(at, {begin}) div length, {count - 1}), {count - 1})"
        last = f"least(coalesce(try_subtract(try_add(at, {extent}L), {begin}) div length, {count - 1}), {count - 1})"
        number = f"explode(sequence(greatest({place}, 0L), greatest({last}, 0L))) as {SLICE}"
        rows = _beside(events.selectExpr("*", f"{at} as at"), times).selectExpr("*", number).drop("at")
        if stage.ends_by_itself and isinstance(stage.parting, BySlices):
            each = events.sparkSession.range(count).selectExpr("cast(null as string) as `type`", f"id as {SLICE}")
            rows = rows.unionByName(_beside(each, times.where(f"{UNTIL} is not null")), allowMissingColumns=True)
        first = f"if({SLICE} = 0, {-LATEST}, {begin} + {SLICE} * length) as {BEGIN}"
        over = f"if({SLICE} = {count - 1}, {LATEST}, {begin} + ({SLICE} + 1) * length) as {OVER}"
        return rows.selectExpr("*", first, over).drop("length")

    def _parted(
        self, events: DataFrame, stage: Stage, wire: Wire, passed: tuple[str, ...], sliced: bool, only: str | None,
        types: tuple[str, ...],
    ) -> DataFrame:  # fmt: skip
        from pyspark.sql import functions as f

        if _in_one_part(stage):
            if self.until is not None:  # a part without any event is not evaluated, but time passes in it
                time = events.sparkSession.range(1).selectExpr("cast(null as string) as `type`")
                events = events.unionByName(time, allowMissingColumns=True)
            return events.repartition(1)
        match stage.parting:
            case ByKey() as parting:
                there = None if self.strict else (*stage.reads, *passed)
                events = without_null_keys(events, parting, wire, there, passed)
                if only is not None:
                    events = events.drop("type")
                if types:
                    events = events.withColumn("type", f.expr(numbered("type", types)))
                keys = key_columns(parting, wire, (*stage.reads, *passed))
                return events.repartition(*keys, *([SLICE] if sliced else []))
            case BySlices():
                return events.repartition(SLICE)
            case _:
                return events


def detect_frames(program: Rules, frames: Frames, request: Request) -> DataFrame:
    """A lazy frame of the detections in frames of events, and with `rejected` of the rows that took no part."""
    check_options(request)
    tables, wanted = program.rows_of_tables(request.tables), picked(program.typed, request.emit)
    apart: str | None = None
    if request.provenance:
        check_sources(program.typed, (name for name, event in program.typed.events.items() if event.derived))
        frames, apart = with_numbers(frames, request.provenance)
    job, time = job_of(program, frames, request.columns, wanted, request.compiled, request.limits)
    given = given_events(
        frames,
        request.columns,
        job.rules.events,
        request.strict,
        program.typed.events,
        read=program.read_attributes,
        apart=apart,
    )
    found = found_columns(job.rules, wanted, time, given.wire, given.types)
    until = request.until
    moment = None if until is None else moment_of(until, job.rules.unit, job.timestamps)
    obstacles = (o for stage in job.stages if isinstance(stage.parting, Whole) for o in stage.parting.obstacles)
    for obstacle in obstacles:
        warnings.warn(obstacle.describe(job.rules, program.file.source), OnePartitionWarning, stacklevel=5)
    warn_of_frames(program, job, frames, given, request)
    check_columns(request, found.shown_types)
    result = Detection(
        job, given, found, tables, moment, request.slices, request.strict, request.suppressed,
        None if apart is None else type_of(frames, apart),
    ).result()  # fmt: skip
    return with_rejected(result, given.rejected) if request.rejected else result


def warn_of_frames(program: Rules, job: Job, frames: Frames, given: Given, request: Request) -> None:
    """Warns of frames that do not fit the rules, before a row is read."""
    for note in program.unused_types(name for name in frames if name is not None):
        warnings.warn(note, UnusedTypeWarning, stacklevel=6)
    for note in program.plain_lengths(job.timestamps):
        warnings.warn(note, PlainLengthWarning, stacklevel=6)
    for note in program.unused_columns(request.columns):
        warnings.warn(note, NoEffectWarning, stacklevel=6)
    for note in program.missing_tables(request.tables):
        warnings.warn(note, MissingTableWarning, stacklevel=6)
    used = program.used_attributes
    for event, attribute in missing_attributes(given, job.rules.events):
        if (event, attribute) in used:
            warnings.warn(no_value(event, attribute), EmptyAttributeWarning, stacklevel=6)
    for event, attribute, kind, type_ in unreadable_attributes(given, program.typed.events):
        if (event, attribute) not in program.read_attributes:
            continue
        said = f"The column {attribute!r} is {type_.simpleString()}, and the rules declare it as {kind} of {event!r}"
        if kind == "timestamp" and type_.typeName() == "string":
            raise DataError(f'{said}. Cast it first: df.withColumn("{attribute}", to_timestamp("{attribute}")).')
        warnings.warn(f"{said}: rows of that type with a value there are left out.", BadRowsWarning, stacklevel=6)


def _in_one_part(stage: Stage) -> bool:
    """True if a stage has one part; a stage that reads nothing but the time runs once."""
    return isinstance(stage.parting, Whole) or not stage.reads


def _beside(events: DataFrame, stats: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    return events.crossJoin(f.broadcast(stats))


def _parallelism(events: DataFrame) -> int:
    return int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
