"""Rows seen in the current step: a set of rows of numbers, which is empty again when the next step begins."""

from __future__ import annotations

from functools import cache

from ensue.engine.structure import Frame, Layout
from ensue.engine.structures.keys import NUMBERS, Keyed, hash_source, slot_columns


def seen_layout(width: int) -> Layout:
    return Layout(("now", "step", *NUMBERS), slot_columns(width, {}))


class Seen(Keyed):
    """Rows of numbers. A slot is used if it has the number of the current step, ``step``, whose time is ``now``."""

    keeps = False

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.first_slots(width)
        self.step = 1

    def grow(self) -> None:
        """Make room for more rows of the current step."""
        self.rehash(self.arrays["slots_"][:, 0] == self.step)

    def forget(self) -> None:
        """Drop all rows, as when the state around them is replaced by that of an earlier moment."""
        self.step += 1
        self.slots = 0


@cache
def seen_function(width: int) -> str:
    """Source of ``first_seen_n``, which adds a row of n numbers to the step at a time and returns True if it is new."""
    keys = [f"k{i}" for i in range(width)]
    given = "".join(f", {key}: int" for key in keys)
    hashed = hash_source(keys)
    same = " and ".join(f"table.slot_{key}[at] == {key}" for key in keys)
    written = "\n".join(f"    table.slot_{key}[at] = {key}" for key in keys)
    return f"""
def first_seen_{width}(table: Seen, now: int{given}) -> bool:
    if table.now != now:
        table.now = now
        table.step += 1
        table.slots = 0
    hashed = {hashed}
    at = hashed & table.slot_mask
    while table.slot_used[at] == table.step:
        if {same}:
            return False
        at = (at + 1) & table.slot_mask
    if 2 * table.slots >= table.slot_mask:
        grow(table)
        place_{width}(table)
        at = hashed & table.slot_mask
        while table.slot_used[at] != 0:
            at = (at + 1) & table.slot_mask
    table.slots += 1
    table.slot_used[at] = table.step
{written}
    return True
"""
