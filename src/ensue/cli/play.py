"""`ensue play`: a local page on which rules are written, and their detections are shown as one types."""

from __future__ import annotations

import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ensue.cli.files import replace_file
from ensue.cli.output import printable, say
from ensue.cli.parameters import parameter_options, parameter_texts
from ensue.cli.progress import progress
from ensue.cli.reading import reading_options
from ensue.cli.rules import STDIN, read_rules
from ensue.cli.sources import event_sources, paths_of, table_sources, tables_option

if TYPE_CHECKING:
    from ensue.data.columns import Columns
    from ensue.play.files import Files
    from ensue.play.session import Start


@click.command(short_help="Write and try rules in the browser.")
@click.argument("rules", required=False)
@click.argument("events", nargs=-1)
@reading_options
@click.option("--until", metavar="TIME", help="The time at which the events end. [default: the last event]")
@tables_option
@parameter_options
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    default=0,
    help="The port to listen on. [default: any free one]",
)
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser.")
@click.option(
    "--seconds",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    default=10.0,
    show_default=True,
    help="How long one evaluation may take.",
)
@click.option(
    "--memory", metavar="BYTES", default="2GB", show_default=True, help="How much memory one evaluation may use."
)
def play(
    rules: str | None,
    events: tuple[str, ...],
    columns: Columns,
    until: str | None,
    tables: tuple[str, ...],
    param: tuple[str, ...],
    params: str | None,
    port: int,
    no_browser: bool,
    seconds: float,
    memory: str,
) -> int:
    """Opens a page with RULES in an editor and EVENTS beside it, and shows detections as you type.

    Without RULES it starts from an example. If the rule file does not exist, it is created when you save.

    Only this machine can open the page, at an address that contains a token. The page can read and write the files
    that you name here, and create new ones in the current folder. Press Ctrl+C to end it.

    \b
    Example:
      ensue play
      ensue play shop.ensue events.jsonl
      ensue play shop.ensue order=orders.csv shipped=parcels.csv --time at
    """
    from ensue.engine.limits import Limits as EngineLimits
    from ensue.play.lane import Lane, Limits
    from ensue.play.server import Playground
    from ensue.play.session import Session

    if rules == STDIN or STDIN in events:
        raise click.UsageError("The playground reads files; it cannot read standard input, -.")
    limits = Limits(seconds, EngineLimits.of(None, memory).most_bytes)
    given = parameter_texts(param, params)
    with progress("Reading…"):
        files, start, shown = _opened(rules, events, columns, until, given)
    settings = {"columns": shown.saved(), "tables": table_sources(tables)}
    session = Session(files, start, settings, Lane(limits, evaluates=False), Lane(limits))
    try:
        server = Playground(session, port)
    except OSError as error:
        raise click.ClickException(f"Port {port} cannot be used: {error.strerror or error}") from None
    session.open()
    if start.events.cut:
        say("There are more events than the page shows; it has the first ones. `ensue run` takes them all.")
    click.echo(f"The playground is at {server.address}")
    click.echo("Ctrl+C ends it.")
    if not no_browser:
        webbrowser.open(server.address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        click.echo()
    finally:
        session.close()
        server.server_close()
    return 0


def _opened(
    rules: str | None, events: tuple[str, ...], columns: Columns, until: str | None, params: Mapping[str, str]
) -> tuple[Files, Start, Columns]:
    """The files of the session, the first content of its page, and the names of the columns."""
    from ensue.data.errors import DataError
    from ensue.play.events import Loaded, load
    from ensue.play.examples import examples
    from ensue.play.files import Document, Files
    from ensue.play.session import Start

    files = Files(Path.cwd(), replace_file)
    if rules is None:
        example = next(iter(examples().values()))
        text = example.rules.read_text(encoding="utf-8")
        shown = Loaded("" if example.events is None else example.events())
        return files, Start(text, shown, until or "", params, example.name), columns
    path = Path(rules)
    if not path.exists() and path.parent.is_dir() and path.suffix == ".ensue":
        files.documents["rules"] = Document(path)
        text = ""
    else:
        file = read_rules(rules)
        files.documents["rules"] = Document(path, file.text, file.newline)
        text = file.text
    if not events:
        return files, Start(text, Loaded(""), until or "", params), columns
    sources = event_sources(events)
    loaded, columns = load(sources, columns)
    if loaded.file is not None:
        files.documents["events"] = Document(loaded.file, loaded.text)
    elif not loaded.text:
        raise DataError(f"There are no events in {', '.join(map(printable, paths_of(sources)))}.")
    return files, Start(text, loaded, until or "", params), columns
