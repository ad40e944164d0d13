"""Options for reading events, which all commands share: columns, times, and text in files."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ensue.cli.pairs import pairs

if TYPE_CHECKING:
    from ensue.data.columns import Columns

_OPTIONS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("--time", "COLUMN", "The column with the time of an event; Date+Time joins two columns. [default: time]", {}),
    ("--start", "COLUMN", "The column with the start of an event. [default: start]", {}),
    ("--end", "COLUMN", "The column with the end of an event. [default: end]", {}),
    ("--type", "COLUMN", "The column with the type of an event. [default: type]", {}),
    ("--sequence", "COLUMN", "A column that orders events with the same time.", {}),
    ("--time-unit", "UNIT", "Read times as numbers since 1970, in s, ms, us or ns.", {}),
    ("--time-format", "FORMAT", "Read times as text in this format of strptime: '%d/%b/%Y:%H:%M:%S %z'.", {}),
    ("--timezone", "NAME", "The zone of times without one, such as Europe/Berlin. [default: UTC]", {}),
    ("--year", "YEAR", "The year of times without one, such as Dec 10 06:55:46.", {"type": int}),
    ("--column", "NAME=COLUMN", "The column that rules call NAME; may be repeated.", {"multiple": True}),
)
_FILES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("--lines", "REGEX", "Read lines of text: each named group, (?P<user>\\w+), is a column.", {}),
    ("--separator", "SIGN", "Read CSV with this sign between fields; \\t for a tab.", {}),
    (
        "--file-name",
        "REGEX",
        "Make columns from file names: a regular expression with named groups, or a column name.",
        {},
    ),
)
NAMES = ("time", "start", "end", "type", "sequence", "time_unit", "time_format", "timezone", "year", "column",
         "lines", "separator", "file_name")  # fmt: skip


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options, and passes them to the command as `columns`."""

    @wraps(command)
    def called(**arguments: Any) -> Any:
        given = {name: arguments.pop(name) for name in NAMES if name in arguments}
        return command(columns=_columns(given), **arguments)

    for name, metavar, text, settings in reversed((*_OPTIONS, *_FILES)):
        called = click.option(name, metavar=metavar, help=text, **settings)(called)
    return called


def _columns(given: dict[str, Any]) -> Columns:
    from ensue.data.columns import columns_of

    renamed = pairs(given.pop("column"), "--column")
    separator = given.pop("separator")
    if separator is not None:
        separator = separator.replace("\\t", "\t")
    return columns_of(columns=renamed, separator=separator, **given)
