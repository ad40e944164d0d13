"""`ensue run --engine spark`: the same as elsewhere, where the data is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ensue.cli.about import frame_with_about
from ensue.cli.output import counted, describe_suppressed, printable, say
from ensue.cli.pairs import pairs
from ensue.cli.progress import progress
from ensue.cli.rules import STDIN
from ensue.cli.sources import Sources, paths_of
from ensue.cli.spark.detecting import detected
from ensue.cli.spark.failures import spark_failures
from ensue.cli.spark.options import Cluster
from ensue.cli.spark.session import cores_of, from_here, spark_session
from ensue.cli.spark.writing import STDOUT, Output, by_type
from ensue.data import DataError
from ensue.data.errors import BadRow, grouped
from ensue.records import dataclass
from ensue.spark.rejected import REJECTED
from ensue.spark.suppressed import SUPPRESSED, counts_suppressed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from ensue.program import Program
    from ensue.request import Request

MOST_BAD_ROWS = 20
"""Largest number of rejected rows that are shown one by one; more are shown in groups."""
MOST_LOOKED_AT = 1000
"""Number of rejected rows from which groups are made."""


@dataclass(frozen=True)
class Job:
    """A requested batch job."""

    program: Program
    sources: Sources
    request: Request
    format: str | None
    options: tuple[str, ...]
    output: Output
    cluster: Cluster
    about: tuple[str, ...] = ()


def run_on_spark(job: Job, write: Callable[[Mapping[str, pa.Table], str], None]) -> None:
    """Runs a job; `write` puts a table for each type where one process can."""
    job.output.check(paths_of(job.sources))
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

    reader = Reader(spark, job.program, job.request.columns, job.format, pairs(job.options, "--option"))
    read = reader.read(_from_here(job.sources, job.cluster))
    request = replace(job.request, columns=read.columns, suppressed=_counts(job.program))
    whole = detected(job.program, read.events, request)
    unreadable = LeftOut(0, []) if read.unreadable is None else _counted(read.unreadable)
    if job.request.strict and unreadable.count:
        raise DataError(unreadable.describe()[0])
    answer = _collected(job, whole, write) if job.output.is_collected else _in_folder(job, whole)
    amounts, rejected = answer.amounts, answer.rejected
    bad = LeftOut(unreadable.count + rejected.count, [*unreadable.first, *rejected.first])
    for line in bad.describe():
        click.echo(printable(line), err=True)
    if not any(amounts.values()) and not bad.count and not any(frame.take(1) for frame in _frames(read.events)):
        say("There are no events in what was read.")
    if job.output.where != STDOUT:
        found = ", ".join(f"{amount} {name}" for name, amount in amounts.items()) or "nothing"
        click.echo(printable(f"found {found}; written to {job.output.where}"), err=True)
    for rule, count in answer.suppressed.items():
        say(describe_suppressed(rule, count))
    if bad.count:
        click.echo(f"{counted(bad.count, 'row')} left out", err=True)


@dataclass(frozen=True)
class LeftOut:
    """Rows that took no part: how many, and the first of them, each with its reason."""

    count: int
    first: list[dict[str, str]]

    def describe(self) -> list[str]:
        """A line for each of a few, or groups of one kind, and how many more there are."""
        bad = [BadRow(row["row"], row["reason"]) for row in self.first]
        if self.count <= MOST_BAD_ROWS:
            return [f"{row.reason}: {row.where}" for row in bad]
        lines = []
        for group in grouped(bad):
            lines.append(f"{counted(len(group.rows), 'row')}: {group.kind}")
            lines += [f"  {row.reason}: {row.where}" for row in group.rows[:3]]
        more = self.count - len(bad)
        return [*lines, f"… and {counted(more, 'more row')}"] if more > 0 else lines


@dataclass(frozen=True)
class Answer:
    """Numbers of a job: events of each type, rows left out, and by rule the events that it did not keep."""

    amounts: dict[str, int]
    rejected: LeftOut
    suppressed: dict[str, int]


def _counted(rows: DataFrame) -> LeftOut:
    count = rows.count()
    return LeftOut(count, [row.asDict() for row in rows.limit(MOST_LOOKED_AT).collect()] if count else [])


def _collected(job: Job, whole: DataFrame, write: Callable[[Mapping[str, pa.Table], str], None]) -> Answer:
    """Write all detections from this process."""
    from ensue import compute as pc
    from ensue.data.results import picked

    rows = whole.toArrow()
    rejected = rows.column(REJECTED).combine_chunks().drop_null()
    counts = rows.column(SUPPRESSED).drop_null().to_pylist() if _counts(job.program) else []
    events = rows.filter(pc.is_valid(rows.column("type")))
    found = by_type(events, job.program, picked(job.program.typed, job.request.emit))
    write(found, job.output.where)
    suppressed: dict[str, int] = {}
    for each in sorted(counts, key=lambda count: count["rule"]):
        suppressed[each["rule"]] = suppressed.get(each["rule"], 0) + each["count"]
    amounts = {name: table.num_rows for name, table in found.items()}
    return Answer(amounts, LeftOut(len(rejected), rejected[:MOST_LOOKED_AT].to_pylist()), suppressed)


def _counts(program: Program) -> bool:
    """True if suppressed events are counted: some rule has `once` or `at most`, and the column's name is free."""
    derived = (event for event in program.typed.events.values() if event.derived)
    return counts_suppressed(program.typed) and not any(SUPPRESSED in event.attributes for event in derived)


def _in_folder(job: Job, whole: DataFrame) -> Answer:
    """Makes the workers write all detections."""
    kept = whole.persist()
    try:
        counting = _counts(job.program)
        right = kept.where("type is not null").drop(REJECTED, *([SUPPRESSED] if counting else []))
        found = frame_with_about(right, job.program, job.about, lists=job.output.format == "json")
        job.output.write_folder(found, from_here(job.output.where, job.cluster))
        amounts = {row["type"]: row["count"] for row in found.groupBy("type").count().collect()}
        rejected = _counted(kept.where(f"{REJECTED} is not null").select(f"{REJECTED}.*"))
        suppressed: dict[str, int] = {}
        if counting:
            counts = kept.where(f"{SUPPRESSED} is not null").groupBy(f"{SUPPRESSED}.rule").sum(f"{SUPPRESSED}.count")
            suppressed = {row[0]: row[1] for row in sorted(counts.collect())}
        return Answer(amounts, rejected, suppressed)
    finally:
        kept.unpersist()


def _from_here(sources: Sources, cluster: Cluster) -> Sources:
    if isinstance(sources, dict):
        return {name: [from_here(path, cluster) for path in paths] for name, paths in sources.items()}
    return [from_here(path, cluster) for path in sources]


def _frames(events: DataFrame | dict[str, DataFrame]) -> list[DataFrame]:
    return list(events.values()) if isinstance(events, dict) else [events]
