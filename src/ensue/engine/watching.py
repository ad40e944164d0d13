"""Who watches detection: told how far it has come, and what took time. Nobody does, unless a command asks for it.

Where somebody watches, many events are taken in step by step; where steps lie makes no difference to what is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Literal, Protocol

import numpy as np

STEP = 250_000
"""How many events are taken in before a watcher is told again."""

Work = Literal["compiling", "asking", "running"]
"""Kinds of work that take time: making machine code, computing something in Python that code asks for, running code."""


class Watcher(Protocol):
    """Somebody who watches."""

    @property
    def clock(self) -> Callable[[], float]:
        """Gives seconds."""

    def count(self, done: int, total: int | None, found: int) -> None:
        """So many events are done, of how many if that is known, and so many detections were found."""

    def spent(self, work: Work, rules: Sequence[str], seconds: float, on: str | None = None) -> None:
        """Some rules took time; `on` says what was computed."""


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def watched() -> Watcher | None:
    """Who watches runs that begin now."""
    return _watcher.get()


@contextmanager
def watching(watcher: Watcher | None) -> Iterator[None]:
    """Have somebody watch what is run inside."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


class Tally:
    """Adds up how far one detection has come, in whichever threads, and tells who watches."""

    def __init__(self, watcher: Watcher, total: int, names: Sequence[str]) -> None:
        self.watcher, self.total, self.names = watcher, total, names
        self.done = self.found = 0
        self.share = 1
        """How many threads go through all of the events."""
        self._lock = Lock()

    def add(self, rows: int, found: int) -> None:
        """So many more events were taken in, and detections found."""
        with self._lock:
            self.done += rows
            self.found += found
            self.watcher.count(min(self.total, self.done // self.share), self.total, self.found)


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


def tallied() -> Tally | None:
    """The tally of the detection that is going on, if somebody watches it."""
    return _tally.get()


@contextmanager
def tallying(total: int, names: Sequence[str]) -> Iterator[Tally | None]:
    """Have a detection of so many events added up, if somebody watches; `names` are the types that are wanted."""
    watcher = watched()
    token = _tally.set(None if watcher is None else Tally(watcher, total, names))
    try:
        yield _tally.get()
    finally:
        _tally.reset(token)


def steps(ends: Sequence[np.ndarray[Any, np.dtype[np.int64]]], size: int | None = None) -> list[int]:
    """The times up to which events are taken in at once: those of so many events, the last one aside.

    >>> steps([np.array([1, 2, 2, 2, 3]), np.array([1, 4])], 2)
    [1, 2, 3]
    """
    size = STEP if size is None else size
    if sum(map(len, ends)) <= size:
        return []
    together = ends[0] if len(ends) == 1 else np.sort(np.concatenate(ends), kind="stable")  # each is in order
    times = dict.fromkeys(together[size - 1 :: size].tolist())
    return [time for time in times if time < together[-1]]
