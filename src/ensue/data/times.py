"""A raw column as times: 64-bit integers, either in the caller's own unit or microseconds since the epoch.

The type of the column says which of the two, and for text its first readable value does; values of the other kind are
then as bad as unreadable ones.
"""

from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from ensue.data.errors import DataError
from ensue.data.iso import any_zone, has_zone, knows_zone, micros_of_column
from ensue.data.python_values import as_int, as_int_text, as_moment
from ensue.data.raw import Raw, unwrapped, zone_of
from ensue.data.values import convert, ints_of_text, micros_of_moments, nulls
from ensue.language.limits import FARTHEST

Clock = Literal["integers", "timestamps"]


@dataclass(frozen=True)
class Times:
    """`values` are int64, null where no time can be used; `clock` is None where there is none at all."""

    values: pa.ChunkedArray
    clock: Clock | None
    zone: str | None


def read_times(raw: Raw) -> Times:
    """Read a column of times.

    >>> read_times(pa.chunked_array([["3", "abc", "2026-01-01"]])).values.to_pylist()
    [3, None, None]
    >>> moments = read_times(pa.chunked_array([["1970-01-01T00:00:01Z", "3"]]))
    >>> moments.values.to_pylist(), moments.clock, moments.zone
    ([1000000, None], 'timestamps', 'UTC')
    >>> read_times(pa.chunked_array([[3, 2**62]])).values.to_pylist()
    [3, None]
    """
    found = _read(raw)
    ends = pc.min_max(found.values)
    if ends["min"].as_py() is None or (ends["min"].as_py() >= -FARTHEST and ends["max"].as_py() <= FARTHEST):
        return found
    near = pc.and_(pc.greater_equal(found.values, -FARTHEST), pc.less_equal(found.values, FARTHEST))
    return replace(found, values=pc.if_else(near, found.values, pa.scalar(None, pa.int64())))


def _read(raw: Raw) -> Times:
    if isinstance(raw, list):
        return _mixed_times(raw)
    column = unwrapped(raw)
    kind = column.type
    if pa.types.is_string(kind):
        return _text_times(column)
    if column.null_count == len(column) > 0:  # whatever its type: pandas has floats where all is missing
        return Times(nulls(len(column), pa.int64()), None, None)
    if pa.types.is_timestamp(kind):
        if not knows_zone(kind.tz):
            raise DataError(
                f"The times are in the zone {kind.tz!r}, which is not known here. Convert them to UTC, or install the "
                "zones: pip install tzdata."
            )
        return Times(micros_of_moments(column), "timestamps", kind.tz)
    if pa.types.is_date(kind):
        return Times(micros_of_moments(column), "timestamps", None)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Times(convert(column, "int", text=False), "integers", None)
    return Times(nulls(len(column), pa.int64()), None, None)


def _text_times(column: pa.ChunkedArray) -> Times:
    clock = _first_clock(column)
    if clock == "integers":
        return Times(ints_of_text(column), clock, None)
    if clock == "timestamps":
        return Times(micros_of_column(column), clock, "UTC" if any_zone(column) else None)
    return Times(nulls(len(column), pa.int64()), None, None)


def _first_clock(column: pa.ChunkedArray) -> Clock | None:
    """What the first readable text is, looking a block at a time: it is nearly always the very first."""
    length, size = len(column), 64
    offset = 0
    while offset < length:
        block = column.slice(offset, size)
        integers, moments = ints_of_text(block).to_pylist(), micros_of_column(block).to_pylist()
        for integer, moment in zip(integers, moments, strict=True):
            if integer is not None:
                return "integers"
            if moment is not None:
                return "timestamps"
        offset, size = offset + size, size * 8
    return None


def _mixed_times(values: list[object]) -> Times:
    clock: Clock | None = None
    for value in values:
        if _as_integer(value) is not None:
            clock = "integers"
        elif as_moment(value) is not None:
            clock = "timestamps"
        if clock is not None:
            break
    if clock is None:
        return Times(nulls(len(values), pa.int64()), None, None)
    read = _as_integer if clock == "integers" else as_moment
    times = pa.chunked_array([pa.array([read(value) for value in values], pa.int64())])
    return Times(times, clock, _mixed_zone(values) if clock == "timestamps" else None)


def _mixed_zone(values: list[object]) -> str | None:
    """The zone of the first datetime that has one, else UTC where some text says a zone."""
    zoned = any(isinstance(value, str) and has_zone(value) and as_moment(value) is not None for value in values)
    return zone_of(values) or ("UTC" if zoned else None)


def _as_integer(value: object) -> int | None:
    return as_int_text(value) if isinstance(value, str) else as_int(value)
