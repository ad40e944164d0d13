"""Write docs/options.md from the commands and functions themselves: `python -m tests.options_page`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from pathlib import Path

import click

import ensue
from ensue.cli.commands import ensue as group
from ensue.cli.reading import NAMES

PAGE = Path(__file__).parents[1] / "docs" / "options.md"

FUNCTIONS = {
    "compile": ensue.compile,
    "detect": ensue.Program.detect,
    "start": ensue.Program.start,
    "explain": ensue.Program.explain,
    "timeline": ensue.timeline,
    "why": ensue.why,
    "backtest": ensue.backtest,
}

ARGUMENTS = {
    "rules": "the rules: a text, or the path of a file",
    "program": "the result of `compile`",
    "name": "the name of the rules in messages",
    "functions": "Python functions that the rules call, by name",
    "params": "values of [parameters](language.md#parameters), by name",
    "events": "the events: frames, tables, files, dicts, or a dict of these by type ([reading data](data.md))",
    "detection": "the row to explain, from the result of `detect`",
    "until": "the end of time, if it is not the last end among the events",
    "time": "the column of the time",
    "start": "the column of the start",
    "end": "the column of the end",
    "type": "the column of the type; for `why` the type to explain",
    "sequence": "a column that orders events with the same time",
    "time_unit": "the unit of numbers since 1970: `s`, `ms`, `us`, `ns`",
    "time_format": 'the format of times as text, such as `"%d/%b/%Y:%H:%M:%S %z"`',
    "timezone": "the zone of times that have none",
    "year": "the year of times that have none",
    "columns": "columns by the names that rules have for them",
    "lines": "a regular expression with named groups, for lines of text",
    "separator": "the sign between fields of a file",
    "file_name": "a pattern that takes columns from the names of files",
    "reading": "the arguments above for reading events, as a dict",
    "tables": "rows of [static tables](language.md#static-knowledge), by name",
    "emit": "the derived types to return; all if not given",
    "by_type": "return a dict of results by type",
    "strict": "raise an error for the first bad row",
    "on_bad_row": "is called with each [bad row](data.md#bad-rows), instead of a warning",
    "on_late": "is called with each event that came too late, instead of a warning",
    "on_suppressed": "is called with the number of events that `once` and `at most` dropped, by rule",
    "actions": "functions that [reactions](sessions.md#reactions) call, by name",
    "in_order": "return detections in the order of their ends",
    "lateness": "how late events may come ([sessions](sessions.md#lateness), [streams](streams.md#time))",
    "keep": "the [longest lifetime](language.md#a-longest-lifetime) of events",
    "max_ahead": "how far ahead of the wall clock an event may end",
    "max_matches": "the largest number of events of a type that are derived at once",
    "max_state": 'the largest state of a rule: bytes, or text such as `"2GB"`',
    "provenance": "add `sources`: the rows that a detection came from",
    "engine": '`"embedded"`, or `"reference"` for the definitions',
    "compiled": "True for machine code, False for Python, None for what suits the number of events",
    "threads": "the number of threads",
    "slices": "on Spark: the number of slices of time",
    "buckets": "on Spark: the number of partitions of keys",
    "heartbeat": "on Spark streams: how often the wall clock moves time while no event comes",
    "rejected": "on Spark: return late and bad rows with the reason",
    "suppressed": "on Spark: return the number of dropped events",
    "intervals": "assume events with a start and an end",
    "detections": "the result of `detect(…, provenance=True)`, if you have it",
    "title": "the title of the page",
    "lanes": '`"type"`, or the attribute whose values are the lanes',
    "window": "the first and the last moment to show",
    "only": "values of attributes to show",
    "most": "the largest number of events and detections to show",
    "at": "the time at which the event to explain ends",
    "key": "for `why` attributes as a dict; for `backtest` the attribute whose most frequent values are shown",
    "limit": "the largest number of answers",
    "attributes": "values of attributes of the event to explain",
    "against": "the rules to compare with",
    "by": '`"hour"`, `"day"`, `"week"`, a length, or a number of units',
    "samples": "the number of detections to show for each rule",
    "measure": "measure time and memory of each rule",
}

HEAD = """\
# All options

All commands with their options, and all arguments of the functions. The page is made from the program itself.

- [Commands](#commands): {commands}
- [Options for reading events](#options-for-reading-events)
- [Arguments in Python](#arguments-in-python)

## Commands

`ensue --version` shows the version, and `ensue COMMAND --help` shows the options below with examples.
"""


def commands() -> dict[str, click.Command]:
    """The commands by name."""
    context = click.Context(group)
    return {name: group.get_command(context, name) for name in group.list_commands(context)}


def page() -> str:
    """The whole page."""
    parts = [HEAD.format(commands=", ".join(f"[{name}](#ensue-{name})" for name in commands()))]
    parts.extend(_command(name, command) for name, command in commands().items())
    parts += [_reading(commands()["run"]), _arguments()]
    return "\n".join(parts)


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"ensue {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    options = [option for option in command.params if isinstance(option, click.Option)]
    own = [option for option in options if option.name not in NAMES]
    reading = "" if own == options else " It also has the [options for reading events](#options-for-reading-events)."
    about = _text(command.get_short_help_str(200)) + reading
    return f"### ensue {name}\n\n`ensue {name} {usage}`\n\n{about}\n\n{_table(own, context)}\n"


def _reading(command: click.Command) -> str:
    """The options that all commands with events have, once for all of them."""
    options = [option for option in command.params if isinstance(option, click.Option) and option.name in NAMES]
    about = "All commands that read events have these ([reading data](data.md))."
    return f"## Options for reading events\n\n{about}\n\n{_table(options, click.Context(command))}\n"


def _table(options: Sequence[click.Option], context: click.Context) -> str:
    rows = [row for option in options if (row := _option(option, context))]
    return "\n".join(["| option | meaning |", "| --- | --- |", *rows])


def _option(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    if record is None:
        return ""
    names, words = record
    return f"| `{names.replace('|', ' or ')}` | {_text(words)} |"


def _text(words: str) -> str:
    """Words of the command line as Markdown."""
    words = re.sub(r"\s+", " ", words).strip()
    words = re.sub(r" *\[x>=[\d.]+\]|; x>=[\d.]+(?=\])", "", words)  # what click adds for ranges
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return re.sub(r"([\\`*_\[\]])", r"\\\1", words)


def taken() -> dict[str, list[str]]:
    """The functions that take each argument, in the order of the page."""
    found: dict[str, list[str]] = {name: [] for name in ARGUMENTS}
    for name, function in FUNCTIONS.items():
        for argument in inspect.signature(function).parameters:
            if argument != "self":
                found.setdefault(argument, []).append(name)
    return found


def _arguments() -> str:
    rows = ["| argument | of | meaning |", "| --- | --- | --- |"]
    for argument, functions in taken().items():
        shown = ", ".join(f"`{name}`" for name in functions)
        rows.append(f"| `{argument}` | {shown} | {ARGUMENTS[argument]} |")
    table = "\n".join(rows)
    return (
        "## Arguments in Python\n\n"
        "`compile` gives a program; `detect`, `start` and `explain` are its methods, the others functions of `ensue`. "
        "`help(ensue.Program.detect)` has more.\n\n"
        f"{table}\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
