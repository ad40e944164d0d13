"""Calls from machine code back into Python.

No exception may pass through machine code. It is kept, a cell of the frame is set, and machine code returns from all
its functions at once; `Callbacks.check` raises it again. Machine code marks a call back as failed before it makes it,
and the mark is taken away when the function has begun: an interrupt before its first line is not missed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from operator import index
from typing import Any

from ensue.engine.machine.body import FAILED
from ensue.engine.structure import Frame, Structure

Ask = Callable[[Any, int], int]
"""Answers a question by number, about a structure."""

GROW, ASK = 0, 1
"""The cells that hold the addresses of the two functions."""

_Grow = ctypes.CFUNCTYPE(None, ctypes.c_int64)
_Ask = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


class Callbacks:
    """The two functions that machine code calls, and the exceptions that were raised in them."""

    def __init__(self, frame: Frame, structures: Mapping[int, Structure], ask: Ask | None) -> None:
        self.view = frame.view
        self.raised: list[BaseException] = []
        # kept here as long as machine code may call them; they do not refer back, so memory is freed at once
        self.functions = _functions(frame.view, structures, ask, self.raised)
        for cell, function in zip((GROW, ASK), self.functions, strict=True):
            frame.view[cell] = ctypes.c_int64.from_buffer(function).value
        frame.view[FAILED] = 0

    def check(self) -> None:
        """Raise the first exception that was raised in a call back, if any. Call this after machine code has run."""
        if self.view[FAILED] or self.raised:
            first = self.raised[0] if self.raised else None
            self.raised.clear()
            self.view[FAILED] = 0
            raise first or RuntimeError("a call from machine code back into Python was interrupted")

    def checked(self, entry: Callable[[int], Any], address: int) -> Callable[[], Any]:
        """An entry of machine code, which raises what was raised in a call back."""
        view, raised = self.view, self.raised

        def function() -> Any:
            found = entry(address)
            if view[FAILED] or raised:
                self.check()
            return found

        return function


def _functions(
    view: memoryview, structures: Mapping[int, Structure], answer: Ask | None, raised: list[BaseException]
) -> tuple[Any, Any]:
    def grow(base: int) -> None:
        try:
            view[FAILED] = 0
            structures[base].grow()
        except BaseException as error:
            view[FAILED] = 1
            raised.append(error)

    def ask(base: int, number: int) -> int:
        try:
            view[FAILED] = 0
            if answer is None:
                raise LookupError("machine code asks, and there is nobody to answer")
            return index(answer(structures[base], number))
        except BaseException as error:
            view[FAILED] = 1
            raised.append(error)
            return 0

    return _Grow(grow), _Ask(ask)


def callbacks(frame: Frame, structures: Mapping[int, Structure], ask: Ask | None = None) -> Callbacks:
    """Connect a frame with Python: `structures`, by their first cell, can grow, and `ask` answers questions."""
    return Callbacks(frame, structures, ask)
