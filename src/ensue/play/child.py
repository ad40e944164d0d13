"""The process that checks and runs rules: it reads requests, limits its own memory, and answers one at a time."""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import Any, BinaryIO

from ensue.play.messages import read_message, write_message


def main() -> None:
    """Answers requests on standard input until it is closed."""
    memory, evaluates = int(sys.argv[1]), sys.argv[2] == "evaluates"
    requests, answers = _streams()
    sys.meta_path.insert(0, _NoPandas())
    from ensue.play.answers import Answers

    answering = Answers(memory)
    if evaluates:
        answering.prepare()
    limit_memory(memory)
    waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, waiting), daemon=True).start()
    write_message(answers, {"ready": True})
    while True:
        write_message(answers, answering.answer(waiting.get()))


class _NoPandas:
    """Hides pandas from pyarrow, which would import it: that takes a third of the time in which the process starts."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for messages alone: whatever else is printed goes to standard error."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, answers


def _read(requests: BinaryIO, waiting: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Hands requests over, and ends the process with the server, also in the middle of an evaluation."""
    while True:
        message = read_message(requests)
        if message is None:
            os._exit(0)
        waiting.put(message)


def limit_memory(memory: int) -> None:
    """Let the system refuse memory beyond a limit, where it can: then a rule that explodes ends with an error."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    except (OSError, ValueError):
        return
