"""Rules that run alone derive, taken together, the same as the program: on every case."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pytest

import ensue
from ensue.backtesting.alone import Material, alone
from ensue.detection import read_events_for
from ensue.engine.tables import detect_tables
from ensue.program import Program
from ensue.request import Request
from ensue.testing import run_tests

ROOT = Path(__file__).parent.parent.parent
CASES = sorted(chain((ROOT / "tests" / "cases").rglob("*.ensue"), (ROOT / "docs" / "cookbook").rglob("*.ensue")))[::7]


def by_rules(program: Program, tables: dict[str, pa.Table], until: int | None, emit: list[str]) -> dict[str, pa.Table]:
    """Runs each rule alone, and combines the events of rules of one type."""
    timed = any(pa.types.is_timestamp(table.schema.field("end").type) for table in tables.values())
    last = datetime.fromtimestamp(until / 1e6, UTC) if timed and until is not None else until
    known, read, moment = read_events_for(program, tables, Request(until=last))
    names = [name for name, event in known.events.items() if event.derived]
    rows = program.rows_of_tables(None)
    material = Material(known, read, detect_tables(known, read, moment, rows, names), moment, rows)
    found: dict[str, list[pa.Table]] = {name: [] for name in emit}
    for number, rule in enumerate(known.rules):
        made = alone(material, number, lambda: 0.0).found
        if rule.event in found:
            found[rule.event].append(made)
    for name, made in found.items():
        if not made:
            found[name] = [material.derived[name]]
    return {name: _together(made, known.events[name].each) for name, made in found.items()}


def _together(tables: list[pa.Table], each: bool) -> pa.Table:
    table = pa.concat_tables(tables, promote_options="permissive")
    if each or len(tables) == 1:
        return table
    seen: dict[str, int] = {}
    for number, row in enumerate(table.to_pylist()):
        seen.setdefault(repr(row), number)
    return table.take(pa.array(seen.values(), pa.int64()))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_rules_alone_are_the_program(path: Path) -> None:
    for outcome in run_tests(ensue.compile(path), by_rules):
        assert outcome.passed, (outcome.test.title, outcome.differences, outcome.error)
