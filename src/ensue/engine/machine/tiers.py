"""Two tiers of machine code: one that is there at once, and a better one that a thread makes meanwhile.

Few passes take a tenth of the time of all, and their code is nearly as fast. So code begins with these. Where it is
used for long, all passes run in the background, and callers find the better code when they next ask for it: both work
on the same memory. The better code is kept on disk, and is the first tier from then on.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from threading import Lock, Thread

from ensue.engine.machine.compilation import FULL, QUICK
from ensue.engine.machine.loading import Machine, load
from ensue.engine.machine.store import cached_object, kept_object

LONG = 2_000_000
"""Events after which it is worth while to optimise code in the background."""

_running: set[Thread] = set()


class Tiers:
    """The code of a unit, as good as it is by now."""

    def __init__(self, ir: str, entries: Sequence[str]) -> None:
        self._ir, self._entries = ir, tuple(entries)
        best = kept_object(ir, FULL)
        self._is_best = best is not None
        self._lock = Lock()
        self._events = 0
        self.machine: Machine = load(cached_object(ir, QUICK) if best is None else best, entries)

    def note(self, events: int) -> None:
        """Notes that the code was used for so many events; after many of them better code is made."""
        if self._is_best:
            return
        with self._lock:
            self._events += events
            if self._is_best or self._events < LONG:
                return
            self._is_best = True
        thread = Thread(target=self._optimise, name="ensue-optimise", daemon=True)
        _running.add(thread)
        thread.start()

    def _optimise(self) -> None:
        self.machine = load(cached_object(self._ir, FULL), self._entries)


@atexit.register
def _wait() -> None:
    """Waits for LLVM, which must not be at work while the process ends."""
    for thread in _running:
        thread.join()
