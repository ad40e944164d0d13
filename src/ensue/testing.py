"""Runs the tests that a rule file holds, on any execution."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa

from ensue import compute as pc
from ensue.data import DataError
from ensue.data.moments import datetime_of
from ensue.data.results import arrow_type
from ensue.errors import DetectError
from ensue.language import syntax, typed
from ensue.language.build import MICROSECONDS
from ensue.language.diagnostics import RuleError
from ensue.language.print import show
from ensue.language.semantics import as_text
from ensue.language.types import is_list, item_of
from ensue.program import Program
from ensue.records import dataclass
from ensue.request import Request


@dataclass(frozen=True)
class Difference:
    """Events of one type that a test expected and did not get, or got and did not expect."""

    event: str
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """Result of a test."""

    test: typed.Test
    differences: tuple[Difference, ...]
    error: str | None = None

    @property
    def passed(self) -> bool:
        return not self.differences and self.error is None


Row = tuple[dict[str, Any], int, int]

_DURATION = r"-?(\d+(\.\d+)?(us|ms|s|m|h|d))+"

Execution = Callable[[Program, dict[str, pa.Table], int | None, list[str]], dict[str, pa.Table]]
"""Finds the events of the wanted types that a program derives from tables by type, up to a time of the engine."""


def moment_as_given(time: int | None, tables: Mapping[str, pa.Table]) -> datetime | int | None:
    """A time of the engine as callers give it with such tables."""
    ends = [table.column("end").type for table in tables.values() if "end" in table.column_names]
    timestamps = any(map(pa.types.is_timestamp, ends))
    return datetime_of(time) if timestamps and time is not None else time


def _detected(request: Request) -> Execution:
    def detect(
        program: Program, tables: dict[str, pa.Table], until: int | None, emit: list[str]
    ) -> dict[str, pa.Table]:
        return program.detect_tables(tables, replace(request, until=moment_as_given(until, tables), emit=emit))[0]

    return detect


EXECUTIONS: dict[str, Execution] = {
    "embedded": _detected(Request()),
    "python": _detected(Request(compiled=False)),
    "machine": _detected(Request(compiled=True)),
    "reference": _detected(Request(engine="reference")),
}
"""The ways to run a test, by name: as `detect` does, as generated code is, as machine code, and by the definitions."""

ALL_EXECUTIONS = ("python", "machine", "reference")
"""Those that differ; ``embedded`` is one of the first two."""


def run_tests(program: Program, execution: Execution = EXECUTIONS["embedded"]) -> Iterator[Outcome]:
    """Runs each test of a program.

    >>> import ensue
    >>> program = ensue.compile('''
    ...     event a(x: int).
    ...     b(x) <- a(x) where x > 1.
    ...     test "large ones" given a(1) @ 1, a(2) @ 2 expect b(2) @ 2.
    ... ''')
    >>> [outcome.passed for outcome in run_tests(program)]
    [True]
    """
    for test in program.typed.tests:
        yield run_test(program, test, execution)


def run_test(program: Program, test: typed.Test, execution: Execution = EXECUTIONS["embedded"]) -> Outcome:
    """Runs one test; a test that cannot be evaluated has failed."""
    try:
        if test.settings:
            program = program.with_params({name: _given(value) for name, value in test.settings.items()})
        found = execution(program, given_tables(program, test), test.until, list(test.expect))
    except (DataError, DetectError, RuleError) as error:
        return Outcome(test, (), str(error))
    differences = []
    for event, expected in test.expect.items():
        got = _rows(found[event])
        missing = []
        for occurrence in expected:
            same = next((row for row in got if _same(row, occurrence)), None)
            if same is None:
                row = (dict(occurrence.attributes), occurrence.start, occurrence.end)
                missing.append(_written(program.typed.events[event], row, test))
            else:
                got.remove(same)
        if missing or got:
            unexpected = tuple(_written(program.typed.events[event], row, test) for row in got)
            differences.append(Difference(event, tuple(missing), unexpected))
    return Outcome(test, tuple(differences))


def _given(value: syntax.Expression) -> Any:
    """A value of a parameter as a test states it."""
    return value.value if isinstance(value, syntax.Literal) else show(value)


def given_tables(program: Program, test: typed.Test) -> dict[str, pa.Table]:
    """The events of a test as tables by type, as any execution takes them."""
    tables = {}
    when = pa.timestamp("us", tz="UTC") if test.timestamps else pa.int64()
    for event in dict.fromkeys(occurrence.event for occurrence in test.given):
        rows = [occurrence for occurrence in test.given if occurrence.event == event]
        columns: dict[str, pa.Array] = {
            "start": pa.array([row.start for row in rows], pa.int64()).cast(when),
            "end": pa.array([row.end for row in rows], pa.int64()).cast(when),
        }
        for name, type_ in program.typed.events[event].attributes.items():
            values = [row.attributes.get(name) for row in rows]
            arrow = arrow_type(type_, test.timestamps, "UTC")
            try:
                columns[name] = pa.array(values) if arrow is None else pa.array(values, arrow)
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                raise DataError(
                    f"The test {test.title!r} gives `{name}` of `{event}` values of several types. Declare the event, "
                    f"as in `event {event}({name}: string).`, or give them in tests of their own."
                ) from None
        tables[event] = pa.table(columns)
    return tables


def _rows(table: pa.Table) -> list[Row]:
    columns: Mapping[str, list[Any]] = {
        name: _integers(column).to_pylist() for name, column in zip(table.column_names, table.columns, strict=True)
    }
    rows = []
    for i in range(table.num_rows):
        attributes = {name: values[i] for name, values in columns.items() if name not in ("start", "end")}
        rows.append((attributes, columns["start"][i], columns["end"][i]))
    return rows


def _integers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(column, pa.int64()) if pa.types.is_timestamp(column.type) else column


def _same(row: Row, expected: typed.Occurrence) -> bool:
    attributes, start, end = row
    return (start, end) == (expected.start, expected.end) and all(
        _equal(value, expected.attributes.get(name)) for name, value in attributes.items()
    )


def _equal(got: Any, expected: Any) -> bool:
    """The same value; floats to a relative 1e-9."""
    if isinstance(got, list | tuple) and isinstance(expected, list | tuple):
        return len(got) == len(expected) and all(_equal(g, e) for g, e in zip(got, expected, strict=True))
    if isinstance(got, bool) or isinstance(expected, bool) or got is None or expected is None:
        return got is expected
    if isinstance(got, float) or isinstance(expected, float):
        if isinstance(got, str) or isinstance(expected, str):
            return False
        return math.isclose(got, expected, rel_tol=1e-9) or (math.isnan(got) and math.isnan(expected))
    return bool(got == expected)


def _written(event: typed.EventType, row: Row, test: typed.Test) -> str:
    """An event as a rule file writes it."""
    attributes, start, end = row
    terms = ", ".join(_term(attributes.get(n), t, test) for n, t in event.attributes.items())
    times = [_term(time, "time", test) for time in (start, end)]
    when = times[0] if start == end else f"[{', '.join(times)}]"
    return f"{event.name}({terms}) @ {when}"


def _term(value: Any, type_: str, test: typed.Test) -> str:
    if isinstance(value, int) and type_ == "time":
        return _time(value, test)
    if isinstance(value, int) and type_ == "timestamp":
        value = as_text(value, timestamp=True)
    if isinstance(value, list | tuple):
        inner = item_of(type_) if is_list(type_) else "any"
        return f"[{', '.join(_term(item, inner, test) for item in value)}]"
    return show(syntax.Literal(value))


def _time(value: int, test: typed.Test) -> str:
    """A time as the test writes it, or in the way in which it writes its other times."""
    if value in test.points:
        return test.points[value]
    units = [re.findall(r"us|ms|s|m|h|d", text) for text in test.points.values() if re.fullmatch(_DURATION, text)]
    if units and (test.timestamps or test.unit is not None):
        return _duration(value * (1 if test.unit is None else MICROSECONDS[test.unit]), units)
    return show(syntax.Literal(as_text(value, timestamp=True) if test.timestamps else value))


def _duration(microseconds: int, units: Sequence[Sequence[str]]) -> str:
    """A duration in the one unit that others are written in, where it is a whole number of it.

    >>> _duration(302_000_000, [["s"]]), _duration(302_000_000, [["m"], ["h"]])
    ('302s', '5m2s')
    """
    used = {unit for each in units for unit in each}
    if len(used) == 1:
        (unit,) = used
        count, rest = divmod(microseconds, MICROSECONDS[unit])
        if not rest:
            return f"{count}{unit}"
    return show(syntax.Amount(microseconds, timed=True))
