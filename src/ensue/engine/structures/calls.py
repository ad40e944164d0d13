"""Tables of Python's results: for each combination of arguments the result, and a flag for its presence."""

from __future__ import annotations

import numpy as np

from ensue.engine.structure import Element, Frame, Layout
from ensue.engine.structures.keys import NUMBERS, Keyed, slot_columns


def calls_layout(width: int, floating: bool) -> Layout:
    payload: dict[str, Element] = {"known": "i64", "there": "i64", "result": "f64" if floating else "i64"}
    return Layout(("slot_wanted", *NUMBERS), slot_columns(width, payload))


class Calls(Keyed):
    """Results by their arguments, each as 64 bits."""

    keeps = False

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.first_slots(width)

    def grow(self) -> None:
        used = self.arrays["slots_"][:, 0] != 0
        self.rehash(used if self.slots < self.frame.capacity.calls else np.zeros(len(used), bool))

    def forget(self) -> None:
        """Drop all results: codes in their arguments may stand for other values from now on."""
        self.first_slots(self.key_width)
