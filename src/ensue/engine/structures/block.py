"""Block: the next rows of a batch that a unit takes, each with the number of its type.

Rows of other types are left out, and types are looked up, in a loop without a branch that depends on them: the
processor cannot predict the order of types, and a wrong guess costs more than all of this loop.
"""

from __future__ import annotations

import numpy as np

from ensue.engine.structures.rows import Given, Kinds
from ensue.engine.structures.structure import Column, Frame, Layout, Structure


def block_layout() -> Layout:
    return Layout(("room",), (("row", Column("rows_")), ("kind", Column("kinds_"))))


class Block(Structure):
    """Rows of a batch, filled from its ``at`` on, with room for those of a part of it."""

    keeps = counted = False

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.room = frame.capacity.block
        self.put("rows_", np.zeros(self.room, np.int64))
        self.put("kinds_", np.zeros(self.room, np.int64))


def fill(block: Block, given: Given, kinds: Kinds) -> int:
    """Fill a block with the next rows that the unit takes; returns their number, 0 at the end of the batch."""
    filled = 0
    while filled == 0 and given.at < given.rows:
        to = min(given.at + block.room, given.rows)
        for row in range(given.at, to):
            kind = kinds.local[given.kind[row] + 1]
            block.row[filled] = row
            block.kind[filled] = kind
            filled += int(kind >= 0)
        given.at = to
    return filled
