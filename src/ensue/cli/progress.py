"""A sign of life while work takes long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE = 1.0
"""Seconds that pass before anything is shown."""


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Shows what is going on, if it takes more than a moment and standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    shown: list[Status] = []

    def show() -> None:
        from rich.console import Console

        shown.append(Console(stderr=True).status(what))
        shown[0].start()

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for status in shown:
            status.stop()
