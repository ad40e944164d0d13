"""KEY=VALUE arguments of options."""

from __future__ import annotations

from collections.abc import Sequence

import click


def pairs(arguments: Sequence[str], option: str) -> dict[str, str]:
    """Parse KEY=VALUE arguments.

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
