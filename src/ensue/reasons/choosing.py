"""The events that concern a question, taken from tables: of one key, in time, and not too many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ensue import compute as pc
from ensue.data import Events, attributes_of
from ensue.language import typed
from ensue.language.walk import leaves
from ensue.live.by_reference import given
from ensue.reasons.phrases import Phrases
from ensue.reasons.slices import Values, concerned, is_concerned
from ensue.reasons.study import Chosen

MOST_EVENTS = 1200
"""Events that the reference looks at."""
MOST_RECURSIVE = 200
"""Events that it looks at where rules depend on themselves, so that it goes step by step."""
MOST_COMBINED = 200_000
"""Combinations of events that a rule may have: the reference makes all of them."""


def choose(
    program: typed.Program,
    events: Events,
    phrases: Phrases,
    event: str,
    key: Values,
    horizon: int,
    lateness: int | None,
) -> Chosen:
    """The events that concern a key, up to the end of time; the latest of them where there are too many."""
    late = dict(late_rows(events, lateness, phrases)) if lateness is not None else {}
    concern = concerned(program, event, key)
    tables = {name: _of_key(table, concern[name]) for name, table in events.tables.items() if name in concern}
    most = _most(program, concern)
    count = sum(table.num_rows for table in tables.values())
    if count > most:
        tables = _latest(tables, horizon, most)
    tables = {name: table for name, table in tables.items() if table.num_rows}
    chosen = given(replace(events, tables=tables), program)
    rows = sorted(row for table in tables.values() for row in _rows(table))
    return Chosen(
        chosen, rows, events.first_end, horizon,
        {place: late[row] for place, row in enumerate(rows) if row in late},
        {name: table.num_rows for name, table in events.tables.items()},
        count > most,
    )  # fmt: skip


def _most(program: typed.Program, concern: Mapping[str, Sequence[Values]]) -> int:
    """Largest number of events for the reference, by the number of events in a match of the rules."""
    rules = [rule for rule in program.rules if rule.event in concern]
    places = max((sum(isinstance(p, typed.Atom) for p in leaves(rule.body.pattern)) for rule in rules), default=1)
    places = max(places, 1)
    most = MOST_RECURSIVE if any(stratum.recursive for stratum in program.strata) else MOST_EVENTS
    return min(most, int(places * MOST_COMBINED ** (1 / places)))


def late_rows(events: Events, lateness: int, phrases: Phrases) -> Iterator[tuple[int, str]]:
    """Rows that a session would have left out, if events had been sent in this order, with the reason in words."""
    arrived = sorted(
        (row, end)
        for table in events.tables.values()
        for row, end in zip(_rows(table), table.column("end").to_pylist(), strict=True)
    )
    largest: int | None = None
    for row, end in arrived:
        if largest is not None and end < largest - lateness:
            behind = phrases.length(largest - lateness - end)
            yield (
                row,
                f"it came {behind} too late: time had reached {phrases.time(largest)}"
                + (f", and the lateness is {phrases.length(lateness)}" if lateness else ""),
            )
        else:
            largest = end if largest is None else max(largest, end)


def without_rows(events: Events, rows: set[int]) -> Events:
    """The events without some rows."""
    if not rows:
        return events
    tables = {}
    for name, table in events.tables.items():
        kept = table.filter(pa.array([row not in rows for row in _rows(table)], pa.bool_()))
        if kept.num_rows:
            tables[name] = kept
    return replace(events, tables=tables)


def values_there(program: typed.Program, events: Events, event: str, name: str, value: Any) -> list[Any] | None:
    """The values of the attributes that must have a requested value, if no event has it; None if one does.

    None also where no attribute of a given event must have it.
    """
    asked = object()
    concern = concerned(program, event, {name: asked})
    places = {
        (type_, attribute)
        for type_, combinations in concern.items()
        if type_ in events.tables
        for values in combinations
        for attribute, each in values.items()
        if each is asked
    }
    found: dict[Any, None] = {}
    for type_, attribute in sorted(places):
        table = events.tables[type_]
        column = attributes_of(table).get(attribute)
        if column is None:
            continue
        if _of_key(table, [{attribute: value}]).num_rows:
            return None
        found.update(dict.fromkeys(_hashable(each) for each in column.unique().to_pylist()))
    return list(found) if places else None


def _hashable(value: Any) -> Any:
    return value if isinstance(value, int | float | str | bool | None) else str(value)


def _rows(table: pa.Table) -> list[int]:
    return table.column(table.column_names.index("row")).to_pylist()  # type: ignore[no-any-return]


def _of_key(table: pa.Table, concern: Sequence[Values]) -> pa.Table:
    """The rows that have one of several combinations of values."""
    if any(not values for values in concern):
        return table
    mask: pa.ChunkedArray | None = None
    columns = attributes_of(table)
    for values in concern:
        own = _mask(columns, values, table.num_rows)
        mask = own if mask is None else pc.or_(mask, own)
    return table.filter(mask)


def _mask(columns: Mapping[str, pa.ChunkedArray], values: Values, length: int) -> Any:
    mask: Any = pa.array([True] * length, pa.bool_())
    for name, value in values.items():
        column = columns.get(name)
        if column is None:
            return pa.array([False] * length, pa.bool_())
        try:
            own = pc.fill_null(pc.equal(column, pa.scalar(value, column.type)), False)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, TypeError):
            plain = column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
            own = pa.array([is_concerned([{name: value}], {name: each}) for each in plain.to_pylist()], pa.bool_())
        mask = pc.and_(mask, own)
    return mask


def _latest(tables: Mapping[str, pa.Table], horizon: int, most: int) -> dict[str, pa.Table]:
    """The events that end last, up to the end of time."""
    ends = sorted((end for t in tables.values() for end in t.column("end").to_pylist() if end <= horizon), reverse=True)
    first = ends[min(most, len(ends)) - 1] if ends else horizon
    found = {}
    for name, table in tables.items():
        end = table.column("end")
        found[name] = table.filter(pc.and_(pc.greater_equal(end, first), pc.less_equal(end, horizon))).slice(0, most)
    return found
