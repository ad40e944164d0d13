"""Machine code that a thread makes meanwhile: one unit after the other, in the order in which they are asked for.

Who asks goes on with what there is, and finds the code when it next looks. A moment passes before the thread begins, so
that what is over at once costs nothing. A process that forks or ends waits for the unit at hand: LLVM must not be at
work then.
"""

from __future__ import annotations

import atexit
import os
from collections import deque
from collections.abc import Callable
from threading import Event, Lock, RLock, Thread

MOMENT = 0.02
"""Seconds before the thread begins."""

compiling = RLock()
"""Held while a unit is compiled, by whomever."""

Job = Callable[[], object]

_jobs: deque[Job] = deque()
_changing = Lock()
_ending = Event()
_thread: Thread | None = None


def later(job: Job) -> None:
    """Have something done by the thread. What it raises is lost, so it should keep that."""
    global _thread
    with _changing:
        _jobs.append(job)
        if _thread is None and not _ending.is_set():
            _thread = Thread(target=_work, name="ensue-compile", daemon=True)
            _thread.start()


def _work() -> None:
    global _thread
    _ending.wait(MOMENT)
    while True:
        with _changing:
            if not _jobs or _ending.is_set():
                _jobs.clear()
                _thread = None
                return
            job = _jobs.popleft()
        job()


@atexit.register
def _end() -> None:
    _ending.set()
    thread = _thread
    if thread is not None:
        thread.join()


def _before_fork() -> None:
    compiling.acquire()
    _changing.acquire()


def _after_fork() -> None:
    _changing.release()
    compiling.release()


def _in_child() -> None:
    """The thread is not there any more."""
    global _thread
    _thread = None
    _jobs.clear()
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
