"""Rows of the current step, one for each group. Rows of earlier turns are dropped as the table grows."""

from __future__ import annotations

import numpy as np

from ensue.engine.structure import Element, Frame, Layout, row_columns
from ensue.engine.structures.keys import NUMBERS, Keyed, slot_columns


def chosen_layout(kinds: str, fields: dict[str, Element]) -> Layout:
    """Layout of rows with a start and these fields, by keys of these kinds. ``turn`` is the current turn, from 1 on."""
    slots = slot_columns(kinds, {"chosen_in": "i64", "row": "i64"})
    rows = row_columns("rows", {"start": "i64", **fields})
    return Layout(("count", "capacity", "turn", "slot_wanted", *NUMBERS), (*slots, *rows))


class Chosen(Keyed):
    """``count`` rows; a slot has the row of its group if that was ``chosen_in`` the current turn."""

    keeps = False

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.first_slots(width)
        self.put("rows", np.zeros((self.frame.capacity.rows, self.layout.column("start").width), np.int64))
        self.capacity, self.turn = self.frame.capacity.rows, 1

    def grow(self) -> None:
        if self.slot_wanted:
            self.slot_wanted = 0
            slots = self.arrays["slots_"]
            self.rehash((slots[:, 0] != 0) & (slots[:, self.layout.column("chosen_in").place] == self.turn))
            return
        old = self.arrays["rows"]
        self.put("rows", np.concatenate([old, np.zeros_like(old)]))
        self.capacity = 2 * len(old)
