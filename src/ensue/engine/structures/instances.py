"""Instances by correlation, in groups: each group's in the order of their ends, in which their starts rise, too.

An instance that ends later and starts no later than another one of its group is useless, and never stored. A slot leads
to its group, a group to its first and last instance, an instance to the next ``newer`` one. Groups and instances keep
their places; freed places are used again.

Groups that share some of their key can form a chain (``ahead``, ``behind``), the one with the last instance first; the
slot of the shared part, a ``head``, leads to that. An instance can have a pointer to one far behind it (``jump``), so
that one is found by its end in a logarithmic number of steps (skew-binary jump pointers).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ensue.engine.structure import Element, Frame, Layout, row_columns
from ensue.engine.structures.keys import NUMBERS as KEY_NUMBERS
from ensue.engine.structures.keys import Keyed, slot_columns
from ensue.engine.subset.builtin import grow
from ensue.engine.subset.source import source_of

NUMBERS = (
    "groups", "group_room", "free_group", "used", "room", "free_row", "waiting", "turn", "slot_wanted", *KEY_NUMBERS,
)  # fmt: skip
"""``groups`` and ``used`` are the numbers of places ever taken, ``waiting`` is the number of instances."""


def instances_layout(kinds: str, fields: dict[str, Element], chained: bool = False, jumps: bool = False) -> Layout:
    """Instances with these fields besides their interval, in groups by keys of these kinds.

    ``arrived`` is the turn in which an instance of a group came last, ``pending`` its row among those of that turn.
    """
    slots: dict[str, Element] = {"group": "i64", **({"head": "i64"} if chained else {})}
    groups: dict[str, Element] = {"latest": "i64", "first": "i64", "last": "i64", "arrived": "i64", "pending": "i64"}
    if chained:
        groups |= {"ahead": "i64", "behind": "i64", "linked": "i64"}
    rows: dict[str, Element] = {"start": "i64", "end": "i64", "newer": "i64"}
    if jumps:
        rows |= {"older": "i64", "depth": "i64", "jump": "i64", "jump_depth": "i64"}
    columns = (*slot_columns(kinds, slots), *row_columns("groups_", groups), *row_columns("rows", {**rows, **fields}))
    return Layout(NUMBERS, columns)


class Instances(Keyed):
    """Instances in groups; see the module. ``slot_wanted`` selects what grows: slots (1), groups (2), instances (3)."""

    empty: ClassVar[dict[str, int]] = {"group": -1}

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.first_slots(width)
        for array, column in (("groups_", "latest"), ("rows", "start")):
            self.put(array, np.zeros((self.frame.capacity.rows, self.layout.column(column).width), np.int64))
        self.group_room = self.room = self.frame.capacity.rows
        self.free_group = self.free_row = -1
        self.turn = 1

    def grow(self) -> None:
        wanted, self.slot_wanted = self.slot_wanted, 0
        if wanted == 1:
            slots = self.arrays["slots_"]
            self.rehash((slots[:, 0] != 0) & (slots[:, self.layout.column("group").place] >= 0))
            return
        name = "groups_" if wanted == 2 else "rows"
        old = self.arrays[name]
        self.put(name, np.concatenate([old, np.zeros_like(old)]))
        if wanted == 2:
            self.group_room = 2 * len(old)
        else:
            self.room = 2 * len(old)

    def size(self) -> tuple[int | None, int, int]:
        """Sizes; known groups count as keys even if none of their instances waits: their latest start counts."""
        slots, width = self.arrays["slots_"], self.arrays["rows"].shape[1]
        known = (slots[:, 0] != 0) & (slots[:, self.layout.column("group").place] >= 0)
        if "head" in dict(self.layout.columns):
            known &= slots[:, self.layout.column("head").place] == 0
        keys = int(np.count_nonzero(known))
        return keys if self.key_width else None, self.waiting, 8 * (self.waiting * width + keys)


def open_instance(table: Instances) -> int:
    """A place for a new instance."""
    row = table.free_row
    if row >= 0:
        table.free_row = table.newer[row]
    else:
        if table.used == table.room:
            table.slot_wanted = 3
            grow(table)
        row = table.used
        table.used += 1
    table.waiting += 1
    return row


def close_instance(table: Instances, row: int) -> None:
    table.newer[row] = table.free_row
    table.free_row = row
    table.waiting -= 1


def drop_first_instance(table: Instances, g: int) -> None:
    row = table.first[g]
    table.first[g] = table.newer[row]
    if table.first[g] < 0:
        table.last[g] = -1
    close_instance(table, row)


def admitted_instance(table: Instances, g: int, start: int, now: int) -> int:
    """The row for an instance that ends now; -1 if one that starts no earlier came before. One ends now at most."""
    if start <= table.latest[g]:
        return -1
    table.latest[g] = start
    row = table.last[g]
    if row < 0 or table.end[row] < now:
        row = open_instance(table)
        table.newer[row] = -1
        if table.last[g] < 0:
            table.first[g] = row
        else:
            table.newer[table.last[g]] = row
        table.last[g] = row
    table.start[row] = start
    table.end[row] = now
    return row


def only_instance(table: Instances, g: int) -> int:
    """The row of a group that has at most one instance; a new one if it has none."""
    if table.first[g] < 0:
        row = open_instance(table)
        table.newer[row] = -1
        table.first[g] = row
        table.last[g] = row
    return table.first[g]


def drop_useless_instances(table: Instances, g: int, end: int, start: int) -> None:
    """Drop the first instances of a group while the next one also ended before `end`, or they start before `start`."""
    while table.first[g] != table.last[g] and (
        table.end[table.newer[table.first[g]]] < end or table.start[table.first[g]] < start
    ):
        drop_first_instance(table, g)


def used_up_instance(table: Instances, g: int, start: int) -> int:
    """Remove the instances of a group that ended before a time; returns the last of them, still to be freed, or -1."""
    found = -1
    row = table.first[g]
    while row >= 0 and table.end[row] < start:
        if found >= 0:
            close_instance(table, found)
        found = row
        row = table.newer[row]
    table.first[g] = row
    if row < 0:
        table.last[g] = -1
    return found


def last_instance_before(table: Instances, g: int, start: int) -> int:
    """The last instance that ended before a time, or -1, by a scan of a small group."""
    found = -1
    row = table.first[g]
    while row >= 0 and table.end[row] < start:
        found = row
        row = table.newer[row]
    return found


def set_instance_jump(table: Instances, g: int, row: int, before: int) -> None:
    """Link a new instance to the one before it, and to one far behind; `before` is -1 where there is none."""
    if row == before:
        return
    if before < 0:
        table.older[row] = -1
        table.depth[row] = 0
        table.jump[row] = row
        table.jump_depth[row] = 0
        return
    table.older[row] = before
    table.depth[row] = table.depth[before] + 1
    table.jump[row] = before
    table.jump_depth[row] = table.depth[before]
    far = table.jump[before]
    there = table.jump_depth[before] >= table.depth[table.first[g]]
    if there and table.depth[before] - table.jump_depth[before] == table.jump_depth[before] - table.jump_depth[far]:
        table.jump[row] = table.jump[far]
        table.jump_depth[row] = table.jump_depth[far]


def found_instance_before(table: Instances, g: int, start: int) -> int:
    """The last instance that ended before a time, or -1, by jumps through a group of any size."""
    row = table.last[g]
    if row < 0:
        return -1
    least = table.depth[table.first[g]]
    while table.end[row] >= start:
        if table.depth[row] == least:
            return -1
        if table.jump_depth[row] >= least and table.end[table.jump[row]] >= start:
            row = table.jump[row]
        else:
            row = table.older[row]
    return row


KERNELS = tuple(
    source_of(kernel)
    for kernel in (
        open_instance, close_instance, drop_first_instance, admitted_instance, only_instance, drop_useless_instances,
        used_up_instance, last_instance_before, set_instance_jump, found_instance_before,
    )
)  # fmt: skip
"""The source of the functions that generated code calls."""
