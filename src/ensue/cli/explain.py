"""`ensue explain`: shows how rules are run, the state that they keep, and their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ensue.cli.functions import functions_option
from ensue.cli.limits import limit_options
from ensue.cli.output import json_option, print_json, printable
from ensue.cli.parameters import parameter_options, with_parameters
from ensue.cli.progress import detecting, quiet_option
from ensue.cli.reading import reading_options
from ensue.cli.rules import STDIN, compiled, read_rules
from ensue.cli.sources import event_sources, paths_of, table_sources, tables_option, with_stdin_read

if TYPE_CHECKING:
    from ensue.data.columns import Columns


@click.command(short_help="Show how rules run, and what they keep.")
@click.argument("rules")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "mermaid"]), default="text", show_default=True,
    help="Text to read, JSON for programs, or a flowchart for Mermaid.",
)  # fmt: skip
@click.option(
    "--events",
    metavar="FILE",
    multiple=True,
    help="Run the rules on these events, and show what happened; may be repeated.",
)
@json_option
@click.option("--intervals", is_flag=True, help="Assume that events have a start and an end, not one time each.")
@reading_options
@click.option("--until", metavar="TIME", help="The time at which the events end. [default: the last event]")
@click.option("--emit", metavar="TYPE", multiple=True, help="Report only this type; may be repeated.")
@tables_option
@functions_option
@quiet_option
@parameter_options
@limit_options
def explain(
    rules: str,
    form: str,
    events: tuple[str, ...],
    as_json: bool,
    intervals: bool,
    columns: Columns,
    until: str | None,
    emit: tuple[str, ...],
    tables: tuple[str, ...],
    functions: str | None,
    quiet: bool,
    param: tuple[str, ...],
    params: str | None,
    max_matches: int | None,
    max_state: str | None,
) -> int:
    """Shows how RULES run: what each part of a rule keeps, for how long, and what that costs.

    The output also shows which sides of joins are never stored or evaluated, which rules are compiled, what rules
    share, and how they are partitioned on a cluster. With --events the rules run, and the output adds what happened.

    \b
    Example:
      ensue explain shop.ensue
      ensue explain shop.ensue --events events.jsonl
      ensue explain shop.ensue --format mermaid > shop.mmd
    """
    from ensue.request import Request

    if rules == STDIN and any(STDIN in paths_of(event_sources((each,))) for each in events):
        raise click.UsageError("Rules and events cannot both come from standard input, -; name a file for one of them.")
    program = with_parameters(compiled(read_rules(rules), functions), param, params)
    given = with_stdin_read(event_sources(events)) if events else None
    with detecting("Explaining…", program, quiet):
        request = Request(
            until, columns, table_sources(tables), emit or None, max_matches=max_matches, max_state=max_state
        )
        found = program.explain_events(given, request, intervals=intervals)
    if as_json or form == "json":
        print_json(found.json())
    else:
        click.echo(printable(found.text() if form == "text" else found.mermaid()))
    return 0
