"""Spark on tables, in a separate process: Ensue beside the floor, or beside SQL, in one session and in turns.

    python -m benchmarks.run_spark floor w1,w3 1000000 10000 3

The floor is what no detection on Spark can do without: the same rows and columns through the same shuffle and sort, and
into Python workers, which drop them. `sql` is what people write without Ensue (`spark_sql/`); the rows that both find
are compared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import ensue
from benchmarks.measure import in_turns
from benchmarks.streams import path_of
from benchmarks.workloads import WORKLOADS, Workload
from ensue.spark.local import local_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CORES = 2
SETTINGS = {
    "spark.driver.memory": "6g",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "200",  # Spark's default, with which all figures were measured
}
SQL = Path(__file__).parent / "spark_sql"
IN_SQL = tuple(sorted(path.stem for path in SQL.glob("*.sql")))


def measured(contestant: str, names: Iterable[str], n: int, keys: int, runs: int) -> dict[str, Any]:
    """Cost of Ensue and of a contestant on each workload, and the number of Ensue's detections."""
    session = local_session("benchmarks", CORES, SETTINGS)
    make = {"floor": _floor, "sql": _in_sql}[contestant]
    found = {}
    for name in names:
        workload = WORKLOADS[name]
        events = session.read.parquet(str(path_of(workload.stream, n, keys)))
        ours, other = detected(workload, events, n), make(session, workload, events)
        count = ours.count()
        _written(other)()
        taken = in_turns({contestant: _written(other), "ensue": _written(ours)}, runs)
        found[name] = {**taken, "count": count}
        if contestant == "sql":
            found[name]["alike"] = _rows(ours) == _rows(other)
    session.stop()
    return found


def detected(workload: Workload, events: DataFrame, n: int) -> DataFrame:
    """Ensue's detections; the stock stream has no column of types, and is passed as the frame of its only type."""
    given = {"tick": events} if workload.stream == "stock" else events
    found: DataFrame = ensue.compile(workload.rules).detect(given, workload.until(n), time="ts", emit=workload.name)
    return found


def _floor(session: SparkSession, workload: Workload, events: DataFrame) -> DataFrame:
    if workload.stream == "stock":
        rows = events.select("ts", "sym", "price").repartition("sym")
    else:
        rows = events.where("type IN ('A', 'B')").select("type", "ts", "id").repartition("id")
    return rows.sortWithinPartitions("ts").mapInArrow(_dropped, "nothing bigint")


def _dropped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        pass
    yield from ()


def _in_sql(session: SparkSession, workload: Workload, events: DataFrame) -> DataFrame:
    events.createOrReplaceTempView("events")
    return session.sql((SQL / f"{workload.name}.sql").read_text(encoding="utf-8"))


def _written(frame: DataFrame) -> Callable[[], None]:
    """Computes a frame, and writes it nowhere."""
    return lambda: frame.write.format("noop").mode("overwrite").save()


def _rows(frame: DataFrame) -> dict[str, list[Any]]:
    """The rows of a frame in an order that is always the same, whatever may be null in its columns."""
    order = [("start", "ascending"), ("end", "ascending"), ("id", "ascending")]
    rows: dict[str, list[Any]] = frame.select("type", "start", "end", "id").toArrow().sort_by(order).to_pydict()
    return rows


if __name__ == "__main__":
    asked, of, *sizes = sys.argv[1:]
    print(json.dumps(measured(asked, of.split(","), *map(int, sizes))))
