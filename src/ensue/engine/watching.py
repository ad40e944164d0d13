"""Watchers of detection: they get its progress, and the times that work took. There is none unless a command sets one.

With a watcher, many events are taken in step by step; the choice of steps makes no difference to detections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Literal, Protocol

import numpy as np

STEP = 250_000
"""Events between two reports of progress."""

Work = Literal["compiling", "asking", "running"]
"""Kinds of work: compiling machine code, computing values in Python for code, running code."""


class Watcher(Protocol):
    """Receiver of progress and times."""

    @property
    def clock(self) -> Callable[[], float]:
        """A function that gives seconds."""

    def count(self, done: int, total: int | None, found: int) -> None:
        """Report the numbers of processed events, of all events if known, and of detections."""

    def spent(self, work: Work, rules: Sequence[str], seconds: float, on: str | None = None) -> None:
        """Report the time that some rules took; `on` names the computation."""


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def watched() -> Watcher | None:
    """The watcher of runs that begin now."""
    return _watcher.get()


@contextmanager
def watching(watcher: Watcher | None) -> Iterator[None]:
    """Set a watcher for runs that begin inside."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


class Tally:
    """Sums the progress of one detection over all threads, and reports it to the watcher."""

    def __init__(self, watcher: Watcher, total: int, names: Sequence[str]) -> None:
        self.watcher, self.total, self.names = watcher, total, names
        self.done = self.found = 0
        self._lock = Lock()

    def add(self, rows: int, found: int) -> None:
        """Add processed events, and detections."""
        with self._lock:
            self.done += rows
            self.found += found
            self.watcher.count(min(self.total, self.done), self.total, self.found)


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


def tallied() -> Tally | None:
    """The tally of the current detection, if it has a watcher."""
    return _tally.get()


@contextmanager
def tallying(total: int, names: Sequence[str]) -> Iterator[Tally | None]:
    """Tally a detection of so many events, if it has a watcher; `names` are the wanted types."""
    watcher = watched()
    token = _tally.set(None if watcher is None else Tally(watcher, total, names))
    try:
        yield _tally.get()
    finally:
        _tally.reset(token)


def steps(ends: Sequence[np.ndarray[Any, np.dtype[np.int64]]], size: int | None = None) -> list[int]:
    """The times up to which events are taken in at once: after every `size` events, without the last one.

    >>> steps([np.array([1, 2, 2, 2, 3]), np.array([1, 4])], 2)
    [1, 2, 3]
    """
    size = STEP if size is None else size
    if sum(map(len, ends)) <= size:
        return []
    together = ends[0] if len(ends) == 1 else np.sort(np.concatenate(ends), kind="stable")  # each is in order
    times = dict.fromkeys(together[size - 1 :: size].tolist())
    return [time for time in times if time < together[-1]]
