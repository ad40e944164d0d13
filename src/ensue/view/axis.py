"""The axis of a picture: round times, and their text. `times.js` does it for pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ensue.view.scene import Scene

SECOND, MINUTE, HOUR, DAY = 10**6, 60 * 10**6, 3600 * 10**6, 86400 * 10**6
CLOCK_STEPS = (
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    *(n * DAY for n in (1, 2, 7, 14, 28)),
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def ticks_of(scene: Scene, most: int) -> tuple[str, list[tuple[int, str]]]:
    """A note about all times, and at most about `most` round ones with their text."""
    first, last = scene.span
    if not scene.timestamps:
        step = _round(max((last - first) / most, 1))
        note = f"in {scene.unit}" if scene.unit else ""
        return note, [(time, f"{time:,}") for time in _multiples(first, last, step)]
    least = (last - first) / most
    step = next((each for each in CLOCK_STEPS if each >= least), _round(least))
    if least < SECOND:
        step = _round(max(least, 1))
    if not _readable(first) or not _readable(last):
        return "µs since 1970", [(time, f"{time:,}") for time in _multiples(first, last, step)]
    zone = _zone(scene.timezone)
    ahead = _at(first, zone).utcoffset() or timedelta()
    shift = ahead // timedelta(microseconds=1)  # round on the clock of the zone
    times = [time - shift for time in _multiples(first + shift, last + shift, step)]
    day = _at(first, zone).strftime("%Y-%m-%d")
    return day, [(time, _clock(_at(time, zone), step)) for time in times]


def _round(least: float) -> int:
    """The smallest of 1, 2, 5, 10, … that is no less."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10


def _multiples(first: int, last: int, step: int) -> list[int]:
    return list(range(-(-first // step) * step, last + 1, step))


def _zone(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name) if name and name != "UTC" else UTC
    except (ZoneInfoNotFoundError, ValueError):  # an offset, or no zone that is known here
        return UTC


def _readable(time: int) -> bool:
    return abs(time) < 200 * 365 * DAY


def _at(time: int, zone: tzinfo) -> datetime:
    return (EPOCH + timedelta(microseconds=time)).astimezone(zone)


def _clock(at: datetime, step: int) -> str:
    if step >= DAY:
        return at.strftime("%b %d")
    if step >= MINUTE:
        return at.strftime("%H:%M")
    return at.strftime("%H:%M:%S") if step >= SECOND else at.strftime("%H:%M:%S.%f")
