"""What timers need to know of time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Clock:
    """The smallest end seen, and up to where time has run."""

    first_end: int | None = None
    now: int | None = None
