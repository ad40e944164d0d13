"""Printing of demos: headings, rules without their tests, tables with the number of rows that were left out."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from ensue.program import Program

FEW = 7
"""Rows of a table that has many."""


def command() -> str:
    """Name or path by which this command can be called again from here."""
    return "ensue" if shutil.which("ensue") else from_here(Path(sys.argv[0]))


def from_here(path: Path) -> str:
    """A path as short as it can be written here."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def print_next(console: Console, name: str) -> None:
    """Prints the commands that take over the rules and events of a data set."""
    console.print("Now you: save the rules and the events, change them, and run them", style="bold")
    for words in (
        ["demo", name, "--save", "."],
        ["run", f"{name}.ensue", f"{name}.jsonl"],
        ["view", f"{name}.ensue", f"{name}.jsonl", "--open"],
    ):
        click.echo("  " + shlex.join([command(), *words]))


def new_console() -> Console:
    from rich.console import Console

    class _Console(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # which every command answers in the same way

    return _Console(highlight=False)


def heading(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold")


def print_rules(console: Console, program: Program) -> None:
    """The rule file without its tests."""
    from rich.text import Text

    from ensue.language.syntax import Test

    text = program.file.source.text
    tests = [statement for statement in program.file.statements if isinstance(statement, Test)]
    lines = text[: tests[0].span.start].splitlines() if tests else text.splitlines()
    while lines and (not lines[-1] or lines[-1].startswith("#")):
        lines.pop()
    for line in with_whole_comments(lines):
        style = "dim" if line.startswith("#") else "cyan"
        for part in broken(line, console.width - 2):
            console.print(Text(f"  {part}" if part else "", style=style), soft_wrap=True)


def with_whole_comments(lines: Iterable[str]) -> Iterator[str]:
    """Lines of rules, with each comment of several lines as one.

    >>> list(with_whole_comments(["# An order is overdue if", "# nobody ships it.", "overdue(id) <- ...."]))
    ['# An order is overdue if nobody ships it.', 'overdue(id) <- ....']
    """
    for is_comment, group in groupby(lines, key=lambda line: line.startswith("#")):
        if is_comment:
            yield " ".join(["#", *(line.removeprefix("#").strip() for line in group)])
        else:
            yield from group


def broken(line: str, width: int) -> list[str]:
    """A line of rules in parts that fit, broken between the items of a body.

    >>> broken("late(id) <- o: order(id, p), w: extend(o, 6h).", 35)
    ['late(id) <- o: order(id, p),', '    w: extend(o, 6h).']
    """
    if line.startswith("#"):
        return wrap(line, width, subsequent_indent="# ")
    held = re.sub(r"\([^()]*\)", lambda match: match[0].replace(" ", "\0"), line)
    held = re.sub(r"(?<!,)(?<!<-) ", "\0", held)
    parts = wrap(held, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    fitting = [short for part in parts for short in (_cut(part, width) if len(part) > width else [part])]
    return [part.replace("\0", " ") for part in fitting] or [""]


def _cut(part: str, width: int) -> list[str]:
    """An item of a body that is too long, broken between its words."""
    words = part.replace("\0", " ")
    indent = " " * (len(words) - len(words.lstrip()) + 4)
    return wrap(words, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def print_table(
    console: Console, columns: Sequence[str], rows: Iterable[Sequence[str]], total: int, numbers: set[str]
) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    if total > table.row_count:
        console.print(f"… and {total - table.row_count} more", style="dim")


def moment(time: datetime) -> str:
    """
    >>> moment(datetime(2026, 3, 2, 7, 5))
    'Mon 2 Mar 07:05'
    """
    return f"{time:%a} {time.day} {time:%b} {time:%H:%M}"


def length(event: dict[str, Any]) -> str:
    """
    >>> length({"start": datetime(2026, 3, 2, 7, 5), "end": datetime(2026, 3, 2, 9, 0)})
    '1 h 55 min'
    """
    minutes = (event["end"] - event["start"]) // timedelta(minutes=1)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
