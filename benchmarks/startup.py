"""Start-up: how long until there is a result, with an empty cache of compiled code and with a full one.

`ensue run` from start to end on ten events and on many; and for programs of 1, 10 and 100 rules, what compiling and
the first detection take in a new process. `ENSUE_CACHE_DIR` names the folder of the cache.
"""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import run_ensue
from benchmarks.measure import ChildError, in_child, whole_process
from benchmarks.options import Options
from benchmarks.report import NONE, Result, Table, seconds
from benchmarks.rule_sets import KINDS, rules
from benchmarks.streams import path_of
from benchmarks.workloads import WORKLOADS

COUNTS = (1, 10, 100)
TEN = [{"type": "AB"[i % 2], "ts": i, "id": i // 2 % 3, "x": 1.5} for i in range(10)]


def run(options: Options) -> Result:
    in_child("benchmarks.streams", options.events, options.of_keys)
    commands, notes = _commands(options)
    programs, more_notes = _programs()
    tables = (
        Table(
            "Seconds that `ensue run` takes from start to end",
            ("events", "cold, wall", "cold, CPU", "warm, wall", "warm, CPU"),
            tuple((name, *_figures(found)) for name, found in commands.items()),
            (*notes, "Cold: nothing is compiled yet. Warm: the compiled code is in the cache."),
        ),
        Table(
            "Seconds to the first detection in a new process",
            ("rules", "check", "not compiled", "compiled, cold", "compiled, warm"),
            tuple((name, *_program_figures(found)) for name, found in programs.items()),
            (*more_notes, "On ten events; imports are not counted. Warm: the compiled code is loaded from the cache."),
        ),
    )
    return Result("startup", tables, {"commands": commands, "programs": programs})


def _commands(options: Options) -> tuple[dict[str, Any], list[str]]:
    found: dict[str, Any] = {}
    notes = []
    for name in [workload.name for workload in options.workloads(("w1", "w4", "w7"))]:
        workload = WORKLOADS[name]
        sources = {f"{options.events:,}": (path_of(workload.stream, options.events, options.of_keys), options.events)}
        with tempfile.TemporaryDirectory() as folder:
            if workload.stream == "events":
                sources = {"ten": (_ten_lines(Path(folder)), len(TEN)), **sources}
            for size, (source, n) in sources.items():
                command = run_ensue.command(workload, source, n, Path(folder) / "found.parquet")
                try:
                    found[f"{name}, {size}"] = _cold_and_warm(command, options.runs)
                except ChildError as error:
                    found[f"{name}, {size}"] = {"failed": str(error)}
                    notes.append(f"{name}, {size}: {error}")
    return found, notes


def _cold_and_warm(command: list[str], runs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        env = {"ENSUE_CACHE_DIR": cache}
        return {"cold": whole_process(command, env), "warm": whole_process(command, env, runs)}


def _ten_lines(folder: Path) -> Path:
    path = folder / "ten.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in TEN), encoding="utf-8")
    return path


def _programs() -> tuple[dict[str, Any], list[str]]:
    found: dict[str, Any] = {}
    notes = []
    for kind in KINDS:
        for count in COUNTS:
            name = f"{count} {kind}"
            with tempfile.TemporaryDirectory() as cache:
                env = {"ENSUE_CACHE_DIR": cache}
                try:
                    cold, warm = (in_child("benchmarks.startup", kind, count, env=env) for _ in range(2))
                    found[name] = {"cold": cold, "warm": warm}
                except ChildError as error:
                    found[name] = {"failed": str(error)}
                    notes.append(f"{name}: {error}")
    return found, notes


def _figures(found: dict[str, Any]) -> tuple[str, ...]:
    if "failed" in found:
        return (NONE,) * 4
    return tuple(seconds(found[when][what]) for when in ("cold", "warm") for what in ("wall", "cpu"))


def _program_figures(found: dict[str, Any]) -> tuple[str, ...]:
    if "failed" in found:
        return (NONE,) * 4
    cold, warm = found["cold"], found["warm"]
    return tuple(map(seconds, (warm["check"], warm["plain"], cold["compiled"], warm["compiled"])))


def measured(kind: str, count: int) -> dict[str, float]:
    """In a child: the cost of checking the rules, and of detection with plain and with compiled rules."""
    import pyarrow as pa

    import ensue

    events, compile_rules = pa.Table.from_pylist(TEN), ensue.compile  # which imports the package
    moments = [perf_counter()]
    program = compile_rules(rules(kind, count))
    moments.append(perf_counter())
    for compiled in (False, True):
        program.detect(events, time="ts", compiled=compiled)
        moments.append(perf_counter())
    check, plain, fast = (after - before for before, after in pairwise(moments))
    return {"check": check, "plain": plain, "compiled": fast}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
