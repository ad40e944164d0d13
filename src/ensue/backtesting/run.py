"""Run a backtest: rules on events of the past, each alone, and beside other rules."""

from __future__ import annotations

import time as clocks
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

from ensue.backtesting.alone import Alone, Material, alone
from ensue.backtesting.buckets import Buckets, buckets
from ensue.backtesting.compare import compare, sampled
from ensue.backtesting.forms import Backtest
from ensue.backtesting.keys import check_key, keys_of
from ensue.backtesting.result import RuleResult, TypeChange
from ensue.data import Events
from ensue.data.columns import columns_of
from ensue.data.results import picked
from ensue.detection import read_events_for
from ensue.engine.limits import limiting
from ensue.engine.tables import detect_tables
from ensue.explain.explained import Observed
from ensue.explain.observe import are_instants, observe
from ensue.language.calendar import local
from ensue.program import Program, compile
from ensue.request import Request
from ensue.rewriting.rates import rates_of

Clock = Callable[[], float]
Step = Callable[[str], object]
"""Called with a short description of each step before it begins."""


def backtest(
    rules: Program | str | Path,
    events: Any,
    until: int | str | date | None = None,
    *,
    against: Program | str | Path | None = None,
    by: str | int | None = None,
    key: str | None = None,
    samples: int = 3,
    measure: bool = True,
    time: str | None = None,
    start: str | None = None,
    end: str | None = None,
    type: str | None = None,
    sequence: str | None = None,
    time_unit: str | None = None,
    time_format: str | None = None,
    timezone: str | None = None,
    year: int | None = None,
    columns: Mapping[str, str] | None = None,
    lines: str | None = None,
    separator: str | None = None,
    file_name: str | None = None,
    tables: Mapping[str, Any] | None = None,
    emit: str | Iterable[str] | None = None,
    strict: bool = False,
    params: Mapping[str, Any] | None = None,
    max_matches: int | None = None,
    max_state: int | str | None = None,
) -> Backtest:
    """Run rules on events of the past, and count their detections: a `Backtest`, which prints as text.

    - `rules`: a program, or a text or file as for `compile`
    - `by`: the span of time in which to count: ``"hour"``, ``"day"``, ``"week"``, a length such as ``"15m"``, or a
      number in the unit of the time column. By default one that suits the events
    - `key`: the attribute whose most frequent values are shown
    - `samples`: the number of detections to show for each rule
    - `measure`: also run each rule alone, to see how long it takes and how much it keeps
    - `against`: other rules, usually an earlier version. The result lists the detections that are new and those that
      are gone

    The other arguments are those of `Program.detect`.

    >>> rules = "event order(id: int, qty: int).  big(id) <- order(id, qty) where qty > 5."
    >>> events = [{"type": "order", "time": t, "id": t % 3, "qty": t} for t in range(1, 11)]
    >>> found = backtest(rules, events, by=5, against=rules.replace("5", "7"))
    >>> found.rules[0].found, found.rules[0].counts, found.rules[0].keys.most
    (5, (0, 4, 1), (('0', 2), ('1', 2), ('2', 1)))
    >>> found.changes[0].new, found.changes[0].gone, found.changes[0].new_samples[0]
    (2, 0, {'type': 'big', 'start': 6, 'end': 6, 'id': 0})
    """
    names = columns_of(
        time, start, end, type, sequence, time_unit=time_unit, time_format=time_format, timezone=timezone, year=year,
        columns=columns, lines=lines, separator=separator, file_name=file_name,
    )  # fmt: skip
    request = Request(until, names, tables, emit, strict, max_matches=max_matches, max_state=max_state)
    program = rules if isinstance(rules, Program) else compile(rules)
    other = against if against is None or isinstance(against, Program) else compile(against)
    if params is not None:
        program = program.with_params(params)
        other = other and other.with_params({name: value for name, value in params.items() if name in other.params})
    if other is not None and hasattr(events, "__next__"):
        events = list(events)  # they are read twice
    return run_backtest(program, events, request, other, by, key, samples, measure)[0]


def run_backtest(
    program: Program, events: Any, request: Request, other: Program | None = None, by: str | int | None = None,
    key: str | None = None, samples: int = 3, measure: bool = True, step: Step = lambda what: None,
    clock: Clock = clocks.perf_counter,
) -> tuple[Backtest, Events]:  # fmt: skip
    """For other parts of ensue: the answer of `backtest` to a request, and the events as they were read."""
    check_key(program.typed, key)
    with limiting(request.limits):
        step("Reading")
        material, wanted = _material(program, events, request)
        step("Detecting")
        begun, suppressed = clock(), dict[int, int]()
        material = replace(material, derived=_detected(material, suppressed))
        seconds = clock() - begun
        read, known = material.events, material.program
        spans = buckets(
            read.first_end, material.horizon, by, read.timestamps, known.unit, _zone(read.timezone)
        )  # fmt: skip
        numbers = [number for number, rule in enumerate(known.rules) if rule.event in wanted]
        alone_ = _alone(material, numbers, measure, step, clock)
        kept: Mapping[int, Mapping[str, Observed]] = {}
        if measure:
            step("Looking at what rules keep")
            kept = _observed(material)
        results = [
            _result(program, material, number, alone_.get(number), kept.get(number), spans, key, samples, suppressed)
            for number in numbers
        ]
        changes: tuple[TypeChange, ...] = ()
        if other is not None:
            step("Detecting with the other rules")
            before = _before(other, events, request)
            found = {name: table for name, table in material.derived.items() if name in wanted}
            changes = compare(found, before, spans, samples)
    name = None if other is None else other.file.source.name
    count = sum(table.num_rows for table in read.tables.values())
    made = Backtest(
        program.file.source.name, count, read.first_end, material.horizon, spans, tuple(results), seconds, name, changes
    )
    return made, replace(read, suppressed=suppressed)


def _material(program: Program, events: Any, request: Request) -> tuple[Material, list[str]]:
    """The events for rules, with nothing derived yet, and the types that are wanted."""
    program.check_parameters()
    known, read, moment = read_events_for(program, events, request)
    schemas = program.knowing({name: table.schema for name, table in read.tables.items()})
    known = schemas.typed_for_timestamps if read.timestamps else schemas.typed
    rows = program.rows_of_tables(request.tables)
    return Material(known, read, {}, moment, rows), picked(known, request.emit)


def _detected(material: Material, suppressed: dict[int, int] | None = None) -> dict[str, pa.Table]:
    names = [name for name, event in material.program.events.items() if event.derived]
    return detect_tables(
        material.program, material.events, material.until, material.rows, names, suppressed=suppressed
    )  # fmt: skip


def _before(other: Program, events: Any, request: Request) -> dict[str, pa.Table]:
    """Detect by other rules; tables that they do not declare, and types that they do not derive, are left out."""
    tables = {name: rows for name, rows in (request.tables or {}).items() if name in other.typed.predicates}
    derived = picked(other.typed, None)
    emit = None if request.emit is None else [name for name in _listed(request.emit) if name in derived]
    material, wanted = _material(other, events, replace(request, tables=tables, emit=emit))
    return {name: table for name, table in _detected(material).items() if name in wanted}


def _listed(emit: str | Iterable[str]) -> list[str]:
    return [emit] if isinstance(emit, str) else list(emit)


def _alone(material: Material, numbers: list[int], measure: bool, step: Step, clock: Clock) -> dict[int, Alone]:
    """Rules that run by themselves: all that are measured, and else those that share their type with others."""
    rules = material.program.rules
    types = [rule.event for rule in rules]
    found = {}
    for place, number in enumerate(numbers, 1):
        if measure or types.count(types[number]) > 1:
            step(f"Rule {place} of {len(numbers)}")
            found[number] = alone(material, number, clock)
    return found


def _observed(material: Material) -> dict[int, dict[str, Observed]]:
    names = [name for name, event in material.program.events.items() if event.derived]
    counts = {name: table.num_rows for name, table in material.events.tables.items()}
    return observe(
        material.program, material.events, material.until, material.rows, names, are_instants(material.events),
        rates_of(material.program, counts),
    )  # fmt: skip


def _result(
    program: Program, material: Material, number: int, run: Alone | None, observed: Mapping[str, Observed] | None,
    spans: Buckets, key: str | None, samples: int, suppressed: Mapping[int, int],
) -> RuleResult:  # fmt: skip
    rule = material.program.rules[number]
    several = sum(each.event == rule.event for each in material.program.rules) > 1
    table = run.found if run is not None and several else material.derived[rule.event]
    return RuleResult(
        rule.label if rule.label is not None else rule.event,
        rule.event,
        program.file.source.position(rule.span.start)[0],
        rule.about.title,
        table.num_rows,
        spans.count(table.column(1).cast(pa.int64()).to_pylist()),
        keys_of(rule, table, key),
        sampled(rule.event, table, range(table.num_rows), samples),
        None if run is None or observed is None else run.seconds,
        None if observed is None else sum(each.most_kept for each in observed.values()),
        suppressed.get(number, 0) if rule.quiet is not None else None,
    )


def _zone(zone: str | None) -> str | None:
    """A zone by which days are counted; None for UTC, and for an unknown one."""
    return zone if zone not in (None, "UTC") and local(0, str(zone)) is not None else None
