"""The wall clock as a limit: events further ahead of it than allowed come from a clock that is wrong.

One event of the year 2099 moves the time of a stream there, and all that comes after it is late.
"""

from __future__ import annotations

from time import time_ns

from ensue.data.errors import DataError
from ensue.data.moments import Length, length_of
from ensue.language.build import MICROSECONDS
from ensue.records import dataclass

USUAL_AHEAD = "1h"
"""Default of `ahead`, where time advances by the clock."""


@dataclass(frozen=True)
class WallClock:
    """Limit on ends of events: now plus `ahead`, in the unit of times; one unit has `unit` microseconds."""

    ahead: int
    unit: int
    written: Length

    @staticmethod
    def of(ahead: Length, unit: str | None, timestamps: bool) -> WallClock:
        """`unit` is the rules' unit of integer times, which count from 1970 then.

        >>> WallClock.of("1m", "s", timestamps=False)
        WallClock(ahead=60, unit=1000000, written='1m')
        """
        if isinstance(ahead, bool) or (not timestamps and unit is None):
            raise DataError(
                "`max_ahead` compares times with the clock, and those of these events are plain integers. State their "
                "unit, as in `unit s.`, if they count from 1970; or leave it out."
            )
        length = length_of(ahead, unit, timestamps, "`max_ahead`")
        if length < 0:
            raise DataError(f"`max_ahead` is {ahead!r}; it is a length of time, 0 or more.")
        return WallClock(length, 1 if timestamps or unit is None else MICROSECONDS[unit], ahead)

    def latest(self) -> int:
        """The last end that is not too far ahead now."""
        return time_ns() // 1000 // self.unit + self.ahead

    @property
    def reason(self) -> str:
        """The reason why an event that ends later is a bad row."""
        return f"it ends more than {self.written} ahead of the clock (`max_ahead`); is the clock that it is from wrong?"
