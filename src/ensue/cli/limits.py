"""Options of commands that run rules: how much a rule may derive at once, and rules may keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--max-matches`` and ``--max-state``."""
    command = click.option(
        "--max-state",
        metavar="BYTES",
        help="How much memory the state of rules may take, such as 4GB. [default: half of the memory]",
    )(command)
    return click.option(
        "--max-matches", type=click.IntRange(1), metavar="N",
        help="How many events of one type may be derived at once. [default: 10 million, or 100 for each event]",
    )(command)  # fmt: skip
