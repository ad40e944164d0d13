"""`ensue backtest`: runs rules on events of the past, and compares them with other rules."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ensue.cli.bad_rows import note_nothing_read, notes_on, report_bad_rows
from ensue.cli.files import replace_file
from ensue.cli.functions import functions_option
from ensue.cli.limits import limit_options
from ensue.cli.output import counted, json_option, print_json, printable, say
from ensue.cli.parameters import parameter_options, with_parameters
from ensue.cli.progress import detecting, quiet_option
from ensue.cli.reading import reading_options
from ensue.cli.rules import STDIN, RuleFile, compiled, program_of
from ensue.cli.sources import event_sources, paths_of, table_sources, tables_option, with_stdin_read
from ensue.cli.versions import read_version

if TYPE_CHECKING:
    from ensue.data.columns import Columns
    from ensue.program import Program

PAGES = (".html", ".htm")


@click.command(short_help="Show what rules would have found in the past.")
@click.argument("rules")
@click.argument("events", nargs=-1, required=True)
@click.option(
    "--against", metavar="RULES", help="The rules to compare with: a file, or a version from git, HEAD~1:shop.ensue."
)
@click.option(
    "--by", metavar="SPAN", help="Count by hour, day, week, minute or second, by a length such as 15m, or by a number."
)
@click.option("--key", metavar="ATTRIBUTE", help="Count by the values of this attribute. [default: the join key]")
@click.option(
    "--samples", type=click.IntRange(0), metavar="N", default=3, show_default=True, help="How many detections to show."
)
@click.option("--measure/--no-measure", default=True, help="Also run each rule alone, to measure its time and memory.")
@click.option("-o", "--output", metavar="FILE", help="Write a page (.html) instead of text.")
@json_option
@reading_options
@click.option("--until", metavar="TIME", help="The time at which the events end. [default: the last event]")
@click.option("--keep", metavar="LENGTH", help="Drop events that ended longer ago than this, such as 7d.")
@limit_options
@click.option("--emit", metavar="TYPE", multiple=True, help="Report only this type; may be repeated.")
@tables_option
@functions_option
@quiet_option
@parameter_options
@click.option("--strict", is_flag=True, help="Stop at the first bad row, instead of leaving it out.")
def backtest(
    rules: str,
    events: tuple[str, ...],
    against: str | None,
    by: str | None,
    key: str | None,
    samples: int,
    measure: bool,
    output: str | None,
    as_json: bool,
    columns: Columns,
    until: str | None,
    keep: str | None,
    max_matches: int | None,
    max_state: str | None,
    emit: tuple[str, ...],
    tables: tuple[str, ...],
    functions: str | None,
    quiet: bool,
    param: tuple[str, ...],
    params: str | None,
    strict: bool,
) -> int:
    """Shows what RULES would have found in EVENTS of the past: counts by hour, day or week, keys, and costs.

    With --against it compares two versions of the rules, and shows which detections are new and which are gone. The
    other version is a file, or comes from git, such as HEAD~1:shop.ensue.

    EVENTS are files as for `ensue run`.

    \b
    Example:
      ensue backtest shop.ensue events.jsonl
      ensue backtest shop.ensue 'logs/*.parquet' --by day -o shop.html
      ensue backtest shop.ensue events.jsonl --against HEAD~1:shop.ensue
      ensue backtest shop.ensue events.jsonl --param limit=80 --json
    """
    from ensue.backtesting import run_backtest
    from ensue.request import Request

    sources = event_sources(events)
    if STDIN in paths_of(sources) and (rules == STDIN or against == STDIN):
        raise click.UsageError("Rules and events cannot both come from standard input, -; name a file for one of them.")
    if output is not None and Path(output).suffix.lower() not in PAGES:
        raise click.UsageError(f"{output} does not end in .html, and a backtest is written as a page.")
    if output is not None and as_json:
        raise click.UsageError("--output writes a page; leave it out, or --json.")
    static = table_sources(tables)
    request = Request(until, columns, static, emit or None, strict, max_matches=max_matches, max_state=max_state)
    program = program_of(rules, keep, functions, param, params)
    other = None if against is None else _other(read_version(against, rules), functions, param, params, keep)
    given = with_stdin_read(sources)
    with detecting("Reading…", program, quiet) as shown:
        found, read = run_backtest(
            program, given, request, other, by, key, samples, measure, step=lambda what: shown.say(f"{what}…")
        )
    report_bad_rows(read)
    note_nothing_read(program, read, given, columns)
    for note in notes_on(program, read, request):
        say(note)
    if as_json:
        print_json(found.json())
    elif output is not None:
        replace_file(Path(output), [found.html()])
        click.echo(printable(f"{counted(found.found, 'detection')}; written to {output}"), err=True)
    else:
        click.echo(printable(found.text(min(120, shutil.get_terminal_size().columns))))
    if read.bad_count:
        click.echo(f"{counted(read.bad_count, 'row')} left out", err=True)
    return 0


def _other(
    file: RuleFile, functions: str | None, param: tuple[str, ...], params: str | None, keep: str | None
) -> Program:
    """The rules to compare with, with those of the values of parameters that they have."""
    from ensue.data.parameters import read_parameters

    program = compiled(file, functions)
    known = {} if params is None else read_parameters(params)
    program = program.with_params({name: value for name, value in known.items() if name in program.params})
    program = with_parameters(program, tuple(each for each in param if each.partition("=")[0] in program.params), None)
    return program if keep is None else program.keeping(keep)
