"""ISO 8601 text and microseconds since the epoch (UTC), a value at a time and a column at a time.

Both ways accept the same texts: a date, or a date, `T` or a space, and a time with or without minutes and seconds, a
fraction after a point or a comma (cut after six digits) and a zone. A text without a zone is taken as UTC.
"""

import re
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import pyarrow as pa

from ensue import compute as pc
from ensue.data.errors import DataError

# Where Python has no datetimes, ISO 8601 has no years of four digits.
BEYOND_PYTHON = "A timestamp lies outside the years 1 to 9999; keep to Arrow and Parquet, which have room for it."

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_DATE = r"([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-([0-9]{2})-([0-9]{2})"
_TIME = r"([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?)?"
_ZONE = r"(Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"
_TEXT = rf"{_DATE}(?:[T ]{_TIME}{_ZONE}?)?"
_ZONED = rf"^{_DATE}[T ]{_TIME}{_ZONE}$"

_PATTERN = re.compile(_TEXT)
_YEAR_ONE = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // MICROSECOND


def micros_of_text(text: str) -> int | None:
    """Microseconds since the epoch, or None where the text is no timestamp.

    >>> micros_of_text("1970-01-01T01:00:00.5+01:00")
    500000
    >>> micros_of_text("1970-01-02")
    86400000000
    >>> micros_of_text("2026-02-30")
    """
    match = _PATTERN.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
    except ValueError:
        return None
    micros = (moment - EPOCH) // MICROSECOND + int((fraction or "0")[:6].ljust(6, "0"))
    return micros - _offset_minutes(zone) * 60_000_000


def _offset_minutes(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return -minutes if zone[0] == "-" else minutes


def micros_of_moment(moment: date) -> int | None:
    """Microseconds since the epoch of a date or a datetime; one without a zone is taken as UTC."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    try:
        return int((moment - (EPOCH if moment.tzinfo else EPOCH.replace(tzinfo=None))) // MICROSECOND)
    except (OverflowError, ValueError):
        return None


def has_zone(text: str) -> bool:
    """True if the text contains its zone."""
    return re.search(_ZONED, text.strip()) is not None


def micros_of_column(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Microseconds since the epoch for a column of strings, null where one is no timestamp."""
    return moments_of_column(texts)[0]


def moments_of_column(texts: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.ChunkedArray | bool]:
    """The same, and which of the texts say their zone: all, none, or where the mask is true."""
    found = _cast(texts)
    if found is not None:
        return found
    trimmed = pc.utf8_trim_whitespace(texts)
    readable = pc.if_else(pc.match_substring_regex(trimmed, f"^{_TEXT}$"), trimmed, None)
    timed = pc.replace_substring_regex(readable, r"^(.{10})$", r"\1T00:00:00")
    short = pc.replace_substring_regex(timed, r"[.,]([0-9]{1,6})[0-9]*", r".\1")
    says = pc.match_substring_regex(short, _ZONED)
    zoned = pc.if_else(says, short, pc.binary_join_element_wise(short, "Z", ""))
    try:
        return zoned.cast(pa.timestamp("us", "UTC")).cast(pa.int64()), says
    except pa.ArrowInvalid:  # the 30th of February: only a value at a time tells which rows those are
        micros = [None if text is None else micros_of_text(text) for text in readable.to_pylist()]
        return pa.chunked_array([pa.array(micros, pa.int64())]), says


def _cast(texts: pa.ChunkedArray) -> tuple[pa.ChunkedArray, bool] | None:
    """The column as Arrow reads it, which is many times faster; None where it cannot read some of it."""
    first = next((text for text in texts.slice(0, 100).to_pylist() if text is not None), None)
    if first is None or not _PATTERN.fullmatch(first):
        return None
    zoned = has_zone(first)
    try:
        micros = texts.cast(pa.timestamp("us", "UTC" if zoned else None)).cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    least = pc.min(micros).as_py()
    return (micros, zoned) if least is None or least >= _YEAR_ONE else None


def text_of_moment(moment: date) -> str:
    """A date or datetime as text: a fraction only where there is one, `Z` for UTC, nothing for no zone.

    >>> text_of_moment(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05Z'
    >>> text_of_moment(datetime(2026, 1, 2, 3, 4, 5, 250000))
    '2026-01-02T03:04:05.250000'
    """
    text = moment.isoformat()
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text


def python_values(column: Any) -> Any:
    """All values of an Arrow table or column as Python has them."""
    try:
        return column.to_pylist()
    except (ValueError, OverflowError) as error:
        raise DataError(BEYOND_PYTHON) from error


def texts_of_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of timestamps as text."""
    zone = column.type.tz
    if zone not in (None, "UTC"):
        return pa.chunked_array([pa.array(map(_text_or_none, python_values(column)), pa.string())])
    micros = column.cast(pa.timestamp("us", zone)).cast(pa.int64())
    texts = micros.cast(pa.timestamp("us")).cast(pa.string())
    joined = pc.replace_substring_regex(texts, r"^(.{10}) (.{8})(\.000000)?", r"\1T\2")
    if not pc.all(pc.match_substring_regex(joined, r"^[0-9]{4}-.{5}T"), min_count=0).as_py():
        raise DataError(BEYOND_PYTHON)
    return joined if zone is None else pc.binary_join_element_wise(joined, "Z", "")


def _text_or_none(moment: date | None) -> str | None:
    return None if moment is None else text_of_moment(moment)


def text_of_micros(micros: int) -> str:
    """Microseconds since the epoch as text, for a message.

    >>> text_of_micros(1_500_000)
    '1970-01-01T00:00:01.500000Z'
    """
    try:
        return text_of_moment(EPOCH + micros * MICROSECOND)
    except OverflowError:  # beyond the year 9999
        return str(micros)


@cache
def knows_zone(zone: str | None) -> bool:
    """True if times of a zone can be shown.

    >>> knows_zone("Europe/Vienna"), knows_zone("Mars/Olympus"), knows_zone(None)
    (True, False, True)
    """
    if zone is None:
        return True
    try:
        pa.scalar(0, pa.timestamp("us", zone)).as_py()
    except (ValueError, LookupError, OSError, pa.ArrowException):
        return False
    return True
