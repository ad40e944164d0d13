"""Block: the next rows of a batch that a unit takes, each with the number of its type and that of its key.

Rows of other types are left out, and types are looked up, in a loop without a branch that depends on them: the
processor cannot predict the order of types, and a wrong guess costs more than all of this loop.

Keys are looked up in another such loop, where the keys of all types are in the same columns (``keyed``). Between events
the processor guesses wrong so often that it would wait for the memory of each key in turn; here it waits for many at
once. An event's key then counts as the last one of its table (`structures/key_numbers.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ensue.engine.structure import Array, Column, Frame, Layout, Structure
from ensue.engine.structures.keys import high_source
from ensue.engine.structures.rows import Given, Kinds


def block_layout(width: int) -> Layout:
    """A block whose keys have so many parts; none has a key if there are none."""
    keys = [("number", Column("numbers_")), *((f"k{i}", Column(f"k{i}")) for i in range(width))] if width else []
    return Layout(("room", "only", "keyed"), (("row", Column("rows_")), ("kind", Column("kinds_")), *keys))


class Block(Structure):
    """Rows of a batch, filled from its ``at`` on, with room for those of a part of it."""

    keeps = counted = False
    only: int
    """The number of the only type of the batch; -1 if it has others, or the unit does not take it."""
    keyed: int

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.room, self.only = frame.capacity.block, -1
        self.put("rows_", np.zeros(self.room, np.int64))
        self.put("kinds_", np.zeros(self.room, np.int64))
        if "numbers_" in self.layout.arrays:
            self.put("numbers_", np.full(self.room, -1, np.int64))

    def read_keys(self, columns: Sequence[Array] | None) -> None:
        """Let the keys of the batch be in these columns; without columns keys are looked up where they are used."""
        if self.keyed and columns is None:
            self.arrays["numbers_"].fill(-1)
        self.keyed = int(columns is not None)
        for i, column in enumerate(columns or ()):
            self.put(f"k{i}", column)


def fill(block: Block, given: Given, kinds: Kinds) -> int:
    """Fill a block with the next rows that the unit takes; returns their number, 0 at the end of the batch."""
    filled = 0
    while filled == 0 and given.at < given.rows:
        to = min(given.at + block.room, given.rows)
        if block.only >= 0:
            for row in range(given.at, to):
                block.row[row - given.at] = row
                block.kind[row - given.at] = block.only
            filled = to - given.at
            given.at = to
            return filled
        for row in range(given.at, to):
            kind = kinds.local[given.kind[row] + 1]
            block.row[filled] = row
            block.kind[filled] = kind
            filled += int(kind >= 0)
        given.at = to
    return filled


@cache
def number_rows(width: int) -> str:
    """Source of ``number_rows``, which looks up the keys of a filled block; -1 stands for one that has no number."""
    keys = [f"k{i}" for i in range(width)]
    read = "\n".join(f"        {key} = block.{key}[row]" for key in keys)
    same = " and ".join(f"keys.{key}[found] == {key}" for key in keys)
    return f"""
def number_rows(block: Block, keys: KeyNumbers, filled: int) -> None:
    for place in range(filled):
        row = block.row[place]
{read}
        found = keys.index[{high_source(keys, "keys.shift")}] - 1
        block.number[place] = found if found >= 0 and {same} else -1
"""
