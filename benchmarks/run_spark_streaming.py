"""Ensue on Spark streams, in a separate process: files in, a million events a micro-batch, files of detections out.

    python -m benchmarks.run_spark_streaming w1,w4 parquet 1000000 10000 10000000 10000

The sizes are pairs of events and keys. To warm up, the longest stream is gone through several times before.
"""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

import ensue
from benchmarks.measure import WARM_UP, in_tree
from benchmarks.run_spark import CORES, SETTINGS
from benchmarks.stream_files import folder_of
from benchmarks.workloads import WORKLOADS, Workload
from ensue.spark.local import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = "type string, ts bigint, id bigint, x double"
STREAMING = {
    **SETTINGS,
    "spark.sql.shuffle.partitions": str(CORES),
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming.checkpointing."
    "FileSystemBasedCheckpointFileManager",  # see "What it costs" in docs/streams.md
}


def measured(names: list[str], format_: str, sizes: list[tuple[int, int]]) -> dict[str, Any]:
    """Cost of each workload on each stream, and its number of detections."""
    session = local_session("benchmarks", CORES, STREAMING)
    found = {}
    for place, name in enumerate(names):
        for _ in range(WARM_UP if place == 0 else 1):
            streamed(session, WORKLOADS[name], format_, folder_of(format_, *max(sizes)))
        found[name] = [streamed(session, WORKLOADS[name], format_, folder_of(format_, *size)) for size in sizes]
    session.stop()
    return found


def streamed(session: SparkSession, workload: Workload, format_: str, source: Path) -> dict[str, Any]:
    """Goes through all files of a folder, one a micro-batch."""
    events = session.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).format(format_).load(str(source))
    found = ensue.compile(workload.rules).detect(events, time="ts", emit=workload.name)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "found")
        writer = found.writeStream.format(format_).option("checkpointLocation", str(Path(folder, "checkpoint")))
        taken = in_tree(lambda: writer.trigger(availableNow=True).start(str(target)).awaitTermination())
        return taken | {"count": rows_in(target)}


def rows_in(folder: Path) -> int:
    """The rows of all files in a folder, Parquet or lines."""
    files = [path for path in folder.rglob("*") if path.is_file() and not _hidden(path.relative_to(folder))]
    return sum(pq.read_metadata(path).num_rows if path.suffix == ".parquet" else _lines(path) for path in files)


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


if __name__ == "__main__":
    of, form, *numbers = sys.argv[1:]
    pairs = list(pairwise(map(int, numbers)))[::2]
    print(json.dumps(measured(of.split(","), form, pairs)))
