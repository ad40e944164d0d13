"""`ensue view`: events and detections on a timeline, as a page to open in a browser."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ensue.cli.bad_rows import note_nothing_read, notes_on, report_bad_rows
from ensue.cli.files import replace_bytes, replace_file
from ensue.cli.functions import functions_option
from ensue.cli.limits import limit_options
from ensue.cli.output import counted, printable, say
from ensue.cli.pairs import pairs
from ensue.cli.parameters import parameter_options
from ensue.cli.progress import detecting, progress, quiet_option
from ensue.cli.reading import reading_options
from ensue.cli.rules import STDIN, program_of
from ensue.cli.sources import event_sources, paths_of, table_sources, tables_option, with_stdin_read

if TYPE_CHECKING:
    from ensue.data import Columns
    from ensue.view import Timeline

STDOUT = "-"
DEFAULT_NAMES = {"html": "timeline.html", "svg": "timeline.svg", "perfetto": "timeline.perfetto-trace"}


@click.command(short_help="Draw events and detections on a timeline.")
@click.argument("rules")
@click.argument("events", nargs=-1, required=True)
@click.option(
    "-o", "--output", metavar="FILE", help="The page to write, or - for standard output.  [default: timeline.html]"
)
@click.option(
    "--format", "form", type=click.Choice(["html", "svg", "perfetto"]), default="html", show_default=True,
    help="A page for any browser, a picture for documents, or a trace for ui.perfetto.dev.",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="The title of the page.  [default: the name of RULES]")
@click.option(
    "--lanes", metavar="NAME", default="type", show_default=True, help="What makes a lane: type, or an attribute."
)
@click.option("--from", "first", metavar="TIME", help="Show nothing that ends before this time.")
@click.option("--to", "last", metavar="TIME", help="Show nothing that starts after this time.")
@click.option(
    "--only",
    metavar="NAME=VALUE",
    multiple=True,
    help="Show only events and detections with this value, and the sources of these detections; may be repeated.",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    metavar="N",
    help="How many events and detections a page holds at most.  [default: 200,000]",
)
@click.option("--open", "opened", is_flag=True, help="Open the page in a browser.")
@click.option("--json", "as_json", is_flag=True, help="Print a report of what was written, as JSON.")
@reading_options
@click.option("--until", metavar="TIME", help="The time at which the events end. [default: the last event]")
@click.option("--keep", metavar="LENGTH", help="Drop events that ended longer ago than this, such as 7d.")
@limit_options
@click.option("--emit", metavar="TYPE", multiple=True, help="Draw only this type of detections; may be repeated.")
@tables_option
@functions_option
@quiet_option
@parameter_options
def view(
    rules: str,
    events: tuple[str, ...],
    output: str | None,
    form: str,
    title: str | None,
    lanes: str,
    first: str | None,
    last: str | None,
    only: tuple[str, ...],
    most: int | None,
    opened: bool,
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
) -> int:
    """Draws EVENTS and the detections of RULES on a timeline: one page that needs a browser and no network.

    In the page, each type of event has a lane, or each value of a key. Detections are at the top. Click one to see
    the events that it came from. Zoom with the wheel, move by dragging, search for a value.

    EVENTS are files as for `ensue run`. Rules see all events, even if the page shows only some.

    \b
    Example:
      ensue view shop.ensue events.jsonl -o page.html
      ensue view shop.ensue events.jsonl --only id=1012 --lanes id --open
      ensue view shop.ensue 'logs/*.parquet' --from 2026-03-02T08:00 --to 2026-03-02T20:00
      ensue view shop.ensue events.jsonl --only id=1012 --format svg -o order.svg
      ensue view shop.ensue events.jsonl --format perfetto -o shop.perfetto-trace
    """
    from ensue.request import Request
    from ensue.view import MOST_EVENTS, timeline_of, traced

    written = output or DEFAULT_NAMES[form]
    sources, static = event_sources(events), table_sources(tables)
    paths = paths_of(sources)
    if rules == STDIN and STDIN in paths:
        raise click.UsageError("Rules and events cannot both come from standard input, -; name a file for one of them.")
    if opened and (written == STDOUT or form != "html"):
        raise click.UsageError("--open needs a page that is written to a file.")
    _check_writable(written, [rules, *paths])
    values = pairs(only, "--only")
    program = program_of(rules, keep, functions, param, params)
    request = Request(until, columns, static, emit or None, max_matches=max_matches, max_state=max_state)
    given = with_stdin_read(sources)
    with detecting("Detecting…", program, quiet):
        found, read = traced(program, given, request)
    report_bad_rows(read)
    note_nothing_read(program, read, given, columns)
    for note in notes_on(program, read, request):
        say(note)
    with progress("Drawing…", quiet):
        drawn = timeline_of(
            program, found, read, title=title, lanes=lanes, window=(first, last), only=values, most=most or MOST_EVENTS
        )
        _write(drawn, form, written)
    _report(drawn, written, as_json)
    if opened:
        import webbrowser

        webbrowser.open(Path(written).resolve().as_uri())
    return 0


def _check_writable(output: str, read: list[str]) -> None:
    from ensue.data import DataError

    path = Path(output)
    if output == STDOUT:
        return
    if path.is_dir():
        raise DataError(f"{output} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise DataError(f"There is no folder {path.parent} to write {path.name} to.")
    for other in read:
        if path.exists() and Path(other).exists() and path.samefile(other):
            raise DataError(f"{output} is one of the files that are read; write to another one.")


def _write(drawn: Timeline, form: str, output: str) -> None:
    data = drawn.perfetto() if form == "perfetto" else drawn.html() if form == "html" else drawn.svg()
    if output == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(data.encode("utf-8") if isinstance(data, str) else data)
    elif isinstance(data, str):
        replace_file(Path(output), [data])
    else:
        replace_bytes(Path(output), data)


def _report(drawn: Timeline, output: str, as_json: bool) -> None:
    """Reports the written file, and what was left out of it."""
    shown = {
        kind: sum(len(track) for track in drawn.scene.tracks if track.derived is derived)
        for kind, derived in (("events", False), ("detections", True))
    }
    if as_json:
        summary: dict[str, Any] = {"output": output, **shown, "notes": list(drawn.notes)}
        click.echo(json.dumps(summary, ensure_ascii=False), err=output == STDOUT)
        return
    for note in drawn.notes:
        say(note)
    if output != STDOUT:
        amounts = f"{counted(shown['events'], 'event')} and {counted(shown['detections'], 'detection')}"
        click.echo(printable(f"{amounts}; written to {output}"), err=True)
