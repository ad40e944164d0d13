"""What was seen in the step at hand: a set of rows of numbers, which is empty again when the next step begins."""

from __future__ import annotations

from ensue.engine.structures.keys import NUMBERS, Keyed, slot_columns
from ensue.engine.structures.structure import Frame, Layout


def seen_layout(width: int) -> Layout:
    return Layout(("slot_wanted", *NUMBERS), slot_columns(width, {"time": "i64", "fresh": "i64"}))


class Seen(Keyed):
    """Rows of numbers, each with the time at which it was seen last."""

    keeps = False

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.first_slots(width)

    def grow(self) -> None:
        """Forgets what belongs to earlier steps."""
        slots = self.arrays["slots_"]
        times = slots[:, self.layout.column("time").place]
        used = slots[:, 0] != 0
        self.rehash(used & (times == (times[used].max() if used.any() else 0)))

    def forget(self) -> None:
        """Forgets what was seen, as when the state around it is replaced by that of an earlier moment."""
        self.arrays["slots_"][:, self.layout.column("fresh").place] = 0
