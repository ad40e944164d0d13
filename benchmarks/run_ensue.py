"""Ensue on a workload, called as its users call it: on a table in memory, on files, on a stream of batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import ensue
from benchmarks.streams import DATA
from benchmarks.workloads import Workload
from ensue.data import Columns, combined, write_events
from ensue.data.write_early import EarlyFile
from ensue.engine.final import receiving
from ensue.request import Request

BATCH = 65_536


def in_memory(workload: Workload, table: pa.Table) -> Callable[[], int]:
    """Runs the program on a table in memory and returns the number of emitted events."""
    program = ensue.compile(workload.rules)
    return lambda: rows(_detect(program, workload, table, workload.name))


def files(workload: Workload, source: Path, target: Path) -> Callable[[], int]:
    program = ensue.compile(workload.rules)
    until = workload.until(pq.read_metadata(source).num_rows)
    events = {"tick": source} if workload.stream == "stock" else source

    def run() -> int:
        found = program.detect(events, until, time="ts", emit=workload.name)
        table = found[workload.name] if isinstance(found, dict) else found
        pq.write_table(table, target)
        return table.num_rows

    return run


def written(workload: Workload, source: Path, target: Path) -> Callable[[], None]:
    """The same as `ensue run` does it: what is found is written while other events are still to come."""
    program = ensue.compile(workload.rules)
    until = workload.until(pq.read_metadata(source).num_rows)
    events = {"tick": source} if workload.stream == "stock" else source
    request = Request(until, Columns(time="ts"), emit=workload.name)

    def run() -> None:
        with EarlyFile(target, combined) as early, receiving(early):
            found, _ = program.detect_tables(events, request)
            if not early.finish(found):
                write_events(combined(found), target)

    return run


def counted(workload: Workload, table: pa.Table) -> int:
    """The detections that the workload counts, where they are not those that it emits."""
    return rows(_detect(ensue.compile(workload.rules), workload, table, workload.counted))


def _detect(program: ensue.Program, workload: Workload, table: pa.Table, emit: str) -> object:
    """Run detection. The stock stream has no column of types: it is passed as the table of its only type."""
    events = {"tick": table} if workload.stream == "stock" else table
    return program.detect(events, workload.until(table.num_rows), time="ts", emit=emit)


def streamed(workload: Workload, batches: Iterable[pa.RecordBatch], until: int) -> int:
    """Feeds batches through a reader, drops the detections, and returns their number."""
    typed = map(_with_type, batches)
    first = next(typed)
    reader = pa.RecordBatchReader.from_batches(first.schema, chain((first,), typed))
    return rows(ensue.compile(workload.rules).detect(reader, until, time="ts", emit=workload.name))


def batches_of(source: Path) -> Iterator[pa.RecordBatch]:
    return pq.ParquetFile(source).iter_batches(BATCH)


def command(workload: Workload, source: Path, n: int, target: Path) -> list[str]:
    """`ensue run` on a file."""
    rules = DATA / f"{workload.name}.ensue"
    rules.write_text(workload.rules + "\n", encoding="utf-8")
    events = f"tick={source}" if workload.stream == "stock" else str(source)
    options = ["--time", "ts", "--until", str(workload.until(n)), "--emit", workload.name, "-o", str(target)]
    return [str(Path(sys.executable).parent / "ensue"), "run", str(rules), events, *options]


def rows(found: object) -> int:
    """Number of detections in a result of `detect`."""
    match found:
        case dict():
            return sum(map(rows, found.values()))
        case pa.RecordBatchReader():
            return sum(batch.num_rows for batch in found)
        case pa.Table():
            return found.num_rows
    raise TypeError(f"detect gave back a {type(found).__name__}")


def _with_type(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Add a column of types: a reader is a single table, so ticks need one."""
    if "type" in batch.schema.names:
        return batch
    return batch.append_column("type", pa.repeat("tick", batch.num_rows))
