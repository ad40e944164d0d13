"""A stream in a separate process, which may be killed: ``python -m tests.spark.killed FOLDER``.

Reads the files in ``FOLDER/in``, one for each micro-batch, and writes detections to ``FOLDER/out``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import ensue
from ensue.spark.local import local_session
from tests.spark.conftest import SETTINGS

RULES = """
event a(k: int, x: int).
event b(k: int, x: int).
pair(k, x) <- a(k, x) seq b(k, _) within 40.
alone(k) <- o: a(k, _), w: extend(o, 30), while w: not b(k, _).
again(k) <- pair(k, _) seq alone(k) within 100.
"""


def main(folder: Path) -> None:
    spark = local_session("ensue, to be killed", cores=2, settings=SETTINGS)
    stream = (
        spark.readStream.schema("type string, time bigint, k bigint, x bigint")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / "in"))
    )
    found = ensue.compile(RULES).detect(stream, lateness=3, buckets=4)
    query = (
        found.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
