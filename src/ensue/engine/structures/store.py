"""The store: rows by key, newest first, as long as they can matter.

Rows lie in a ring in the order of arrival, which is that of their ends. Each links to the one before it with the same
key (``older``). A row is identified by its number, which only grows; its place is ``number & mask``. Rows below ``low``
have expired: so old rows go without a visit to the chains. The end of the newest row of a key lies beside its number,
so that most expired rows need not be read. Where the ring is full, rows that are in no chain, or whose start is too
long ago, are removed; if that is not enough, it is enlarged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ensue.engine.structure import Array, Column, Element, Frame, Layout, row_columns
from ensue.engine.structures.key_numbers import QUADRUPLED, ByKey, head_columns
from ensue.engine.subset.builtin import grow

NUMBERS = ("low", "high", "mask", "width", "heads")


def store_layout(fields: dict[str, Element], ended: bool = False) -> Layout:
    """Rows with these fields besides ``older``, ``start`` and ``end``.

    With `ended` each key has the time of the last event that ended the rows before it.
    """
    payload: dict[str, Element] = {"newest": "i64", "newest_end": "i64"}
    if ended:
        payload |= {"ended": "i64", "ended_before": "i64"}
    return Layout(NUMBERS, (*head_columns(payload), *ring_columns(fields)))


def ring_columns(fields: dict[str, Element]) -> tuple[tuple[str, Column], ...]:
    """The columns of the rows in a ring, with these fields."""
    rows: dict[str, Element] = {"older": "i64", "start": "i64", "end": "i64", **fields}
    return (*row_columns("rows", rows, cell="cell"), ("place", Column("scratch")))


class Store(ByKey):
    """Rows by key."""

    empty: ClassVar[dict[str, int]] = {"newest": -1}

    @classmethod
    def marks(cls, layout: Layout) -> dict[str, int]:
        ended = [name for name in ("ended", "ended_before") if name in layout.by_name]
        return {**cls.empty, **dict.fromkeys(ended, -(2**62))}

    @classmethod
    def in_use(cls, name: str, at: str) -> str:
        return f"{name}.newest[{at}] >= {name}.low"

    def __init__(self, frame: Frame, base: int, keys: str) -> None:
        super().__init__(frame, base, keys)
        self.low = self.high = 0
        self.width = self.layout.column("older").width
        self._make(self.frame.capacity.rows)

    def _make(self, size: int) -> None:
        """Make an empty ring."""
        self.put("rows", np.zeros((size, self.width), np.int64))
        self.put("scratch", np.zeros(size, np.int64))
        self.mask = size - 1

    def grow(self) -> None:
        old, mask = self.arrays["rows"], self.mask
        numbers = np.arange(self.low, self.high)
        self._make((4 if mask < QUADRUPLED else 2) * (mask + 1))
        self.arrays["rows"][numbers & self.mask] = old[numbers & mask]

    def alive(self) -> Array:
        found: Array = self.head("newest") >= self.low
        return found

    def saved(self) -> list[Any]:
        """The rows from the first to the last that matters, and the entries of keys."""
        numbers = np.arange(self.low, self.high)
        return [self.numbers(), self.arrays["rows"][numbers & self.mask], *self.saved_heads()]

    def restore(self, state: Sequence[Any]) -> None:
        numbers, rows, keys, heads = state
        if rows.ndim != 2 or rows.dtype != np.int64 or rows.shape[1] != self.arrays["rows"].shape[1]:
            raise ValueError("another layout")
        room = self.heads
        self.set_numbers(numbers)
        self.heads = room
        if len(rows) != self.high - self.low:
            raise ValueError("rows are missing")
        self._make(max(self.frame.capacity.rows, 1 << (2 * len(rows)).bit_length()))
        self.arrays["rows"][np.arange(self.low, self.high) & self.mask] = rows
        self.restore_heads(keys, heads)

    def live(self) -> int:
        """Number of rows in chains."""
        older = self.arrays["rows"][:, self.layout.column("older").place]
        found, at = 0, self.head("newest")
        while len(at := at[at >= self.low]):
            found += len(at)
            at = older[at & self.mask]
        return found

    def size(self) -> tuple[int | None, int, int]:
        keys, tuples = self.key_count(), self.live()
        return keys, tuples, 8 * (tuples * self.width + (keys or 0))


def expire(store: Store, time: int, life: int) -> None:
    """Drop up to two rows that ended more than a length of time ago.

    No branch depends on whether they did: about one row expires for each that comes, and the processor cannot predict
    when. The place of a row that is not there can be read.
    """
    low = store.low
    low += int(low < store.high) & int(time - store.end[low & store.mask] > life)
    low += int(low < store.high) & int(time - store.end[low & store.mask] > life)
    store.low = low


def make_room(store: Store, time: int, life_start: int) -> None:
    """Make room for one row, first by removing expired ones."""
    if store.high - store.low > store.mask:
        rarely_make_room(store, time, life_start)


def rarely_make_room(store: Store, time: int, life_start: int) -> None:
    """Make room in a store that is full."""
    rarely_make_room_in_ring(store, time, life_start)
    for at in range(store.heads):
        if store.newest[at] >= store.low:
            store.newest_end[at] = store.end[store.newest[at] & store.mask]


def make_room_in_ring(store: Store, time: int, life_start: int) -> None:
    """The same for the ring alone: it leaves ``newest_end`` of the keys as it is."""
    if store.high - store.low > store.mask:
        rarely_make_room_in_ring(store, time, life_start)


def rarely_make_room_in_ring(store: Store, time: int, life_start: int) -> None:
    """Make room in a ring that is full."""
    if 16 * store.mask >= store.heads:  # else there are more keys to visit than rows to remove
        leave_out(store, time, life_start)
    if 2 * (store.high - store.low) > store.mask:
        grow(store)


def leave_out(store: Store, time: int, life_start: int) -> None:
    """Move the rows that are in a chain, and not expired by their start, to the front of the ring."""
    mask = store.mask
    for k in range(store.low, store.high):
        store.place[k & mask] = -1
    for at in range(store.heads):
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
    for at in range(store.heads):
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
    """The time before which the rows of a key have been ended, as seen within a step."""
    return store.ended[at] if store.ended[at] < time else store.ended_before[at]


def cut(store: Store, at: int, time: int) -> None:
    """Remove ended rows from the chain of a key, when the first one after these comes."""
    row = store.newest[at]
    limit = ended_at(store, at, time)
    if store.newest_end[at] < limit:
        store.newest[at] = -1
    elif store.newest_end[at] == limit:
        cut_behind(store, row, limit)


def cut_behind(store: Store, row: int, limit: int) -> None:
    """Remove the rows behind one that ended before a time from its chain."""
    while row >= store.low:
        older = store.older[row & store.mask]
        if older >= store.low and store.end[older & store.mask] < limit:
            store.older[row & store.mask] = -1
            return
        row = older
