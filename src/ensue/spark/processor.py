"""Run the engine on a bucket of a stream: one stage in a micro-batch, within Spark's stateful operator.

Events that end before the watermark of a batch are late. The watermark of the next batch, which follows from the latest
event of this one, is the time up to which events are complete. Every bucket receives that event's end, so all are
evaluated up to the same time; events that end later wait. Derived events go on in the same batch, packed for the stages
that read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from ensue import compute as pc
from ensue.data.moments import EngineTime
from ensue.engine import machine
from ensue.live.session import Session
from ensue.records import dataclass
from ensue.spark import packing
from ensue.spark.as_json import as_json
from ensue.spark.bucket_state import About, Store
from ensue.spark.buckets import Buckets
from ensue.spark.changes import carry, refuse
from ensue.spark.clock import Clock
from ensue.spark.distinct import distinct
from ensue.spark.job import Job
from ensue.spark.packing import (
    COUNTED,
    DERIVED,
    FOR_PEOPLE,
    FOUND,
    REJECTED,
    in_buckets,
    packed,
    packed_row,
    rejects,
    unpacked,
    unpacked_time,
)
from ensue.spark.suppressed import new_counts
from ensue.spark.wire import Wire, gathered

LATE = "it came too late: its time was over"
"""Reason why a row is rejected that came after the watermark had passed it."""
PIECES = 8
"""Number of pieces of events that may wait for several batches, so that each batch reads only those it needs."""
FEW = 1_000
"""Number of events below which several pieces are not worth it."""


@dataclass(frozen=True)
class Reader:
    """A later stage, and which of the types that are derived here it reads."""

    stage: int
    types: tuple[str, ...]
    buckets: Buckets


@dataclass(frozen=True)
class StagePlan:
    """All that is known beforehand of one stage of a stream."""

    job: Job
    stage: int
    buckets: int
    clock: Clock
    lateness: int
    given: Wire
    """The columns of events as they were given."""
    reads: Wire
    """The columns of all that the stage reads: given, and derived before it."""
    read_schema: pa.Schema
    derives: Wire
    schema: pa.Schema
    """Schema of the derived events."""
    readers: tuple[Reader, ...]
    found: tuple[str, ...]
    """The derived types that are detections."""
    repeated: frozenset[str]
    """The types of read events that may come several times, and count once."""
    reports: frozenset[str]
    """The types whose late rows it reports: no stage before it reads them."""
    tables: Mapping[str, Sequence[tuple[Any, ...]]]
    until: int | None
    timezone: str | None
    code: machine.Shipment = machine.NOTHING
    """The rules as machine code, compiled where the stream was planned."""

    @cached_property
    def form(self) -> str:
        return self.job.form(self.stage, self.given, self.buckets)

    @cached_property
    def fingerprint(self) -> str:
        return self.job.fingerprint(self.stage, self.given, self.buckets)

    def begun(self) -> About:
        """Summary of a new bucket."""
        job = self.job
        return About(job.text, job.name, list(job.wanted), self.stage, self.buckets, self.form, self.fingerprint)

    def session(self, job: Job) -> Session:
        """A new session of a job's rules."""
        machine.receive(self.code)
        session = job.session(self.stage, self.reads, self.tables, fixed=False)
        session.stop_at(None if self.until is None else EngineTime(self.until))
        session.begin(job.timestamps, self.timezone)
        return session


@dataclass
class Arrivals:
    """Rows that arrived for a bucket in a micro-batch."""

    any: bool = False
    given: list[Row] = field(default_factory=list)
    derived: list[pa.Table] = field(default_factory=list)
    first: int | None = None
    """The smallest end of all events, where that matters."""
    latest: int | None = None
    """The largest end of all events in the micro-batch."""

    def add(self, row: Row) -> None:
        self.any = True
        match row.kind:
            case packing.GIVEN:
                self.given.append(row)
            case packing.DERIVED:
                self.derived.append(unpacked(row.blob))
            case packing.FIRST:
                end = unpacked_time(bytes(row.blob))
                self.first = end if self.first is None else min(self.first, end)
            case packing.TIME if row.high is not None:
                self.latest = row.high if self.latest is None else max(self.latest, row.high)


class StageProcessor(StatefulProcessor):
    """A stage of a stream. Rows that are packed for later stages pass through unchanged."""

    def __init__(self, plan: StagePlan) -> None:
        self.plan = plan

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._store = Store(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        """Takes in the rows of a bucket, and evaluates complete events. (Spark requires these names.)"""
        plan, came = self.plan, Arrivals()
        for row in rows:
            if row.stage > plan.stage or row.kind in FOR_PEOPLE:
                yield row
            else:
                came.add(row)
        if came.any:
            yield from self._step(key[0], came, timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(  # noqa: N802
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo  # noqa: N803
    ) -> Iterator[Row]:  # fmt: skip
        """Evaluates complete events in a bucket for which no row came."""
        yield from self._step(key[0], Arrivals(), timerValues.getCurrentWatermarkInMs())

    def close(self) -> None:
        """Nothing is open."""

    # --- one step

    def _step(self, bucket: int, came: Arrivals, watermark: int) -> Iterator[Row]:
        """Run a micro-batch: events before the watermark are late, events before the next watermark are complete."""
        plan, store = self.plan, self._store
        about = self._about()
        following = watermark if came.latest is None else plan.clock.after(watermark, came.latest, plan.lateness)
        over, time = map(plan.clock.complete, (watermark, following))
        if about.time is not None:
            over, time = max(over, about.time), max(time, about.time)
        if came.first is not None:
            about.first = came.first if about.first is None else min(about.first, came.first)
        events = [_ending(rows, plan.given, about.time, time) for rows in store.due(about, time)]
        for row in sorted(came.given, key=lambda row: row.low):  # so that, most likely, nothing is left to sort
            yield from self._take(bucket, about, row, over, time, events)
        events = list(map(self._aligned, events))
        if came.derived:
            events.append(distinct(pa.concat_tables(map(self._aligned, came.derived)), plan.repeated))
        events = [rows for rows in events if rows.num_rows]
        begins = about.first is not None and about.session is None and about.first <= time
        if events or begins or (about.due is not None and about.due <= time):
            yield from self._evaluate(bucket, about, events, time)
        elif not came.given and came.first is None:
            return
        about.time = time
        store.save(about, self._fires(about))

    def _about(self) -> About:
        """Summary of the bucket, a new one at first; raises an error where it keeps events in another form."""
        plan = self.plan
        about = self._store.about()
        if about is None:
            return plan.begun()
        if about.form != plan.form:
            refuse(plan.job, plan.buckets, about)
        return about

    def _session(self, about: About) -> Session:
        """The engine as it was left, or as it begins."""
        plan = self.plan
        session = plan.session(plan.job)
        if about.session is None:
            if about.first is not None:
                session.progress.first = about.first
        elif about.fingerprint == plan.fingerprint:
            return self._store.resume(about, session)
        else:
            before = replace(plan.job, text=about.job, name=about.name, wanted=tuple(about.wanted))
            carry(before, self._store.resume(about, plan.session(before)), plan.job, session, plan.stage, about)
        now = plan.begun()
        about.job, about.name, about.wanted, about.fingerprint = now.job, now.name, now.wanted, now.fingerprint
        return session

    def _take(
        self, bucket: int, about: About, row: Row, over: int, time: int, events: list[pa.Table]
    ) -> Iterator[Row]:  # fmt: skip
        """Adds complete events to `events`, and stores those that wait; late ones are rejected."""
        plan = self.plan
        about.received += row.size
        whole = plan.lateness == 0 or row.size < FEW
        if row.low > time and whole:
            self._store.add(about, bytes(row.blob), row.size, row.low, row.high)
            return
        rows = unpacked(row.blob)
        if over < row.low and row.high <= time:
            events.append(rows)
            return
        ends = _ends(rows, plan.given)
        if row.low <= over:
            missed = rows.filter(pa.array(ends <= over))
            missed = missed.filter(pc.is_in(missed.column("type"), pa.array(sorted(plan.reports), pa.string())))
            if missed.num_rows:
                about.late += missed.num_rows
                reasons = pa.array([LATE] * missed.num_rows, pa.string())
                yield packed_row(bucket, 0, REJECTED, rejects(reasons, as_json(missed, plan.given)))
        events.append(rows.filter(pa.array((ends > over) & (ends <= time))))
        rows, ends = rows.filter(pa.array(ends > time)), ends[ends > time]
        for piece, own in _by_time(rows, ends, 0 if whole else plan.lateness):
            self._store.add(about, packed(piece), len(own), int(own.min()), int(own.max()))

    def _evaluate(self, bucket: int, about: About, events: list[pa.Table], time: int) -> Iterator[Row]:
        plan = self.plan
        session = self._session(about)
        before, sent = session.suppressed, None
        if events:
            whole = pa.concat_tables(events)
            ends = _ends(whole, plan.reads)
            if (np.diff(ends) < 0).any():
                whole = whole.take(pa.array(np.argsort(ends, kind="stable")))
            whole = whole.combine_chunks()
            sent = plan.reads.renamed(whole) if plan.reads.of_any_type else plan.reads.by_type(whole)
        found = session.step_by_type(sent, time)
        about.due = session.progress.due
        self._store.keep(about, session)
        yield from self._derived(found)
        counts = new_counts(session.suppressed, before)
        if counts.num_rows:
            yield packed_row(bucket, plan.stage, COUNTED, counts)

    def _derived(self, tables: Mapping[str, pa.Table]) -> Iterator[Row]:
        """Derived events, packed for the stages that read them, and as detections if they are wanted."""
        plan = self.plan
        batches = list(gathered(tables, plan.derives, plan.schema))
        if not batches:
            return
        rows = pa.Table.from_batches(batches)
        found = rows.filter(pc.is_in(rows.column("type"), pa.array(plan.found, pa.string())))
        if found.num_rows:
            yield packed_row(0, plan.stage, FOUND, found)
        for reader in plan.readers:
            read = rows.filter(pc.is_in(rows.column("type"), pa.array(reader.types, pa.string())))
            for bucket, part in in_buckets(read, reader.buckets.of(read, plan.derives)):
                yield packed_row(bucket, reader.stage, DERIVED, part)

    # --- helpers

    def _aligned(self, rows: pa.Table) -> pa.Table:
        """Rows with the columns of all that the stage reads; one time is a start and an end."""
        plan, found = self.plan, []
        for each in plan.read_schema:
            name = "time" if each.name in ("start", "end") and each.name not in rows.column_names else each.name
            if name not in rows.column_names:
                found.append(pa.chunked_array([pa.nulls(rows.num_rows, each.type)]))
            elif (column := rows.column(name)).type == each.type:
                found.append(column)
            else:
                found.append(column.cast(each.type))
        return pa.Table.from_arrays(found, schema=plan.read_schema)

    def _fires(self, about: About) -> int | None:
        """The watermark at which something is to be done."""
        times = [piece.first if about.time is None else max(piece.first, about.time + 1) for piece in about.pieces]
        if about.due is not None:
            times.append(about.due)
        if about.first is not None and about.session is None:
            times.append(about.first)
        return None if not times else self.plan.clock.fires(min(times))


def _ends(rows: pa.Table, wire: Wire) -> Any:
    return rows.column(wire.times[-1]).cast(pa.int64()).to_numpy()


def _ending(rows: pa.Table, wire: Wire, after: int | None, upto: int) -> pa.Table:
    """The rows that end in some time."""
    ends = _ends(rows, wire)
    inside = ends <= upto if after is None else (ends <= upto) & (ends > after)
    return rows if inside.all() else rows.filter(pa.array(inside))


def _by_time(rows: pa.Table, ends: Any, lateness: int) -> Iterator[tuple[pa.Table, Any]]:
    """Rows in pieces: those that are probably complete in the next batch, then, by time, those of later ones."""
    if not rows.num_rows:
        return
    if not lateness:
        yield rows, ends
        return
    if (np.diff(ends) < 0).any():
        order = np.argsort(ends, kind="stable")
        rows, ends = rows.take(pa.array(order)), ends[order]
    times = [ends[-1] - lateness + lateness * part // PIECES for part in range(PIECES)]
    cuts = sorted({0, *np.searchsorted(ends, times, "right").tolist(), len(ends)})
    for begin, end in pairwise(cuts):
        yield rows.slice(begin, end - begin), ends[begin:end]
