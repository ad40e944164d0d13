"""The calendar: parts of a timestamp, and its beginning of an hour, a day, a month, in UTC or in a time zone by name.

A timestamp is microseconds since 1970, UTC. Without a zone its parts are plain arithmetic of the Gregorian calendar,
for any 64-bit integer, and become machine code. With a zone they are those of the local time there, from the time zone
database; null if there is no such zone, or outside the years 1 to 9999.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any

from ensue.language.semantics import EPOCH, wrap

SECOND = 1_000_000
DAY = 86_400 * SECOND

# --- parts in UTC


def utc_second(t: int) -> int:
    return t // 1000000 % 60


def utc_minute(t: int) -> int:
    return t // 60000000 % 60


def utc_hour(t: int) -> int:
    return t // 3600000000 % 24


def utc_weekday(t: int) -> int:
    """Monday is 1; 1970 began on a Thursday."""
    return (t // 86400000000 + 3) % 7 + 1


def civil(t: int) -> int:
    """The date as one number: year * 10000 + month * 100 + day.

    It is counted in years that begin in March, so that a leap day is their last.
    """
    days = t // 86400000000 + 719468
    era = days // 146097
    of_era = days - era * 146097
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    from_march = (5 * of_year + 2) // 153
    day = of_year - (153 * from_march + 2) // 5 + 1
    month = from_march + 3 if from_march < 10 else from_march - 9
    return (year + era * 400 + (1 if month <= 2 else 0)) * 10000 + month * 100 + day


def utc_year(t: int) -> int:
    return civil(t) // 10000


def utc_month(t: int) -> int:
    return civil(t) // 100 % 100


def utc_day(t: int) -> int:
    return civil(t) % 100


PARTS: dict[str, Callable[[int], int]] = {
    "year": utc_year, "month": utc_month, "day": utc_day, "hour": utc_hour, "minute": utc_minute, "second": utc_second,
    "weekday": utc_weekday,
}  # fmt: skip
"""The parts of a timestamp in UTC, by their names as functions."""


# --- zones


@lru_cache(maxsize=256)
def zone_of(name: str) -> tzinfo | None:
    """The time zone of a name; None if there is none.

    >>> zone_of("Europe/Berlin").key, zone_of("Europe/Atlantis")
    ('Europe/Berlin', None)
    """
    if name == "UTC":
        return UTC
    if name in ("localtime", "posixrules"):  # another one on each machine
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        return None


def zones() -> list[str]:
    """The names of all zones."""
    from zoneinfo import available_timezones

    return sorted(available_timezones())


def local(t: int, zone: str) -> datetime | None:
    """The local time in a zone."""
    found = zone_of(zone)
    try:
        return None if found is None else (EPOCH + timedelta(microseconds=t)).astimezone(found)
    except (OverflowError, ValueError):
        return None


def _is_time(t: Any) -> bool:
    return isinstance(t, int) and not isinstance(t, bool)


def part(name: str) -> Callable[..., int | None]:
    """The function of a part: of a timestamp, and perhaps a zone."""
    in_utc = PARTS[name]

    def compute(t: Any, zone: str | None = None) -> int | None:
        if not _is_time(t):
            return None
        if zone is None:
            return in_utc(t)
        there = local(t, zone)
        if there is None:
            return None
        return there.isoweekday() if name == "weekday" else int(getattr(there, name))

    return compute


# --- beginnings

LENGTHS = {"second": SECOND, "minute": 60 * SECOND, "hour": 3600 * SECOND, "day": DAY, "week": 7 * DAY}
"""Spans that are equally long in UTC."""
SPANS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")


def begin_of_length(t: int, length: int) -> int:
    """The last beginning of a span of equal length; weeks begin on Monday, and 1970-01-05 was one."""
    return wrap(t - (t % length - (345600000000 if length == 604800000000 else 0)) % length)


def date_trunc(span: str, t: Any, zone: str | None = None) -> int | None:
    """The beginning of the second, minute, hour, day, week, month, quarter or year that a timestamp lies in.

    >>> date_trunc("hour", 7_300_000_000), date_trunc("week", 0) // DAY, date_trunc("fortnight", 0)
    (7200000000, -3, None)
    >>> date_trunc("day", 0, ""), date_trunc("", 0), date_trunc("day", 0, "UTC")
    (None, None, 0)
    """
    span = span.lower()
    if not _is_time(t) or span not in SPANS:
        return None
    if zone is None and span in LENGTHS:
        return begin_of_length(t, LENGTHS[span])
    there = local(t, "UTC" if zone is None else zone)
    return None if there is None else _begin(there, span)


def _begin(there: datetime, span: str) -> int | None:
    """The beginning of a local time's span. Where clocks are set back, an hour or less stays on its own side."""
    if span in ("second", "minute", "hour"):
        offset = there.utcoffset() or timedelta()
        since = (there - EPOCH) // timedelta(microseconds=1)
        shift = offset // timedelta(microseconds=1)
        return begin_of_length(since + shift, LENGTHS[span]) - shift
    day = there.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    try:
        match span:
            case "week":
                day -= timedelta(days=day.weekday())
            case "month":
                day = day.replace(day=1)
            case "quarter":
                day = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
            case "year":
                day = day.replace(month=1, day=1)
        return (day.astimezone(UTC) - EPOCH) // timedelta(microseconds=1)
    except (OverflowError, ValueError):
        return None
