"""Stop a stream by a signal: the first asks it to stop, a second ends the process."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)

SAME = 0.5
"""Seconds in which more signals are the same wish: a terminal and a wrapper around the command may both send one."""


class Stopping:
    """Handlers of Ctrl-C and SIGTERM that set `stopped`; only a main thread has signals.

    An exception in the middle of a call to Java would break the connection to it, so none is raised there.
    """

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._first: float | None = None
        self._raises = False
        self._before: dict[int, Any] = {}
        self._logged = logging.NOTSET

    def __enter__(self) -> Self:
        self._logged = logging.root.manager.disable
        self._before = {number: signal.getsignal(number) for number in SIGNALS} if _has_signals() else {}
        self._take_over()
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        logging.disable(self._logged)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Start Spark inside: the first signal does not wait for it. Then take over from the handler of PySpark's."""
        self._raises = True
        try:
            yield
        finally:
            self._raises = False
            self._take_over()

    def caused(self, error: BaseException) -> bool:
        """True if an error comes from a signal: Java may have got it, too, and PySpark's handler raises one."""
        seen: BaseException | None = error
        while seen is not None and not isinstance(seen, KeyboardInterrupt):
            seen = seen.__cause__ or seen.__context__
        if seen is not None:
            self.stopped.set()
        return self.stopped.is_set()

    def _take_over(self) -> None:
        for number in self._before:
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = now
            logging.disable()  # what fails from now on is no news
            self.stopped.set()
            if self._raises:
                raise KeyboardInterrupt
        elif now - self._first > SAME:
            os._exit(128 + number)


def _has_signals() -> bool:
    return threading.current_thread() is threading.main_thread()
