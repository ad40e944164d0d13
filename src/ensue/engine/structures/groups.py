"""Groups: slots by key with what is known of each group, and rows that belong to groups, taken from one pool.

A row keeps its place as long as it is used; place 0 is no row, so that zeros mean nothing. Rows that are free are linked
by ``link``. A slot keeps its place until the slots are enlarged, which drops those whose ``count`` is 0: groups of which
nothing is left.
"""

from __future__ import annotations

import numpy as np

from ensue.engine.machine.builtin import grow
from ensue.engine.structures.keys import NUMBERS as KEY_NUMBERS
from ensue.engine.structures.keys import Keyed, slot_columns
from ensue.engine.structures.structure import Array, Element, Frame, Layout, row_columns

FIRST_ROWS = 16

NUMBERS = ("free", "size", "serial", "time", "slot_wanted", *KEY_NUMBERS)


def groups_layout(width: int, slots: dict[str, Element], rows: dict[str, Element]) -> Layout:
    """Groups by keys of a width, with these columns in their slots besides ``count``, and these in their rows."""
    columns = slot_columns(width, {"count": "i64", **slots})
    return Layout(NUMBERS, (*columns, *row_columns("rows", {"link": "i64", **rows})))


class Groups(Keyed):
    """Groups and their rows; `serial` and `time` are for the code that uses them."""

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.first_slots(width)
        self.put("rows", np.zeros((1, self.layout.column("link").width), np.int64))
        self.size = 1
        self.serial = self.free = 0

    def grow(self) -> None:
        if self.slot_wanted:
            self.slot_wanted = 0
            slots = self.arrays["slots_"]
            self.rehash((slots[:, 0] != 0) & (slots[:, self.layout.column("count").place] != 0))
            return
        old = self.arrays["rows"]
        size = max(FIRST_ROWS, 2 * len(old))
        rows = np.zeros((size, old.shape[1]), np.int64)
        rows[: len(old)] = old
        rows[len(old) :, self.layout.column("link").place] = np.append(np.arange(len(old) + 1, size), self.free)
        self.free = len(old)
        self.put("rows", rows)
        self.size = size

    def in_use(self) -> int:
        """How many rows are used."""
        rows: Array = self.arrays["rows"]
        place, free, at = self.layout.column("link").place, 0, self.free
        while at:
            free, at = free + 1, int(rows[at, place])
        return len(rows) - 1 - free


def take_row(groups: Groups) -> int:
    """A row that is free from now on not."""
    if groups.free == 0:
        grow(groups)
    row = groups.free
    groups.free = groups.link[row]
    return row


def free_row(groups: Groups, row: int) -> None:
    groups.link[row] = groups.free
    groups.free = row


def join_heaps(groups: Groups, one: int, other: int) -> int:
    """The root of two pairing heaps of rows as one, the row with the smallest start."""
    if one == 0:
        return other
    if other == 0:
        return one
    if groups.start[other] < groups.start[one]:
        held = one
        one = other
        other = held
    groups.sibling[other] = groups.child[one]
    groups.child[one] = other
    return one


def without_root(groups: Groups, root: int) -> int:
    """The root of a heap without its root: its children are joined in pairs, and these from the last to the first."""
    pairs = 0
    at = groups.child[root]
    while at != 0:
        other = groups.sibling[at]
        after = 0
        if other != 0:
            after = groups.sibling[other]
            groups.sibling[other] = 0
        groups.sibling[at] = 0
        joined = join_heaps(groups, at, other)
        groups.sibling[joined] = pairs
        pairs = joined
        at = after
    found = 0
    while pairs != 0:
        after = groups.sibling[pairs]
        groups.sibling[pairs] = 0
        found = join_heaps(groups, found, pairs)
        pairs = after
    return found
