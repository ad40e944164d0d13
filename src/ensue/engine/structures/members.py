"""Constants of the members of a family: a row for each member, and a slot for each value that an index looks up.

Rows are in the order of the family: those with one value of the index side by side, the loosest threshold first. None
of it is state: it follows from the rules, and is filled in again when the dictionary of values changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ensue.engine.structure import Array, Element, Frame, Layout, row_columns
from ensue.engine.structures.keys import NUMBERS, Keyed, places, slot_columns
from ensue.engine.structures.values import Dictionary
from ensue.language import typed

ELEMENTS: dict[str, Element] = {"i": "i64", "f": "f64", "s": "code"}

Constants = tuple[str, Sequence[typed.Value]]
"""The kind of constants, and those of the members in order."""


def members_layout(kinds: Sequence[str], index: int | None) -> Layout:
    """Columns ``c0`` … of constants of these kinds; with an index, slots with the range of its rows."""
    slots = () if index is None else slot_columns(kinds[index], {"first": "i64", "past": "i64"})
    rows = row_columns("rows", {f"c{place}": ELEMENTS[kind] for place, kind in enumerate(kinds)})
    return Layout(("count", *NUMBERS), (*slots, *rows))


class MemberTable(Keyed):
    """Constants by member. `index` is the column by which members are looked up, None without one."""

    keeps = False

    def __init__(self, frame: Frame, base: int, count: int, columns: Sequence[Constants], index: int | None) -> None:
        super().__init__(frame, base)
        self.columns, self.index = columns, index
        self.count = count

    def fill(self, values: Dictionary) -> None:
        """Write the constants; strings by their codes."""
        if not self.columns:
            return
        table = np.zeros((self.count, max(2, len(self.columns))), np.int64)
        for place, (kind, constants) in enumerate(self.columns):
            table[:, place] = _encoded(kind, constants, values)
        self.put("rows", table)
        if self.index is not None:
            self._fill_slots(table[:, self.index])

    def _fill_slots(self, keys: Array) -> None:
        begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        own = np.ascontiguousarray(keys[begins]).reshape(-1, 1)
        size = 4 << len(own).bit_length()
        slots = self._no_slots(self.layout.column("slot_used").width, size)
        at = places(own, size - 1)
        slots[at, 0], slots[at, 1] = 1, own[:, 0]
        slots[at, self.layout.column("first").place] = begins
        slots[at, self.layout.column("past").place] = np.append(begins[1:], len(keys))
        self.put("slots_", slots)
        self.key_width, self.slots, self.slot_mask = 1, len(own), size - 1

    def grow(self) -> None:
        raise AssertionError("constants do not grow")


def _encoded(kind: str, constants: Sequence[typed.Value], values: Dictionary) -> Array:
    match kind:
        case "f":
            return (np.array(constants, np.float64) + 0.0).view(np.int64)
        case "s":
            return np.array([values.code(constant) for constant in constants], np.int64)
        case _:
            return np.array(constants, np.int64)
