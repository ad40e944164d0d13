"""A stream of Spark's without Spark: the functions that run in its workers, called as Spark calls them.

So thousands of streams can be tried, with micro-batches cut anywhere, workers that forget what they had in memory, and
rows that come too late. What Spark itself does is tried in other tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, TimerValues

from ensue.program import Program
from ensue.spark import bucket_state
from ensue.spark.clock import Clock
from ensue.spark.found import arrow_schema, found_columns
from ensue.spark.frames import Given, _ensue_type
from ensue.spark.job import Job
from ensue.spark.packing import Unpacker
from ensue.spark.streaming import Stream
from ensue.spark.wire import Column, Wire

NOT_ATTRIBUTES = ("type", "time", "start", "end")


# --- Spark's state store


@dataclass
class Memory:
    """Spark's state for one operator: states and timers by key."""

    states: dict[tuple[str, Any], Any] = field(default_factory=dict)
    timers: set[tuple[Any, int]] = field(default_factory=set)


class Handle:
    """Stands in for the handle that a processor is given."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.key: Any = None

    def getValueState(self, name: str, schema: str) -> Value:  # noqa: N802
        return Value(self, name)

    def getMapState(self, name: str, key: str, schema: str) -> Map:  # noqa: N802
        return Map(self, name)

    def registerTimer(self, time: int) -> None:  # noqa: N802
        self.memory.timers.add((self.key, time))

    def deleteTimer(self, time: int) -> None:  # noqa: N802
        self.memory.timers.discard((self.key, time))


class Value:
    def __init__(self, handle: Handle, name: str) -> None:
        self.handle, self.name = handle, name

    def get(self) -> Any:
        return self.handle.memory.states.get((self.name, self.handle.key))

    def update(self, value: Any) -> None:
        self.handle.memory.states[self.name, self.handle.key] = value


class Map(Value):
    def _values(self) -> dict[Any, Any]:
        return self.handle.memory.states.setdefault((self.name, self.handle.key), {})

    def getValue(self, key: Any) -> Any:  # noqa: N802
        return self._values().get(key)

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        self._values()[key] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802
        del self._values()[key]


# --- a query


@dataclass
class Query:
    """A stream at work.

    What it found is in `found`, by type, what took no part in `rejected`, and in `suppressed` how many events rules did
    not keep.
    """

    stream: Stream
    memories: list[Memory] = field(default_factory=list)
    largest: int | None = None
    watermark: int = 0
    found: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    rejected: list[tuple[str, str]] = field(default_factory=list)
    suppressed: Counter[str] = field(default_factory=Counter)

    def batch(self, events: list[pa.Table], forgetful: bool = False) -> None:
        """One micro-batch: a table for each task that reads."""
        processors = self.stream.processors()
        while len(self.memories) < len(processors):
            self.memories.append(Memory())
        rows = [row for table in events for row in self._packed(table)]
        clocks = [row.clock for row in rows if row.clock is not None]
        if forgetful:
            bucket_state._sessions.clear()
        for processor, memory in zip(processors, self.memories, strict=True):
            rows = list(self._operator(processor, memory, rows))
        self._unpack(rows)
        self.largest = max([*clocks, *([] if self.largest is None else [self.largest])], default=None)
        if self.largest is not None:
            delay = self.stream.clock.delay(self.stream.lateness)
            self.watermark = max(self.watermark, self.largest - delay)

    def _packed(self, table: pa.Table) -> Iterator[Row]:
        for batch in self.stream.packer()(table.to_batches()):
            yield from (Row(**row) for row in batch.to_pylist())

    def _operator(self, processor: Any, memory: Memory, rows: list[Row]) -> Iterator[Row]:
        handle = Handle(memory)
        processor.init(handle)
        now = TimerValues(0, self.watermark)
        for bucket in sorted({row.bucket for row in rows}):
            handle.key = (bucket,)
            own = [row for row in rows if row.bucket == bucket]
            yield from list(processor.handleInputRows((bucket,), iter(own), now))
        for key, time in sorted(memory.timers):
            if time <= self.watermark and (key, time) in memory.timers:
                handle.key = key
                yield from list(processor.handleExpiredTimer(key, now, ExpiredTimerInfo(time)))
                memory.timers.discard((key, time))
        processor.close()

    def _unpack(self, rows: list[Row]) -> None:
        found = self.stream.found
        columns = found.columns_of(self.stream.job.wanted)
        added = {"reason": "string", "row": "string", "rule": "string", "count": "long"}
        schema = found.spark_schema(columns)
        for name, type_ in added.items():
            schema = schema.add(name, type_)
        packed = pa.RecordBatch.from_pylist([{"kind": row.kind, "blob": row.blob} for row in rows],
                                            pa.schema([("kind", pa.string()), ("blob", pa.binary())]))  # fmt: skip
        for batch in Unpacker(arrow_schema(schema))([packed]):
            for row in batch.to_pylist():
                if row["reason"] is not None:
                    self.rejected.append((row["reason"], row["row"]))
                    continue
                if row["rule"] is not None:
                    self.suppressed[row["rule"]] += row["count"]
                    continue
                own = {c.attribute: row[c.name] for c in columns if c.holds(row["type"])}
                self.found.setdefault(row["type"], []).append({"start": row["start"], "end": row["end"], **own})


def query(
    program: Program, tables: Mapping[str, pa.Table], lateness: int = 0, buckets: int = 3, until: int | None = None,
    compiled: bool | None = None, instants: bool = False,
) -> tuple[Query, pa.Table]:  # fmt: skip
    """A query for events like these, by type, and the events as such a query reads them."""
    times = "time" if instants else "end"
    kinds = {table.schema.field(times).type for table in tables.values()}
    (kind,) = kinds
    time = from_arrow_type(kind, prefer_timestamp_ntz=True)
    known, columns, types, parts = {}, [], {}, []
    for name, table in tables.items():
        event = program.typed.events.get(name)
        renamed = {}
        for field_ in table.schema:
            if field_.name in NOT_ATTRIBUTES:
                renamed[field_.name] = field_.name
            elif event is not None and field_.name in event.attributes:
                spark = from_arrow_type(field_.type, prefer_timestamp_ntz=True)
                column = f"c{len(columns)}"
                columns.append(Column(column, field_.name, spark.simpleString(), (name,)))
                types[column] = spark
                renamed[field_.name] = column
                if not event.declared and not event.derived and (type_ := _ensue_type(spark)) is not None:
                    known.setdefault(name, {})[field_.name] = type_
        part = table.select(list(renamed)).rename_columns(list(renamed.values()))
        parts.append(part.add_column(0, "type", pa.array([name] * len(part), pa.string())))
    source = program.file.source
    wanted = tuple(name for name, event in program.typed.events.items() if event.derived)
    timestamps = pa.types.is_timestamp(kind)
    job = Job(source.text, source.name, wanted, timestamps, instants,
              tuple((event, tuple(each.items())) for event, each in known.items()), compiled)  # fmt: skip
    used = tuple(c for c in columns if any(c.attribute in e.attributes for e in job.rules.events.values()))
    wire = Wire(used, instants, sequence=False)
    given = Given(None, wire, types, time, ())  # type: ignore[arg-type]
    found = found_columns(job.rules, (), time, wire, types)  # no one table need hold them all
    stream = Stream(job, given, found, {}, until, lateness, buckets, Clock(timestamps))
    rows = pa.concat_tables(parts, promote_options="default")
    return Query(stream), rows.select([*wire.outside, *(c.name for c in used)])


def run(
    program: Program, tables: Mapping[str, pa.Table], until: int | None, rng: Random, lateness: int = 0,
    compiled: bool | None = None, suppressed: Counter[str] | None = None,
) -> dict[str, list[dict[str, Any]]]:  # fmt: skip
    """Detections of a stream in events that come in micro-batches, none later than allowed, up to the end of time."""
    instants = all("time" in table.column_names for table in tables.values())
    at_work, rows = query(program, tables, lateness, rng.choice((1, 2, 5)), until, compiled, instants)
    ends = rows.column("time" if instants else "end").cast(pa.int64()).to_pylist()
    order = sorted(range(len(ends)), key=lambda i: (ends[i] + rng.randint(0, lateness), rng.random()))
    at = 0
    while at < len(order):
        size = rng.choice((1, 2, 3, 8))
        pieces = [
            rows.take(pa.array([i for i in order[at : at + size] if i % 2 == half], pa.int64())) for half in (0, 1)
        ]
        at_work.batch(pieces, forgetful=rng.random() < 0.3)
        if rng.random() < 0.3:
            at_work.batch([], forgetful=rng.random() < 0.5)
        at += size
    last = until if until is not None else max(ends, default=0)
    at_work.watermark = max(at_work.watermark, at_work.stream.clock.fires(last))
    at_work.batch([], forgetful=True)
    assert not at_work.rejected
    if suppressed is not None:
        suppressed.update(at_work.suppressed)
    return at_work.found
