"""Results as tables: on the terminal, as Markdown for the documents, and as JSON with everything that was measured.

Benchmarks that were not run keep their results of last time.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.streams import DATA

JSON, MARKDOWN = DATA / "results.json", DATA / "results.md"
PACKAGES = ("ensue", "llvmlite", "numpy", "pyarrow", "duckdb", "polars", "pyspark")
NONE = "–"


@dataclass(frozen=True)
class Table:
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """Result of a benchmark; `wrong` are the wrong answers, which no speed excuses."""

    name: str
    tables: tuple[Table, ...]
    measured: Any
    wrong: tuple[str, ...] = field(default=())


def publish(result: Result, console: Console) -> None:
    """Prints a result, and writes it with those of the other benchmarks."""
    for table in result.tables:
        console.print(_rich(table))
        for note in table.notes:
            console.print(note, style="dim", highlight=False, markup=False)
        console.print()
    for wrong in result.wrong:
        console.print(f"WRONG: {wrong}", style="bold red", highlight=False, markup=False)
    kept = json.loads(JSON.read_text(encoding="utf-8")) if JSON.exists() else {}
    kept[result.name] = {"machine": machine(), **asdict(result)}
    DATA.mkdir(exist_ok=True)
    JSON.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    tables = [_table(table) for found in kept.values() for table in found["tables"]]
    MARKDOWN.write_text("\n".join(map(markdown, tables)), encoding="utf-8")


def markdown(table: Table) -> str:
    """The table as Markdown, its title as a sentence before it.

    >>> print(markdown(Table("Sizes", ("what", "MB"), (("a|b", "3"),), ("In all.",))))
    **Sizes**
    <BLANKLINE>
    | what | MB |
    | --- | ---: |
    | a\\|b | 3 |
    <BLANKLINE>
    In all.
    <BLANKLINE>
    """
    rule = ("---", *("---:" for _ in table.header[1:]))
    lines = [_line(row) for row in (table.header, rule, *table.rows)]
    notes = [f"\n{note}" for note in table.notes]
    return "\n".join([f"**{table.title}**\n", *lines, *notes, ""])


def thousands(count: float | None) -> str:
    """A number with commas, and with a decimal where it is small.

    >>> thousands(1234567.8), thousands(4.25), thousands(None)
    ('1,234,568', '4.2', '–')
    """
    if count is None:
        return NONE
    return f"{count:,.0f}" if count >= 10 else f"{count:.1f}"


def times(one: float | None, other: float | None, digits: int = 1) -> str:
    """Ratio of one to the other, as text.

    >>> times(10, 4), times(None, 4)
    ('2.5', '–')
    """
    return NONE if one is None or not other else f"{one / other:.{digits}f}"


def seconds(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def machine() -> dict[str, str]:
    """Description of the machine, as far as figures depend on it."""
    return {"python": platform.python_version(), "system": platform.platform(), "cpu": _cpu()} | {
        name: found for name in PACKAGES if (found := _version(name))
    }


def _cpu() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _table(kept: dict[str, Any]) -> Table:
    return Table(kept["title"], tuple(kept["header"]), tuple(map(tuple, kept["rows"])), tuple(kept["notes"]))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _rich(table: Table) -> RichTable:
    shown = RichTable(title=table.title, title_justify="left")
    for index, name in enumerate(table.header):
        shown.add_column(name, justify="right" if index else "left")
    for row in table.rows:
        shown.add_row(*row)
    return shown
