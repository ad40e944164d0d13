"""The stream of events as folders of files, as they would arrive one by one: a file of a million events a micro-batch.

    python -m benchmarks.stream_files 10000000 10000

In two formats, Parquet and CSV (which Flink reads without further libraries), and as one file of CSV: Flink takes the
files of a folder in any order, and what comes out of order is late. The last file ends with an event that nothing waits
for, late enough for everything before it to be decided.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from benchmarks.streams import DATA, EVENTS, make, path_of

ROWS = 1_000_000
FORMATS = ("parquet", "csv")
WHOLE = "whole"
"""The folder with all events in one file."""
AFTER = 20_000
"""Time from the last event to the one that ends the stream."""


def folder_of(format_: str, n: int, keys: int) -> Path:
    return DATA / f"files_{n}_{keys}" / format_


def make_files(n: int, keys: int) -> None:
    """Writes the stream in both formats, unless it is there."""
    whole = folder_of("parquet", n, keys).parent
    if whole.exists():
        return
    make(n, keys)
    unfinished = whole.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    for format_ in FORMATS:
        (unfinished / format_).mkdir(parents=True)
    rows = pq.read_table(path_of("events", n, keys))
    for number, first in enumerate(range(0, n, ROWS)):
        rows_of_file = rows.slice(first, ROWS)
        if first + ROWS >= n:
            rows_of_file = pa.concat_tables([rows_of_file, pa.table([["C"], [n + AFTER], [0], [0.0]], schema=EVENTS)])
        for format_ in FORMATS:
            path = unfinished / format_ / f"part-{number:03}.{format_}"
            _write(rows_of_file, path)
            os.utime(path, (number, number))  # Spark takes files in the order of their times
    (unfinished / WHOLE).mkdir()
    with (unfinished / WHOLE / "all.csv").open("wb") as all_of_it:
        for path in sorted((unfinished / "csv").iterdir()):
            with path.open("rb") as part:
                shutil.copyfileobj(part, all_of_it)
    unfinished.rename(whole)


def _write(rows: pa.Table, path: Path) -> None:
    """Parquet in row groups that several tasks can share."""
    if path.suffix == ".parquet":
        pq.write_table(rows, path, row_group_size=ROWS // 8)
    else:
        csv.write_csv(rows, path, csv.WriteOptions(include_header=False, quoting_style="none"))


if __name__ == "__main__":
    make_files(int(sys.argv[1]), int(sys.argv[2]))
