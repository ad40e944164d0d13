"""Stamp each row of a part with its start, end and type, or with the reason why it lacks one."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa

from ensue import compute as pc
from ensue.data.columns import Columns, Layout, TimeFormat, find_layout
from ensue.data.convert import blanks_as_null, convert
from ensue.data.errors import DataError, shortened
from ensue.data.input_part import InputPart, headless
from ensue.data.iso import text_of_micros
from ensue.data.raw import Raw, any_of, present, value_at
from ensue.data.times import Clock, Times, read_times
from ensue.language.limits import FARTHEST
from ensue.records import dataclass


@dataclass(frozen=True)
class Fault:
    """Fault of some rows: those where the mask is true, with the reason for the row at an index."""

    rows: pa.ChunkedArray
    reason: Callable[[int], str]


@dataclass(frozen=True)
class Stamped:
    """A part's rows with their times and types; rows with a fault are not `good`."""

    start: pa.ChunkedArray
    end: pa.ChunkedArray
    types: pa.ChunkedArray | None  # None where the part is all of one type
    good: pa.ChunkedArray
    faults: tuple[Fault, ...]  # the first one of a row is the one to report
    clock: Clock | None
    zone: str | None
    sequence: str | None
    taken: frozenset[str]  # the columns that are no attributes


def stamp(part: InputPart, columns: Columns, clock: Clock | None = None) -> Stamped:
    """Read the times and types of a part; `clock` is known for a part that continues another."""
    layout = _layout(part, columns)
    times, faults = _read_times(part, layout, columns.times, clock)
    start, end = times[layout.start], times[layout.end]
    clock = _one_clock(times, part.name)
    faults += [
        _unread_time(part.columns[name], times[name], name, columns.times)
        for name in dict.fromkeys([layout.start, layout.end])
    ]
    faults.append(_backwards(start.values, end.values, clock))
    types = None
    if layout.type is not None:
        types = _read_types(part.columns[layout.type], part.text)
        faults.append(_untyped(part.columns[layout.type], types, layout.type))
    good = pc.invert(any_of([fault.rows for fault in faults]))
    types_besides = {"type", columns.type} if part.event_type is not None else set()
    taken = {*times, layout.type, layout.sequence, *types_besides} - {None}
    zone = start.zone or end.zone
    return Stamped(
        start.values, end.values, types, good, tuple(faults), clock, zone, layout.sequence, frozenset(map(str, taken))
    )


def _layout(part: InputPart, columns: Columns) -> Layout:
    names = [*part.columns, *part.others]
    try:
        return find_layout(names, columns, part.event_type is not None, part.name)
    except DataError as error:
        hint = headless(names) if part.text else ""
        raise DataError(f"{error}{hint}") from None


def _read_times(
    part: InputPart, layout: Layout, how: TimeFormat, clock: Clock | None
) -> tuple[dict[str, Times], list[Fault]]:
    """The times by column, those of the column for instants put in where start and end are both empty."""
    start, end = _seen(part, layout.start), _seen(part, layout.end)
    times = {layout.start: read_times(start, how, clock)}
    if layout.end != layout.start:
        times[layout.end] = read_times(end, how, clock)
    if layout.instant is None:
        return times, []
    raw = _seen(part, layout.instant)
    instants = pc.and_not(present(raw), pc.or_(present(start), present(end)))
    if not pc.any(instants).as_py():
        return times, []
    instant = read_times(raw, how, clock)
    for name in (layout.start, layout.end):
        merged = pc.if_else(instants, instant.values, times[name].values)
        times[name] = replace(times[name], values=merged, zone=times[name].zone or instant.zone)
    times[layout.instant] = instant
    unread = replace(instant, values=pc.if_else(instants, instant.values, 0))
    return times, [_unread_time(raw, unread, layout.instant, how)]


def _seen(part: InputPart, name: str) -> Raw:
    return blanks_as_null(part.columns[name]) if part.text else part.columns[name]  # blanks of text only


def _one_clock(times: Mapping[str, Times], part: str) -> Clock | None:
    clocks = {column.clock: name for name, column in times.items() if column.clock is not None}
    if len(clocks) > 1:
        raise DataError(
            f"{part} has integers in {clocks['integers']!r} and timestamps in {clocks['timestamps']!r}; "
            "give all times as one or the other."
        )
    return next(iter(clocks), None)


def _unread_time(raw: Raw, times: Times, name: str, how: TimeFormat) -> Fault:
    kind = {"integers": "an integer", "timestamps": "a timestamp", None: "a time"}[times.clock]
    if how.unit is not None:
        kind = (
            "a number of " + {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}[how.unit]
        )
    elif how.format is not None:
        kind = f"a time of the format {how.format!r}"

    def reason(index: int) -> str:
        value = value_at(raw, index)
        if value is None or (isinstance(value, str) and not value.strip()):
            return f"column {name!r} is empty, and an event needs a time"
        far = isinstance(value, int) and not isinstance(value, bool) and abs(value) > FARTHEST
        if far or (times.clock == "integers" and isinstance(value, str) and _WHOLE.fullmatch(value.strip())):
            return f"column {name!r} is {shortened(value)}, and times lie within {FARTHEST:,} of 0"
        if isinstance(value, float) and times.clock == "integers":
            return f"column {name!r} is {shortened(value)}, not {kind}; if it is seconds since 1970, say time_unit='s'"
        return f"column {name!r} is {shortened(value)}, not {kind}"

    return Fault(pc.is_null(times.values), reason)


_WHOLE = re.compile(r"[+-]?[0-9]+")
"""An integer as text; one that is not a time lies too far away."""


def _backwards(start: pa.ChunkedArray, end: pa.ChunkedArray, clock: Clock | None) -> Fault:
    show = text_of_micros if clock == "timestamps" else str

    def reason(index: int) -> str:
        return f"it starts at {show(start[index].as_py())}, after its end at {show(end[index].as_py())}"

    return Fault(pc.fill_null(pc.greater(start, end), False), reason)


def _read_types(raw: Raw, text: bool) -> pa.ChunkedArray:
    types = _type_names(raw, text)
    named = pc.utf8_trim_whitespace(types) if text else types
    return pc.if_else(pc.equal(named, ""), None, named)


def _type_names(raw: Raw, text: bool) -> pa.ChunkedArray:
    """The types of events as text. Integers with gaps among them leave pandas as floats, and are integers still."""
    if isinstance(raw, list):
        raw = [int(value) if isinstance(value, float) and value.is_integer() else value for value in raw]
    elif pa.types.is_floating(raw.type):
        return convert(convert(raw, "int", text), "string", text)
    return convert(raw, "string", text)


def _untyped(raw: Raw, types: pa.ChunkedArray, name: str) -> Fault:
    def reason(index: int) -> str:
        value = value_at(raw, index)
        if value is None or (isinstance(value, str) and not value.strip()):
            return f"column {name!r} is empty, and an event needs a type"
        return f"column {name!r} is {shortened(value)}, not a string or an integer"

    return Fault(pc.is_null(types), reason)
