"""Two tiers of machine code: one that is available at once, and a better one that a thread compiles meanwhile.

A few passes take a tenth of the time of all, and their code is nearly as fast. So code begins with these. Where it is
used for long, all passes run in the background, and callers get the better code at their next use: both work on the
same memory. The better code is kept on disk, and is the first tier from then on.

Code that was compiled elsewhere and sent here is the first tier, too. It runs on many machines at once, so each of them
waits longer before optimising it.
"""

from __future__ import annotations

import atexit
from threading import Lock, Thread

from ensue.engine.machine.compilation import FULL, QUICK
from ensue.engine.machine.loading import Machine, load
from ensue.engine.machine.shipment import received
from ensue.engine.machine.store import cached_object, kept_object
from ensue.engine.machine.texts import Texts

LONG = 2_000_000
"""Events after which it pays to optimise code in the background."""

LONGER = 100_000_000
"""The same for code from a shipment: about where the time saved equals that of optimising."""

_running: set[Thread] = set()


class Tiers:
    """The code of a unit, as good as it is by now."""

    def __init__(self, unit: Texts) -> None:
        self._unit = unit
        sent = received(unit)
        best = kept_object(unit, FULL) if sent is None else None
        self._is_best = best is not None
        self._long = LONG if sent is None else LONGER
        self._lock = Lock()
        self._events = 0
        self.machine: Machine = load(sent or best or cached_object(unit, QUICK), unit.entries)

    def note(self, events: int) -> None:
        """Count events that the code was used for; after many of them better code is compiled."""
        if self._is_best:
            return
        with self._lock:
            self._events += events
            if self._is_best or self._events < self._long:
                return
            self._is_best = True
        thread = Thread(target=self._optimise, name="ensue-optimise", daemon=True)
        _running.add(thread)
        thread.start()

    def _optimise(self) -> None:
        self.machine = load(cached_object(self._unit, FULL), self._unit.entries)


@atexit.register
def _wait() -> None:
    """Wait for LLVM, which must not be running while the process ends."""
    for thread in _running:
        thread.join()
