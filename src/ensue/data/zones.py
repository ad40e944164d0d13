"""Local times of a zone as moments: the time on a clock in Berlin, as microseconds since 1970 in UTC.

An hour that comes twice, when clocks are put back, is the first of the two; one that is left out is counted as if the
clock had not been put forward yet.
"""

from datetime import timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pyarrow as pa

from ensue import compute as pc
from ensue.data.iso import EPOCH, MICROSECOND

_NAIVE_EPOCH = EPOCH.replace(tzinfo=None)


@cache
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def in_utc(clock: int, zone: str) -> int | None:
    """Turn the time of a clock into a moment; None where Python has no such date.

    >>> in_utc(3_600_000_000, "Europe/Berlin")
    0
    """
    try:
        local = (_NAIVE_EPOCH + timedelta(microseconds=clock)).replace(tzinfo=_zone(zone))
        return (local - EPOCH) // MICROSECOND
    except (OverflowError, ValueError):
        return None


def column_in_utc(clocks: pa.ChunkedArray, zone: str) -> pa.ChunkedArray:
    """The same for a column of 64-bit integers.

    >>> column_in_utc(pa.chunked_array([[3_600_000_000, None]]), "Europe/Berlin").to_pylist()
    [0, None]
    """
    if zone == "UTC":
        return clocks
    try:
        moments = pc.assume_timezone(clocks.cast(pa.timestamp("us")), zone, ambiguous="earliest", nonexistent="raise")
        return moments.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    except (pa.ArrowException, ValueError):  # an hour that is left out, or a zone that Arrow does not know
        values = [None if value is None else in_utc(value, zone) for value in clocks.to_pylist()]
        return pa.chunked_array([pa.array(values, pa.int64())])
