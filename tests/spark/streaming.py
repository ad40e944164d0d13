"""Streams for tests: files that are there from the beginning, read one for each micro-batch."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ensue import DataError
from ensue.program import Program
from ensue.testing import moment_as_given
from tests.spark.detecting import NEEDED, _of_type

TICK = "a_tick_of_the_clock"
"""A type that no rule uses, whose one event has time run to its end."""


def put(table: pa.Table, folder: Path, number: int) -> None:
    """Puts a file into a folder; its number is its age, too, by which Spark orders files."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number:04}.parquet"
    hidden = folder / f".{path.name}"
    pq.write_table(table, hidden)
    os.utime(hidden, (1e9 + number, 1e9 + number))
    hidden.rename(path)


def stream_of(spark: Any, folder: Path, files_at_once: int = 1) -> Any:
    """The files of a folder as a stream; one must exist, for the schema."""
    first = next(iter(sorted(folder.glob("*.parquet"))))
    schema = spark.read.parquet(str(first)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", files_at_once).parquet(str(folder))


def all_found(found: Any, folder: Path, **options: Any) -> tuple[pa.Table, Any]:
    """Everything that a stream gives until its source has no more, and the query; `folder` is for its checkpoint."""
    parts = []
    writer = found.writeStream.foreachBatch(lambda frame, _: parts.append(frame.toArrow())).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(folder)).options(**options).start()
    query.awaitTermination()
    return pa.concat_tables(parts), query


def in_pieces(
    tables: Mapping[str, pa.Table], until: int | None, lateness: int, count: int, rng: Random
) -> list[dict[str, pa.Table]]:
    """Events by type as they come: in pieces, none later than it may be; the last one has time run to its end."""
    times = ["start", "end"] if all("end" in table.column_names for table in tables.values()) else ["time"]
    ends = {name: table.column(times[-1]).cast(pa.int64()).to_pylist() for name, table in tables.items()}
    arrivals = [
        (end + rng.randint(0, lateness), rng.random(), name, row) for name in ends for row, end in enumerate(ends[name])
    ]
    arrivals.sort()
    cuts = sorted(rng.randint(0, len(arrivals)) for _ in range(count - 1))
    pieces = []
    for begin, end in pairwise([0, *cuts, len(arrivals)]):
        rows = {name: [row for *_, own, row in arrivals[begin:end] if own == name] for name in tables}
        pieces.append({name: tables[name].take(pa.array(rows[name], pa.int64())) for name in tables})
    kind = next(iter(tables.values())).schema.field(times[-1]).type
    last = until if until is not None else max((end for own in ends.values() for end in own), default=0)
    tick = last + lateness + (2_000 if pa.types.is_timestamp(kind) else 1)
    for number, piece in enumerate(pieces):
        now = [tick] if number == count - 1 else []
        piece[TICK] = pa.table({name: pa.array(now, pa.int64()).cast(kind) for name in times})
    return pieces


def found_on_stream(
    spark: Any, folder: Path, program: Program, tables: Mapping[str, pa.Table], until: int | None,
    emit: Sequence[str], rng: Random, lateness: int = 0, **options: Any,
) -> dict[str, pa.Table]:  # fmt: skip
    """Detections in Arrow tables by type that come as a stream: a table for each type, in no order."""
    pieces = in_pieces(tables, until, lateness, 2, rng)
    moment = moment_as_given(until, tables)
    try:
        for number, piece in enumerate(pieces):
            put(_mixed(piece), folder / "events", number)
        given: Any = stream_of(spark, folder / "events")
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # attributes of one name and several types
        for number, piece in enumerate(pieces):
            for name, table in piece.items():
                put(table, folder / "by type" / name, number)
        given = {name: stream_of(spark, folder / "by type" / name) for name in pieces[0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"lateness": lateness, "buckets": rng.choice((1, 3)), **options}
        try:
            whole, _ = all_found(program.detect(given, moment, emit=list(emit), **options), folder / "checkpoint")
            return {event: _of_type(program, whole, event) for event in emit}
        except DataError as error:
            if NEEDED not in str(error):
                raise
        found = {}
        for event in emit:
            whole, _ = all_found(program.detect(given, moment, emit=event, **options), folder / f"checkpoint {event}")
            found[event] = _of_type(program, whole, event)
        return found


def _mixed(tables: Mapping[str, pa.Table]) -> pa.Table:
    typed = (table.append_column("type", pa.array([name] * len(table), pa.string())) for name, table in tables.items())
    return pa.concat_tables(typed, promote_options="default")
