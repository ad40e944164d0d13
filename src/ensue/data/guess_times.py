"""Guess the columns that hold the times of events, and their formats, by names and by values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa

from ensue import compute as pc
from ensue.data.arrange import arranged
from ensue.data.columns import TOGETHER, Columns, TimeFormat
from ensue.data.errors import DataError
from ensue.data.iso import text_of_micros
from ensue.data.known_times import possible_formats
from ensue.data.raw import Raw, unwrapped
from ensue.data.times import read_times
from ensue.records import dataclass

NAMES = ("time", "timestamp", "@timestamp", "datetime", "date_time", "ts", "event_time", "eventtime", "time:timestamp",
         "created_at", "created", "occurred_at", "timecreated", "utctime", "at", "when", "date", "day")  # fmt: skip
"""Names that columns of times have, the likeliest first."""

_TOGETHER = (("date", "time"), ("day", "time"), ("month", "date", "time"), ("month", "day", "time"), ("date", "hour"))
_DIGITS = {"%Y%m%d": 8, "%Y%m%d%H%M": 12, "%Y%m%d%H%M%S": 14}
"""Formats that are nothing but digits, and how many."""
_SINCE_1970 = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EARLY, _LATE = 900_000_000, 2_200_000_000
"""Seconds since 1970 from 1998 to 2039."""

_ENOUGH = 0.9
"""Share of a column's values that must be times."""


@dataclass(frozen=True)
class TimeGuess:
    """Columns that hold times, how to read them, and the first and last of them."""

    column: str
    end: str | None = None
    """The column of ends, where `column` holds the starts."""
    unit: str | None = None
    format: str | None = None
    year: int | None = None
    """A year to state, where text has none: this one may be wrong."""
    others: tuple[str, ...] = ()
    """Other formats that the text may be of."""
    range: tuple[str, str] | None = None
    timestamps: bool = True


def guess_times(columns: Mapping[str, Raw], given: Columns) -> TimeGuess | None:
    """The likeliest columns of times; None where no column looks like one."""
    names = list(columns)
    lower = {name.lower(): name for name in reversed(names)}
    if given.time is None and (given.start or "start") in columns and (given.end or "end") in columns:
        start = _readable(columns, given.start or "start", given.times)
        if start is not None:
            return replace(start, end=given.end or "end")
    for name in [given.time] if given.time is not None else _candidates(names, lower):
        found = _readable(columns, name, given.times)
        if found is not None:
            return found
    return None


def _candidates(names: Iterable[str], lower: Mapping[str, str]) -> list[str]:
    """Names in the order in which they are tried: usual ones, several together, then all."""
    together = [
        TOGETHER.join(lower[part] for part in parts) for parts in _TOGETHER if all(part in lower for part in parts)
    ]
    usual = [lower[name] for name in NAMES if name in lower]
    likely = [name for name in names if any(word in name.lower() for word in ("time", "date", "stamp"))]
    return list(dict.fromkeys([*together, *usual, *likely, *names]))


def _readable(columns: Mapping[str, Raw], name: str, how: TimeFormat) -> TimeGuess | None:
    held = arranged(columns, Columns(time=name), (name,), None)
    raw = held.get(name)
    if raw is None or not len(raw):
        return None
    if how:
        return _guess(raw, name, how)
    if _is_numbers(raw):
        unit = _unit(raw)
        if unit is not None:
            return _guess(raw, name, TimeFormat(unit=unit))
        for format, digits in _DIGITS.items():
            if _has_digits(raw, digits) and (found := _guess(raw, name, TimeFormat(format=format))) is not None:
                return found
        return _guess(raw, name, how) if name.lower() in ("time", "t", "ts", "timestamp", "start") else None
    found = _guess(raw, name, how)
    if found is not None:
        return found
    this_year = datetime.now(UTC).year
    found = _guess(raw, name, TimeFormat(year=this_year))
    if found is not None:
        return replace(found, year=this_year)
    return _one_of(raw, name)


def _one_of(raw: Raw, name: str) -> TimeGuess | None:
    """Text of which day and month may be either: the first format that fits, and the others."""
    texts = [value for value in (raw if isinstance(raw, list) else raw.drop_null().slice(0, 1000).to_pylist()) if value]
    formats = possible_formats([value for value in texts if isinstance(value, str)])
    if not formats or len(texts) == 0:
        return None
    year = None if "%Y" in formats[0] or "%y" in formats[0] else datetime.now(UTC).year
    found = _guess(raw, name, TimeFormat(format=formats[0], year=year))
    return None if found is None else replace(found, format=formats[0], year=year, others=tuple(formats[1:]))


def _guess(raw: Raw, name: str, how: TimeFormat) -> TimeGuess | None:
    try:
        times = read_times(raw, how)
    except DataError:
        return None
    there = len(raw) - (sum(value is None for value in raw) if isinstance(raw, list) else raw.null_count)
    if times.clock is None or there == 0 or len(times.values) - times.values.null_count < _ENOUGH * there:
        return None
    ends = pc.min_max(times.values)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    moments = times.clock == "timestamps"
    shown = (text_of_micros(low), text_of_micros(high)) if moments else (str(low), str(high))
    return TimeGuess(name, unit=how.unit, format=how.format, range=shown, timestamps=moments)


def _is_numbers(raw: Raw) -> bool:
    if isinstance(raw, list):
        return all(isinstance(value, int | float | None) and not isinstance(value, bool) for value in raw)
    kind = unwrapped(raw).type
    if pa.types.is_string(kind):
        return bool(pc.all(pc.match_substring_regex(raw.drop_null(), r"^\s*[+-]?[0-9]+(\.[0-9]*)?\s*$")).as_py())
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _has_digits(raw: Raw, digits: int) -> bool:
    """True if the first numbers all have this number of digits."""
    values = raw if isinstance(raw, list) else raw.drop_null().slice(0, 1000).to_pylist()
    return all(len(str(value).strip()) == digits for value in values if value is not None)


def _unit(raw: Raw) -> str | None:
    """The unit in which numbers are moments of our time; None where there is none."""
    values = raw if isinstance(raw, list) else raw.drop_null().slice(0, 1000).to_pylist()
    numbers = [float(value) for value in values if value is not None]
    for unit, size in _SINCE_1970.items():
        if numbers and all(_EARLY * size <= number <= _LATE * size for number in numbers):
            return unit
    return None
