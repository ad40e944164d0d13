"""The engine on one partition of a Spark frame: batches of events in, batches of detections out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ensue import compute as pc
from ensue.data.moments import EngineTime
from ensue.engine import machine
from ensue.engine.provenance import SOURCES
from ensue.live.session import Session
from ensue.records import dataclass
from ensue.spark.job import Job
from ensue.spark.provenance import Trace
from ensue.spark.suppressed import count_rows, new_counts
from ensue.spark.wire import BEGIN, DERIVED, FIRST, OVER, SLICE, UNTIL, Wire, gathered, handed_on, together, with_types

TOGETHER = 1 << 18
"""Number of rows that are taken at once, where Spark's batches have fewer."""


@dataclass(frozen=True)
class PartitionTask:
    """A stage on one partition: a function from batches to batches that Spark sends to its workers.

    Rows come in the order of their ends; where time is cut into slices, slice by slice.
    """

    job: Job
    stage: int
    given: Wire
    found: Wire
    schema: pa.Schema
    tables: Mapping[str, Sequence[tuple[Any, ...]]]
    until: int | None
    passed: tuple[str, ...]
    """Types that earlier stages derived, and that are passed on unchanged."""
    sliced: bool = False
    """True if rows belong to slices of time, each of which is evaluated separately."""
    only: str | None = None
    """The type of all rows, where they have no column of the type."""
    types: tuple[str, ...] = ()
    """The types that the numbers in the column of types stand for, where it has numbers."""
    suppressed: bool = False
    """True if the result carries the numbers of suppressed events."""
    provenance: bool = False
    """True if detections carry the rows that they came from."""
    code: machine.Shipment = machine.NOTHING
    """The rules as machine code, compiled where the job was planned."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not self.sliced:
            yield from self._part(together(batches, TOGETHER))
        else:
            for rows in _by_slice(together(batches, TOGETHER)):
                yield from self._slice(rows)

    def _part(self, pieces: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
        session, until, trace = None, self.until, self._trace()
        for rows in pieces:
            if session is None:
                session = self._session(rows)
                if until is None and UNTIL in rows.column_names:
                    until = rows.column(UNTIL)[0].as_py()
            yield from self._sent(session, rows, trace)
        if session is not None:
            yield from self._gathered(session.close_by_type(None if until is None else EngineTime(until)), trace)
            if self.suppressed and session.progress.time is not None:
                counts = new_counts(session.suppressed, {})
                yield from count_rows(counts, session.progress.time, self.schema)

    def _session(self, rows: pa.Table) -> Session:
        machine.receive(self.code)
        session = self.job.session(self.stage, self.given, self.tables, fixed=True, provenance=self.provenance)
        session.begin(self.job.timestamps, None)
        if FIRST in rows.column_names:
            session.progress.first = rows.column(FIRST)[0].as_py()
        return session

    def _trace(self) -> Trace | None:
        return Trace() if self.provenance else None

    def _gathered(self, tables: Mapping[str, pa.Table], trace: Trace | None) -> Iterable[pa.RecordBatch]:
        if trace is not None:
            tables = trace.named(tables, self.schema.field(SOURCES).type)
        return gathered(tables, self.found, self.schema)

    def _sent(self, session: Session, rows: pa.Table, trace: Trace | None) -> Iterator[pa.RecordBatch]:
        if self.passed:
            known = pa.array(self.passed, pa.string())
            through = pc.and_(pc.is_in(rows.column("type"), known), pc.fill_null(rows.column(DERIVED), False))
            yield from handed_on(rows.filter(through), self.schema)
            reads = pa.array(self.job.stages[self.stage].reads, pa.string())
            rows = rows.filter(pc.or_(pc.invert(through), pc.is_in(rows.column("type"), reads)))
        rows = self._with_type(rows)
        if rows.num_rows:
            events = self._events(rows)
            events = events if trace is None else trace.note(events)
            yield from self._gathered(session.send_by_type(events), trace)

    def _with_type(self, rows: pa.Table) -> pa.Table:
        """The rows that are events; a row without a type only carries the time."""
        if self.only is not None or not rows.column("type").null_count:
            return rows
        return rows.filter(pc.is_valid(rows.column("type")))

    def _events(self, rows: pa.Table) -> pa.Table | dict[str, pa.Table]:
        if self.only is not None:
            return {self.only: self.given.of_type(rows, self.only)}
        if self.types:
            rows = with_types(rows, self.types)
        return self.given.renamed(rows) if self.given.of_any_type else self.given.by_type(rows)

    def _slice(self, pieces: Iterator[pa.Table]) -> Iterator[pa.RecordBatch]:
        """Detections that end in a slice. Each row of it carries the times at which it begins and is over."""
        session: Session | None = None
        trace = self._trace()
        begin = over = 0
        until: int | None = self.until
        for rows in pieces:
            if session is None:
                session = self._session(rows)
                begin, over = (rows.column(name)[0].as_py() for name in (BEGIN, OVER))
                until = min(rows.column(UNTIL)[0].as_py(), over - 1)
            for batch in self._sent(session, rows, trace):
                yield from _ending(batch, begin, over)
        if session is not None:
            for batch in self._gathered(session.close_by_type(None if until is None else EngineTime(until)), trace):
                yield from _ending(batch, begin, over)


def _ending(batch: pa.RecordBatch, begin: int, over: int) -> Iterator[pa.RecordBatch]:
    """The rows that end in a slice of time."""
    ends = batch.column("end").cast(pa.int64())
    inside = batch.filter(pc.and_(pc.greater_equal(ends, begin), pc.less(ends, over)))
    if len(inside):
        yield inside


def _by_slice(pieces: Iterable[pa.Table]) -> Iterator[Iterator[pa.Table]]:
    """The rows of each slice; rows come slice by slice."""
    parts = ((int(number), part) for rows in pieces for number, part in _parts(rows))
    for _, group in groupby(parts, key=lambda part: part[0]):
        yield (part for _, part in group)


def _parts(rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    numbers = rows.column(SLICE).to_numpy()
    cuts = [0, *(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist(), len(numbers)]
    for begin, end in pairwise(cuts):
        if begin < end:
            yield numbers[begin], rows.slice(begin, end - begin)
