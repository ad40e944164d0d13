"""Reports of commands on rows that were left out, and on events that the rules do not use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ensue.cli.output import printable, say
from ensue.cli.rules import STDIN_NAME

if TYPE_CHECKING:
    from ensue.cli.sources import ReadSources
    from ensue.data import Events
    from ensue.data.columns import Columns
    from ensue.data.errors import BadRow
    from ensue.program import Program
    from ensue.request import Request

STDIN_IS_JSON = "Standard input, -, is read as JSON lines; for CSV add --separator , (or the sign between its fields)."

MOST_BAD_ROWS = 20
"""Largest number of rejected rows that are shown one by one; more are shown in groups."""


def report_bad_rows(read: Events) -> None:
    """Reports the rows that were left out: each of a few, or in groups of one kind."""
    from ensue.data import DataError
    from ensue.data.errors import describe_by_kind

    few = read.bad_count <= MOST_BAD_ROWS
    for line in map(str, read.bad) if few else describe_by_kind(read.bad, read.bad_count):
        click.echo(printable(line), err=True)
    if read.bad_count and read.last_end is None:
        only = "The only row" if read.bad_count == 1 else f"None of the {read.bad_count} rows"
        raise DataError(f"{only} {'cannot' if read.bad_count == 1 else 'can'} be used.{_hint(read.bad[0])}")


def _hint(first: BadRow) -> str:
    """A hint for standard input that is no JSON, likely CSV."""
    if first.where != f"{STDIN_NAME}:1" or not first.reason.startswith("not JSON"):
        return ""
    return f" {STDIN_IS_JSON}"


def note_nothing_read(program: Program, read: Events, source: ReadSources, columns: Columns) -> None:
    """Explain a result that must be empty: there are no events, no rules, or no events of a type that rules use."""
    if read.last_end is None:
        say("There are no events in what was read.")
    elif not any(event.derived for event in program.typed.events.values()):
        say("There is no rule that derives an event, so nothing is found.")
    elif not read.used:
        from ensue.data.errors import did_you_mean, listed
        from ensue.data.types_of import types_of

        used = ", ".join(name for name, event in program.typed.events.items() if event.declared or not event.derived)
        types = [] if isinstance(source, dict) else types_of(source, columns)
        there = f"; there is {listed(types, 5)}" if types else ""
        hints = filter(None, (did_you_mean(type_, program.typed.events) for type_ in types))
        say(f"None of the events is of a type that the rules use ({used}){there}.{next(hints, '')}")


def notes_on(program: Program, read: Events, request: Request) -> list[str]:
    """Sentences on attributes, columns, lengths and tables that do not fit the rules."""
    return [
        *program.empty_attributes(read),
        *program.unused_columns(request.columns),
        *program.plain_lengths(read.timestamps),
        *program.missing_tables(request.tables),
    ]
