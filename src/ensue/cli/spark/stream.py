"""`ensue stream`: runs rules on events as they arrive, on Spark."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import click

from ensue.cli.about import about_option, check_about, frame_with_about, with_about
from ensue.cli.failures import BROKEN_PIPE, hush_broken_pipes
from ensue.cli.functions import functions_option
from ensue.cli.limits import limit_options
from ensue.cli.output import printable, say
from ensue.cli.pairs import pairs
from ensue.cli.parameters import parameter_options
from ensue.cli.reading import reading_options
from ensue.cli.rules import program_of
from ensue.cli.sources import table_sources
from ensue.cli.spark.options import Cluster, cluster_options
from ensue.cli.spark.session import check_installed, cores_of, from_here, spark_session
from ensue.cli.spark.stopping import Stopping
from ensue.records import dataclass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from ensue.cli.spark.endpoints import Endpoint
    from ensue.data import Columns
    from ensue.program import Program
    from ensue.request import Request

PAUSE = 1
"""Seconds between two looks at how far the stream is."""


@click.command(short_help="Run rules on a stream, with Spark.")
@click.argument("rules")
@click.option(
    "--source",
    "arriving",
    required=True,
    multiple=True,
    metavar="FORMAT:WHERE",
    help="Where events come from; may be repeated.",
)
@click.option("--sink", required=True, metavar="FORMAT:WHERE", help="Where detections go; - is standard output.")
@click.option("--checkpoint", required=True, metavar="DIR", help="Where the stream keeps its state; Spark needs it.")
@click.option(
    "--lateness", metavar="LENGTH", default="0", help="How far out of order events may come, such as 10m. [default: 0]"
)
@click.option(
    "--buckets",
    type=click.IntRange(1),
    metavar="N",
    help="The number of buckets into which keys are hashed. [default: 16]",
)
@click.option("--heartbeat", metavar="LENGTH", help="Advance time by the wall clock this often, such as 10s.")
@click.option(
    "--max-ahead",
    metavar="LENGTH",
    help="How far ahead of the clock an event may end, such as 1h. [default: any; 1h with --heartbeat]",
)
@click.option("--keep", metavar="LENGTH", help="Drop events that ended longer ago than this, such as 7d.")
@limit_options
@click.option(
    "--trigger",
    metavar="WHEN",
    help="How often to run a micro-batch, such as 10s. available-now and once process what is there, and stop.",
)
@click.option("--rejected", metavar="FORMAT:WHERE", help="Where to write late and bad rows.")
@click.option("--emit", multiple=True, metavar="TYPE", help="Report only this type; may be repeated.")
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME=FILE",
    help="A file with the rows of a table that the rules declare; may be repeated.",
)
@functions_option
@parameter_options
@about_option
@click.option("--until", metavar="TIME", help="The time at which the events end: later ones do not count.")
@reading_options
@click.option("--schema", metavar="DDL", help="The columns of the events, as 'type string, time timestamp, id bigint'.")
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the source; may be repeated."
)
@click.option(
    "--sink-option", "sink_options", multiple=True, metavar="KEY=VALUE", help="An option of the sink; may be repeated."
)
@click.option("--quiet", is_flag=True, help="Print no line for each micro-batch.")
@cluster_options
def stream(
    rules: str, arriving: tuple[str, ...], sink: str, checkpoint: str, lateness: str, buckets: int | None,
    heartbeat: str | None, max_ahead: str | None, keep: str | None, max_matches: int | None, max_state: str | None,
    trigger: str | None, rejected: str | None, emit: tuple[str, ...],
    tables: tuple[str, ...], functions: str | None, param: tuple[str, ...], params: str | None,
    about: tuple[str, ...], until: str | None, columns: Columns,
    schema: str | None, options: tuple[str, ...], sink_options: tuple[str, ...], quiet: bool, master: str | None,
    conf: tuple[str, ...], log: str | None,
) -> int:  # fmt: skip
    """Runs RULES on events as they arrive, until you stop it with Ctrl-C or SIGTERM.

    A source is a folder in which files arrive (parquet:DIR, json:DIR, csv:DIR), kafka:SERVERS/TOPIC, delta:PATH,
    iceberg:TABLE, table:NAME, or any format that your Spark has. If a source has events of one type only, write the
    type before it: order=json:orders.

    A sink is one of these, console, or - for JSON lines on standard output. After a failure, start the same command
    again: it continues from the checkpoint. Files, Delta and Iceberg then have each detection exactly once.

    A line on standard error reports each micro-batch: events, detections, late events, the size of the state, and the
    watermark.

    \b
    Example:
      ensue stream shop.ensue --source json:arriving --sink parquet:found \\
        --checkpoint state --lateness 10m
      ensue stream shop.ensue --source kafka:host:9092/orders --sink - \\
        --checkpoint state
    """
    check_installed()
    from ensue.cli.spark.endpoints import check_sink, endpoint, sources
    from ensue.cli.spark.failures import spark_failures
    from ensue.data.results import picked
    from ensue.request import Request

    cluster = Cluster(master, conf, log)
    to, side = endpoint(sink, "--sink"), None if rejected is None else endpoint(rejected, "--rejected")
    for each in (to, *([side] if side is not None else [])):
        check_sink(each)
    job = StreamJob(
        program_of(rules, keep, functions, param, params), sources(arriving), to, side, checkpoint, schema,
        pairs(options, "--option"), pairs(sink_options, "--sink-option"), trigger_of(trigger), quiet,
        Request(
            until, columns, table_sources(tables), emit or None,
            lateness=_number(lateness), buckets=buckets, heartbeat=heartbeat, max_ahead=max_ahead,
            max_matches=max_matches, max_state=max_state,
        ),
        about,
    )  # fmt: skip
    check_about(job.program, about, picked(job.program.typed, job.request.emit))
    partitions = str(_partitions(cores_of(cluster), buckets))
    with Stopping() as stopping:
        try:
            with spark_failures():
                with stopping.at_once():
                    spark = spark_session(cluster, {"spark.sql.shuffle.partitions": partitions})
                code = job.seen_from_here(cluster).run(spark, stopping.stopped)
        except (Exception, KeyboardInterrupt) as error:
            if not stopping.caused(error):
                raise
            code = 0
        if stopping.stopped.is_set():
            say("Stopped. The same command goes on from here.")
    return code


@dataclass(frozen=True)
class StreamJob:
    """A requested stream."""

    program: Program
    sources: Endpoint | dict[str, Endpoint]
    sink: Endpoint
    rejected: Endpoint | None
    checkpoint: str
    schema: str | None
    options: dict[str, str]
    sink_options: dict[str, str]
    trigger: dict[str, Any]
    quiet: bool
    request: Request
    about: tuple[str, ...] = ()
    broken: threading.Event = field(default_factory=threading.Event)
    """Set when the reader of standard output is gone."""

    def seen_from_here(self, cluster: Cluster) -> StreamJob:
        """The same with paths as Spark needs them."""
        came_from, side = self.sources, self.rejected
        if isinstance(came_from, dict):
            came_from = {name: source.from_here(cluster) for name, source in came_from.items()}
        else:
            came_from = came_from.from_here(cluster)
        side = None if side is None else side.from_here(cluster)
        sink, checkpoint = self.sink.from_here(cluster), from_here(self.checkpoint, cluster)
        return replace(self, sources=came_from, sink=sink, rejected=side, checkpoint=checkpoint)

    def run(self, spark: SparkSession, stopped: threading.Event) -> int:
        """Runs until it is stopped, or has seen all there is; gives the exit code."""
        from ensue.cli.spark.arriving import Arriving
        from ensue.cli.spark.detecting import detected
        from ensue.cli.spark.micro_batches import MicroBatches
        from ensue.spark.clock import Clock
        from ensue.spark.rejected import REJECTED

        arriving = Arriving(spark, self.program, self.request.columns, self.schema, self.options)
        events, columns = arriving.frames(self.sources)
        whole = detected(self.program, events, replace(self.request, columns=columns))
        timestamps = whole.schema["end"].dataType.typeName() != "long"
        writer = self._writer(whole, REJECTED).option("checkpointLocation", self.checkpoint)
        if self.trigger:
            writer = writer.trigger(**self.trigger)
        if stopped.is_set():
            return 0
        self._tell_of_changed_rules(spark)
        tabled = self.rejected is None and self.sink.format in ("table", "iceberg")
        query = writer.toTable(self.sink.where) if tabled else writer.start()
        return self._follow(query, MicroBatches(query, Clock(timestamps), self.request.heartbeat is not None), stopped)

    def _writer(self, whole: DataFrame, column: str) -> DataStreamWriter:
        from ensue.cli.spark.endpoints import STDOUT, written
        from ensue.data import DataError

        if self.rejected is None and self.sink.format != STDOUT:
            return written(
                self._with_about(whole.where(f"{column} is null").drop(column)), self.sink, self.sink_options
            )
        if os.environ.get("SPARK_REMOTE"):
            raise DataError(
                "Through Spark Connect there is neither --sink - nor --rejected: this process sees no rows."
            )
        return whole.writeStream.foreachBatch(self._batch(column))

    def _batch(self, column: str) -> Callable[[DataFrame, int], None]:
        """Function that writes a micro-batch where Spark has no sink for it."""
        from ensue.cli.spark.endpoints import STDOUT, write_batch

        def write(rows: DataFrame, number: int) -> None:
            kept = rows.persist()
            try:
                found = kept.where(f"{column} is null").drop(column)
                if self.sink.format == STDOUT:
                    self._print(found)
                else:
                    write_batch(self._with_about(found), self.sink, self.sink_options, number, self.checkpoint)
                if self.rejected is not None:
                    side = kept.where(f"{column} is not null").select(f"{column}.*")
                    if not side.isEmpty():
                        write_batch(side, self.rejected, {}, number, f"{self.checkpoint} rejected")
            finally:
                kept.unpersist()

        return write

    def _with_about(self, found: DataFrame) -> DataFrame:
        return frame_with_about(found, self.program, self.about, lists=self.sink.format in ("json", "kafka"))

    def _print(self, found: DataFrame) -> None:
        from ensue.cli.spark.writing import by_type
        from ensue.data.json_lines import json_lines_by_type
        from ensue.data.results import picked

        wanted = picked(self.program.typed, self.request.emit)
        try:
            tables = with_about(by_type(found.toArrow(), self.program, wanted), self.program, self.about, lists=True)
            sys.stdout.writelines(f"{line}\n" for line in json_lines_by_type(tables))
            sys.stdout.flush()
        except BrokenPipeError:
            self.broken.set()

    def _tell_of_changed_rules(self, spark: SparkSession) -> None:
        """Names the rules that begin anew and those that are gone, where a checkpoint has the state of others."""
        from ensue.spark.changes import changed_rules
        from ensue.spark.checkpoint import rules_with_state

        changed = changed_rules(rules_with_state(spark, self.checkpoint), self.program.file.source.text).sentence()
        if changed:
            say(changed)

    def _follow(self, query: StreamingQuery, batches: Any, stopped: threading.Event) -> int:
        """Reports each micro-batch until the query ends."""
        if not self.quiet:
            click.echo(
                printable(f"reading {_listed(self.sources)}, state in {self.checkpoint}; Ctrl-C stops"), err=True
            )
        over = False
        while not over and not stopped.is_set() and not self.broken.is_set():
            over = bool(query.awaitTermination(PAUSE))
            self._tell(batches)
        if not over:
            query.stop()
            self._tell(batches)
        if self.broken.is_set():
            hush_broken_pipes()
            return BROKEN_PIPE
        return 0

    def _tell(self, batches: Any) -> None:
        if not self.quiet:
            for line in batches.lines():
                click.echo(line, err=True)


def trigger_of(written: str | None) -> dict[str, Any]:
    """Spark's trigger of micro-batches.

    >>> trigger_of("10s"), trigger_of("once"), trigger_of(None)
    ({'processingTime': '10 seconds'}, {'availableNow': True}, {})
    """
    if written is None:
        return {}
    if written in ("once", "available-now"):
        return {"availableNow": True}
    found = re.fullmatch(r"(\d+)\s*(ms|s|m|h)", written)
    if found is None:
        raise click.UsageError(f"--trigger takes 10s or the like, once, or available-now, not {written!r}.")
    unit = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours"}[found[2]]
    return {"processingTime": f"{found[1]} {unit}"}


def _number(length: str) -> int | str:
    """A length of time; one that is a plain number is in the unit of the time column."""
    return int(length) if length.isdigit() else length


def _partitions(cores: int | None, buckets: int | None) -> int:
    """More tasks than buckets have nothing to do; more than cores cost more than they bring."""
    from ensue.spark.streaming import BUCKETS

    count = buckets or BUCKETS
    return min(count, cores or count)


def _listed(sources: Endpoint | dict[str, Endpoint]) -> str:
    return ", ".join(f"{n}={s}" for n, s in sources.items()) if isinstance(sources, dict) else str(sources)
