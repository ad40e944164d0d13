"""The options that all commands on Spark share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ensue.records import dataclass


@dataclass(frozen=True)
class Cluster:
    """Options of the Spark cluster: --master, --conf and --log."""

    master: str | None = None
    conf: tuple[str, ...] = ()
    log: str | None = None


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --master, --conf and --log."""
    for option in (
        click.option("--log", metavar="FILE", help="Spark: write its log to a file. [default: no log]"),
        click.option(
            "--conf", multiple=True, metavar="KEY=VALUE", help="Spark: a setting, as for spark-submit; may be repeated."
        ),
        click.option(
            "--master", metavar="URL", help="Spark: the cluster, as for spark-submit. [default: this machine]"
        ),
    ):
        command = option(command)
    return command
