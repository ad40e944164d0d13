"""Groups: slots by key with the fields of each group, and rows that belong to groups, taken from one pool.

A row keeps its place as long as it is used; place 0 is no row, so that zeros mean nothing. Free rows are linked by
``link``. A slot keeps its place until the slots are enlarged, which drops those whose ``count`` is 0: empty groups.
"""

from __future__ import annotations

import numpy as np

from ensue.engine.structure import Array, Element, Frame, Layout, row_columns
from ensue.engine.structures.keys import NUMBERS as KEY_NUMBERS
from ensue.engine.structures.keys import Keyed, slot_columns
from ensue.engine.subset.builtin import grow
from ensue.engine.subset.source import source_of

NUMBERS = ("free", "capacity", "used", "serial", "first", "time", "slot_wanted", *KEY_NUMBERS)


def groups_layout(kinds: str, slots: dict[str, Element], rows: dict[str, Element]) -> Layout:
    """Layout of groups by keys of such kinds, with these columns in slots besides ``count``, and these in rows."""
    columns = slot_columns(kinds, {"count": "i64", **slots})
    return Layout(NUMBERS, (*columns, *row_columns("rows", {"link": "i64", **rows})))


class Groups(Keyed):
    """Groups and their rows, `used` of them; `serial`, `first` and `time` are for the code that uses them."""

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.first_slots(width)
        self.put("rows", np.zeros((1, self.layout.column("link").width), np.int64))
        self.capacity = 1

    def grow(self) -> None:
        if self.slot_wanted:
            self.slot_wanted = 0
            self.rehash(self.alive())
            return
        old = self.arrays["rows"]
        size = max(self.frame.capacity.rows, 2 * len(old))
        rows = np.zeros((size, old.shape[1]), np.int64)
        rows[: len(old)] = old
        rows[len(old) :, self.layout.column("link").place] = np.append(np.arange(len(old) + 1, size), self.free)
        self.free = len(old)
        self.put("rows", rows)
        self.capacity = size

    def size(self) -> tuple[int | None, int, int]:
        keys = int(np.count_nonzero(self.alive()))
        width = self.arrays["rows"].shape[1]
        return keys if self.key_width else None, self.used, 8 * (self.used * width + keys)

    def alive(self) -> Array:
        """The slots of groups that are not empty."""
        slots = self.arrays["slots_"]
        found: Array = (slots[:, 0] != 0) & (slots[:, self.layout.column("count").place] != 0)
        return found


class StaticGroups(Groups):
    """Groups derived from static facts: no state, as they can be computed again."""

    keeps = False


class Buckets(Groups):
    """Groups of a length of time, which ends at `time`, the first part of their keys; earlier ones have ended."""

    def alive(self) -> Array:
        slots = self.arrays["slots_"]
        found: Array = (slots[:, 0] != 0) & (slots[:, self.layout.column("slot_k0").place] == self.time)
        return found


def take_row(groups: Groups) -> int:
    """Take a free row."""
    if groups.free == 0:
        grow(groups)
    row = groups.free
    groups.free = groups.link[row]
    groups.used += 1
    return row


def free_row(groups: Groups, row: int) -> None:
    groups.link[row] = groups.free
    groups.free = row
    groups.used -= 1


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


def cut_chain(groups: Groups, at: int, row: int) -> None:
    """Free the rows of a chain from one on; see `shelf.py`."""
    while row != 0:
        after = groups.older[row]
        free_row(groups, row)
        groups.count[at] -= 1
        row = after


def sweep_chains(groups: Groups, time: int, life: int) -> None:
    """Free all rows that ended more than a length of time ago, in chains from the newest to the oldest."""
    for at in range(groups.slot_mask + 1):
        row = groups.newest[at]
        if row != 0 and time - groups.end[row] > life:
            groups.newest[at] = 0
            cut_chain(groups, at, row)
        elif row != 0:
            after = groups.older[row]
            while after != 0 and time - groups.end[after] <= life:
                row = after
                after = groups.older[row]
            groups.older[row] = 0
            cut_chain(groups, at, after)


SOURCES = tuple(source_of(kernel) for kernel in (take_row, free_row, join_heaps, without_root, cut_chain, sweep_chains))
"""The source of the functions that generated code calls."""
