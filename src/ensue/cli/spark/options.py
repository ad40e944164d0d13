"""The options that all commands on Spark share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True)
class Cluster:
    """Where Spark runs, and how: what --master, --conf and --log say."""

    master: str | None = None
    conf: tuple[str, ...] = ()
    log: str | None = None


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --master, --conf and --log."""
    for option in (
        click.option("--log", metavar="FILE", help="Spark: write what it logs to a file; it is dropped otherwise."),
        click.option(
            "--conf", multiple=True, metavar="KEY=VALUE", help="Spark: a setting, as of spark-submit; may be repeated."
        ),
        click.option("--master", metavar="URL", help="Spark: the cluster, as of spark-submit. [default: this machine]"),
    ):
        command = option(command)
    return command


def pairs(arguments: Sequence[str], option: str) -> dict[str, str]:
    """What KEY=VALUE arguments say.

    >>> pairs(["header=true", "sep=="], "--option")
    {'header': 'true', 'sep': '='}
    """
    found = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not key or not equals:
            raise click.UsageError(f"{option} takes KEY=VALUE, not {argument!r}.")
        found[key] = value
    return found
