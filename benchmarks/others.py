"""Other engines from PyPI beside Ensue: chDB, Siddhi and Drools on W1 to W4, where they can say these.

Each has an environment of its own, which is made when it is first needed. All run on the same events in memory, with
CPU time of all threads; detections are counted. Siddhi's jars are those that `PySiddhi` carries; a small Java program
feeds them (`peers/SiddhiRun.java`), since events that come from Python one by one would be measured otherwise. It needs
a JDK, Drools a Java. What cannot be had or said is in the notes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, ChildError, environment, in_child
from benchmarks.options import Options
from benchmarks.peers.environments import provide
from benchmarks.report import Result, Table, thousands, times
from benchmarks.streams import path_of
from benchmarks.workloads import Workload

AMONG = ("w1", "w2", "w3", "w4")
PEERS = Path(__file__).parent / "peers"
PATIENCE = 300
"""So many seconds each run of Siddhi may take."""

RUNS_OF_JAVA = 1
"""The number of times that the stream goes through Siddhi after it went through once to warm up; the best counts."""

DROOLS_EVENTS = 5_000
DROOLS = (
    "drools: it can say none of these: its conditions hold for events in any order, a match takes its events, and time "
    "is the machine's. On the nearest rule, an A and a B of one id within ten seconds: {rate} thousand events per "
    "CPU-second."
)


def run(options: Options) -> Result:
    in_child("benchmarks.streams", options.events, options.of_keys)
    measured: dict[str, Any] = {}
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "events.csv"
        _write_csv(path_of("events", options.events, options.of_keys), lines)
        contestants = {"ensue": _ensue, "chdb": _chdb, "siddhi": partial(_siddhi, lines)}
        for workload in options.workloads(AMONG):
            found = {name: _tried(partial(action, workload, options)) for name, action in contestants.items()}
            measured[workload.name] = found
            counts = {name: each["count"] for name, each in found.items() if "count" in each}
            right = workload.expected(options.events, options.of_keys) or counts.get("ensue")
            wrong += [f"{n} finds {c:,} in {workload.name}, not {right:,}" for n, c in counts.items() if c != right]
        drools = measured["drools"] = _tried(partial(_drools, lines))
    return Result("others", (_table(measured, drools, options),), measured, tuple(wrong))


def _table(measured: dict[str, Any], drools: dict[str, Any], options: Options) -> Table:
    rows, notes = [], []
    for workload in options.workloads(AMONG):
        found = measured[workload.name]
        rates = {name: options.events / each["cpu"] / 1e3 if "cpu" in each else None for name, each in found.items()}
        others = [rate for name, rate in rates.items() if name != "ensue" and rate]
        fastest = max(others, default=None)
        name = f"{workload.name} {workload.title}"
        rows.append((name, *map(thousands, rates.values()), times(rates["ensue"], fastest)))
        notes += [f"{workload.name}, {name}: {each['failed']}" for name, each in found.items() if "failed" in each]
    if "failed" in drools:
        notes.append(f"drools: {drools['failed']}")
    else:
        notes.append(DROOLS.format(rate=thousands(drools["events"] / drools["cpu"] / 1e3)))
    title = (
        f"Thousand events per CPU-second, events in memory, warm ({options.events:,} events, {options.of_keys:,} keys)"
    )
    return Table(title, ("workload", "ensue", "chdb", "siddhi", "ensue / fastest of these"), tuple(rows), tuple(notes))


def _tried(action: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return action()
    except ChildError as error:
        return {"failed": str(error)}


def _ensue(workload: Workload, options: Options) -> dict[str, Any]:
    arguments = ("ensue", workload.name, "arrow", options.events, options.of_keys, options.runs)
    return dict(in_child("benchmarks.contestant", *arguments))


def _chdb(workload: Workload, options: Options) -> dict[str, Any]:
    python = provide("chdb", "chdb", "chdb")
    source = path_of("events", options.events, options.of_keys)
    return dict(in_child("benchmarks.peers.run_chdb", workload.name, source, options.runs, python=python))


def _siddhi(lines: Path, workload: Workload, options: Options) -> dict[str, Any]:
    python = provide("siddhi", "PySiddhi", "PySiddhi")
    if shutil.which("javac") is None:
        raise ChildError("there is no JDK (javac)")
    jars = next(iter(python.parent.parent.glob("lib/python*/site-packages/__PySiddhiProxy/target/lib")), None)
    if jars is None:
        raise ChildError("PySiddhi has no jars with it")
    program, rules = PEERS / "SiddhiRun.java", PEERS / f"siddhi_{workload.name}.siddhi"
    end = workload.until(options.events) + 1
    command = ["java", "-cp", f"{jars}/*", program, rules, lines, RUNS_OF_JAVA, end]
    try:
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        raise ChildError(f"it took more than {PATIENCE} seconds") from None
    if done.returncode != 0:
        raise ChildError((done.stderr.strip().splitlines() or ["it failed"])[0])
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def _drools(lines: Path) -> dict[str, Any]:
    python = provide("drools", "drools_jpy", "jpyutil")
    java = shutil.which("java")
    if java is None:
        raise ChildError("there is no Java")
    home = environment()["JAVA_HOME"] if "JAVA_HOME" in environment() else str(Path(java).resolve().parent.parent)
    return dict(in_child("benchmarks.peers.run_drools", lines, DROOLS_EVENTS, env={"JAVA_HOME": home}, python=python))


def _write_csv(source: Path, target: Path) -> None:
    import pyarrow.csv
    import pyarrow.parquet as pq

    pyarrow.csv.write_csv(pq.read_table(source), target)
