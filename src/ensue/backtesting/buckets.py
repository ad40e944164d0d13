"""Spans of time of one length, into which detections are counted: hours, days or weeks by the clock, or any length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ensue.data.errors import DataError
from ensue.data.iso import text_of_micros
from ensue.data.moments import length_of
from ensue.language.build import MICROSECONDS
from ensue.language.calendar import date_trunc
from ensue.records import dataclass

WORDS = {"second": "1s", "minute": "1m", "hour": "1h", "day": "1d", "week": "7d"}
"""Spans by name, with their lengths."""

MOST = 10_000
"""Largest number of spans."""

_FEW = 170
"""Largest number of spans for the default: the first named span is chosen of which there are no more."""


@dataclass(frozen=True)
class Buckets:
    """Spans one after the other: where each begins, and where the last ends, in the unit of the time column."""

    by: str
    """A word, or a length as it is written."""
    edges: tuple[int, ...]
    timestamps: bool
    zone: str | None = None

    def count(self, times: Sequence[int]) -> tuple[int, ...]:
        """Number of times that lie in each span."""
        places = np.searchsorted(np.asarray(self.edges), np.asarray(times, dtype=np.int64), side="right") - 1
        found = np.bincount(np.clip(places, 0, len(self) - 1), minlength=len(self))
        return tuple(int(number) for number in found) if len(self) else ()

    def __len__(self) -> int:
        return max(0, len(self.edges) - 1)

    @property
    def starts(self) -> tuple[int | str, ...]:
        """Start of each span: a number, or a timestamp as text."""
        return tuple(describe_time(edge, self.timestamps) for edge in self.edges[:-1])


def describe_time(time: int, timestamps: bool) -> int | str:
    """A time as results show it.

    >>> describe_time(0, True), describe_time(7, False)
    ('1970-01-01T00:00:00Z', 7)
    """
    return text_of_micros(time) if timestamps else time


def buckets(
    first: int | None, last: int | None, by: str | int | None, timestamps: bool, unit: str | None, zone: str | None
) -> Buckets:
    """The spans from the one in which `first` lies to that of `last`.

    `by` is a word (``hour``), a length (``15m``) or a number of the time column's units; None has one chosen.

    >>> buckets(5, 705, None, False, None, None).edges[:3]
    (5, 10, 15)
    >>> buckets(5, 7300, "hour", False, "s", None).edges
    (0, 3600, 7200, 10800)
    """
    if first is None or last is None:
        return Buckets(str(by or "hour"), (), timestamps, zone)
    if by is None:
        by = _chosen(first, last, timestamps, unit)
    if by in WORDS and timestamps:
        edges = _by_calendar(str(by), first, last, zone)
    else:
        length = length_of(_length(by), unit, timestamps, "--by")
        if length <= 0:
            raise DataError(f"The span is {by!r}; it must be more than 0.")
        begin = first // length
        edges = [each * length for each in range(begin, min(last // length + 2, begin + MOST + 2))]
    if len(edges) > MOST + 1:
        raise DataError(f"There are more than {MOST:,} spans of {by!r} in these events; choose a longer one.")
    return Buckets(str(by), tuple(edges), timestamps, zone)


def _length(by: str | int) -> str | int:
    if isinstance(by, str):
        return int(by) if by.isdecimal() else WORDS.get(by, by)
    return by


def _chosen(first: int, last: int, timestamps: bool, unit: str | None) -> str | int:
    if timestamps or unit is not None:
        size = 1 if timestamps or unit is None else MICROSECONDS[unit]
        lengths = {word: length_of(length, "us", timestamps=True) for word, length in WORDS.items()}
        fitting = [word for word, length in lengths.items() if length % size == 0 or length >= size]
        return next((word for word in fitting if (last - first) * size <= _FEW * lengths[word]), "week")
    length = 1
    while (last - first) // length >= _FEW:  # 1, 2, 5, 10, 20, …
        length = length * 5 // 2 if str(length)[0] == "2" else length * 2
    return length


def _by_calendar(word: str, first: int, last: int, zone: str | None) -> list[int]:
    """Spans by the clock of a zone, where days may have 23 or 25 hours."""
    nominal = length_of(WORDS[word], "us", timestamps=True)
    beyond = nominal + (nominal // 12 if nominal >= length_of("1d", "us", timestamps=True) else 0)
    edges = [_begin(word, first, zone)]
    while edges[-1] <= last and len(edges) <= MOST + 1:
        edges.append(_begin(word, edges[-1] + beyond, zone))
    return edges


def _begin(word: str, time: int, zone: str | None) -> int:
    found = date_trunc(word, time, zone)
    return date_trunc(word, time) or 0 if found is None else found
