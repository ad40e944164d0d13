"""Numbers for keys: each key of a unit has one small number, by which structures find what they hold for it.

All structures of a unit whose keys are of the same kinds share one table (`KeyNumbers`), so an event's key is looked
up once, however many structures it is looked for in; the last key is remembered. What a structure holds for a key lies
in an array by number (`ByKey`), which takes far less memory than a table of keys for each structure.

A number stays as long as some structure holds something for its key. Between two steps, where there are many numbers,
those that no structure needs are freed (``tidy``): never within a step, in which a number may be in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from ensue.engine.structures.keys import hash_source, places
from ensue.engine.structures.structure import Array, Column, Element, Frame, Layout, Structure, row_columns

QUADRUPLED = 1 << 10
"""Up to how many numbers there is room for four times as many when they are enlarged, for twice as many above."""

FEW_ALIVE = 4
"""Numbers are freed if less than one in so many is needed."""


def key_numbers_layout(kinds: str) -> Layout:
    """The table for keys of these kinds: s for codes of values, i for other numbers."""
    keys: dict[str, Element] = {f"k{i}": "code" if kind in "so" else "i64" for i, kind in enumerate(kinds)}
    last = tuple(f"last_k{i}" for i in range(len(kinds)))
    numbers = ("count", "frees", "capacity", "mask", "used", "limit", "tidy", "last", *last)
    columns = row_columns("keys_", {**keys, "taken": "i64"})
    return Layout(numbers, (("index", Column("index_", "i32")), *columns, ("free", Column("free_"))))


class KeyNumbers(Structure):
    """Keys by number, an index of them, and the numbers that are free."""

    keeps = False

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.key_width = width
        self.structures: list[ByKey] = getattr(self, "structures", [])
        self.put("keys_", np.zeros((0, width + 1), np.int64))
        self.put("free_", np.zeros(0, np.int64))
        self._enlarge(frame.capacity.slots)
        self.last, self.limit = -1, frame.capacity.numbers

    def grow(self) -> None:
        if self.tidy:
            self.tidy = 0
            self._free()
            self.arrays["index_"][:] = 0
        else:
            self._enlarge(self.capacity * (4 if self.capacity < QUADRUPLED else 2))

    def _enlarge(self, capacity: int) -> None:
        for name in ("keys_", "free_"):
            old = self.arrays[name]
            new = np.zeros((capacity, *old.shape[1:]), np.int64)
            new[: len(old)] = old
            self.put(name, new)
        self.put("index_", np.zeros(2 * capacity, np.int32))
        self.capacity, self.mask = capacity, 2 * capacity - 1
        for structure in self.structures:
            structure.widen(capacity)

    def _free(self) -> None:
        """Frees numbers of keys that no structure holds anything for, if these are most."""
        taken = self.taken_numbers()
        alive = np.zeros(self.count, bool)
        for structure in self.structures:
            alive |= structure.alive()[: self.count]
        dead = taken[~alive[taken]]
        kept = len(taken) - len(dead)
        if FEW_ALIVE * kept < len(taken):
            self.arrays["keys_"][dead, -1] = 0
            self.arrays["free_"][self.frees : self.frees + len(dead)] = dead
            self.frees += len(dead)
            self.used = kept
            for structure in self.structures:
                structure.clear(dead)
        self.last = -1
        self.limit = max(self.frame.capacity.numbers, 2 * self.used)

    def taken_numbers(self) -> Array:
        return np.flatnonzero(self.arrays["keys_"][: self.count, -1])

    def keys_of(self, numbers: Array) -> Array:
        """The keys of numbers, a row each."""
        return self.arrays["keys_"][numbers, : self.key_width]

    def enter(self, keys: Array) -> Array:
        """The numbers of keys, a row each and none twice, some of which may be new."""
        taken = self.taken_numbers()
        held = np.concatenate([self.keys_of(taken), keys])
        _, firsts, same = np.unique(held, axis=0, return_index=True, return_inverse=True)
        first = firsts[same.reshape(-1)[len(taken) :]]
        known = first < len(taken)
        fresh = int(np.count_nonzero(~known))
        found = np.empty(len(keys), np.int64)
        found[known] = taken[first[known]]
        found[~known] = np.arange(self.count, self.count + fresh)
        capacity = self.capacity
        while capacity < self.count + fresh:
            capacity *= 2
        if capacity > self.capacity:
            self._enlarge(capacity)
        self.arrays["keys_"][found] = np.column_stack([keys, np.ones(len(keys), np.int64)])
        self.count += fresh
        self.used += fresh
        self.limit = max(self.limit, 2 * self.used)
        self._index()
        return found

    def _index(self) -> None:
        taken, index = self.taken_numbers(), self.arrays["index_"]
        index[:] = 0
        index[places(self.keys_of(taken), self.mask)] = taken + 1
        self.last = -1


class ByKey(Structure):
    """A structure that holds something for each key: a row of ``heads_``, by the key's number.

    `empty` is what a row holds, besides zeros, that stands for nothing. Without a key there is one row.
    """

    empty: ClassVar[dict[str, int]] = {}
    table: KeyNumbers | None = None

    def __init__(self, frame: Frame, base: int, keys: str) -> None:
        """Makes the structure; `keys` is the name of the table with its keys, empty where it has none."""
        super().__init__(frame, base)
        self.put("heads_", np.zeros((0, len(self._held)), np.int64))
        self.widen(1 if self.table is None else self.table.capacity)

    def attach(self, table: KeyNumbers) -> None:
        """Number keys by a table."""
        self.table = table
        table.structures.append(self)
        self.widen(table.capacity)

    @property
    def _held(self) -> list[str]:
        return [name for name, column in self.layout.columns if column.array == "heads_"]

    @property
    def marks(self) -> dict[str, int]:
        """The values of a row that stands for nothing."""
        return self.empty

    def widen(self, count: int) -> None:
        """Makes room for so many numbers."""
        old = self.arrays["heads_"]
        if count > len(old):
            new = np.zeros((count, self._width), np.int64)
            if len(old):
                new[: len(old)] = old
            self.put("heads_", new)
            self.heads = count
            self.clear(np.arange(len(old), count))

    @property
    def _width(self) -> int:
        return self.layout.column(self._held[0]).width

    def clear(self, numbers: Array) -> None:
        """Clear rows: they stand for nothing afterwards."""
        heads = self.arrays["heads_"]
        heads[numbers] = 0
        for name, value in self.marks.items():
            heads[numbers, self.layout.column(name).place] = value

    def head(self, name: str) -> Array:
        """A column of ``heads_``."""
        return self.arrays["heads_"][:, self.layout.column(name).place]

    def alive(self) -> Array:
        """Which rows stand for something."""
        raise NotImplementedError

    def key_count(self) -> int | None:
        """How many keys it holds something for; None where it has no keys."""
        return None if self.table is None else int(np.count_nonzero(self.alive()))

    def saved_heads(self) -> list[Array]:
        """The keys that it holds something for, and what it holds."""
        alive = np.flatnonzero(self.alive()) if self.table is not None else np.arange(1)
        keys = np.zeros((1, 0), np.int64) if self.table is None else self.table.keys_of(alive)
        return [keys, self.arrays["heads_"][alive]]

    def restore_heads(self, keys: Array, heads: Array) -> None:
        width = 0 if self.table is None else self.table.key_width
        for array, columns in ((keys, width), (heads, self._width)):
            if array.ndim != 2 or array.dtype != np.int64 or array.shape[1] != columns or len(array) != len(heads):
                raise ValueError("another layout")
        self.clear(np.arange(self.heads))
        at = np.arange(1) if self.table is None else self.table.enter(keys)
        self.arrays["heads_"][at] = heads


def head_columns(payload: dict[str, Element]) -> tuple[tuple[str, Column], ...]:
    """The columns of what is held for each key."""
    return row_columns("heads_", payload)


@cache
def number_functions(width: int) -> str:
    """Source of ``number_n`` and ``numbered_n``, the number of a key of n parts; ``numbered_n`` adds what is new.

    ``number_n`` gives -1 where there is none. Both are small, so that they are inlined: most often it is the last key.
    ``index_n`` writes the index anew, ``tidy_n`` frees numbers.
    """
    keys = [f"k{i}" for i in range(width)]
    given = ", ".join(f"{key}: int" for key in keys)
    passed = ", ".join(keys)
    same = " and ".join(f"keys.{key}[found] == {key}" for key in keys)
    known = " and ".join(f"keys.last_{key} == {key}" for key in keys)
    remember = "\n".join(f"keys.last_{key} = {key}" for key in keys)
    written = "\n".join(f"    keys.{key}[found] = {key}" for key in keys)
    return f"""
def number_{width}(keys: KeyNumbers, {given}) -> int:
    if {known} and keys.last >= 0:
        return keys.last
    return search_{width}(keys, {passed})


def search_{width}(keys: KeyNumbers, {given}) -> int:
    at = {hash_source(keys)} & keys.mask
    while keys.index[at] != 0:
        found = keys.index[at] - 1
        if {same}:
            keys.last = found
{_indented(remember, 12)}
            return found
        at = (at + 1) & keys.mask
    return -1


def index_{width}(keys: KeyNumbers) -> None:
    for number in range(keys.count):
        if keys.taken[number] != 0:
            at = {hash_source([f"keys.{key}[number]" for key in keys])} & keys.mask
            while keys.index[at] != 0:
                at = (at + 1) & keys.mask
            keys.index[at] = number + 1


def tidy_{width}(keys: KeyNumbers) -> None:
    keys.tidy = 1
    grow(keys)
    index_{width}(keys)


def new_number_{width}(keys: KeyNumbers, {given}) -> int:
    if keys.frees == 0 and keys.count == keys.capacity:
        grow(keys)
        index_{width}(keys)
    at = {hash_source(keys)} & keys.mask
    while keys.index[at] != 0:
        at = (at + 1) & keys.mask
    found = keys.count
    if keys.frees > 0:
        keys.frees -= 1
        found = keys.free[keys.frees]
    else:
        keys.count += 1
    keys.used += 1
    keys.index[at] = found + 1
    keys.taken[found] = 1
{written}
    keys.last = found
{_indented(remember, 4)}
    return found


def numbered_{width}(keys: KeyNumbers, {given}) -> int:
    if {known} and keys.last >= 0:
        return keys.last
    return entered_{width}(keys, {passed})


def entered_{width}(keys: KeyNumbers, {given}) -> int:
    found = search_{width}(keys, {passed})
    if found < 0:
        return new_number_{width}(keys, {passed})
    return found
"""


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.splitlines())


def attach_all(structures: dict[str, Structure], tables: dict[str, Sequence[Any]]) -> None:
    """Gives structures the tables that number their keys: `tables` has what each structure was made with."""
    for name, structure in structures.items():
        if isinstance(structure, ByKey) and tables[name][0]:
            table = structures[tables[name][0]]
            assert isinstance(table, KeyNumbers)
            structure.attach(table)
