"""Measurements: always in a separate process, by CPU time, and the best of several runs.

CPU time (user and system, of all threads) is used because the machine has others on it. A child process does the work
and prints its measurements as one line of JSON. The parent holds no data, since the peak memory that the system reports
for a child begins with its parent's.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.process_tree import tree_cpu

ROOT = Path(__file__).parent.parent
WARM_UP = 3
"""Number of times a long stream goes through a new Java before anything is measured, while Java compiles."""
ONE_THREAD = {
    "POLARS_MAX_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    "DUCKDB_THREADS": "1",
    "ENSUE_THREADS": "1",
}
"""Variables for one thread each; `DUCKDB_THREADS` is ours, see `run_duckdb`."""


class ChildError(Exception):
    """A child process failed; the text is the last line that it printed."""


def in_child(
    module: str, *arguments: object, env: Mapping[str, str] | None = None, python: Path | str = sys.executable
) -> Any:
    """Runs `python -m module arguments…` and gives back the JSON that it prints last."""
    command = [str(python), "-m", module, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment(env), capture_output=True, text=True)
    if done.returncode != 0:
        raise ChildError(_last_line(done.stderr) or f"{module} ended with {done.returncode}")
    return json.loads(_last_line(done.stdout) or "null")


def whole_process(command: Iterable[object], env: Mapping[str, str] | None = None, runs: int = 1) -> dict[str, Any]:
    """Cost of a command from start to end, interpreter and imports included."""
    return summary([_once(list(map(str, command)), environment(env)) for _ in range(runs)])


def _once(command: list[str], env: dict[str, str]) -> dict[str, float]:
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read() if process.stderr else ""
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise ChildError(_last_line(said) or f"{command[0]} ended with {process.returncode}")
    peak = _megabytes(usage.ru_maxrss)
    return {"cpu": usage.ru_utime + usage.ru_stime, "wall": wall, "peak_mb": peak}


def repeated(action: Callable[[], object], runs: int) -> dict[str, Any]:
    """Runs an action once to warm up, then `runs` times; for use inside a child."""
    action()
    taken = []
    for _ in range(runs):
        cpu, wall = time.process_time(), time.perf_counter()
        action()
        taken.append({"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "peak_mb": peak_mb()})
    return summary(taken)


def in_turns(actions: Mapping[str, Callable[[], object]], runs: int) -> dict[str, Any]:
    """Runs warm actions in turns: the best cost of each, with all processes that were started for it."""
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in actions}
    for _ in range(runs):
        for name, action in actions.items():
            taken[name].append(in_tree(action))
    return {name: {**min(each, key=lambda run: run["cpu"]), "runs": each} for name, each in taken.items()}


def in_tree(action: Callable[[], object]) -> dict[str, float]:
    """Cost of an action with all processes that were started for it, and Java's share of it."""
    cpu, java, wall = tree_cpu(), tree_cpu("java"), time.perf_counter()
    action()
    wall = time.perf_counter() - wall
    return {"cpu": tree_cpu() - cpu, "java": tree_cpu("java") - java, "wall": wall}


def summary(runs: list[dict[str, float]]) -> dict[str, Any]:
    """The best and the median of several runs, and the highest memory."""
    return {
        "cpu": min(run["cpu"] for run in runs),
        "cpu_median": median(run["cpu"] for run in runs),
        "wall": min(run["wall"] for run in runs),
        "wall_median": median(run["wall"] for run in runs),
        "peak_mb": max(run["peak_mb"] for run in runs),
        "runs": len(runs),
    }


def peak_mb() -> float:
    """The peak memory of this process, in megabytes; on Linux of this program alone."""
    status = Path("/proc/self/status")
    return _of_status(status, "VmHWM:") if status.exists() else _megabytes(resource.getrusage(resource.RUSAGE_SELF)[2])


def rss_mb() -> float:
    """The memory that this process holds now; where the system does not report it, the peak."""
    status = Path("/proc/self/status")
    return _of_status(status, "VmRSS:") if status.exists() else peak_mb()


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a child; Python keeps compiled bytecode, as it does for users."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**usual, **ONE_THREAD, **(env or {})}


def _of_status(status: Path, field: str) -> float:
    line = next(line for line in status.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def _megabytes(maxrss: float) -> float:
    """`ru_maxrss` counts kilobytes, on macOS bytes."""
    return maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
