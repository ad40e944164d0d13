"""Notices of events that take no part: those that came too late, and rows that cannot be used."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from ensue.data import BadRow
from ensue.data.errors import describe_bad_rows
from ensue.errors import BadRowsWarning, LateEventsWarning, PlainLengthWarning
from ensue.live.reactions import Calls


class Notices:
    """Call the functions that were given for them; warn where there are none, of late events once."""

    def __init__(
        self, calls: Calls, on_late: Callable[[dict[str, Any]], object] | None,
        on_bad_row: Callable[[BadRow], object] | None,
    ) -> None:  # fmt: skip
        self.calls = calls
        self.on_late = on_late
        self.on_bad_row = on_bad_row
        self.warned = False
        self.warnings: list[tuple[str, type[Warning]]] = []

    def late(self, events: Sequence[dict[str, Any]], time: object) -> None:
        """Note events that came too late."""
        if self.on_late is not None:
            for event in events:
                self.calls.add("on_late", partial(dict, event), partial(self.on_late, event))
        elif not self.warned:
            self.warned = True
            said = (
                f"An event came too late and was left out: {events[0]!r}. Time has been evaluated up to {time}. Allow "
                "a larger `lateness`; a session can take late events with `on_late`, and counts them as `late`."
            )
            if isinstance(time, datetime) and time.timestamp() > datetime.now().timestamp() + 3600:
                said += " Time is ahead of the clock: where an event of a wrong clock has moved it, use `max_ahead`."
            self.warnings.append((said, LateEventsWarning))

    def bad(self, rows: Sequence[BadRow], count: int) -> None:
        """Note rows that cannot be used."""
        if self.on_bad_row is not None:
            for row in rows:
                self.calls.add("on_bad_row", partial(str, row), partial(self.on_bad_row, row))
        elif count:
            self.warnings.append((describe_bad_rows(rows, count), BadRowsWarning))

    def plain_lengths(self, said: Sequence[str]) -> None:
        """Note plain lengths in rules whose times are timestamps."""
        self.warnings += [(each, PlainLengthWarning) for each in said]

    def warn(self, stacklevel: int) -> None:
        """Warn of all notices for which there is no callback."""
        while self.warnings:
            said, kind = self.warnings.pop(0)
            warnings.warn(said, kind, stacklevel=stacklevel + 1)
