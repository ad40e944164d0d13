"""Choice of the execution that a command uses."""

from __future__ import annotations

import click

DEFAULT_ENGINE = "embedded"
SPARK = "spark"
"""The engine where the data is; `ensue run` knows it."""

engine_option = click.option(
    "--engine",
    default=DEFAULT_ENGINE,
    show_default=True,
    metavar="NAME",
    help="How to run: embedded, the default engine; reference, which is slow and computes the definitions; or spark, "
    "which runs where the data is.",
)


def chosen(name: str, *others: str) -> str:
    """The engine of that name, if there is one; the command knows `others`, too."""
    from ensue.request import ENGINES

    if name not in ENGINES:
        raise click.UsageError(f"There is no engine {name!r} here; there is {', '.join((*ENGINES, *others))}.")
    return name
