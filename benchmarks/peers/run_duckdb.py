"""DuckDB on a workload, from an Arrow table to one, or from a Parquet file to one.

There are as many threads as `DUCKDB_THREADS` says, or one.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.workloads import WORKLOADS, Workload


def in_memory(workload: Workload, table: Any) -> Callable[[], int]:
    """Runs the query on a table in memory and gives the number of detections."""
    connection = _connection()
    connection.register(workload.stream, table)
    query = _query(workload)
    return lambda: connection.sql(query).to_arrow_table().num_rows


def files(workload: Workload, source: Path, target: Path) -> Callable[[], int]:
    connection = _connection()
    connection.sql(f"CREATE VIEW {workload.stream} AS FROM read_parquet('{source}')")
    copy = f"COPY ({_query(workload)}) TO '{target}' (FORMAT parquet)"
    return lambda: connection.execute(copy).fetchone()[0]


def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(f"SET threads = {os.environ.get('DUCKDB_THREADS', '1')}")
    return connection


def _query(workload: Workload) -> str:
    return (Path(__file__).parent / f"duckdb_{workload.name}.sql").read_text(encoding="utf-8")


if __name__ == "__main__":
    files(WORKLOADS[sys.argv[1]], Path(sys.argv[2]), Path(sys.argv[3]))()
