"""Flink SQL on files, through PyFlink: CSV in, CSV of detections out. Run by the Python of an environment of its own.

    .venv-flink/bin/python -m benchmarks.peers.run_flink hashmap w1,w4 1000000 10000 10000000 10000

The state is in memory (`hashmap`) or in RocksDB (`rocksdb`), as Spark's is. The sizes are pairs of events and keys. To
warm up, the longest stream is gone through several times before. One task at a time, as that takes the least CPU time.
Checkpoints are written, so that what is found is there once and only once, as it is with Spark. This imports nothing
that environment does not have.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from benchmarks.measure import WARM_UP
from benchmarks.process_tree import tree_cpu

DATA = Path(__file__).parent.parent / ".data"
EVENTS = """
CREATE TEMPORARY TABLE events (
  type STRING, ts BIGINT, id BIGINT, x DOUBLE, moment AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR moment AS moment
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"""
FOUND = """
CREATE TEMPORARY TABLE found{number} (id BIGINT, first_ts BIGINT, last_ts BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"""

SETTINGS = {"parallelism.default": "1", "execution.checkpointing.interval": "5 s"}
"""A checkpoint for each million events, about: the number in a micro-batch of Spark's."""

_numbers = count()


def measured(state: str, names: list[str], sizes: list[tuple[int, int]]) -> dict[str, Any]:
    """Cost of each workload on each stream, and its number of detections."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in {**SETTINGS, "state.backend.type": state}.items():
        tables.get_config().set(key, value)
    found = {}
    for place, name in enumerate(names):
        query = (Path(__file__).parent / f"flink_{name}.sql").read_text(encoding="utf-8")
        for _ in range(WARM_UP if place == 0 else 1):
            _streamed(tables, query, *max(sizes))
        found[name] = [_streamed(tables, query, *size) for size in sizes]
    return found


def _streamed(tables: Any, query: str, n: int, keys: int) -> dict[str, Any]:
    number, source = next(_numbers), DATA / f"files_{n}_{keys}" / "whole"
    tables.execute_sql("DROP TEMPORARY TABLE IF EXISTS events")
    tables.execute_sql(EVENTS.format(path=source.as_uri()))
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as checkpoints:
        tables.get_config().set("execution.checkpointing.dir", Path(checkpoints).as_uri())
        tables.execute_sql(FOUND.format(number=number, path=Path(folder).as_uri()))
        cpu, wall = tree_cpu(), time.perf_counter()
        tables.execute_sql(f"INSERT INTO found{number} {query}").wait()
        taken = {"cpu": tree_cpu() - cpu, "wall": time.perf_counter() - wall}
        return taken | {"count": sum(_lines(path) for path in Path(folder).rglob("*") if path.is_file())}


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


if __name__ == "__main__":
    kept_in, of, *numbers = sys.argv[1:]
    pairs = list(pairwise(map(int, numbers)))[::2]
    print(json.dumps(measured(kept_in, of.split(","), pairs)))
