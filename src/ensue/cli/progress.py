"""A sign of life while work takes long: what is done, how much of it, how fast, and how long it will take."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE = 1.0
"""Seconds that pass before anything is shown."""


@dataclass
class Progress:
    """Work that is going on: in words, and where it can be counted, how many of how many events, with what was found.

    It shows nothing itself; `sentence` says how it stands.
    """

    what: str
    clock: Callable[[], float] = time.monotonic
    done: int = 0
    total: int | None = None
    found: int = 0
    begun: float = field(init=False)
    status: Status | None = None

    def __post_init__(self) -> None:
        self.begun = self.clock()

    def say(self, what: str) -> None:
        """Go on with something else."""
        self.what, self.done, self.total, self.found, self.begun = what, 0, None, 0, self.clock()
        self._show()

    def count(self, done: int, total: int | None, found: int) -> None:
        """Note how many events are done, of how many if that is known, and how many detections there are."""
        self.done, self.total, self.found = done, total, found
        self._show()

    def sentence(self) -> str:
        """How it stands.

        >>> passed = iter([0.0, 2.0])
        >>> work = Progress("Detecting…", lambda: next(passed))
        >>> work.done, work.total, work.found = 1_000_000, 4_000_000, 12
        >>> work.sentence()
        'Detecting… ━━━━━────────────────  25%  1,000,000 of 4,000,000 events, 500,000/s, 12 found, 6 s left'
        """
        if not self.done:
            return self.what
        passed = max(self.clock() - self.begun, 1e-9)
        rate = self.done / passed
        told = [f"{rate:,.0f}/s", f"{self.found:,} found"]
        if self.total is None:
            return f"{self.what} {', '.join([f'{self.done:,} events', *told])}"
        share = min(1.0, self.done / max(1, self.total))
        told.append(f"{(self.total - self.done) / rate:,.0f} s left")
        events = f"{self.done:,} of {self.total:,} events"
        return f"{self.what} {_bar(share)} {share:4.0%}  {', '.join([events, *told])}"

    def _show(self) -> None:
        if self.status is not None:
            self.status.update(self.sentence())


def _bar(share: float, width: int = 21) -> str:
    full = int(share * width)
    return "━" * full + "─" * (width - full)


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """Shows what is going on, if it takes more than a moment and standard error is a terminal."""
    work = Progress(what)
    if not sys.stderr.isatty():
        yield work
        return

    def show() -> None:
        from rich.console import Console

        status = Console(stderr=True, highlight=False).status(work.sentence())
        status.start()
        work.status = status

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield work
    finally:
        timer.cancel()
        timer.join()
        if work.status is not None:
            work.status.stop()
