"""Times of events as Spark's watermark has them: milliseconds, from 1970 on."""

from __future__ import annotations

from ensue.records import dataclass

LARGEST_MS = 2**63 // 1000 - 1
"""The latest watermark that Spark can hold: its timestamps are microseconds in 64 bits."""


@dataclass(frozen=True)
class Clock:
    """Conversion between times of events and milliseconds of the watermark.

    Timestamps are microseconds, a thousand of which make a millisecond of the watermark, so that people can read it;
    events before 1970 are late. Integers, whatever they count, are taken for milliseconds, as only their order and
    their distances matter; and as they may be negative, they are moved by half the range of a watermark.

    >>> clock = Clock(timestamps=True)
    >>> clock.milliseconds(5_999), clock.complete(5), clock.fires(5_000)
    (5, 4999, 6)
    >>> clock = Clock(timestamps=False)
    >>> clock.complete(clock.milliseconds(-7)), clock.complete(clock.fires(-7))
    (-8, -7)
    """

    timestamps: bool

    @property
    def unit(self) -> int:
        return 1000 if self.timestamps else 1

    @property
    def moved(self) -> int:
        return 0 if self.timestamps else LARGEST_MS // 2

    @property
    def range(self) -> tuple[int, int]:
        """The times that an event of a stream can have."""
        return -self.moved * self.unit, (LARGEST_MS - self.moved) * self.unit

    def milliseconds(self, time: int) -> int:
        """An event's end, in milliseconds of the watermark."""
        return time // self.unit + self.moved

    def complete(self, watermark: int) -> int:
        """The time up to which everything has come, when the watermark is at some millisecond."""
        return (watermark - self.moved) * self.unit - 1

    def fires(self, time: int) -> int:
        """The watermark from which on a time is complete."""
        return -(-(time + 1) // self.unit) + self.moved

    def delay(self, lateness: int) -> int:
        """A lateness in milliseconds."""
        return -(-lateness // self.unit)

    def after(self, watermark: int, latest: int, lateness: int) -> int:
        """The watermark after a micro-batch, by the latest end in it, as Spark computes it."""
        return max(watermark, self.milliseconds(latest) - self.delay(lateness))
