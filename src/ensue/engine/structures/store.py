"""The store: rows by key, newest first, as long as they can matter.

Rows lie in a ring in the order in which they came, which is that of their ends. Each knows the one before it with the
same key (``older``). A row is called by its number, which only grows; its place is ``number & mask``. Rows below
``low`` are over: so what is too old goes without a look at the chains. Where the ring is full, rows that are in no
chain any more, or whose start is too long ago, are left out; if that is not enough, it is enlarged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ensue.engine.machine.builtin import grow
from ensue.engine.structures.keys import NUMBERS as KEY_NUMBERS
from ensue.engine.structures.keys import Keyed, slot_columns
from ensue.engine.structures.structure import Column, Element, Frame, Layout, row_columns

NUMBERS = ("low", "high", "mask", "width", "slot_wanted", *KEY_NUMBERS)


def store_layout(kinds: int | str, fields: dict[str, Element], ended: bool = False) -> Layout:
    """Rows with these fields besides ``older``, ``start`` and ``end``, by keys of these kinds.

    With `ended` slots note when something came that ends the rows before it.
    """
    payload: dict[str, Element] = {"newest": "i64"}
    if ended:
        payload |= {"ended": "i64", "ended_before": "i64"}
    rows: dict[str, Element] = {"older": "i64", "start": "i64", "end": "i64", **fields}
    moved = (*row_columns("rows", rows, cell="cell"), ("place", Column("scratch")))
    return Layout(NUMBERS, (*slot_columns(kinds, payload), *moved))


class Store(Keyed):
    """Rows by key. `lives` is how long they matter after their end, and after their start; None is for ever."""

    empty: ClassVar[dict[str, int]] = {"newest": -1}

    @property
    def marks(self) -> dict[str, int]:
        ended = [name for name, _ in self.layout.columns if name in ("ended", "ended_before")]
        return {**self.empty, **dict.fromkeys(ended, -(2**62))}

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.first_slots(width)
        self.put("rows", np.zeros((self.frame.capacity.rows, self.layout.column("older").width), np.int64))
        self.put("scratch", np.zeros(self.frame.capacity.rows, np.int64))
        self.low, self.high, self.mask, self.width = (
            0,
            0,
            self.frame.capacity.rows - 1,
            self.layout.column("older").width,
        )

    def grow(self) -> None:
        if self.slot_wanted:
            self.slot_wanted = 0
            newest = self.arrays["slots_"][:, self.layout.column("newest").place]
            used = self.arrays["slots_"][:, 0] != 0
            self.rehash(used & (newest >= self.low))
            return
        size = 2 * (self.mask + 1)
        numbers = np.arange(self.low, self.high)
        old = self.arrays["rows"]
        rows = np.zeros((size, old.shape[1]), np.int64)
        rows[numbers & (size - 1)] = old[numbers & self.mask]
        self.put("rows", rows)
        self.put("scratch", np.zeros(size, np.int64))
        self.mask = size - 1

    def saved(self) -> list[Any]:
        """The rows from the first to the last that matters, and the slots that are used."""
        slots, numbers = self.arrays["slots_"], np.arange(self.low, self.high)
        return [self.numbers(), self.arrays["rows"][numbers & self.mask], slots[slots[:, 0] != 0]]

    def restore(self, state: Sequence[Any]) -> None:
        numbers, rows, slots = state
        for array, name in ((rows, "rows"), (slots, "slots_")):
            if array.ndim != 2 or array.dtype != np.int64 or array.shape[1] != self.arrays[name].shape[1]:
                raise ValueError("another layout")
        self.set_numbers(numbers)
        if len(rows) != self.high - self.low or (self.key_width == 0) != (len(slots) == 1 and self.slots == 0):
            raise ValueError("rows are missing")
        self.mask = max(self.frame.capacity.rows, 1 << (2 * len(rows)).bit_length()) - 1
        ring = np.zeros((self.mask + 1, rows.shape[1]), np.int64)
        ring[np.arange(self.low, self.high) & self.mask] = rows
        self.put("rows", ring)
        self.put("scratch", np.zeros(self.mask + 1, np.int64))
        if self.key_width:
            self.place_slots(slots)
        else:
            self.put("slots_", slots.copy())

    def live(self) -> int:
        """How many rows are in a chain."""
        slots, rows = self.arrays["slots_"], self.arrays["rows"]
        older = rows[:, self.layout.column("older").place]
        newest = slots[:, self.layout.column("newest").place]
        found, at = 0, newest[(slots[:, 0] != 0) & (newest >= self.low)]
        while len(at):
            found += len(at)
            at = older[at & self.mask]
            at = at[at >= self.low]
        return found

    def size(self) -> tuple[int | None, int, int]:
        slots = self.arrays["slots_"]
        keys = int(np.count_nonzero((slots[:, 0] != 0) & (slots[:, self.layout.column("newest").place] >= self.low)))
        tuples = self.live()
        return keys if self.key_width else None, tuples, 8 * (tuples * self.width + (keys if self.key_width else 0))


def expire(store: Store, time: int, life: int) -> None:
    """Lets go of a few rows that ended more than a length of time ago."""
    if store.low < store.high and time - store.end[store.low & store.mask] > life:
        store.low += 1
        if store.low < store.high and time - store.end[store.low & store.mask] > life:
            store.low += 1


def make_room(store: Store, time: int, life_start: int) -> None:
    """Makes room for one row: first by leaving out those that are over."""
    if store.high - store.low > store.mask:
        if 4 * store.mask > store.slot_mask:  # else there is more to look at than can be left out
            leave_out(store, time, life_start)
        if 2 * (store.high - store.low) > store.mask:
            grow(store)


def leave_out(store: Store, time: int, life_start: int) -> None:
    """Moves the rows that are in a chain, and not over by their start, to the front of the ring."""
    mask = store.mask
    for k in range(store.low, store.high):
        store.place[k & mask] = -1
    for at in range(store.slot_mask + 1):
        if store.slot_used[at] != 0:
            row = store.newest[at]
            while row >= store.low:
                if time - store.start[row & mask] <= life_start:
                    store.place[row & mask] = 0
                row = store.older[row & mask]
    kept = store.low
    for k in range(store.low, store.high):
        if store.place[k & mask] == 0:
            store.place[k & mask] = kept
            kept += 1
    for at in range(store.slot_mask + 1):
        if store.slot_used[at] != 0:
            row = store.newest[at]
            while row >= store.low and store.place[row & mask] < 0:
                row = store.older[row & mask]
            store.newest[at] = store.place[row & mask] if row >= store.low else -1
            while row >= store.low:
                older = store.older[row & mask]
                while older >= store.low and store.place[older & mask] < 0:
                    older = store.older[older & mask]
                store.older[row & mask] = store.place[older & mask] if older >= store.low else -1
                row = older
    for k in range(store.low, store.high):
        to = store.place[k & mask]
        if to >= 0 and to != k:
            for c in range(store.width):
                store.cell[(to & mask) * store.width + c] = store.cell[(k & mask) * store.width + c]
    store.high = kept


def ended_at(store: Store, at: int, time: int) -> int:
    """The time before which the rows of a slot have been ended, as something in a step sees it."""
    return store.ended[at] if store.ended[at] < time else store.ended_before[at]


def cut(store: Store, at: int, time: int) -> None:
    """Takes the rows that have been ended out of the chain of a slot, once in a step."""
    row = store.newest[at]
    if row < store.low or store.end[row & store.mask] == time:
        return
    limit = ended_at(store, at, time)
    if store.end[row & store.mask] < limit:
        store.newest[at] = -1
        return
    older = store.older[row & store.mask]
    while older >= store.low:
        if store.end[older & store.mask] < limit:
            store.older[row & store.mask] = -1
            return
        row = older
        older = store.older[row & store.mask]
