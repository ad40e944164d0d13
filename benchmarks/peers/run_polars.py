"""Polars on a workload: from an Arrow table to one, or from a Parquet file to one.

One thread: `POLARS_MAX_THREADS=1` must be set before Polars is imported, so `measure` does it.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.workloads import WORKLOADS, Workload


def in_memory(workload: Workload, table: Any) -> Callable[[], int]:
    """Runs the query on a table in memory and gives the number of detections."""
    form = import_module(f"benchmarks.peers.polars_{workload.name}")

    def run() -> int:
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        return form.query(frame.lazy()).collect(engine=form.ENGINE).to_arrow().num_rows

    return run


def files(workload: Workload, source: Path, target: Path) -> Callable[[], int]:
    form = import_module(f"benchmarks.peers.polars_{workload.name}")

    def run() -> int:
        found = form.query(pl.scan_parquet(source)).collect(engine=form.ENGINE)
        found.write_parquet(target)
        return found.height

    return run


if __name__ == "__main__":
    files(WORKLOADS[sys.argv[1]], Path(sys.argv[2]), Path(sys.argv[3]))()
