"""Gates: for each key, from when until when something of use may come."""

from __future__ import annotations

from typing import ClassVar

from ensue.engine.structures.keys import NUMBERS, Keyed, slot_columns
from ensue.engine.structures.structure import Frame, Layout


def gate_layout(kinds: str) -> Layout:
    return Layout(("over", "slot_wanted", *NUMBERS), slot_columns(kinds, {"first_end": "i64", "last_end": "i64"}))


LONG_AGO = -(2**62)
"""Before any time."""


class Gate(Keyed):
    """The first and the last end of what opens, of those between which the gate was never closed.

    What ended before ``over`` opens nothing any more.
    """

    empty: ClassVar[dict[str, int]] = {"first_end": LONG_AGO, "last_end": LONG_AGO}

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.first_slots(width)

    def grow(self) -> None:
        slots = self.arrays["slots_"]
        last = slots[:, self.layout.column("last_end").place]
        self.rehash((slots[:, 0] != 0) & (last >= self.over))

    def size(self) -> tuple[int | None, int, int]:
        """A gate is counted by its keys: it keeps no tuples."""
        return (self.slots if self.key_width else None), 0, 8 * 3 * self.slots
