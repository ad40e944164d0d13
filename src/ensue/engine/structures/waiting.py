"""Instances that wait to be chosen: rows by key, those of a key in their order.

Rows lie in a pool. Those of a key are linked both ways, from ``oldest`` to ``newest``, so that any of them can be
removed; free ones are linked by ``older``, from ``free`` on. Where the pool is full, rows that have expired, or that a
newer one always precedes, are removed; if that is not enough, it is enlarged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ensue.engine.structure import Array, Element, Frame, Layout, row_columns
from ensue.engine.structures.key_numbers import QUADRUPLED, ByKey, head_columns
from ensue.engine.subset.builtin import grow
from ensue.engine.subset.source import source_of

NUMBERS = ("free", "count", "capacity", "heads")
"""The first free row, the number of rows ever used, and the number of all rows; and the number of key places."""


def waiting_layout(fields: dict[str, Element]) -> Layout:
    """Layout of rows with these fields besides ``start`` and ``end``."""
    rows: dict[str, Element] = {"older": "i64", "newer": "i64", "start": "i64", "end": "i64", **fields}
    return Layout(NUMBERS, (*head_columns({"oldest": "i64", "newest": "i64"}), *row_columns("rows", rows)))


class Waiting(ByKey):
    """Waiting rows, by key."""

    empty: ClassVar[dict[str, int]] = {"oldest": -1, "newest": -1}

    def __init__(self, frame: Frame, base: int, keys: str) -> None:
        super().__init__(frame, base, keys)
        self.put("rows", np.zeros((self.frame.capacity.rows, self.layout.column("older").width), np.int64))
        self.free, self.count, self.capacity = -1, 0, self.frame.capacity.rows

    def grow(self) -> None:
        old = self.arrays["rows"]
        self._set(old, (4 if len(old) < QUADRUPLED else 2) * len(old))

    def _set(self, old: Array, size: int) -> None:
        rows = np.zeros((size, old.shape[1]), np.int64)
        rows[: len(old)] = old
        self.put("rows", rows)
        self.capacity = size

    @classmethod
    def in_use(cls, name: str, at: str) -> str:
        return f"{name}.newest[{at}] >= 0"

    def alive(self) -> Array:
        found: Array = self.head("newest") >= 0
        return found

    def saved(self) -> list[Any]:
        return [[self.free, self.count], self.arrays["rows"][: self.count].copy(), *self.saved_heads()]

    def restore(self, state: Sequence[Any]) -> None:
        (self.free, self.count), rows, keys, heads = state
        if rows.ndim != 2 or rows.dtype != np.int64 or rows.shape[1] != self.arrays["rows"].shape[1]:
            raise ValueError("another layout")
        if len(rows) != self.count:
            raise ValueError("rows are missing")
        self._set(rows, max(self.frame.capacity.rows, 1 << (2 * len(rows)).bit_length()))
        self.restore_heads(keys, heads)

    def live(self) -> int:
        """Number of waiting rows."""
        older = self.arrays["rows"][:, self.layout.column("older").place]
        found, at = 0, self.head("newest")
        while len(at := at[at >= 0]):
            found += len(at)
            at = older[at]
        return found

    def size(self) -> tuple[int | None, int, int]:
        keys, rows = self.key_count(), self.live()
        return keys, rows, 8 * (rows * self.arrays["rows"].shape[1] + (keys or 0))


def new_row(waiting: Waiting) -> int:
    """A free row; there must be one."""
    row = waiting.free
    if row < 0:
        waiting.count += 1
        return waiting.count - 1
    waiting.free = waiting.older[row]
    return row


def put_in(waiting: Waiting, at: int, row: int, older: int) -> None:
    """Link a row into those of a key, behind another one; behind -1 it is the oldest."""
    newer = -1
    if older >= 0:
        newer = waiting.newer[older]
        waiting.newer[older] = row
    else:
        newer = waiting.oldest[at]
        waiting.oldest[at] = row
    waiting.older[row] = older
    waiting.newer[row] = newer
    if newer >= 0:
        waiting.older[newer] = row
    else:
        waiting.newest[at] = row


def take_out(waiting: Waiting, at: int, row: int) -> None:
    """Remove a row from those of a key. Its contents stay until a row is needed."""
    older = waiting.older[row]
    newer = waiting.newer[row]
    if older >= 0:
        waiting.newer[older] = newer
    else:
        waiting.oldest[at] = newer
    if newer >= 0:
        waiting.older[newer] = older
    else:
        waiting.newest[at] = older
    waiting.older[row] = waiting.free
    waiting.free = row


def take_out_to(waiting: Waiting, at: int, row: int) -> None:
    """Remove a row and all older ones of its key; none if there is no row."""
    if row < 0:
        return
    newer = waiting.newer[row]
    waiting.older[waiting.oldest[at]] = waiting.free
    waiting.free = row
    waiting.oldest[at] = newer
    if newer >= 0:
        waiting.older[newer] = -1
    else:
        waiting.newest[at] = -1


def let_go(waiting: Waiting, at: int, time: int, life_end: int) -> None:
    """Remove a few of the oldest rows of a key, if they have expired."""
    for _ in range(2):
        row = waiting.oldest[at]
        if row >= 0 and time - waiting.end[row] > life_end:
            take_out(waiting, at, row)


def make_way(waiting: Waiting, time: int, life_start: int, life_end: int, ripe: int, by_start: int) -> None:
    """Make room in a full pool, by removing rows that have expired, or that a newer one always precedes.

    A newer row precedes if it has ended `ripe` ago and, where `by_start` is set, does not start earlier.
    """
    if waiting.heads > 16 * waiting.capacity:  # there are more keys to visit than rows to remove
        grow(waiting)
        return
    kept = 0
    for at in range(waiting.heads):
        row = waiting.newest[at]
        latest = -9223372036854775807
        while row >= 0:
            older = waiting.older[row]
            over = time - waiting.start[row] > life_start or time - waiting.end[row] > life_end
            if over or waiting.start[row] <= latest:
                take_out(waiting, at, row)
            else:
                kept += 1
                if time - waiting.end[row] >= ripe:
                    latest = waiting.start[row] if by_start != 0 else 9223372036854775807
            row = older
    if 2 * kept > waiting.capacity:
        grow(waiting)


KERNELS = tuple(source_of(kernel) for kernel in (new_row, put_in, take_out, take_out_to, let_go, make_way))
