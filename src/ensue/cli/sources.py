"""Events and tables as they are named on the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ensue.cli.rules import STDIN, STDIN_NAME, read_stdin

if TYPE_CHECKING:
    from ensue.data.files import JsonLines

Sources = list[str] | dict[str, list[str]]
ReadSources = list["str | JsonLines"] | dict[str, list["str | JsonLines"]]
"""Sources in which standard input has been read."""


def tables_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--table` to a command, which takes it as `tables`."""
    return click.option(
        "--table",
        "tables",
        metavar="NAME=FILE",
        multiple=True,
        help="A file with the rows of a table that the rules declare; may be repeated.",
    )(command)


def event_sources(arguments: Sequence[str]) -> Sources:
    """The paths of tables of events, or those by the type of their events where they are written `NAME=PATH`.

    >>> event_sources(["a.csv", "more/*.csv"])
    ['a.csv', 'more/*.csv']
    >>> event_sources(["order=a.csv", "shipped=b.csv", "order=c.csv"])
    {'order': ['a.csv', 'c.csv'], 'shipped': ['b.csv']}
    """
    named = [_named(argument) for argument in arguments]
    by_type: dict[str, list[str]] = {}
    for pair in named:
        if pair is not None:
            by_type.setdefault(pair[0], []).append(pair[1])
    if by_type and None in named:
        first = arguments[named.index(None)]
        raise click.UsageError(
            f"Either all EVENTS say the type of their events, as in order=orders.csv, or none does; {first} does not."
        )
    sources = by_type or list(arguments)
    if paths_of(sources).count(STDIN) > 1:
        raise click.UsageError("Standard input, -, can be read once only.")
    return sources


def paths_of(sources: Sources) -> list[str]:
    """All paths of sources."""
    return list(chain(*sources.values())) if isinstance(sources, dict) else sources


def with_stdin_read(sources: Sources) -> ReadSources:
    """The sources with the JSON lines of standard input for `-`."""
    from ensue.data.files import JsonLines

    def read(paths: list[str]) -> list[str | JsonLines]:
        return [JsonLines(read_stdin(), STDIN_NAME) if path == STDIN else path for path in paths]

    return {name: read(paths) for name, paths in sources.items()} if isinstance(sources, dict) else read(sources)


def _named(argument: str) -> tuple[str, str] | None:
    """Name and path, unless the whole is a path, as those of partitioned tables are: `day=3/events.parquet`."""
    name, equals, path = argument.partition("=")
    if not equals or "/" in name or _exists(argument):
        return None
    if not name or not path:
        raise click.UsageError(f"{argument} is neither a path nor of the form NAME=PATH, as in order=orders.csv.")
    return name, path


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def table_sources(arguments: Sequence[str]) -> dict[str, list[str]]:
    """The files of static tables, by name.

    >>> table_sources(["linked=links.csv"])
    {'linked': ['links.csv']}
    """
    tables: dict[str, list[str]] = {}
    for argument in arguments:
        name, _, path = argument.partition("=")
        if not name or not path:
            raise click.UsageError(f"--table takes NAME=FILE, as in --table linked=links.csv, not {argument!r}.")
        tables.setdefault(name, []).append(path)
    return tables
