"""`ensue demo`: the rules and events that come with the package, and their detections."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ensue import datasets
from ensue.cli.demo_output import (
    FEW,
    command,
    heading,
    length,
    moment,
    new_console,
    print_next,
    print_rules,
    print_table,
)

if TYPE_CHECKING:
    from rich.console import Console


@click.command(short_help="Run rules on a built-in data set.")
@click.argument("name", required=False, type=click.Choice(datasets.names()), metavar="[NAME]")
@click.option("--list", "listed", is_flag=True, help="List the data sets, and do nothing else.")
@click.option(
    "--save",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write the rules and events of a data set to this folder, to change and run them.",
)
@click.option("--spark", is_flag=True, help="Run a stream on Spark, kill it in the middle, and continue it.")
def demo(name: str | None, listed: bool, folder: Path | None, spark: bool) -> int:
    """Runs rules on a built-in data set, and shows what they find.

    NAME is one of those that --list shows. Without it, the data set is two days of orders of a shop: which orders are
    complete, and which are overdue?

    \b
    Example:
      ensue demo
      ensue demo pizza
      ensue demo pizza --save .
      ensue demo --list
      ensue demo --spark
    """
    if listed:
        from ensue.cli.demo_dataset import print_list

        return print_list()
    if spark:
        if name not in (None, "orders") or folder is not None:
            raise click.UsageError("--spark is a demo of its own, of orders; it takes no other name and no --save.")
        from ensue.cli.spark.demo import run_demo

        return run_demo()
    if folder is not None:
        from ensue.cli.demo_dataset import save

        return save(name or "orders", folder)
    if name not in (None, "orders"):
        from ensue.cli.demo_dataset import run_demo as run_dataset

        return run_dataset(name)
    return _orders()


def _orders() -> int:
    from ensue.program import compile

    rules, events = datasets.path("orders.ensue"), datasets.path("orders.jsonl")
    program = compile(rules)
    found, _ = program.detect_tables(str(events))
    rows = {name: table.to_pylist() for name, table in found.items()}
    console = new_console()

    given = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    heading(console, f"The events: {len(given)} of a shop, over two days")
    _print_events(console, given)

    heading(console, "The rules")
    print_rules(console, program)

    heading(console, f"Found: {len(rows['comp'])} completed orders (comp)")
    _print_completed(console, rows["comp"])
    heading(console, f"Found: {len(rows['overdue'])} overdue orders (overdue)")
    _print_overdue(console, rows["overdue"], rows["comp"])
    heading(console, f"Found: {len(rows['rep'])} reports, one for each overdue order (rep)")
    _print_reports(console, rows["rep"])

    heading(console, "More data sets: " + ", ".join(each for each in datasets.names() if each != "orders"))
    click.echo(f"  {command()} demo NAME")

    console.print()
    print_next(console, "orders")
    return 0


def _print_events(console: Console, events: Sequence[dict[str, Any]]) -> None:
    columns = ["type", "time", "id", "product", "qty", "tracking"]
    rows = [[str(event.get(column, "")) for column in columns] for event in events[:FEW]]
    print_table(console, columns, rows, len(events), numbers={"id", "qty"})


def _print_completed(console: Console, completed: Sequence[dict[str, Any]]) -> None:
    rows = [
        [str(order["id"]), order["product"], moment(order["start"]), moment(order["end"]), length(order)]
        for order in completed[:FEW]
    ]
    print_table(console, ["order", "product", "ordered", "shipped", "took"], rows, len(completed), {"order", "took"})


def _print_overdue(console: Console, overdue: Sequence[dict[str, Any]], completed: Iterable[dict[str, Any]]) -> None:
    shipped = {order["id"]: order for order in completed}
    rows = [
        [
            str(order["id"]),
            moment(order["start"]),
            moment(order["end"]),
            moment(shipped[order["id"]]["end"]) if order["id"] in shipped else "not yet",
        ]
        for order in overdue
    ]
    print_table(console, ["order", "ordered", "overdue since", "shipped"], rows, len(overdue), {"order"})


def _print_reports(console: Console, reports: Sequence[dict[str, Any]]) -> None:
    rows = [[moment(report["start"]), moment(report["end"]), str(report["count"])] for report in reports[:FEW]]
    print_table(console, ["from", "to", "parcels that left"], rows, len(reports), {"parcels that left"})
