"""Formats of times that are recognised, and ambiguous ones, for which an error requests the format.

`iso` reads ISO 8601; these are the other formats of logs. A format is detected from the first texts of a column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ensue.data.errors import DataError, shortened
from ensue.data.iso import text_of_micros
from ensue.data.time_patterns import TimePattern, time_pattern

KNOWN = (
    "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M:%S.%f", "%Y/%m/%d %H:%M:%S,%f", "%Y/%m/%d %H:%M", "%Y/%m/%d",
    "%Y.%m.%d %H:%M:%S", "%Y-%m-%d-%H.%M.%S.%f", "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S.%f %z",
    "%Y-%m-%d, %H:%M:%S", "%Y%m%d-%H:%M:%S:%f", "%Y%m%d %H:%M:%S", "%Y%m%d %H:%M:%S.%f", "%Y%m%dT%H%M%S",
    "%Y%m%dT%H%M%S%z", "%Y-%m-%d %I:%M:%S %p", "%Y/%m/%d %I:%M:%S %p",
    "%d/%b/%Y:%H:%M:%S %z", "%d/%b/%Y:%H:%M:%S", "%d/%b/%Y %H:%M:%S", "%d/%b/%Y", "%d-%b-%Y %H:%M:%S",
    "%d-%b-%Y %H:%M:%S.%f", "%d-%b-%Y %H:%M", "%d-%b-%Y", "%d %b %Y %H:%M:%S", "%d %b %Y %H:%M:%S.%f",
    "%d %b %Y %H:%M:%S,%f", "%d %b %Y %H:%M", "%d %b %Y", "%d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S", "%a %d %b %Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S.%f %Y", "%a %b %d %H:%M:%S %z %Y",
    "%b %d %Y %H:%M:%S", "%b %d %Y %H:%M", "%b %d %Y", "%b %d, %Y %H:%M:%S", "%b %d, %Y %I:%M:%S %p",
    "%b %d, %Y, %I:%M:%S %p", "%b %d, %Y", "%b %d %Y %I:%M%p",
    "%b %d %H:%M:%S", "%b %d %H:%M:%S.%f", "%b %d %H:%M", "%a %b %d %H:%M:%S",
)  # fmt: skip
"""Formats whose day, month and year cannot be taken for each other."""

_DATES = ("%m{0}%d{0}%Y", "%d{0}%m{0}%Y", "%m{0}%d{0}%y", "%d{0}%m{0}%y", "%y{0}%m{0}%d", "%m{0}%d", "%d{0}%m")
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %H:%M:%S,%f", " %I:%M %p", " %I:%M:%S %p", " %H:%M:%S %z")
_NUMBERS = re.compile(r"[0-9]{1,2}[/.-][0-9]{1,2}(?:[/.-](?:[0-9]{4}|[0-9]{2}))?(?:\s.*)?")


def known_format(texts: Sequence[str]) -> str | None:
    """The known format of which the first texts are; None where they are of none.

    >>> known_format(["Dec 10 06:55:46"]), known_format(["18/Oct/2015:18:01:47 +0200"]), known_format(["soon"])
    ('%b %d %H:%M:%S', '%d/%b/%Y:%H:%M:%S %z', None)
    """
    for text in texts:
        found = next((each for each in KNOWN if time_pattern(each).micros(text) is not None), None)
        if found is not None:
            return found
    return None


def possible_formats(texts: Sequence[str]) -> list[str]:
    """Formats in which day and month are numbers, and that fit all texts; with dots the day is first, most likely.

    >>> possible_formats(["10/2/2017 10:56"]), possible_formats(["10/2/2017", "13/2/2017"])
    (['%m/%d/%Y %H:%M', '%d/%m/%Y %H:%M'], ['%d/%m/%Y'])
    """
    if not texts or not all(_NUMBERS.fullmatch(text.strip()) for text in texts):
        return []
    found = re.search(r"[/.-]", texts[0])
    sign = "/" if found is None else found[0]
    dates = sorted(_DATES, key=lambda date: date.startswith("%m")) if sign == "." else _DATES
    formats = (date.format(sign) + clock for date in dates for clock in _CLOCKS)
    return [each for each in formats if all(time_pattern(each).micros(text) is not None for text in texts)]


def ask_for_format(text: str, formats: Sequence[str], year: int | None) -> DataError:
    """The question about times that can be read in several ways."""
    readings = [f"{_day(each, text, year)} with {each!r}" for each in formats]
    listed = f"{', '.join(readings[:-1])} or {readings[-1]}" if len(readings) > 1 else readings[0]
    return DataError(
        f"The time {shortened(text)} can be read in more than one way: {listed}. "
        "Choose with time_format= (--time-format on the command line)."
    )


def ask_for_year(text: str) -> DataError:
    return DataError(f"The time {shortened(text)} has no year. Add year= (--year on the command line).")


def _day(format: str, text: str, year: int | None) -> str:
    pattern: TimePattern = time_pattern(format, year)
    moment = text_of_micros(pattern.micros(text) or 0)
    return f"as {moment[:10]}" if pattern.has_year or year else f"as {moment[4:10].strip('-')} of a year"
