"""One contestant on one workload, in a separate process: prints its cost, and the number of detections.

    python -m benchmarks.contestant duckdb w1 arrow 1000000 10000 5

`arrow` goes from a table in memory to one, `parquet` from a file to one; both warm. `streamed` (Ensue only) goes
through a file batch by batch, and lets go of what it finds.
"""

from __future__ import annotations

import json
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.measure import peak_mb, repeated, rss_mb
from benchmarks.streams import path_of
from benchmarks.workloads import WORKLOADS, Workload

MODULES = {
    "ensue": "benchmarks.run_ensue",
    "duckdb": "benchmarks.peers.run_duckdb",
    "polars": "benchmarks.peers.run_polars",
}


def measured(contestant: str, workload: Workload, mode: str, n: int, keys: int, runs: int) -> dict[str, Any]:
    module = import_module(MODULES[contestant])
    source = path_of(workload.stream, n, keys)
    with tempfile.TemporaryDirectory() as folder:
        match mode:
            case "arrow":
                import pyarrow.parquet as pq

                table = pq.read_table(source)
                action = module.in_memory(workload, table)
            case "parquet":
                action = module.files(workload, source, Path(folder) / "found.parquet")
            case "streamed":
                action = lambda: module.streamed(workload, module.batches_of(source), workload.until(n))  # noqa: E731
            case _:
                raise ValueError(f"there is no mode {mode!r}")
        before, counts = rss_mb(), []
        taken = repeated(lambda: counts.append(action()), runs)
    taken |= {"count": counts[-1], "before_mb": before, "peak_mb": peak_mb()}
    if contestant == "ensue" and mode == "arrow" and workload.counted != workload.name:
        taken["count"] = module.counted(workload, table)
    return taken


if __name__ == "__main__":
    contestant, name, mode, n, keys, runs = sys.argv[1:]
    print(json.dumps(measured(contestant, WORKLOADS[name], mode, int(n), int(keys), int(runs))))
