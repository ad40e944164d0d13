"""Cores: from a Parquet file to one on one thread and on all, by the clock, beside DuckDB and Polars with all theirs.

These are times of a clock, so nothing else may run meanwhile.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from benchmarks.measure import ChildError, in_child
from benchmarks.options import Options
from benchmarks.report import Result, Table, seconds, times
from benchmarks.workloads import Workload

EVENTS = 10_000_000


def run(options: Options) -> Result:
    options = replace(options, events=EVENTS if options.events == Options().events else options.events)
    cores = os.cpu_count() or 1
    in_child("benchmarks.streams", options.events, options.of_keys)
    measured: dict[str, Any] = {}
    for workload in options.workloads():
        ways = {"ensue, one thread": _measure("ensue", workload, 1, options)}
        ways |= {name: _measure(name, workload, cores, options) for name in options.contestants}
        measured[workload.name] = ways
    wrong = [
        f"{name} finds {taken['count']:,} in {workload}"
        for workload, ways in measured.items()
        for name, taken in ways.items()
        if name == "ensue" and taken.get("count") != ways["ensue, one thread"].get("count")
    ]
    return Result("cores", (_table(measured, cores, options),), measured, tuple(wrong))


def _measure(contestant: str, workload: Workload, threads: int, options: Options) -> dict[str, Any]:
    many = str(threads)
    env = {"ENSUE_THREADS": many, "DUCKDB_THREADS": many, "POLARS_MAX_THREADS": many, "OMP_NUM_THREADS": many}
    asked = contestant, workload.name, "parquet", options.events, options.of_keys, options.runs
    try:
        found: dict[str, Any] = in_child("benchmarks.contestant", *asked, env=env)
    except ChildError as error:
        return {"failed": str(error)}
    return found


def _table(measured: dict[str, dict[str, Any]], cores: int, options: Options) -> Table:
    rows, notes = [], []
    for workload in options.workloads():
        wall = {name: taken.get("wall") for name, taken in measured[workload.name].items()}
        one, ours = wall["ensue, one thread"], wall.get("ensue")
        peers = [wall[name] for name in options.contestants if name != "ensue" and wall.get(name)]
        row = [
            f"{workload.name} {workload.title}",
            seconds(one),
            *(seconds(wall[name]) for name in options.contestants),
        ]
        rows.append((*row, times(one, ours), times(min(peers, default=None), ours)))
        notes += [f"{workload.name}, {n}: {m['failed']}" for n, m in measured[workload.name].items() if "failed" in m]
    title = f"Seconds by the clock from a Parquet file to one, {cores} cores ({options.events:,} events)"
    header = ("workload", "ensue, one thread", *options.contestants, "speed-up", "fastest peer / ensue")
    return Table(title, header, tuple(rows), tuple(notes))
