"""Scaling: what bounds more cores. The CPU seconds of each step from a Parquet file to one, and what follows for more.

Steps that several threads share take their part of the time; the others take it whole, whatever the number of cores.
One thread writes while others detect. So the time on `k` cores is at least that of the serial steps, and after them a
`k`-th of the rest or, if that is longer, the time of writing: a bound that knows nothing of memory and caches, which
cores share, too. CPU time is counted by thread, so that other work on the machine matters
little; what Arrow's threads take is reading.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock, get_ident
from typing import Any

from benchmarks.cores import EVENTS
from benchmarks.measure import ChildError, in_child
from benchmarks.options import Options
from benchmarks.report import NONE, Result, Table, times
from benchmarks.streams import path_of
from benchmarks.workloads import WORKLOADS

SHARED = ("reading", "encoding", "dealing", "detection")
"""Steps that threads share."""

SERIAL = ("merging", "rest")

STEPS = (*SHARED, "merging", "writing", "rest")

CORES = (2, 4, 16)


def run(options: Options) -> Result:
    options = replace(options, events=EVENTS if options.events == Options().events else options.events)
    in_child("benchmarks.streams", options.events, options.of_keys)
    rows, wrong, measured = [], [], {}
    for workload in options.workloads():
        arguments = (workload.name, options.events, options.of_keys, min(3, options.runs))
        try:
            found = in_child("benchmarks.scaling", *arguments, env={"ENSUE_THREADS": "2"})
        except ChildError as error:
            found = {"failed": str(error)}
            rows.append((workload.name, *[NONE] * (len(STEPS) + len(CORES))))
            wrong.append(f"{workload.name}: {error}")
        else:
            steps = (f"{found[step]:.2f}" for step in STEPS)
            rows.append((workload.name, *steps, *(times(_speed_up(found, cores), 1) for cores in CORES)))
        measured[workload.name] = found
    title = f"CPU seconds of each step on two threads, and the most that more cores bring ({options.events:,} events)"
    header = ("workload", *STEPS, *(f"{cores} cores" for cores in CORES))
    note = f"{', '.join(SHARED)} are shared by threads; one thread writes meanwhile; the other steps are not shared."
    return Result("scaling", (Table(title, header, tuple(rows), (note,)),), measured, tuple(wrong))


def _speed_up(found: dict[str, float], cores: int) -> float:
    shared, serial = (sum(found[step] for step in steps) for steps in (SHARED, SERIAL))
    writing = found["writing"]
    return (shared + writing + serial) / (max((shared + writing) / cores, writing) + serial)


class Steps:
    """CPU seconds of steps, by thread; a step inside another counts for itself alone."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = {}
        self._inside: dict[int, list[float]] = {}
        self._lock = Lock()

    def rest(self, action: Callable[[], Any]) -> None:
        """Run an action; what its own thread does besides the steps is the rest."""
        self.time(self, "_run", "rest")
        self._run(action)
        del self.__dict__["_run"]

    def _run(self, action: Callable[[], Any]) -> None:
        action()

    def time(self, holder: Any, attribute: str, step: str) -> None:
        """Have the calls of a function counted for a step."""
        function: Callable[..., Any] = getattr(holder, attribute)

        def run_timed(*arguments: Any, **named: Any) -> Any:
            inside = self._inside.setdefault(get_ident(), [])
            inside.append(0.0)
            began = time.thread_time()
            try:
                return function(*arguments, **named)
            finally:
                whole = time.thread_time() - began
                own = whole - inside.pop()
                if inside:
                    inside[-1] += whole
                with self._lock:
                    self.taken[step] = self.taken.get(step, 0.0) + own

        setattr(holder, attribute, run_timed)


def measured(name: str, n: int, keys: int, runs: int) -> dict[str, float]:
    """In a child: the CPU seconds of each step in the run that takes least."""
    from benchmarks.run_ensue import written
    from ensue.data import write
    from ensue.engine import cores, dealing, derived_tables, large_files, plain_tables, tables

    steps, best = Steps(), {}
    with tempfile.TemporaryDirectory() as folder:
        source = path_of(WORKLOADS[name].stream, n, keys)
        action = written(WORKLOADS[name], source, Path(folder) / "found.parquet")
        action()
        for module in (plain_tables, large_files):
            steps.time(module, "mixed_of", "encoding" if module is plain_tables else "detection")
        steps.time(dealing, "dealt", "dealing")
        for module in (cores, dealing):
            steps.time(module, "taken_in", "detection")
        steps.time(derived_tables.Shown, "tables", "detection")
        steps.time(dealing, "in_order", "detection")
        steps.time(tables, "finished", "merging")
        steps.time(write._RowGroups, "write_table", "writing")
        steps.time(write._RowGroups, "close", "writing")
        for _ in range(runs):
            steps.taken.clear()
            began = time.process_time()
            steps.rest(action)
            whole = time.process_time() - began
            if not best or whole < best["whole"]:
                best = {"whole": whole, **steps.taken}
    known = sum(seconds for step, seconds in best.items() if step != "whole")
    return {**dict.fromkeys(STEPS, 0.0), **best, "reading": best["whole"] - known}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], *map(int, sys.argv[2:]))))
