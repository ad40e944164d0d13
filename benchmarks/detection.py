"""Detection: thousands of events per CPU-second on each workload, Ensue beside DuckDB and Polars.

Three ways: from a table in memory to one, from a Parquet file to one (both warm, in a running process), and a command
from start to end. The first is also set against the fastest peer of an earlier, wider comparison.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks import run_ensue
from benchmarks.contestant import MODULES
from benchmarks.measure import ChildError, in_child, whole_process
from benchmarks.options import Options
from benchmarks.report import Result, Table, thousands, times
from benchmarks.streams import path_of
from benchmarks.workloads import MILLION, Workload

WAYS = {
    "arrow": "from an Arrow table in memory to one, warm",
    "parquet": "from a Parquet file to one, warm",
    "command": "from a Parquet file to one, as a command from start to end",
}
ORDER_NOTE = (
    "DuckDB and Polars answer a finished table only. Their detections come in any order; Polars takes the table's "
    "order of time for granted on W3, W4 and W7."
)


def run(options: Options) -> Result:
    in_child("benchmarks.streams", options.events, options.of_keys)
    measured: dict[str, Any] = {}
    wrong: list[str] = []
    for way in WAYS:
        for workload in options.workloads():
            found = {name: _measure(name, workload, way, options) for name in options.contestants}
            wrong += _wrong(workload, way, found, options)
            measured.setdefault(way, {})[workload.name] = found
    tables = tuple(_table(way, measured[way], options) for way in WAYS)
    return Result("detection", tables, measured, tuple(wrong))


def _measure(contestant: str, workload: Workload, way: str, options: Options) -> dict[str, Any]:
    n, keys = options.events, options.of_keys
    try:
        if way != "command":
            return in_child("benchmarks.contestant", contestant, workload.name, way, n, keys, options.runs)
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "found.parquet"
            source = path_of(workload.stream, n, keys)
            taken = whole_process(_command(contestant, workload, source, n, target), runs=min(3, options.runs))
            return taken | {"count": pq.read_metadata(target).num_rows}
    except ChildError as error:
        return {"failed": str(error)}


def _command(contestant: str, workload: Workload, source: Path, n: int, target: Path) -> list[str]:
    if contestant == "ensue":
        return run_ensue.command(workload, source, n, target)
    return [sys.executable, "-m", MODULES[contestant], workload.name, str(source), str(target)]


def _wrong(workload: Workload, way: str, found: dict[str, Any], options: Options) -> list[str]:
    """Counts that are not as they should be, or where nothing is known, not those of the others."""
    counts = {
        name: taken["count"]
        for name, taken in found.items()
        if "count" in taken and not (name == "ensue" and way != "arrow" and workload.counted != workload.name)
    }
    right = workload.expected(options.events, options.of_keys)
    if right is None and counts:
        right = next(iter(counts.values()))
    return [
        f"{name} finds {count:,} in {workload.name} ({way}), not {right:,}"
        for name, count in counts.items()
        if count != right
    ]


def _table(way: str, measured: dict[str, dict[str, Any]], options: Options) -> Table:
    peers = [name for name in options.contestants if name != "ensue"]
    as_recorded = way == "arrow" and (options.events, options.of_keys) == MILLION
    recorded = ("recorded peer", "ensue / recorded") if as_recorded else ()
    rows, notes = [], [ORDER_NOTE] if peers and way == "arrow" else []
    for workload in options.workloads():
        rates = {name: _rate(taken, options.events) for name, taken in measured[workload.name].items()}
        ours, best = rates.get("ensue"), max((rates[peer] or 0 for peer in peers), default=0)
        row = [f"{workload.name} {workload.title}", *(thousands(rates[name]) for name in options.contestants)]
        row.append(times(ours, best))
        if recorded:
            row += [f"{workload.fastest_peer} {workload.recorded:,}", times(ours, workload.recorded)]
        rows.append(tuple(row))
        notes += [f"{workload.name}, {n}: {m['failed']}" for n, m in measured[workload.name].items() if "failed" in m]
    title = f"Thousand events per CPU-second, {WAYS[way]} ({options.events:,} events, {options.of_keys:,} keys)"
    header = ("workload", *options.contestants, "ensue / fastest peer", *recorded)
    return Table(title, header, tuple(rows), tuple(notes))


def _rate(taken: dict[str, Any], events: int) -> float | None:
    return events / taken["cpu"] / 1000 if "cpu" in taken else None
