"""Programs through Spark Connect, in a separate process: its sessions and classic ones do not go together.

Run as ``python -m tests.spark.through_connect``: starts a server on this machine, runs each program, and writes a line
of JSON for each, its name and what was found.
"""

from __future__ import annotations

import json
import os
import sys
from tempfile import TemporaryDirectory
from typing import Any

import ensue
from ensue.spark.java import provide_java
from ensue.spark.local import ROCKS, STATE_STORE


def tables(spark: Any) -> Any:
    """Two stages, bad rows, slices, static rows: all that a table needs of a session."""
    events = spark.createDataFrame(
        [("a", 1, 1, 5), ("b", 2, 1, 5), ("a", 3, 2, 6), ("b", 4, 2, 7), ("a", None, 3, 8)],
        "type string, time bigint, k bigint, x bigint",
    )
    program = ensue.compile(
        "event a(k: int, x: int). event b(k: int, x: int). table known(k: int).  "
        "ab(k, x) <- a(k, x) seq b(k, _), known(k).  far(x, y) <- ab(_, x) seq b(_, y) within 5."
    )
    known = spark.createDataFrame([(1,), (2,)], "k bigint")
    return program.detect(events, tables={"known": known}, rejected=True, slices=3).toArrow().to_pylist()


def streams(spark: Any) -> Any:
    """Two stages with state on files that are there, up to the last of them."""
    with TemporaryDirectory() as folder:
        rows = [("a", 1, 1, 5), ("b", 2, 1, 5), ("a", 3, 2, 6), ("b", 4, 2, 7), ("z", 90, 0, 0), ("a", 1, 1, 1)]
        events = spark.createDataFrame(rows, "type string, time bigint, k bigint, x bigint")
        for number, piece in enumerate((events.limit(4), events.offset(4).limit(1), events.offset(5))):
            piece.coalesce(1).write.parquet(f"{folder}/in/{number}")
        stream = spark.readStream.schema(events.schema).option("maxFilesPerTrigger", 1).parquet(f"{folder}/in/*")
        program = ensue.compile(
            "event a(k: int, x: int). event b(k: int, x: int).  "
            "ab(k, x) <- a(k, x) seq b(k, _).  far(x, y) <- ab(_, x) seq b(_, y) within 5."
        )
        found = program.detect(stream, buckets=2)
        writer = found.writeStream.format("parquet").option("path", f"{folder}/out")
        query = writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True).start()
        query.awaitTermination()
        return spark.read.parquet(f"{folder}/out").toArrow().to_pylist()


PROGRAMS = {"tables": tables, "streams": streams}
"""By name: a function from a session to detections, as JSON can hold them."""


def main() -> None:
    from pyspark.sql import SparkSession

    provide_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        STATE_STORE: ROCKS,
    }
    builder = SparkSession.builder.remote("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for name, program in PROGRAMS.items():
        print(json.dumps({"name": name, "found": program(spark)}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
