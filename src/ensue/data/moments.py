"""Moments and lengths of time as people write them, in the unit of the time column."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from ensue.data.errors import DataError, shortened
from ensue.language.build import MICROSECONDS
from ensue.language.limits import EARLIEST, FARTHEST, LATEST

Moment = int | str | date
Length = int | str | timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PART = r"(\d+(?:\.\d+)?)(us|ms|s|m|h|d)"
_LONGEST = 40
"""A number of more digits than this is no time, and Python may refuse to read it."""


def moment_of(moment: Moment, unit: str | None, timestamps: bool, what: str = "`until`") -> int:
    """A moment in the time column's unit; `what` is its name in messages.

    >>> moment_of("2h", "m", timestamps=False)
    120
    >>> moment_of("1970-01-01T00:00:01Z", None, timestamps=True)
    1000000

    A number is no timestamp: nothing tells seconds from microseconds.
    """
    found = _moment_of(moment, unit, timestamps, what)
    if not EARLIEST <= found <= LATEST:
        raise DataError(f"{shortened(moment)} is not a time: times are 64 bits wide.")
    return found


def is_timestamp(moment: Moment) -> bool:
    """True if a moment is written as a timestamp; this decides the kind of times where no event does.

    >>> is_timestamp("2026-12-25"), is_timestamp(date(2026, 12, 25)), is_timestamp("7h"), is_timestamp(7)
    (True, True, False, False)
    """
    return isinstance(moment, date) or (isinstance(moment, str) and re.match(r"\d{4}-\d", moment) is not None)


def _moment_of(moment: Moment, unit: str | None, timestamps: bool, what: str) -> int:
    """The same, of any size."""
    if isinstance(moment, datetime):
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return _in_units((moment - _EPOCH) // _MICROSECOND, unit, timestamps, what)
    if isinstance(moment, date):
        return _moment_of(datetime(moment.year, moment.month, moment.day), unit, timestamps, what)
    if isinstance(moment, int) and not isinstance(moment, bool):
        if timestamps and not isinstance(moment, EngineTime):
            raise DataError(_as_timestamp(what))
        return int(moment)
    if not isinstance(moment, str):
        raise DataError(f"{moment!r} is not a time: give a number, a datetime, or text such as 2026-12-25T12:00:00Z.")
    if re.fullmatch(r"[+-]?\d+", moment):
        if timestamps:
            raise DataError(_as_timestamp(what))
        return int(moment) if len(moment) <= _LONGEST else LATEST + 1
    length = _microseconds(moment)
    if length is not None and timestamps:
        raise DataError(f"The times of these events are timestamps; write {what} as one too: 2026-12-25T12:00:00Z.")
    if length is not None:
        return _in_units(int(length), unit, timestamps, what)
    try:
        read = datetime.fromisoformat(moment)
    except ValueError:
        raise DataError(f"{moment!r} is not a time: write a number, a duration such as 7h, or ISO 8601.") from None
    return _moment_of(read, unit, timestamps, what)


def length_of(length: Length, unit: str | None, timestamps: bool, what: str = "the length") -> int:
    """A length of time in the time column's unit, rounded up to a whole number of it.

    >>> length_of("1h30m", "m", timestamps=False), length_of("1.5s", None, timestamps=True), length_of(7, None, False)
    (90, 1500000, 7)
    """
    if isinstance(length, int) and not isinstance(length, bool):
        return length
    if isinstance(length, timedelta):
        microseconds: Fraction | None = Fraction(length // _MICROSECOND)
    else:
        microseconds = _microseconds(length) if isinstance(length, str) else None
    if microseconds is None:
        raise DataError(
            f"{length!r} is not a length of time: write a number, a duration such as 1h30m, or a timedelta."
        )
    if not timestamps and unit is None:
        raise DataError(
            f"The times of these events are integers without a unit; write {what} as one too, or state the "
            "unit, as in `unit s.`, at the top of the rules."
        )
    size = 1 if timestamps or unit is None else MICROSECONDS[unit]
    return int(-(-microseconds // size))


def written_length(length: Length, what: str) -> str:
    """A length of time above nothing as rules write it.

    >>> written_length(7, "keep"), written_length("1h30m", "keep"), written_length(timedelta(seconds=2), "keep")
    ('7', '1h30m', '2000000us')
    """
    number = isinstance(length, str) and re.fullmatch(r"[+-]?\d{1,19}", length, re.ASCII) is not None
    if (int(length) if number else length_of(length, "us", timestamps=True)) <= 0:  # type: ignore[arg-type]
        raise DataError(f"{what} is {shortened(length)}; it must be more than 0.")
    return f"{length // _MICROSECOND}us" if isinstance(length, timedelta) else str(length)


def check_length(length: Length, what: str) -> None:
    """Refuse what is no length of time, is less than nothing, or is longer than times can be apart."""
    number = length_of(length, "us", timestamps=True, what=what)
    if number < 0:
        raise DataError(f"{what} is {length!r}; it cannot be negative.")
    if number > FARTHEST:
        raise DataError(f"{what} is {shortened(length)}; times cannot be that far apart.")


class EngineTime(int):
    """A time of the engine: where times are timestamps, microseconds since 1970. A caller's number is none of these."""


def datetime_of(micros: int) -> datetime:
    """A time of the engine as a caller gives it where times are timestamps.

    >>> datetime_of(1_000_000)
    datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc)
    """
    return _EPOCH + micros * _MICROSECOND


def _as_timestamp(what: str) -> str:
    return f"The times of these events are timestamps; write {what} as one: 2026-12-25T12:00:00Z."


def _microseconds(text: str) -> Fraction | None:
    """A duration such as ``1h30m``; None where the text is none."""
    if not re.fullmatch(f"({_PART})+", text, re.ASCII):
        return None
    return sum((Fraction(n) * MICROSECONDS[u] for n, u in re.findall(_PART, text, re.ASCII)), Fraction(0))


def _in_units(microseconds: int, unit: str | None, timestamps: bool, what: str) -> int:
    if timestamps:
        return microseconds
    if unit is None:
        raise DataError(f"The times of these events are integers without a unit; write {what} as one too.")
    return microseconds // MICROSECONDS[unit]
