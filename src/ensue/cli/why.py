"""`ensue why`: why was this detected, or why was it not?"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ensue.cli.functions import functions_option
from ensue.cli.output import colours, printable, say
from ensue.cli.parameters import parameter_options
from ensue.cli.progress import detecting, quiet_option
from ensue.cli.reading import reading_options
from ensue.cli.rules import STDIN, program_of
from ensue.cli.sources import event_sources, paths_of, table_sources, tables_option, with_stdin_read

if TYPE_CHECKING:
    from ensue.data.columns import Columns

COLOURS = {"✗": "red", "✓": "green", "∅": "yellow", "•": "cyan"}


@click.command(short_help="Explain why something was detected, or why not.")
@click.argument("rules")
@click.argument("events")
@click.argument("event_type", metavar="[TYPE]", required=False)
@click.argument("key", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--events", "more", metavar="FILE", multiple=True, help="More files of events; may be repeated.")
@click.option("--at", metavar="TIME", help="The time at which the detection ends, or should end.")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", default=3, show_default=True, help="How many detections to explain."
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@reading_options
@click.option("--until", metavar="TIME", help="The time at which the events end. [default: the last event]")
@click.option("--keep", metavar="LENGTH", help="Drop events that ended longer ago than this, such as 7d.")
@click.option("--lateness", metavar="LENGTH", help="Explain what a stream with this lateness would have seen.")
@tables_option
@functions_option
@quiet_option
@parameter_options
def why(
    rules: str,
    events: str,
    event_type: str | None,
    key: tuple[str, ...],
    more: tuple[str, ...],
    at: str | None,
    limit: int,
    as_json: bool,
    columns: Columns,
    until: str | None,
    keep: str | None,
    lateness: str | None,
    tables: tuple[str, ...],
    functions: str | None,
    quiet: bool,
    param: tuple[str, ...],
    params: str | None,
) -> int:
    """Explains why RULES detect an event of TYPE in EVENTS, or why they do not.

    KEY=VALUE are attributes that the event has, or should have.

    If such events were detected, each is shown with the events that it came from, its timers and windows, the events
    that had to be absent, and the conditions with their values. If there are none, the command shows how far each
    rule came with the events of that key, and what stopped it, the nearest attempts first.

    EVENTS is a file, a glob, a folder, or order=orders.csv, as for `ensue run`. Add more with --events.

    \b
    Example:
      ensue why shop.ensue events.jsonl overdue
      ensue why shop.ensue events.jsonl overdue id=42
      ensue why shop.ensue events.jsonl overdue id=42 --at 2026-03-01T14:00:00Z
      ensue why shop.ensue order=orders.csv comp id=42 --events shipped=parcels.csv
    """
    from ensue.reasons.ask import answer
    from ensue.request import Request

    terms = key if event_type is None or "=" not in event_type else (event_type, *key)
    type_ = None if event_type is None or "=" in event_type else event_type
    sources = event_sources((events, *more))
    if rules == STDIN and STDIN in paths_of(sources):
        raise click.UsageError("Rules and events cannot both come from standard input, -; name a file for one of them.")
    program = program_of(rules, keep, functions, param, params)
    wanted = _key(terms)
    request = replace(Request(until), columns=columns, tables=table_sources(tables))
    length = int(lateness) if lateness is not None and lateness.isdigit() else lateness
    with detecting("Looking…", program, quiet):
        found = answer(program, with_stdin_read(sources), request, None, type_, at, wanted, length, limit)
    for note in program.unused_columns(columns):
        say(note)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return 0
    coloured = colours(sys.stdout)
    for line in printable(str(found)).split("\n"):
        click.echo(_painted(line) if coloured else line, color=coloured)
    return 0


def _key(terms: tuple[str, ...]) -> dict[str, str]:
    """Attributes and their values as they are written."""
    found: dict[str, str] = {}
    for term in terms:
        name, sign, value = term.partition("=")
        if not sign or not name:
            raise click.UsageError(f"{term} is not an attribute with a value; write KEY=VALUE, as in id=42.")
        found[name] = value
    return found


def _painted(line: str) -> str:
    if line and not line.startswith(" "):
        return click.style(line, bold=True)
    for sign, colour in COLOURS.items():
        before, found, after = line.partition(f"{sign} ")
        if found:
            return f"{before}{click.style(found + after, fg=colour)}"
    return line
