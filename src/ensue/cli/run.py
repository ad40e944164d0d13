"""`ensue run`: runs rules on files of events."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ensue.cli.about import about_option, check_about, with_about
from ensue.cli.bad_rows import note_nothing_read, notes_on, report_bad_rows
from ensue.cli.early import written_early
from ensue.cli.engines import SPARK, chosen, engine_option
from ensue.cli.files import replace_file
from ensue.cli.folder import folder_of
from ensue.cli.functions import functions_option
from ensue.cli.limits import limit_options
from ensue.cli.output import counted, describe_suppressed, printable, say
from ensue.cli.parameters import parameter_options
from ensue.cli.progress import detecting, quiet_option
from ensue.cli.reading import reading_options
from ensue.cli.rules import STDIN, program_of
from ensue.cli.sources import event_sources, paths_of, table_sources, with_stdin_read
from ensue.cli.spark.options import Cluster, cluster_options
from ensue.cli.spark.session import check_installed

if TYPE_CHECKING:
    import pyarrow as pa

    from ensue.data import Columns

STDOUT = "-"
JSON_LINES = (".jsonl", ".ndjson")


def _option(*names_metavar_help: str, **settings: Any) -> Callable[[Any], Any]:
    *names, metavar, help_text = names_metavar_help
    return click.option(*names, metavar=metavar, help=help_text, **settings)


@click.command(short_help="Run rules on files of events.")
@click.argument("rules")
@click.argument("events", nargs=-1, required=True)
@_option(
    "-o",
    "--output",
    "FILE",
    "Write to this file, in the format of its ending: .jsonl, .csv, .parquet or .arrow. A folder, DIR/, gets a file "
    "for each type. With Spark, it can also be a path that Spark writes.",
    default=STDOUT,
)
@reading_options
@_option(
    "--until",
    "TIME",
    "The time at which the events end: a number or a timestamp, like the times of the events. If times are integers "
    "and the rules state a unit, also a length such as 7h. [default: the last event]",
)
@_option("--keep", "LENGTH", "Drop events that ended longer ago than this: 7d, or a number.")
@limit_options
@click.option(
    "--threads", type=click.IntRange(1), metavar="N", help="The number of threads. [default: one for each core]"
)
@_option("--emit", "TYPE", "Report only this type; may be repeated.", multiple=True)
@_option(
    "--table",
    "tables",
    "NAME=FILE",
    "A file with the rows of a table that the rules declare; may be repeated.",
    multiple=True,
)
@functions_option
@quiet_option
@parameter_options
@about_option
@click.option("--strict", is_flag=True, help="Stop at the first bad row, instead of leaving it out.")
@engine_option
@_option("--format", "NAME", "Spark: the format of EVENTS, if their names do not show it, such as delta.")
@_option("--option", "options", "KEY=VALUE", "Spark: an option of that format; may be repeated.", multiple=True)
@_option(
    "--output-format", "NAME", "The format of a folder: jsonl, csv, parquet or arrow; Spark: parquet, json or others."
)
@click.option(
    "--mode", type=click.Choice(["error", "append", "overwrite"]), help="Spark: what to do with existing output."
)
@cluster_options
def run(
    rules: str,
    events: tuple[str, ...],
    output: str,
    columns: Columns,
    until: str | None,
    keep: str | None,
    max_matches: int | None,
    max_state: str | None,
    threads: int | None,
    emit: tuple[str, ...],
    tables: tuple[str, ...],
    functions: str | None,
    quiet: bool,
    param: tuple[str, ...],
    params: str | None,
    about: tuple[str, ...],
    strict: bool,
    engine: str,
    format: str | None,
    options: tuple[str, ...],
    output_format: str | None,
    mode: str | None,
    master: str | None,
    conf: tuple[str, ...],
    log: str | None,
) -> int:
    """Runs RULES on EVENTS, and writes detections in the order in which they happened.

    Detections go to standard output as JSON lines, or with -o to a file.

    EVENTS are files (.jsonl, .json, .csv, .tsv, .parquet, .arrow, compressed or not), folders, or globs; - is JSON
    lines on standard input. With --lines they are any text files. If a file has events of one type and no column for
    it, write the type before its name: order=orders.csv.

    For files that you do not know, run `ensue peek`: it shows what is in them, and which options read them. Rows that
    cannot be used are reported and left out.

    With --engine spark, EVENTS can be anything that Spark reads: s3a://bucket/events/*.parquet, table:shop.events, or
    with --format delta the path of a Delta table.

    \b
    Example:
      ensue run shop.ensue events.jsonl
      ensue run shop.ensue order=orders.csv shipped=parcels.csv --time at
      ensue run shop.ensue 'logs/*.parquet' --emit overdue -o overdue.csv
      ensue run shop.ensue events.jsonl -o found/ --param limit=80 --about owner
      ensue run ssh.ensue line=auth.log --year 2026 \\
        --lines '(?P<time>\\w+ +\\d+ \\S+) \\S+ (?P<program>\\w+).*?: (?P<text>.*)'
      zcat events.jsonl.gz | ensue run shop.ensue -
      ensue run shop.ensue s3a://logs/a.parquet --engine spark -o s3a://found
    """
    if engine == SPARK:
        check_installed()
    elif format or options or mode or master or conf or log:
        raise click.UsageError(f"--format, --option, --mode, --master, --conf and --log need --engine {SPARK}.")
    from ensue.data.results import picked
    from ensue.request import Request

    sources, static = event_sources(events), table_sources(tables)
    request = Request(
        until, columns, static, emit or None, strict, max_matches=max_matches, max_state=max_state, threads=threads
    )
    if engine == SPARK:
        from ensue.cli.spark.batch import Job, run_on_spark
        from ensue.cli.spark.writing import Output

        program = program_of(rules, keep, functions, param, params)
        output_ = Output(output, output_format, mode)
        cluster = Cluster(master, conf, log)
        check_about(program, about, picked(program.typed, request.emit))
        job = Job(program, sources, request, format, options, output_, cluster, about)
        run_on_spark(job, lambda found, where: _write(with_about(found, program, about, lists=_is_json(where)), where))
        return 0
    request = replace(request, engine=chosen(engine, SPARK))
    paths = paths_of(sources)
    if rules == STDIN and STDIN in paths:
        raise click.UsageError("Rules and events cannot both come from standard input, -; name a file for one of them.")
    folder = folder_of(output, output_format)
    if folder is None:
        _check_writable(output)
    _check_not_read(output, [path for path in paths if path != STDIN], columns)
    program = program_of(rules, keep, functions, param, params)
    check_about(program, about, picked(program.typed, request.emit))
    for note in program.unused_types(sources) if isinstance(sources, dict) else ():
        say(note)
    events_read = with_stdin_read(sources)
    as_json = _is_json(output) if folder is None else folder.format == "jsonl"

    def described(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        return with_about(tables, program, about, lists=as_json)

    with written_early(output, described, request) as early:
        with detecting("Detecting…", program, quiet):
            found, read = program.detect_tables(events_read, request)
        report_bad_rows(read)
        note_nothing_read(program, read, events_read, columns)
        for note in notes_on(program, read, request):
            say(note)
        written = early is not None and early.finish(found)
    found = described(found)
    if folder is not None:
        folder.write(found, [path for path in paths if path != STDIN])
    elif not written:
        _write(found, output)
    if output != STDOUT:
        amounts = ", ".join(f"{table.num_rows} {name}" for name, table in found.items()) or "nothing"
        click.echo(printable(f"found {amounts}; written to {output}"), err=True)
    for rule, count in program.suppressed_by_name(read.suppressed).items():
        if count:
            say(describe_suppressed(rule, count))
    if read.bad_count:
        click.echo(f"{counted(read.bad_count, 'row')} left out", err=True)
    return 0


def _check_writable(output: str) -> None:
    """Rejects an unknown suffix of the output before the work is done, not after it."""
    from ensue.data import DataError
    from ensue.data.write import WRITERS

    if output == STDOUT:
        return
    path = Path(output)
    if path.suffix.lower() not in WRITERS:
        *most, last = WRITERS
        raise DataError(f"{output} does not end in {', '.join(most)} or {last}, so Ensue cannot tell how to write it.")
    if path.is_dir():
        raise DataError(f"{output} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise DataError(f"There is no folder {path.parent} to write {path.name} to.")


def _check_not_read(output: str, paths: Sequence[str], columns: Columns) -> None:
    """Reject an output file that is one of the input files."""
    from ensue.data import DataError
    from ensue.data.files import find_files

    if output == STDOUT or not Path(output).exists():
        return
    if any(found.samefile(output) for path in paths for found in find_files(Path(path), columns.files)):
        raise DataError(f"{output} is one of the files that are read; write to another one.")


def _is_json(output: str) -> bool:
    return output == STDOUT or Path(output).suffix.lower() in JSON_LINES


def _write(found: Mapping[str, pa.Table], output: str) -> None:
    if not _is_json(output):
        from ensue.data import combined, write_events

        write_events(combined(found), output)
        return
    from ensue.data.json_lines import json_lines_by_type

    if output == STDOUT:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # JSON is UTF-8 everywhere
        sys.stdout.writelines(f"{line}\n" for line in json_lines_by_type(found))
    else:
        replace_file(Path(output), (f"{line}\n" for line in json_lines_by_type(found)))
