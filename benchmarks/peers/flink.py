"""Flink in a separate environment, as it needs other versions of libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from benchmarks.measure import ROOT, ChildError, in_child

VERSION = "2.3.0"
HOME = ROOT / ".venv-flink"
PYTHON = HOME / "bin" / "python"
RECORDED = {"w1": 106_000, "w3": 102_000, "w4": 72_000}
"""Events per CPU-second of Flink 2.3 SQL, from a comparison made before Ensue was begun."""


def on_flink(state: str, names: Iterable[str], sizes: Iterable[tuple[int, int]]) -> dict[str, Any]:
    """Cost of Flink on workloads with its state in memory or in RocksDB; a `ChildError` says why it cannot run."""
    provide_flink()
    flat = [number for size in sizes for number in size]
    return dict(in_child("benchmarks.peers.run_flink", state, ",".join(names), *flat, env=_java(), python=PYTHON))


def provide_flink() -> None:
    """Makes the environment, unless it is there."""
    if (HOME / "lib").exists() and subprocess.run([PYTHON, "-c", "import pyflink"], check=False).returncode == 0:
        return
    for command in (
        [sys.executable, "-m", "venv", HOME],
        [PYTHON, "-m", "pip", "install", "-q", f"apache-flink=={VERSION}"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ChildError(f"Flink could not be installed: {(done.stderr or done.stdout).strip().splitlines()[-1]}")


def _java() -> dict[str, str]:
    """Environment with the Java that Spark runs on; empty where it is on the path."""
    from ensue.spark.java import provide_java

    provide_java()
    home = os.environ.get("JAVA_HOME")
    return {"JAVA_HOME": home} if home else {}
