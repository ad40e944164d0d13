"""One call at a time, and none that is left half done: threads wait for each other, and Ctrl-C for a whole state."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from threading import get_ident, main_thread
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

try:  # as in `signal`, without making enumerations of numbers, which costs ten times as much as all else
    _signal: Any = import_module("_signal")
except ImportError:
    _signal = import_module("signal")
SIGINT, getsignal, set_signal = _signal.SIGINT, _signal.getsignal, _signal.signal

BUSY = (
    "The session is in the middle of a call. Functions that rules call, and handlers of signals, cannot use it; use it "
    "when that call has returned."
)

_main = main_thread().ident
"""The main thread."""


def _begin_again() -> None:
    """The thread that forks is the main one of the new process."""
    global _main
    _main = get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)


def alone(method: Callable[P, R]) -> Callable[P, R]:
    """Have a method of an object with a `lock` run in one thread at a time; a call inside of a call does not wait."""

    @wraps(method)
    def locked(*arguments: P.args, **named: P.kwargs) -> R:
        owner: Any = arguments[0]
        with owner.lock:
            return method(*arguments, **named)

    return locked


class SessionError(RuntimeError):
    """A session cannot be used: it was closed, detection failed, or it is in the middle of a call."""


class Uninterrupted:
    """Make Ctrl-C wait until the block is complete. A second one does not wait.

    Only the main thread is interrupted by Ctrl-C; in any other there is nothing to do. Exceptions that are raised in
    a thread by other means come through.

    In the middle of a block the state is half done. What runs there, a function that rules call or the handler of
    another signal, is refused another block.
    """

    __slots__ = ("_before", "_came", "_noting", "_number", "inside")

    def __init__(self) -> None:
        self.inside = False
        self._noting = self._note
        self._came: FrameType | None = None
        self._number = 0
        self._before: Any = None

    def __enter__(self) -> None:
        if self.inside:
            raise SessionError(BUSY)
        self._came = self._before = None
        if get_ident() == _main:
            before = getsignal(SIGINT)
            if callable(before):
                self._before = before
                try:
                    set_signal(SIGINT, self._noting)
                except ValueError:  # the main thread of an interpreter beside the main one
                    self._before = None
        self.inside = True

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._came is not None:
            self._before(number, frame)
        self._came, self._number = frame, number

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.inside = False
        if self._before is not None:
            set_signal(SIGINT, self._before)
            if self._came is not None and (kind is None or issubclass(kind, Exception)):
                self._before(self._number, self._came)
