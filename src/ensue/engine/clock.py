"""The state of time that timers need."""

from __future__ import annotations

from ensue.records import dataclass


@dataclass
class Clock:
    """The smallest end seen, and the time up to which events have been processed."""

    first_end: int | None = None
    now: int | None = None
