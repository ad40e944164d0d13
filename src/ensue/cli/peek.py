"""`ensue peek`: describes files of events, as a rule file to start from."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ensue.cli.bad_rows import STDIN_IS_JSON
from ensue.cli.output import json_option, print_json, say
from ensue.cli.progress import progress
from ensue.cli.reading import reading_options
from ensue.cli.rules import STDIN
from ensue.cli.sources import event_sources, with_stdin_read

if TYPE_CHECKING:
    from ensue.data.columns import Columns
    from ensue.data.guess_times import TimeGuess
    from ensue.data.peek import EventKind, Peeked

MOST_TYPES_SHOWN = 20

_UNWRITABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that end a line, that a terminal obeys, or that no file can hold."""


@click.command(short_help="Look at files of events, and write declarations.")
@click.argument("events", nargs=-1, required=True)
@reading_options
@json_option
def peek(events: tuple[str, ...], columns: Columns, as_json: bool) -> int:
    """Shows what is in EVENTS: the columns and their types, the times, and how many events of each type there are.

    The output is a rule file to start from. Its comments show what was found, and the command that reads the files.
    Then come the declarations of the events. If a guess is wrong, correct it with an option.

    \b
    Example:
      ensue peek events.csv.gz
      ensue peek '2026-*.jsonl' --type action > shop.ensue
      ensue peek auth.log --year 2026 \\
        --lines '(?P<time>\\w+ +\\d+ \\S+) (?P<host>\\S+) (?P<program>\\w+).*?: (?P<text>.*)'
    """
    from ensue.data.peek import peek as look

    sources = event_sources(events)
    by_type = sources if isinstance(sources, dict) else {None: sources}
    read = with_stdin_read(sources)
    with progress("Reading…"):
        found = {
            name: look(read[name] if isinstance(read, dict) else read, columns, name)  # type: ignore[index]
            for name in by_type
        }
    if not any(peeked.rows or peeked.malformed for peeked in found.values()):
        say(f"There is nothing in {', '.join(path for paths in by_type.values() for path in paths)}.")
        return 1
    if any(STDIN in paths and not found[name].rows and found[name].malformed for name, paths in by_type.items()):
        say(STDIN_IS_JSON)
    if not isinstance(sources, dict):
        apart = _apart(sources, found[None], columns)
        if apart is not None:
            say(f"The files have different columns. If each has events of one type, name the types: ensue peek {apart}")
    if as_json:
        print_json([_plain(name, peeked, by_type[name], columns) for name, peeked in found.items()])  # type: ignore[index]
        return 0
    for name, peeked in found.items():
        paths = by_type[name]  # type: ignore[index]
        only = _only(name, peeked, paths)
        for line in _described(peeked, paths, columns, only):
            click.echo(line.rstrip())
    return 0


def _plain(name: str | None, peeked: Peeked, paths: Sequence[str], columns: Columns) -> dict[str, Any]:
    """Findings as plain data for other programs, with the arguments of `ensue run`."""
    only = _only(name, peeked, paths)
    return {"paths": list(paths), "only": only, **asdict(peeked), "run": _arguments(peeked, paths, columns, only)}


def _apart(paths: Sequence[str], peeked: Peeked, columns: Columns) -> str | None:
    """The files with a type for each, where there is no column of types and their columns differ."""
    from ensue.data.peek import peek as look

    if len(paths) < 2 or STDIN in paths or peeked.type is not None:
        return None
    if all(column.filled == peeked.rows for column in peeked.columns):
        return None
    looks = [look(path, columns) for path in paths]
    if len({frozenset(column.name for column in each.columns) for each in looks}) == 1:
        return None
    named = [f"{_only(None, each, [path])}={path}" for path, each in zip(paths, looks, strict=True)]
    return " ".join(map(_quoted, named))


def _only(name: str | None, peeked: Peeked, paths: Sequence[str]) -> str | None:
    """The type of all events: as it is given, or else, without a column of types, the name of their file."""
    if name is not None or peeked.type is not None:
        return name
    stem = paths[0].rstrip("/").rpartition("/")[2].split(".")[0]
    plain = "".join(sign if sign.isalnum() else "_" for sign in stem).strip("_")
    return plain if plain and not plain[0].isdigit() else "row"


def _described(peeked: Peeked, paths: Sequence[str], columns: Columns, only: str | None) -> Iterator[str]:
    """The lines of the rule file. Names and values come from data, so each comment is made one line."""
    yield from map(_comment, _comments(peeked, paths, columns, only))
    yield ""
    for event in peeked.events:
        yield from _declaration(event, only or event.name, _taken(peeked))


def _comment(text: str) -> str:
    """A comment of one line: characters that would end it, or that a terminal obeys, are escaped."""
    return f"# {''.join(_escaped(sign) if unicodedata.category(sign) in _UNWRITABLE else sign for sign in text)}"


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode()


def _comments(peeked: Peeked, paths: Sequence[str], columns: Columns, only: str | None) -> Iterator[str]:
    yield f"{', '.join(paths)}: {peeked.rows:,} row{'' if peeked.rows == 1 else 's'}" + (
        f", and {peeked.malformed:,} that cannot be read" if peeked.malformed else ""
    )
    yield ""
    width = max((len(column.name) for column in peeked.columns), default=0)
    for column in peeked.columns:
        share = f"{100 * column.filled // max(peeked.rows, 1)} %"
        examples = ", ".join(column.examples).replace("\n", " ")
        yield f"  {column.name:{width}}  {column.kind or 'nested':9}  {share:>5}  {examples}"
    yield ""
    yield from _describe_times(peeked.times)
    if only is None:
        yield f"Types of events are in {peeked.type}:"
        for event in peeked.events[:MOST_TYPES_SHOWN]:
            yield f"  {event.count:>9,}  {event.name}"
        if len(peeked.events) > MOST_TYPES_SHOWN:
            yield f"  and {len(peeked.events) - MOST_TYPES_SHOWN} more"
    else:
        yield f"There is no column of types, so all events are {only}. Name one with --type, if there is."
    yield ""
    yield f"ensue run RULES {_arguments(peeked, paths, columns, only)}"


def _describe_times(times: TimeGuess | None) -> Iterator[str]:
    if times is None:
        yield "No column looks like times; name the one that holds them with --time."
        return
    ranged = f", from {times.range[0]} to {times.range[1]}" if times.range is not None else ""
    yield f"Times are in {times.column}{f' and {times.end}' if times.end else ''}{ranged}."
    if not times.timestamps:
        yield "They are plain integers: write `unit s.` in the rules, or give --time-unit ms if they count from 1970."
    if times.others:
        yield f"They may be of another format, too: {', '.join(times.others)}. Which is it?"
    if times.year is not None:
        yield f"They have no year; {times.year} is only a guess."


def _arguments(peeked: Peeked, paths: Sequence[str], columns: Columns, only: str | None) -> str:
    """The arguments of the command that reads these events."""
    named = [path if only is None else f"{only}={path}" for path in paths]
    times, files = peeked.times, columns.files
    year = columns.times.year or (None if times is None else times.year)
    options = {
        "--time": times.column if times and times.end is None and times.column != "time" else None,
        "--start": times.column if times and times.end is not None and times.column != "start" else None,
        "--end": times.end if times and times.end not in (None, "end") else None,
        "--type": peeked.type if peeked.type not in (None, "type") else None,
        "--time-unit": times.unit if times else None,
        "--time-format": times.format if times else None,
        "--timezone": columns.times.timezone,
        "--year": None if year is None else str(year),
        "--lines": files.lines,
        "--separator": files.separator,
        "--file-name": files.file_name,
    }
    words = [*named, *(word for option, value in options.items() if value is not None for word in (option, value))]
    words += [word for name, column in columns.renamed for word in ("--column", f"{name}={column}")]
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """A word as a shell reads it; with escapes for characters that a comment cannot hold."""
    if not any(unicodedata.category(sign) in _UNWRITABLE for sign in word):
        return shlex.quote(word)
    signs = (f"\\{sign}" if sign in "\\'" else sign for sign in word)
    return f"$'{''.join(signs)}'"


def _taken(peeked: Peeked) -> set[str]:
    """The reserved columns that hold the times and types of events, and so are no attributes."""
    times = peeked.times
    taken = {peeked.type, *(() if times is None else (times.column, times.end))} - {None}
    return {"start", "end", "time", "type"} if {"start", "end"} <= taken else set(map(str, taken))


def _declaration(event: EventKind, name: str, taken: Collection[str] = ()) -> Iterator[str]:
    """The statement that declares a type of events; a comment where there can be none."""
    from ensue.data.columns import USUAL
    from ensue.language.print import show
    from ensue.language.syntax import Column, EventDeclaration, Name
    from ensue.program import check_rules

    if not _writable(name):
        yield _comment(f"The type {name} is left out: a name of rules cannot hold these characters.")
        return
    own = {a: kind for a, kind in event.attributes.items() if a not in USUAL}
    for attribute in event.attributes:
        if attribute in USUAL and attribute not in taken:
            yield _comment(
                f"The column {attribute} is left out: the name is reserved for {_meaning(attribute)}. To use the "
                f"column, give it another name: --column my_{attribute}={attribute}."
            )
    for attribute in own:
        if not _writable(attribute):
            yield _comment(f"The column {attribute} is left out: a name of rules cannot hold these characters.")
    columns = tuple(Column(Name(attribute), Name(kind)) for attribute, kind in own.items() if _writable(attribute))
    text = show(EventDeclaration(Name(name), columns, False))
    wrong = any(d.severity.name == "ERROR" for d in check_rules(text))
    yield _comment(f"{text}  (its name stands for something else)") if wrong else text


def _meaning(reserved: str) -> str:
    return "the type of an event" if reserved == "type" else "times of events"


def _writable(name: str) -> bool:
    """True for a name that rules can have, in backticks if need be."""
    return bool(name) and "`" not in name and not any(unicodedata.category(sign) in _UNWRITABLE for sign in name)
