"""Progress of long work: its description, the share that is done, the rate, and the remaining time."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

import click

from ensue.cli.slow import Slowness
from ensue.records import dataclass

if TYPE_CHECKING:
    from rich.status import Status

    from ensue.engine.watching import Work
    from ensue.rules import Rules

PATIENCE = 1.0
"""Seconds that pass before anything is shown."""


@dataclass
class Progress:
    """Work in progress: in words, and where it can be counted, the numbers of events and of detections.

    It shows nothing itself; `sentence` describes it.
    """

    what: str
    clock: Callable[[], float] = time.monotonic
    done: int = 0
    total: int | None = None
    found: int = 0
    slowness: Slowness | None = None
    """Reports slow rules; None if nobody wants to know."""
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
        if done < self.done:  # another run
            self.begun = self.clock()
        self.done, self.total, self.found = done, total, found
        self._show()

    def spent(self, work: Work, rules: Sequence[str], seconds: float, on: str | None = None) -> None:
        """Note that rules took time."""
        if self.slowness is not None:
            self.slowness.spent(work, rules, seconds, on)

    def sentence(self) -> str:
        """Describe the progress so far.

        >>> passed = iter([0.0, 2.0])
        >>> work = Progress("Detecting…", lambda: next(passed))
        >>> work.done, work.total, work.found = 1_000_000, 4_000_000, 12
        >>> work.sentence()
        'Detecting… ━━────────  25%  1M of 4M events, 500k/s, 12 found, 6 s left'
        """
        if not self.done:
            return self.what
        passed = max(self.clock() - self.begun, 1e-9)
        rate = self.done / passed
        told = [f"{_short(rate)}/s", f"{_short(self.found)} found"]
        if self.total is None:
            return f"{self.what} {', '.join([f'{_short(self.done)} events', *told])}"
        share = min(1.0, self.done / max(1, self.total))
        told.append(f"{(self.total - self.done) / rate:,.0f} s left")
        events = f"{_short(self.done)} of {_short(self.total)} events"
        return f"{self.what} {_bar(share)} {share:4.0%}  {', '.join([events, *told])}"

    def _show(self) -> None:
        if self.status is not None:
            self.status.update(self.sentence())


def _short(number: float) -> str:
    """A number in a few characters.

    >>> _short(12), _short(1234), _short(500_000), _short(12_345_678)
    ('12', '1,234', '500k', '12.3M')
    """
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if number >= size:
            unit = size if letter != "k" else 1000
            return f"{number / unit:.1f}".removesuffix(".0") + letter
    return f"{number:,.0f}"


def _bar(share: float, width: int = 10) -> str:
    full = round(share * width)
    return "━" * full + "─" * (width - full)


quiet_option = click.option("-q", "--quiet", is_flag=True, help="Show no progress, and no notes on slow rules.")


@contextmanager
def detecting(what: str, rules: Rules, quiet: bool = False) -> Iterator[Progress]:
    """Shows the progress of rules that run inside, and reports on standard error which of them are slow, and why."""
    from ensue.engine.watching import watching

    with progress(what, quiet) as work:
        work.slowness = None if quiet else Slowness(rules)
        with watching(None if quiet else work):
            yield work


@contextmanager
def progress(what: str, quiet: bool = False) -> Iterator[Progress]:
    """Shows progress, if the work takes more than a moment and standard error is a terminal."""
    work = Progress(what)
    if quiet or not sys.stderr.isatty():
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
