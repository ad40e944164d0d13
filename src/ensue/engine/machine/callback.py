"""Calls from machine code back into Python.

Nothing may be raised through machine code. An exception is kept, the frame says so, and machine code returns from all
its functions at once; `Callbacks.check` raises it again. Machine code marks a call back as failed before it makes it,
and the mark is taken away when the function has begun: an interrupt before its first line is not missed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from operator import index
from typing import Any

from ensue.engine.machine.body import FAILED
from ensue.engine.structures.structure import Frame, Structure

Ask = Callable[[Any, int], int]
"""Answers a question by number, about a structure."""

GROW, ASK = 0, 1
"""The cells that hold the addresses of the two functions."""

_Grow = ctypes.CFUNCTYPE(None, ctypes.c_int64)
_Ask = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


class Callbacks:
    """The two functions that machine code calls, and the first exception that was raised in them."""

    def __init__(self, frame: Frame, structures: Mapping[int, Structure], ask: Ask | None) -> None:
        self.frame = frame
        self.structures = structures
        self.ask = ask
        self.raised: BaseException | None = None
        self._functions = (_Grow(self._grow), _Ask(self._ask))  # they live as long as this object
        for cell, function in zip((GROW, ASK), self._functions, strict=True):
            frame.view[cell] = ctypes.cast(function, ctypes.c_void_p).value or 0
        frame.view[FAILED] = 0

    def check(self) -> None:
        """Raise the exception that was raised in a call back, if any. Call this after each run of machine code."""
        if self.frame.view[FAILED]:
            raised, self.raised = self.raised, None
            self.frame.view[FAILED] = 0
            raise raised or RuntimeError("a call from machine code back into Python was interrupted")

    def _grow(self, base: int) -> None:
        try:
            self.frame.view[FAILED] = 0
            self.structures[base].grow()
        except BaseException as error:
            self._keep(error)

    def _ask(self, base: int, number: int) -> int:
        try:
            self.frame.view[FAILED] = 0
            if self.ask is None:
                raise LookupError("machine code asks, and there is nobody to answer")
            return index(self.ask(self.structures[base], number))
        except BaseException as error:
            self._keep(error)
            return 0

    def _keep(self, error: BaseException) -> None:
        if self.raised is None:
            self.raised = error
        self.frame.view[FAILED] = 1


def callbacks(frame: Frame, structures: Mapping[int, Structure], ask: Ask | None = None) -> Callbacks:
    """Connect a frame with Python: `structures`, by their first cell, can grow, and `ask` answers questions."""
    return Callbacks(frame, structures, ask)
