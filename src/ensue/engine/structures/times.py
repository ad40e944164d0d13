"""Times by key: the latest recorded time of each key. Those before ``over`` go when the table is enlarged."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ensue.engine.structure import Frame, Layout
from ensue.engine.structures.keys import NUMBERS, Keyed, slot_columns

LONG_AGO = -(2**63)


def times_layout(kinds: str) -> Layout:
    """Layout of times by keys of these kinds."""
    return Layout(("over", "slot_wanted", *NUMBERS), slot_columns(kinds, {"latest": "i64"}))


class Times(Keyed):
    """A time for each key. A key without a recorded time has one before all others."""

    empty: ClassVar[dict[str, int]] = {"latest": LONG_AGO}

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.over = LONG_AGO
        self.first_slots(width)

    def grow(self) -> None:
        self.slot_wanted = 0
        slots = self.arrays["slots_"]
        self.rehash((slots[:, 0] != 0) & (slots[:, self.layout.column("latest").place] >= self.over))

    def size(self) -> tuple[int | None, int, int]:
        kept = int(np.count_nonzero(self.arrays["slots_"][:, self.layout.column("latest").place] > LONG_AGO))
        return kept if self.key_width else None, kept, 8 * kept * (1 + bool(self.key_width))
