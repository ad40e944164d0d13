"""Detections that are final, handed to a receiver in their order while others are still found.

A command sets the receiver, which writes them meanwhile; there is none otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Protocol

import pyarrow as pa

Tables = Mapping[str, pa.Table]
"""Detections, as a table for each type."""


class Receiver(Protocol):
    """Receiver of final detections. Its calls return at once, and come from several threads, one after the other."""

    def begin(self) -> None:
        """Forget what came before: detection begins anew."""

    def take(self, tables: Tables) -> None:
        """Take the detections of the next part of time."""

    def end(self, whole: Tables) -> None:
        """Note that all that was taken since the beginning is `whole`."""


_receiver: ContextVar[Receiver | None] = ContextVar("receiver", default=None)


def receiver() -> Receiver | None:
    """The receiver of detections that begin now."""
    return _receiver.get()


@contextmanager
def receiving(receiver: Receiver | None) -> Iterator[None]:
    """Set a receiver for detections that begin inside; None where detections are not final yet."""
    token = _receiver.set(receiver)
    try:
        yield
    finally:
        _receiver.reset(token)


class Collected:
    """The detections of parts of time, which are numbered in order and may come in any; the receiver gets them too."""

    def __init__(self, emit: Sequence[str]) -> None:
        self.emit = emit
        self._steps: list[Tables] = []
        self._waiting: dict[int, Sequence[Tables]] = {}
        self._next = 0
        self._lock = Lock()
        self._receiver = receiver()
        if self._receiver is not None:
            self._receiver.begin()

    def add(self, part: int, steps: Sequence[Tables]) -> None:
        """Add all detections of a part, as tables for each of its steps."""
        with self._lock:
            self._waiting[part] = steps
            while self._next in self._waiting:
                for tables in self._waiting.pop(self._next):
                    self._steps.append(tables)
                    if self._receiver is not None:
                        self._receiver.take(tables)
                self._next += 1

    def whole(self) -> dict[str, pa.Table]:
        """All detections, once every part has been added."""
        found = {name: pa.concat_tables([tables[name] for tables in self._steps]) for name in self.emit}
        if self._receiver is not None:
            self._receiver.end(found)
        return found
