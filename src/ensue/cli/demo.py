"""`ensue demo`: the rules and events that come with the package, and what is found."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from ensue.program import Program

FEW = 7


@click.command(short_help="Show what ensue does, on events that come with it.")
@click.option("--spark", is_flag=True, help="As a stream on Spark, which is killed in the middle and goes on.")
def demo(spark: bool) -> int:
    """Runs rules for a shop's orders on two days of events: which orders are complete, and which overdue?

    \b
    Example:
      ensue demo
      ensue demo --spark
    """
    if spark:
        from ensue.cli.spark.demo import run_demo

        return run_demo()
    from ensue import datasets
    from ensue.program import compile

    rules, events = datasets.path("orders.ensue"), datasets.path("orders.jsonl")
    program = compile(rules)
    found, _ = program.detect_tables(str(events))
    rows = {name: table.to_pylist() for name, table in found.items()}
    console = _console()

    given = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    _heading(console, f"The events: {len(given)} of a shop, over two days")
    _print_events(console, given)

    _heading(console, "The rules")
    _print_rules(console, program)

    _heading(console, f"Found: {len(rows['comp'])} completed orders (comp)")
    _print_completed(console, rows["comp"])
    _heading(console, f"Found: {len(rows['overdue'])} overdue orders (overdue)")
    _print_overdue(console, rows["overdue"], rows["comp"])
    _heading(console, f"Found: {len(rows['rep'])} reports, one for each overdue order (rep)")
    _print_reports(console, rows["rep"])

    console.print()
    console.print("Now you: copy the rules, change them, and run", style="bold")
    click.echo("  " + shlex.join([_command(), "run", _from_here(rules), _from_here(events)]))
    return 0


def _command() -> str:
    """How this command can be called again from here."""
    return "ensue" if shutil.which("ensue") else _from_here(Path(sys.argv[0]))


def _from_here(path: Path) -> str:
    """A path as short as it can be written here."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _console() -> Console:
    from rich.console import Console

    class _Console(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # which every command answers in the same way

    return _Console(highlight=False)


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold")


def _print_events(console: Console, events: Sequence[dict[str, Any]]) -> None:
    columns = ["type", "time", "id", "product", "qty", "tracking"]
    rows = [[str(event.get(column, "")) for column in columns] for event in events[:FEW]]
    _print_table(console, columns, rows, len(events), numbers={"id", "qty"})


def _print_rules(console: Console, program: Program) -> None:
    """The rule file without its tests."""
    from rich.text import Text

    from ensue.language.syntax import Test

    text = program.file.source.text
    tests = [statement for statement in program.file.statements if isinstance(statement, Test)]
    lines = text[: tests[0].span.start].splitlines() if tests else text.splitlines()
    while lines and (not lines[-1] or lines[-1].startswith("#")):
        lines.pop()
    for line in lines:
        style = "dim" if line.startswith("#") else "cyan"
        for part in _broken(line, console.width - 2):
            console.print(Text(f"  {part}" if part else "", style=style), soft_wrap=True)


def _broken(line: str, width: int) -> list[str]:
    """A line of rules in parts that fit, broken between the items of a body.

    >>> _broken("late(id) <- o: order(id, p), w: extend(o, 6h).", 35)
    ['late(id) <- o: order(id, p),', '    w: extend(o, 6h).']
    """
    if line.startswith("#"):
        return wrap(line, width, subsequent_indent="# ")
    held = re.sub(r"\([^()]*\)", lambda match: match[0].replace(" ", "\0"), line)
    held = re.sub(r"(?<!,)(?<!<-) ", "\0", held)
    parts = wrap(held, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [part.replace("\0", " ") for part in parts] or [""]


def _print_completed(console: Console, completed: Sequence[dict[str, Any]]) -> None:
    rows = [
        [str(order["id"]), order["product"], _moment(order["start"]), _moment(order["end"]), _length(order)]
        for order in completed[:FEW]
    ]
    _print_table(console, ["order", "product", "ordered", "shipped", "took"], rows, len(completed), {"order", "took"})


def _print_overdue(console: Console, overdue: Sequence[dict[str, Any]], completed: Iterable[dict[str, Any]]) -> None:
    shipped = {order["id"]: order for order in completed}
    rows = [
        [
            str(order["id"]),
            _moment(order["start"]),
            _moment(order["end"]),
            _moment(shipped[order["id"]]["end"]) if order["id"] in shipped else "not yet",
        ]
        for order in overdue
    ]
    _print_table(console, ["order", "ordered", "overdue since", "shipped"], rows, len(overdue), {"order"})


def _print_reports(console: Console, reports: Sequence[dict[str, Any]]) -> None:
    rows = [[_moment(report["start"]), _moment(report["end"]), str(report["count"])] for report in reports[:FEW]]
    _print_table(console, ["from", "to", "parcels that left"], rows, len(reports), {"parcels that left"})


def _print_table(
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


def _moment(time: datetime) -> str:
    """
    >>> _moment(datetime(2026, 3, 2, 7, 5))
    'Mon 2 Mar 07:05'
    """
    return f"{time:%a} {time.day} {time:%b} {time:%H:%M}"


def _length(event: dict[str, Any]) -> str:
    """
    >>> _length({"start": datetime(2026, 3, 2, 7, 5), "end": datetime(2026, 3, 2, 9, 0)})
    '1 h 55 min'
    """
    minutes = (event["end"] - event["start"]) // timedelta(minutes=1)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
