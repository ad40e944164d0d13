"""`ensue demo NAME`: any data set that comes with the package; and the list of them, and files to go on with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ensue import datasets
from ensue.cli.demo_output import FEW, heading, moment, new_console, print_next, print_rules, print_table

if TYPE_CHECKING:
    from rich.console import Console

TIMES = ("type", "time", "start", "end")


def run_demo(name: str) -> int:
    """Shows the events of a data set, its rules, and all that they find."""
    from ensue.program import compile

    dataset = datasets.dataset(name)
    program = compile(dataset.rules)
    given = dataset.rows()
    found, _ = program.detect_tables(datasets.events(name))
    console = new_console()

    heading(console, dataset.title)
    console.print(dataset.sentence)
    heading(console, f"The events: {len(given)}")
    rows = [[moment(event["time"] if "time" in event else event["end"]), _written(event)] for event in given[:FEW]]
    print_table(console, ["time", "event"], rows, len(given), set())

    heading(console, "The rules")
    print_rules(console, program)

    for type_ in dataset.types:
        _print_found(console, type_, found[type_].to_pylist())
    rest = {type_: table.num_rows for type_, table in found.items() if type_ not in dataset.types}
    if rest:
        console.print()
        steps = ", ".join(f"{count} {type_}" for type_, count in rest.items())
        console.print(f"On the way to these: {steps}", style="dim")

    console.print()
    print_next(console, name)
    return 0


def save(name: str, folder: Path) -> int:
    """Writes the rule file and the events of a data set into a folder."""
    try:
        written = datasets.save(name, folder)
    except FileExistsError as error:
        raise click.ClickException(str(error)) from None
    for file in written:
        click.echo(f"wrote {file}")
    return 0


def print_list() -> int:
    """Prints the name of each data set, and its story in a sentence."""
    console = new_console()
    width = max(map(len, datasets.names()))
    for name in datasets.names():
        console.print(f"{name:{width}}  {datasets.dataset(name).sentence}", soft_wrap=True)
    return 0


def _print_found(console: Console, type_: str, rows: Sequence[Mapping[str, Any]]) -> None:
    heading(console, f"Found: {len(rows)} {type_}")
    if not rows:
        return
    attributes = [column for column in rows[0] if column not in TIMES]
    shown = [[*(_value(row[each]) for each in attributes), _when(row["start"], row["end"])] for row in rows[:FEW]]
    numbers = {each for each in attributes if isinstance(rows[0][each], int | float)}
    print_table(console, [*attributes, "when"], shown, len(rows), numbers)


def _when(start: datetime, end: datetime) -> str:
    """The time of an event; of its end only as much as differs.

    >>> _when(datetime(2026, 3, 2, 7, 5), datetime(2026, 3, 2, 9, 0))
    'Mon 2 Mar 07:05 – 09:00'
    >>> _when(datetime(2026, 3, 2, 7, 5), datetime(2026, 3, 3, 9, 0))
    'Mon 2 Mar 07:05 – Tue 09:00'
    """
    if start == end:
        return moment(end)
    if end.date() == start.date():
        return f"{moment(start)} – {end:%H:%M}"
    return f"{moment(start)} – {f'{end:%a %H:%M}' if end - start < timedelta(days=6) else moment(end)}"


def _value(value: Any) -> str:
    """
    >>> _value(45.0), _value(0.25), _value("tea")
    ('45', '0.25', 'tea')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _written(event: Mapping[str, Any]) -> str:
    """An event as in tests of rules.

    >>> _written({"type": "order", "time": 3, "id": 7, "product": "tea", "gift": True})
    'order(7, "tea", true)'
    """
    values = (_constant(value) for name, value in event.items() if name not in TIMES)
    return f"{event['type']}({', '.join(values)})"


def _constant(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
