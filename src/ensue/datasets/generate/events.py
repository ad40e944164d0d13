"""Events as generators give them: seconds from a first moment, then rows with timestamps in order."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from ensue.records import dataclass


@dataclass(frozen=True)
class Event:
    """An event that starts and ends these many seconds after the first moment."""

    type: str
    start: int
    end: int
    values: dict[str, Any]


def event(type_: str, second: int, /, **values: Any) -> Event:
    """An instantaneous event."""
    return Event(type_, second, second, values)


def interval(type_: str, start: int, end: int, /, **values: Any) -> Event:
    """An event that takes time."""
    return Event(type_, start, end, values)


def rows(first: datetime, events: Iterable[Event], intervals: bool = False) -> list[dict[str, Any]]:
    """The events by their end, with a `time`, or with `start` and `end` where some take time.

    >>> for row in rows(datetime(2026, 3, 2), [event("b", 60, x=1), event("a", 5)]):
    ...     print(row)
    {'type': 'a', 'time': datetime.datetime(2026, 3, 2, 0, 0, 5)}
    {'type': 'b', 'time': datetime.datetime(2026, 3, 2, 0, 1), 'x': 1}
    """
    made = []
    for each in sorted(events, key=lambda each: (each.end, each.start)):
        start, end = first + timedelta(seconds=each.start), first + timedelta(seconds=each.end)
        times = {"start": start, "end": end} if intervals else {"time": end}
        made.append({"type": each.type, **times, **each.values})
    return made
