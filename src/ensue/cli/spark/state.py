"""`ensue state`: shows the state in a stream's checkpoint."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ensue.cli.output import counted, printable
from ensue.cli.progress import progress
from ensue.cli.spark.options import Cluster, cluster_options
from ensue.cli.spark.session import check_installed, from_here, spark_session

if TYPE_CHECKING:
    from ensue.spark.checkpoint import StageState


@click.command(short_help="Show what a stream on Spark keeps.")
@click.argument("checkpoint")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@cluster_options
def state(checkpoint: str, as_json: bool, master: str | None, conf: tuple[str, ...], log: str | None) -> int:
    """Shows the state that a stream keeps in its CHECKPOINT.

    For each stage of its rules: how many events wait, up to which time events are evaluated, and how many came too
    late. For each part of a rule: how many keys, tuples and bytes it keeps.

    The stream may be running.

    \b
    Example:
      ensue state state
      ensue state s3a://streams/shop --json
    """
    check_installed()
    from ensue.cli.spark.failures import spark_failures
    from ensue.spark.checkpoint import read_checkpoint

    cluster = Cluster(master, conf, log)
    spark = spark_session(cluster)
    with spark_failures(), progress("Reading the state…"):
        stages = read_checkpoint(spark, from_here(checkpoint, cluster))
    if as_json:
        click.echo(json.dumps({"checkpoint": checkpoint, "stages": [_plain(stage) for stage in stages]}, indent=2))
        return 0
    for stage in stages:
        _print(stage)
    return 0


def _plain(stage: StageState) -> dict[str, Any]:
    return asdict(stage)


def _print(stage: StageState) -> None:
    """A few lines and a table."""
    from ensue.cli.spark.micro_batches import in_bytes, shown

    click.echo(f"stage {stage.stage + 1}: {stage.used} of {counted(stage.buckets, 'bucket')} in use")
    time = "nothing yet" if stage.time is None or stage.timestamps is None else shown(stage.time, stage.timestamps)
    click.echo(f"  evaluated up to  {time}")
    click.echo(f"  events received  {stage.received}, {stage.late} of them too late")
    click.echo(f"  events waiting   {stage.waiting} ({in_bytes(stage.waiting_bytes)})")
    click.echo(f"  the engine       {in_bytes(stage.engine_bytes)}")
    kept = [size for size in stage.nodes if size.tuples or size.keys]
    if not kept:
        return
    rows = [("rule", "part", "keys", "tuples", "bytes")]
    rows += [
        (size.rule or "(shared)", size.node, "" if size.keys is None else str(size.keys), str(size.tuples),
         in_bytes(size.bytes))
        for size in kept
    ]  # fmt: skip
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for rule, node, *numbers in rows:
        counts = (f"{number:>{width}}" for number, width in zip(numbers, widths[2:], strict=True))
        click.echo(printable("  ".join((f"  {rule:<{widths[0]}}", f"{node:<{widths[1]}}", *counts))))
