"""What is said about events that take no part: those that came too late, and rows that cannot be used."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ensue.data import BadRow
from ensue.data.errors import bad_rows_said
from ensue.errors import BadRowsWarning, LateEventsWarning
from ensue.live.reactions import Calls


class Notices:
    """Calls the functions that were given for them; warns where there are none, of late events once."""

    def __init__(
        self, calls: Calls, on_late: Callable[[dict[str, Any]], object] | None,
        on_bad_row: Callable[[BadRow], object] | None,
    ) -> None:  # fmt: skip
        self.calls = calls
        self.on_late = on_late
        self.on_bad_row = on_bad_row
        self.warned = False

    def late(self, events: Sequence[dict[str, Any]], time: object, stacklevel: int) -> None:
        if self.on_late is not None:
            for event in events:
                self.calls.add("on_late", partial(dict, event), partial(self.on_late, event))
            self.calls.run()
        elif not self.warned:
            self.warned = True
            warnings.warn(
                f"An event came too late and was left out: {events[0]!r}. Time has been evaluated up to {time}. Start "
                "with a larger `lateness`, or take late events with `on_late`; `late` counts them.",
                LateEventsWarning,
                stacklevel=stacklevel + 1,
            )

    def bad(self, rows: Sequence[BadRow], count: int, stacklevel: int) -> None:
        if self.on_bad_row is not None:
            for row in rows:
                self.calls.add("on_bad_row", partial(str, row), partial(self.on_bad_row, row))
            self.calls.run()
        elif count:
            warnings.warn(bad_rows_said(rows, count), BadRowsWarning, stacklevel=stacklevel + 1)
