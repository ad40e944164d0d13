"""A raw column as times: 64-bit integers, either in the caller's own unit or microseconds since the epoch.

The type of the column decides which of the two, and for text its first readable value does; values of the other kind
are then as bad as unreadable ones. Where a unit, a format, a zone or a year is stated (`TimeFormat`), times are
timestamps.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

import pyarrow as pa

from ensue import compute as pc
from ensue.data.columns import UNITS, TimeFormat
from ensue.data.convert import convert, floats_of_text, ints_of_text, micros_of_moments, nulls
from ensue.data.errors import DataError
from ensue.data.iso import has_zone, knows_zone, micros_of_text, moments_of_column
from ensue.data.known_times import ask_for_format, ask_for_year, known_format, possible_formats
from ensue.data.python_values import LARGEST, SMALLEST, as_float_text, as_int, as_int_text, as_moment
from ensue.data.raw import Raw, unwrapped, zone_of
from ensue.data.time_patterns import TimePattern, time_pattern
from ensue.data.zones import column_in_utc, in_utc
from ensue.language.limits import FARTHEST
from ensue.records import dataclass

Clock = Literal["integers", "timestamps"]

PLAIN = TimeFormat()
_SAMPLE = 1000
"""Number of texts from which a format is guessed."""


@dataclass(frozen=True)
class Times:
    """`values` are int64, null where no time can be used; `clock` is None where there is none at all."""

    values: pa.ChunkedArray
    clock: Clock | None
    zone: str | None


def read_times(raw: Raw, how: TimeFormat = PLAIN, clock: Clock | None = None) -> Times:
    """Read a column of times; `clock` is known where others were read before.

    >>> read_times(pa.chunked_array([["3", "abc", "2026-01-01"]])).values.to_pylist()
    [3, None, None]
    >>> moments = read_times(pa.chunked_array([["1970-01-01T00:00:01Z", "3"]]))
    >>> moments.values.to_pylist(), moments.clock, moments.zone
    ([1000000, None], 'timestamps', 'UTC')
    >>> read_times(pa.chunked_array([[3, 2**62]])).values.to_pylist()
    [3, None]
    >>> read_times(pa.chunked_array([[1.5]]), TimeFormat(unit="s")).values.to_pylist()
    [1500000]
    >>> read_times(pa.chunked_array([["Jan 1 01:00:00"]]), TimeFormat(year=1970, timezone="Europe/Berlin")).values[0]
    <pyarrow.Int64Scalar: 0>
    """
    found = _read(raw, how, clock)
    if found.clock == "timestamps" and how.timezone is not None:
        found = replace(found, zone=how.timezone)
    ends = pc.min_max(found.values)
    if ends["min"].as_py() is None or (ends["min"].as_py() >= -FARTHEST and ends["max"].as_py() <= FARTHEST):
        return found
    near = pc.and_(pc.greater_equal(found.values, -FARTHEST), pc.less_equal(found.values, FARTHEST))
    return replace(found, values=pc.if_else(near, found.values, pa.scalar(None, pa.int64())))


def _read(raw: Raw, how: TimeFormat, clock: Clock | None) -> Times:
    if isinstance(raw, list):
        return _mixed_times(raw, how, clock)
    column = unwrapped(raw)
    kind = column.type
    if pa.types.is_string(kind):
        return _text_times(column, how, clock)
    if column.null_count == len(column) > 0:  # whatever its type: pandas has floats where all is missing
        return Times(nulls(len(column), pa.int64()), None, None)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        zone = kind.tz if pa.types.is_timestamp(kind) else None
        if not knows_zone(zone):
            raise DataError(
                f"The times are in the zone {zone!r}, which is not known here. Convert them to UTC, or install the "
                "zones: pip install tzdata."
            )
        micros = micros_of_moments(column)
        return Times(_localised(micros, how) if zone is None else micros, "timestamps", zone)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        if how.unit is not None:
            return Times(_scaled(column, how.unit), "timestamps", "UTC")
        if how.format is not None:  # 20171223 is text to a format
            return _text_times(_digits(column), how, clock)
        return Times(convert(column, "int", text=False), "integers", None)
    return Times(nulls(len(column), pa.int64()), None, None)


# --- columns


def _text_times(column: pa.ChunkedArray, how: TimeFormat, clock: Clock | None) -> Times:
    if how.unit is not None:
        return Times(_scaled_text(column, how.unit), "timestamps", "UTC")
    if how.format is not None:
        return _pattern_times(column, time_pattern(how.format, how.year), how)
    found = _first_clock(column)
    clock = clock if clock == "integers" or (clock is not None and found is not None) else found
    if clock == "integers":
        return Times(ints_of_text(column), clock, None)
    if clock == "timestamps":
        micros, says = moments_of_column(column)
        if says is True or how.timezone is None:
            zoned = says if isinstance(says, bool) else pc.any(says).as_py()
            return Times(micros, clock, "UTC" if zoned else None)
        local = _localised(micros, how)
        return Times(local if says is False else pc.if_else(says, micros, local), clock, how.timezone)
    format = _format_of(column, how)
    if format is not None:
        return _pattern_times(column, time_pattern(format, how.year), how)
    return Times(nulls(len(column), pa.int64()), None, None)


def _pattern_times(column: pa.ChunkedArray, pattern: TimePattern, how: TimeFormat) -> Times:
    micros = pattern.micros_of_column(column)
    if pattern.zoned:
        return Times(micros, "timestamps", "UTC")
    return Times(_localised(micros, how), "timestamps", how.timezone)


def _format_of(column: pa.ChunkedArray, how: TimeFormat) -> str | None:
    """The format of texts that are neither integers nor ISO 8601; an ambiguous one is an error that requests it."""
    sample = [text for text in column.drop_null().slice(0, _SAMPLE).to_pylist() if text.strip()]
    found = known_format(sample[:100])
    if found is None:
        formats = possible_formats(sample)
        if len(formats) > 1 and len(column) > len(sample):
            formats = [each for each in formats if _fits(column, each)]
        if len(formats) > 1:
            raise ask_for_format(sample[0], formats, how.year)
        found = formats[0] if formats else None
    if found is not None and how.year is None and not time_pattern(found).has_year:
        raise ask_for_year(sample[0])
    return found


def format_of_texts(texts: Sequence[str], how: TimeFormat) -> str | None:
    """The format of some texts; None where they are integers or ISO 8601, or nothing is known of them."""
    column = pa.chunked_array([pa.array(texts, pa.string())])
    return None if _first_clock(column) is not None else _format_of(column, how)


def _fits(column: pa.ChunkedArray, format: str) -> bool:
    """True where all of a column is of a format."""
    filled = column.drop_null()
    return bool(time_pattern(format).micros_of_column(filled).null_count == 0)


def _localised(micros: pa.ChunkedArray, how: TimeFormat) -> pa.ChunkedArray:
    return micros if how.timezone is None else column_in_utc(micros, how.timezone)


def _digits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return convert(column, "int", text=False).cast(pa.string())


def _scaled(column: pa.ChunkedArray, unit: str) -> pa.ChunkedArray:
    """Numbers of a unit as microseconds, rounded down; null where that would not fit."""
    if pa.types.is_integer(column.type):
        numbers = convert(column, "int", text=False)
        factor = UNITS[unit]
        if factor == 0:
            rest = pc.subtract(numbers, pc.multiply(pc.divide(numbers, 1_000), 1_000))
            return pc.subtract(pc.divide(numbers, 1_000), pc.less(rest, 0).cast(pa.int64()))
        limit = LARGEST // factor
        fits = pc.and_(pc.less_equal(numbers, limit), pc.greater_equal(numbers, -limit))
        return pc.multiply(pc.if_else(fits, numbers, None), factor)
    numbers = convert(column, "float", text=False)
    micros = (
        pc.floor(pc.divide(numbers, 1_000.0)) if unit == "ns" else pc.round(pc.multiply(numbers, float(UNITS[unit])))
    )
    fits = pc.less(pc.abs(micros), float(2**62))
    return pc.if_else(fits, micros, None).cast(pa.int64())


def _scaled_text(column: pa.ChunkedArray, unit: str) -> pa.ChunkedArray:
    whole = _scaled(ints_of_text(column), unit)
    if whole.null_count == column.null_count:
        return whole
    return pc.coalesce(whole, _scaled(floats_of_text(column), unit))


def _first_clock(column: pa.ChunkedArray) -> Clock | None:
    """Kind of the first readable text, searched block by block: it is nearly always the very first."""
    length, size = len(column), 64
    offset = 0
    while offset < length:
        block = column.slice(offset, size)
        integers, moments = ints_of_text(block).to_pylist(), moments_of_column(block)[0].to_pylist()
        for integer, moment in zip(integers, moments, strict=True):
            if integer is not None:
                return "integers"
            if moment is not None:
                return "timestamps"
        offset, size = offset + size, size * 8
    return None


# --- values that no Arrow type holds together


def _mixed_times(values: list[object], how: TimeFormat, known: Clock | None) -> Times:
    read = time_reader(how)
    if how.unit is not None or how.format is not None:
        return Times(_array(read, values), "timestamps", _mixed_zone(values) or ("UTC" if how.unit else None))
    clock = known or next((found for found in map(_clock_of, values) if found is not None), None)
    if clock is None or clock == "timestamps":
        texts = [value for value in values if isinstance(value, str) and micros_of_text(value) is None]
        format = _format_of(pa.chunked_array([pa.array(texts, pa.string())]), how) if texts else None
        if format is not None:
            clock = "timestamps"
            read = time_reader(replace(how, format=format))
    if clock is None:
        return Times(nulls(len(values), pa.int64()), None, None)
    if clock == "integers":
        return Times(_array(_as_integer, values), clock, None)
    return Times(_array(read, values), clock, _mixed_zone(values))


def time_reader(how: TimeFormat) -> Callable[[object], int | None]:
    """A function from one value to the moment that it is; None where it is none.

    >>> read = time_reader(TimeFormat(timezone="Europe/Berlin"))
    >>> read("1970-01-01T01:00:00"), read("1970-01-01T01:00:00Z"), read(datetime(1970, 1, 1, 1)), read(5)
    (0, 3600000000, 0, None)
    >>> time_reader(TimeFormat(unit="ms"))("1.5"), time_reader(TimeFormat(unit="ms"))(2)
    (1500, 2000)
    """
    pattern = None if how.format is None else time_pattern(how.format, how.year)
    zone = how.timezone

    def clock_of(value: object) -> tuple[int | None, bool]:
        """The time on the clock, and whether it is one of UTC."""
        if isinstance(value, str) and pattern is not None:
            return pattern.micros(value), pattern.zoned
        if isinstance(value, str):
            return micros_of_text(value), has_zone(value)
        return as_moment(value), isinstance(value, datetime) and value.tzinfo is not None

    def read(value: object) -> int | None:
        if how.unit is not None and not isinstance(value, date):
            return _scaled_value(value, how.unit)
        if pattern is not None and type(value) is int:
            value = str(value)
        clock, zoned = clock_of(value)
        return clock if clock is None or zoned or zone is None else in_utc(clock, zone)

    return read


def _scaled_value(value: object, unit: str) -> int | None:
    if isinstance(value, str):
        whole = as_int_text(value)
        value = as_float_text(value) if whole is None else whole
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        found = value * UNITS[unit] if unit != "ns" else value // 1_000
    else:
        scaled = value / 1_000.0 if unit == "ns" else value * UNITS[unit]
        if not abs(scaled) < 2.0**62:
            return None
        found = int(scaled // 1) if unit == "ns" else round(scaled)
    return found if SMALLEST <= found <= LARGEST else None


def _array(read: Callable[[object], int | None], values: list[object]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array([read(value) for value in values], pa.int64())])


def _clock_of(value: object) -> Clock | None:
    if _as_integer(value) is not None:
        return "integers"
    return "timestamps" if as_moment(value) is not None else None


def _mixed_zone(values: list[object]) -> str | None:
    """The zone of the first datetime that has one, else UTC where some text has a zone."""
    zoned = any(isinstance(value, str) and has_zone(value) and as_moment(value) is not None for value in values)
    return zone_of(values) or ("UTC" if zoned else None)


def _as_integer(value: object) -> int | None:
    return as_int_text(value) if isinstance(value, str) else as_int(value)
