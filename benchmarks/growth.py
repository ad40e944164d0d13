"""Growth: ten times the events should take ten times the time and the same memory, and a long stream flat memory.

The longer stream has the same keys, so that it is the same stream going on, not a wider one. Time is from a table in
memory. Memory is the peak of a process that goes through a file: Ensue batch by batch, the others as they like to.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ChildError, in_child, rss_mb
from benchmarks.options import Options
from benchmarks.report import Result, Table, seconds, thousands, times
from benchmarks.streams import long_events
from benchmarks.workloads import WORKLOADS

if TYPE_CHECKING:
    import pyarrow as pa

GROWN = ("w1", "w3", "w4", "w7")
STREAMED = "w4"


def run(options: Options) -> Result:
    sizes, keys = (options.events, 10 * options.events), options.of_keys
    for n in sizes:
        in_child("benchmarks.streams", n, keys)
    rows, notes, measured = [], [], {}
    for workload in options.workloads(GROWN):
        for contestant in options.contestants:
            on_file = "streamed" if contestant == "ensue" else "parquet"
            took = [_measured(contestant, workload.name, "arrow", n, keys, min(3, options.runs)) for n in sizes]
            held = [_measured(contestant, workload.name, on_file, n, keys, 1) for n in sizes]
            measured[f"{workload.name} {contestant}"] = {"arrow": took, on_file: held}
            cpu, peak = [m.get("cpu") for m in took], [m.get("peak_mb") for m in held]
            row = (*map(seconds, cpu), times(cpu[1], cpu[0]), *map(thousands, peak), times(peak[1], peak[0]))
            rows.append((f"{workload.name} {contestant}", *row))
            notes += [f"{workload.name}, {contestant}: {m['failed']}" for m in took + held if "failed" in m]
    title = f"Growth: {sizes[0]:,} and {sizes[1]:,} events of {keys:,} keys"
    header = ("workload", "CPU s", "CPU s, × 10", "ratio", "peak MB", "peak MB, × 10", "ratio")
    tables = [Table(title, header, tuple(rows), tuple(dict.fromkeys(notes)))]
    if "ensue" in options.contestants and STREAMED in options.only:
        measured["stream"] = _stream(options.stream, keys)
        tables.append(_stream_table(measured["stream"], options.stream, keys))
    return Result("growth", tuple(tables), measured)


def _measured(contestant: str, workload: str, mode: str, n: int, keys: int, runs: int) -> dict[str, Any]:
    try:
        return in_child("benchmarks.contestant", contestant, workload, mode, n, keys, runs)
    except ChildError as error:
        return {"failed": str(error)}


def _stream(n: int, keys: int) -> dict[str, Any]:
    try:
        return in_child("benchmarks.growth", n, keys)
    except ChildError as error:
        return {"failed": str(error)}


def _stream_table(measured: dict[str, Any], n: int, keys: int) -> Table:
    title = f"Memory while {n:,} events of {keys:,} keys stream through {STREAMED}"
    if "failed" in measured:
        return Table(title, ("events so far", "MB held"), (), (measured["failed"],))
    samples = measured["samples"]
    shown = {"start": samples[len(samples) // 20], "middle": samples[len(samples) // 2], "end": samples[-1]}
    rows = [(f"{where}: {events:,}", thousands(mb)) for where, (events, mb) in shown.items()]
    rows.append(("at most, after the start", thousands(max(mb for _, mb in samples[len(samples) // 20 :]))))
    rate = thousands(n / measured["cpu"] / 1000)
    note = f"{rate} thousand events per CPU-second, making the events included; {measured['count']:,} detections."
    return Table(title, ("events so far", "MB held"), tuple(rows), (note,))


def _through(n: int, keys: int) -> dict[str, Any]:
    """In a child: streams `n` events through, and notes the memory held before each batch."""
    from benchmarks import run_ensue

    samples: list[tuple[int, float]] = []

    def watched() -> Iterator[pa.RecordBatch]:
        seen = 0
        for batch in long_events(n, keys, max(1, min(1_000_000, n // 20))):
            samples.append((seen, rss_mb()))
            yield batch
            seen += batch.num_rows
        samples.append((seen, rss_mb()))

    began = time.process_time()
    workload = WORKLOADS[STREAMED]
    count = run_ensue.streamed(workload, watched(), workload.until(n))
    return {"count": count, "cpu": time.process_time() - began, "samples": samples}


if __name__ == "__main__":
    print(json.dumps(_through(int(sys.argv[1]), int(sys.argv[2]))))
