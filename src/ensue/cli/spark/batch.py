"""`ensue run --engine spark`: the same as elsewhere, where the data is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ensue.cli.output import counted, printable, say
from ensue.cli.progress import progress
from ensue.cli.rules import STDIN
from ensue.cli.sources import Sources, paths_of
from ensue.cli.spark.detecting import detected
from ensue.cli.spark.failures import spark_failures
from ensue.cli.spark.options import Cluster, pairs
from ensue.cli.spark.session import cores_of, spark_session
from ensue.cli.spark.writing import Output, by_type
from ensue.spark.rejected import REJECTED

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from ensue.data import Columns
    from ensue.program import Program

MOST_BAD_ROWS = 20
"""How many rows that were left out are shown, each with what is wrong with it."""


@dataclass(frozen=True)
class Job:
    """A batch job as it was asked for."""

    program: Program
    sources: Sources
    columns: Columns
    until: str | None
    tables: Mapping[str, list[str]]
    emit: tuple[str, ...]
    strict: bool
    format: str | None
    options: tuple[str, ...]
    output: Output
    cluster: Cluster


def run_on_spark(job: Job, write: Callable[[Mapping[str, pa.Table], str], None]) -> None:
    """Runs a job; `write` puts a table for each type where one process can."""
    job.output.check()
    if STDIN in paths_of(job.sources):
        raise click.UsageError("Spark reads files and tables, not standard input; name a file.")
    for note in job.program.unused_types(job.sources) if isinstance(job.sources, dict) else ():
        say(note)
    cores = cores_of(job.cluster)
    spark = spark_session(job.cluster, {} if cores is None else {"spark.sql.shuffle.partitions": str(2 * cores)})
    with spark_failures(), progress("Detecting…"):
        _run(job, spark, write)


def _run(job: Job, spark: Any, write: Callable[[Mapping[str, pa.Table], str], None]) -> None:
    from ensue.cli.spark.reading import Reader
    from ensue.results import picked

    reader = Reader(spark, job.program, job.columns, job.format, pairs(job.options, "--option"))
    read = reader.read(job.sources)
    whole = detected(
        job.program, read.events, job.columns, until=job.until, tables=job.tables, emit=job.emit or None,
        strict=job.strict,
    )  # fmt: skip
    wanted = picked(job.program.typed, job.emit or None)
    if job.output.is_collected:
        rows = whole.toArrow()
        found, rejected = _split(rows)
        amount, bad, shown = found.num_rows, rejected.num_rows, rejected.slice(0, MOST_BAD_ROWS).to_pylist()
    else:
        whole = whole.persist()
        rows, left_out = whole.where(f"{REJECTED} is null").drop(REJECTED), whole.where(f"{REJECTED} is not null")
        job.output.write_folder(rows)
        amount, bad = rows.count(), left_out.count()
        shown = [row.asDict() for row in left_out.select(f"{REJECTED}.*").limit(MOST_BAD_ROWS).collect()] if bad else []
    if read.unreadable is not None:
        unreadable = read.unreadable.count()
        bad += unreadable
        shown += [row.asDict() for row in read.unreadable.limit(MOST_BAD_ROWS).collect()] if unreadable else []
    _report(shown, bad)
    if not amount and not bad and not any(frame.take(1) for frame in _frames(read.events)):
        say("There are no events in what was read.")
    if job.output.is_collected:
        write(by_type(found, job.program, wanted), job.output.where)
    if job.output.where != STDIN:
        click.echo(printable(f"found {counted(amount, 'event')}; written to {job.output.where}"), err=True)
    if bad:
        click.echo(f"{counted(bad, 'row')} left out", err=True)


def _split(rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Detections, and rows that took no part with the reason."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rejected = rows.column(REJECTED).combine_chunks()
    bad = pc.is_valid(rejected)
    flat = pa.Table.from_batches([pa.RecordBatch.from_struct_array(rejected.filter(bad))])
    return rows.filter(pc.invert(bad)).drop_columns([REJECTED]), flat


def _report(shown: list[dict[str, Any]], bad: int) -> None:
    for row in shown[:MOST_BAD_ROWS]:
        click.echo(printable(f"{row['reason']}: {row['row']}"), err=True)
    if bad > MOST_BAD_ROWS:
        click.echo(f"… and {counted(bad - MOST_BAD_ROWS, 'more row')}", err=True)


def _frames(events: DataFrame | dict[str, DataFrame]) -> list[DataFrame]:
    return list(events.values()) if isinstance(events, dict) else [events]
