"""A line for each micro-batch of a stream: its events, its detections, and the watermark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ensue.cli.output import counted

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from ensue.spark.clock import Clock

METRICS = "ensue"
"""The name under which a stream reports the numbers of detections, of late and bad rows, and of suppressed events."""

HEARTBEAT = "Rate"
"""Prefix of Spark's name of the source of a heartbeat."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE = timedelta(days=146_097)
"""After 400 years the calendar repeats."""


class MicroBatches:
    """The micro-batches of a query that have not been reported yet."""

    def __init__(self, query: StreamingQuery, clock: Clock, heartbeat: bool) -> None:
        self._query = query
        self._clock = clock
        self._heartbeat = heartbeat
        self._told = -1

    def lines(self) -> Iterator[str]:
        """A line for each that is new; triggers for which there was nothing to do have none."""
        for progress in self._query.recentProgress:
            if progress.batchId > self._told and "addBatch" in progress.durationMs:
                self._told = progress.batchId
                yield line_of(progress, self._clock, self._heartbeat)


def line_of(progress: Any, clock: Clock, heartbeat: bool) -> str:
    """Spark's report on a micro-batch, in one line; the rows of a heartbeat are no events."""
    sources = [s for s in progress.sources if not (heartbeat and s.description.startswith(HEARTBEAT))]
    metrics = progress.observedMetrics.get(METRICS)
    counts = {} if metrics is None else metrics.asDict()
    parts = [
        f"{counted(sum(source.numInputRows for source in sources), 'event')} in",
        f"{counts.get('found', 0)} found",
    ]
    parts += [f"{counts[name]} {name}" for name in ("late", "bad", "suppressed") if counts.get(name) is not None]
    parts.append(f"state {in_bytes(sum(map(_state_bytes, progress.stateOperators)))}")
    watermark = progress.eventTime.get("watermark")
    parts.append(reached(watermark, clock))
    parts.append(f"{progress.durationMs.get('triggerExecution', 0) / 1000:.1f} s")
    return f"batch {progress.batchId}: {', '.join(parts)}"


def reached(watermark: str | None, clock: Clock) -> str:
    """Watermark at the beginning of a micro-batch, in the time of events.

    >>> from ensue.spark.clock import Clock
    >>> reached("2026-03-01T08:00:00.000Z", Clock(timestamps=True))
    'watermark 2026-03-01 08:00:00'
    >>> reached("148108-07-06T14:00:27.394Z", Clock(timestamps=False))
    'watermark 7'
    """
    milliseconds = 0 if watermark is None else milliseconds_of(watermark)
    if not milliseconds:
        return "no watermark yet"
    before = clock.complete(milliseconds) + 1
    return f"watermark {shown(before, clock.timestamps)}"


def shown(time: int, timestamps: bool) -> str:
    """A time as people read it.

    >>> shown(7, False), shown(1_500_000, True)
    ('7', '1970-01-01 00:00:01.500')
    """
    if not timestamps:
        return str(time)
    try:
        moment = _EPOCH + timedelta(microseconds=time)
    except OverflowError:
        return f"{time} µs after 1970"
    return f"{moment:%Y-%m-%d %H:%M:%S}" + (f".{moment.microsecond // 1000:03}" if moment.microsecond else "")


def milliseconds_of(watermark: str) -> int:
    """A watermark as Spark writes it, in any year, as milliseconds since 1970.

    >>> milliseconds_of("1970-01-01T00:00:01.500Z"), milliseconds_of("148108-07-06T14:00:27.387Z")
    (1500, 4611686018427387)
    """
    found = re.fullmatch(r"\+?(\d{4,})-(.*)", watermark)
    if found is None:
        return 0
    cycles, year = divmod(int(found[1]), 400)
    moment = datetime.fromisoformat(f"{year + 2000:04}-{found[2]}")
    return (moment - _EPOCH) // timedelta(milliseconds=1) + (cycles - 5) * (_CYCLE // timedelta(milliseconds=1))


def in_bytes(count: int) -> str:
    """
    >>> in_bytes(999), in_bytes(12_300), in_bytes(4_560_000)
    ('999 B', '12.3 kB', '4.6 MB')
    """
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def _state_bytes(operator: Any) -> int:
    """Bytes that a stateful operator keeps: on disk where that is known, else in memory."""
    return int(operator.customMetrics.get("rocksdbSstFileSize") or operator.memoryUsedBytes)
