"""Sources and sinks of a stream, as they are named on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ensue.cli.spark.options import Cluster
from ensue.cli.spark.session import from_here
from ensue.data.errors import DataError
from ensue.records import dataclass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

STDOUT = "-"
FILES = ("parquet", "json", "csv", "text", "orc", "avro")
"""Formats of files that arrive in a folder."""
TABLES = ("table", "iceberg")
"""Formats that have a name, and no path."""


@dataclass(frozen=True)
class Endpoint:
    """A source or a sink: a format of Spark's, and where it is."""

    format: str
    where: str

    def __str__(self) -> str:
        return f"{self.format}:{self.where}" if self.where else self.format

    def from_here(self, cluster: Cluster) -> Endpoint:
        """The same with a path as Spark needs it."""
        return replace(self, where=from_here(self.where, cluster)) if self.format in (*FILES, "delta") else self

    @property
    def servers_and_topic(self) -> tuple[str, str]:
        """Servers and topic of an endpoint of Kafka."""
        servers, slash, topic = self.where.partition("/")
        if not servers or not slash or not topic:
            raise click.UsageError(f"{self} has no servers and topic, as in kafka:host:9092/orders.")
        return servers, topic


def endpoint(argument: str, option: str) -> Endpoint:
    """The source or sink that an argument names.

    >>> endpoint("parquet:s3a://logs/orders", "--source")
    Endpoint(format='parquet', where='s3a://logs/orders')
    >>> endpoint("-", "--sink")
    Endpoint(format='-', where='')
    """
    if argument == STDOUT:
        return Endpoint(STDOUT, "")
    format, colon, where = argument.partition(":")
    if where.startswith("//") or not re.fullmatch(r"[\w.$-]+", format) or not (colon or format == "console"):
        raise click.UsageError(
            f"{option} takes FORMAT:WHERE, as in parquet:{'arriving' if option == '--source' else 'found'}, "
            f"kafka:host:9092/orders or table:shop.orders, not {argument!r}."
        )
    return Endpoint(format, where)


def sources(arguments: Sequence[str]) -> Endpoint | dict[str, Endpoint]:
    """The sources of a stream: one, or those by the type of their events.

    >>> sources(["order=json:orders", "shipped=json:parcels"])
    {'order': Endpoint(format='json', where='orders'), 'shipped': Endpoint(format='json', where='parcels')}
    """
    named = [re.fullmatch(r"(\w+)=(.*)", argument) for argument in arguments]
    if len(arguments) == 1 and named[0] is None:
        return endpoint(arguments[0], "--source")
    found: dict[str, Endpoint] = {}
    for argument, match in zip(arguments, named, strict=True):
        if match is None or match[1] in found:
            raise click.UsageError(
                f"Of several sources each names its type of events, as in --source order=json:orders, not {argument}."
            )
        found[match[1]] = endpoint(match[2], "--source")
    return found


def written(found: DataFrame, sink: Endpoint, options: Mapping[str, str]) -> DataStreamWriter:
    """Writer of detections to a sink of Spark's own; files, Delta and Iceberg get each exactly once."""
    if sink.format == "kafka":
        found = as_messages(found)
    writer = found.writeStream.format(sink.format).outputMode("append")
    match sink.format:
        case "kafka":
            servers, topic = sink.servers_and_topic
            writer = writer.option("kafka.bootstrap.servers", servers).option("topic", topic)
        case "csv":
            writer = writer.option("header", "true")
        case "console":
            writer = writer.option("truncate", "false")
        case "iceberg":
            writer = writer.option("fanout-enabled", "true")
    if sink.format in (*FILES, "delta"):
        writer = writer.option("path", sink.where)
    return writer.options(**options)


def as_messages(found: DataFrame) -> DataFrame:
    """Detections as JSON, for Kafka."""
    return found.selectExpr("to_json(struct(*)) as value")


def write_batch(rows: DataFrame, sink: Endpoint, options: Mapping[str, str], number: int, stream: str) -> None:
    """Writes the result of one micro-batch; writing it again changes nothing where the format allows that.

    Files go into a folder for the micro-batch, which is replaced. Delta recognises a micro-batch by the name of the
    stream and the number. Other tables, and Kafka, get an interrupted micro-batch again.
    """
    if sink.format == "kafka":
        servers, topic = sink.servers_and_topic
        writer = as_messages(rows).write.format("kafka").option("kafka.bootstrap.servers", servers)
        writer.option("topic", topic).options(**options).save()
        return
    if sink.format in TABLES:
        rows.writeTo(sink.where).options(**options).append()
        return
    writer = rows.write.format(sink.format)
    if sink.format in FILES:
        header = {"header": "true"} if sink.format == "csv" else {}
        writer.options(**header, **options).mode("overwrite").save(f"{sink.where}/batch={number:09}")
        return
    if sink.format == "delta":
        writer = writer.option("txnAppId", stream).option("txnVersion", number)
    if sink.format == "console":
        rows.show(truncate=False)
        return
    writer.options(**options).mode("append").save(*([sink.where] if sink.where else []))


def check_sink(sink: Endpoint) -> None:
    """Rejects an incomplete sink."""
    if sink.format == "kafka":
        sink.servers_and_topic  # noqa: B018 (raises)
    elif sink.format not in (STDOUT, "console", "memory", "noop") and not sink.where:
        raise DataError(f"The sink {sink} has no path; write {sink.format}:PATH.")
