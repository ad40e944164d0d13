"""Shares of CPU time that the parts of the engine take, from a table in memory to a table in memory.

Encoding reads the types of rows and the order of their times; the kernel is generated code; output turns detections
from rows into columns.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measure import ChildError, in_child
from benchmarks.options import Options
from benchmarks.report import NONE, Result, Table
from benchmarks.streams import path_of
from benchmarks.workloads import WORKLOADS

PARTS = ("encoding", "set-up", "kernel", "output", "rest")


def run(options: Options) -> Result:
    in_child("benchmarks.streams", options.events, options.of_keys)
    rows, wrong, measured = [], [], {}
    for workload in options.workloads(tuple(WORKLOADS)):
        arguments = (workload.name, options.events, options.of_keys, options.runs)
        try:
            found = in_child("benchmarks.parts", *arguments)
            shares = (f"{100 * found[part] / found['whole']:.0f} %" for part in PARTS)
            rows.append((workload.name, f"{1e9 * found['whole'] / options.events:.0f}", *shares))
        except ChildError as error:
            found = {"failed": str(error)}
            rows.append((workload.name, *[NONE] * (len(PARTS) + 1)))
            wrong.append(f"{workload.name}: {error}")
        measured[workload.name] = found
    title = f"What each part takes of the CPU time, warm ({options.events:,} events)"
    return Result("parts", (Table(title, ("workload", "ns an event", *PARTS), tuple(rows)),), measured, tuple(wrong))


def measured(name: str, n: int, keys: int, runs: int) -> dict[str, float]:
    """In a child: the seconds of each part in the fastest run."""
    import pyarrow.parquet as pq

    from benchmarks.run_ensue import in_memory
    from ensue.engine import derived_tables, generated, plain_tables, tables

    taken: dict[str, float] = {}

    def timed(holder: Any, attribute: str, part: str) -> None:
        function: Callable[..., Any] = getattr(holder, attribute)

        def run_timed(*arguments: Any, **named: Any) -> Any:
            began = time.process_time()
            found = function(*arguments, **named)
            taken[part] = taken.get(part, 0.0) + time.process_time() - began
            return found

        setattr(holder, attribute, run_timed)

    action = in_memory(WORKLOADS[name], pq.read_table(path_of(WORKLOADS[name].stream, n, keys)))
    action()  # compiles, and imports
    timed(plain_tables, "mixed_of", "encoding")
    timed(generated, "arrive", "encoding in lanes")
    timed(generated.GeneratedLane, "run", "lanes")
    timed(generated, "hand_over", "handed over")
    timed(derived_tables.Shown, "tables", "output")
    timed(tables, "Run", "set-up")
    best: dict[str, float] = {}
    for _ in range(runs):
        taken.clear()
        began = time.process_time()
        action()
        taken["whole"] = time.process_time() - began
        if not best or taken["whole"] < best["whole"]:
            best = dict(taken)
    lanes, over = best["lanes"], best.get("handed over", 0.0)
    inside = best.get("encoding in lanes", 0.0)
    found = {
        "whole": best["whole"],
        "encoding": best["encoding"] + inside,
        "set-up": best["set-up"],
        "kernel": lanes - over - inside,
        "output": over + best.get("output", 0.0),
    }
    return {**found, "rest": found["whole"] - sum(found[part] for part in PARTS[:-1])}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], *map(int, sys.argv[2:]))))
