"""Numbers for keys: each key of a unit has one small number, by which structures find its entry.

All structures of a unit whose keys are of the same kinds share one table (`KeyNumbers`), so an event's key is looked up
once for all of them; the last key is remembered. The entries of structures for a key (`ByKey`) lie side by side in one
row of one array: an event of a rule with four stores touches a line or two of memory for its key, not one for each of
them.

A number stays as long as some structure has an entry for its key. Between two steps, where there are many numbers,
those without an entry are freed (``rarely_tidy_keys``): never within a step, in which a number may be in use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from ensue.engine.structure import Array, Column, Element, Frame, Layout, Structure, address_of, row_columns
from ensue.engine.structures.keys import high_places, high_source

QUADRUPLED = 1 << 14
"""Numbers up to which room is quadrupled when it is enlarged; above, it is doubled."""

LONG_AGO = -(2**62)
"""Before any time."""

FEW_ALIVE = 4
"""Numbers are freed if fewer than one in so many have an entry."""


NEWLINE = "\n"

LINE, HALF_LINE = 8, 4
"""Words in a cache line, and in half of one."""


def key_numbers_layout(kinds: str) -> Layout:
    """The table for keys of these kinds: s for codes of values, i for other numbers."""
    keys: dict[str, Element] = {f"k{i}": "code" if kind in "so" else "i64" for i, kind in enumerate(kinds)}
    last = tuple(f"last_k{i}" for i in range(len(kinds)))
    numbers = ("count", "frees", "capacity", "mask", "shift", "used", "least", "limit", "last", *last)
    own = (("index", Column("index_", "i32")), ("taken", Column("taken_", "u8")), ("free", Column("free_")))
    return Layout(numbers, (*own, *row_columns("heads_", keys)))


def side_by_side(table: Layout, layouts: Sequence[Layout]) -> list[Layout]:
    """The layouts of a table and of the structures with its keys, with rows as wide as all of them together."""
    every = [table, *layouts]
    width = sum(len(_heads(layout)) for layout in every)
    if width <= HALF_LINE:  # no row crosses a line
        width = 1 << (width - 1).bit_length()
    elif width > LINE:  # no row touches more lines than it must
        width += -width % HALF_LINE
    return [
        replace(
            layout,
            columns=tuple(
                (name, replace(column, width=width) if column.array == "heads_" else column)
                for name, column in layout.columns
            ),
        )
        for layout in every
    ]


def _apart(layout: Layout) -> Layout:
    """A layout as it is without others beside it."""
    return side_by_side(layout, [])[0]


def _heads(layout: Layout) -> list[str]:
    """The columns of the entry for each key."""
    return [name for name, column in layout.columns if column.array == "heads_"]


def _aligned(rows: int, width: int) -> Array:
    """Zeros that begin with a cache line."""
    found = np.zeros(rows * width + LINE, np.int64)
    skip = -(address_of(found) // 8) % LINE
    return found[skip : skip + rows * width].reshape(rows, width)


class KeyNumbers(Structure):
    """Keys by number, an index of them, and the numbers that are free."""

    keeps = False

    def __init__(self, frame: Frame, base: int, width: int) -> None:
        super().__init__(frame, base)
        self.key_width = width
        self.structures: list[ByKey] = getattr(self, "structures", [])
        self.put("heads_", np.zeros((0, self.layout.column("k0").width), np.int64))
        self.put("taken_", np.zeros(0, np.uint8))
        self.put("free_", np.zeros(0, np.int64))
        self._enlarge(frame.capacity.slots)
        self.last, self.least = -1, frame.capacity.numbers
        self.limit = self.least

    def attach(self, structure: ByKey) -> None:
        """Hold the entries of a structure, too."""
        structure.first_column = self.key_width + sum(other.own_width for other in self.structures)
        self.structures.append(structure)
        self.show(structure, 0)

    def show(self, structure: ByKey, known: int) -> None:
        """Give a structure its columns of the rows; those behind the known ones are cleared."""
        at = structure.first_column
        structure.put("heads_", self.arrays["heads_"][:, at : at + structure.own_width])
        structure.heads = self.capacity
        structure.clear(slice(known, self.capacity))

    def grow(self) -> None:
        self._enlarge(self.capacity * (4 if self.capacity < QUADRUPLED else 2))

    def _enlarge(self, capacity: int) -> None:
        old = {name: self.arrays[name] for name in ("heads_", "taken_", "free_")}
        self._make(capacity)
        for name, array in old.items():
            self.arrays[name][: len(array)] = array
        for structure in self.structures:
            self.show(structure, len(old["heads_"]))

    def _make(self, capacity: int) -> None:
        self.put("heads_", _aligned(capacity, self.arrays["heads_"].shape[1]))
        self.put("taken_", np.zeros(capacity, np.uint8))
        self.put("free_", np.zeros(capacity, np.int64))
        self.put("index_", np.zeros(4 * capacity, np.int32))
        self.capacity, self.mask = capacity, 4 * capacity - 1
        self.shift = 64 - self.mask.bit_length()

    def resize(self, capacity: int) -> None:
        """Make room for exactly so many numbers, all of which will be filled."""
        if self.capacity != capacity:
            self._make(capacity)
            for structure in self.structures:
                self.show(structure, capacity)

    def copy_from(self, other: Structure) -> None:
        self.resize(other.capacity)
        super().copy_from(other)

    def taken_numbers(self) -> Array:
        return np.flatnonzero(self.arrays["taken_"][: self.count])

    def keys_of(self, numbers: Array) -> Array:
        """The keys of numbers, a row each."""
        return self.arrays["heads_"][numbers, : self.key_width]

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
        self.arrays["heads_"][found, : self.key_width] = keys
        self.arrays["taken_"][found] = 1
        self.count += fresh
        self.used += fresh
        self.limit = max(self.limit, 2 * self.used)
        self._index()
        return found

    def _index(self) -> None:
        taken, index = self.taken_numbers(), self.arrays["index_"]
        index[:] = 0
        index[high_places(self.keys_of(taken), self.shift)] = taken + 1
        self.last = -1


class ByKey(Structure):
    """A structure with an entry for each key: a row of ``heads_``, by the key's number.

    `empty` are the values of an empty row, besides zeros. Without a key there is one row.
    """

    empty: ClassVar[dict[str, int]] = {}
    table: KeyNumbers | None = None
    first_column = 0
    """The place of its columns in the rows of its table."""

    def __init__(self, frame: Frame, base: int, keys: str) -> None:
        """Make the structure; `keys` is the name of the table with its keys, empty where it has none."""
        super().__init__(frame, base)
        if "over" in self.layout.numbers:  # nothing is of no use yet, however early it ended
            self.over = LONG_AGO
        if self.table is not None:
            self.table.show(self, 0)
        else:
            width = self.layout.column(self._held[0]).width
            self.put("heads_", np.zeros((1, width), np.int64))
            self.heads = 1
            self.clear(slice(0, 1))

    def number_by(self, table: KeyNumbers) -> None:
        """Number keys by a table, which holds its columns from then on."""
        self.table = table
        table.attach(self)

    @property
    def _held(self) -> list[str]:
        return _heads(self.layout)

    @cached_property
    def own_width(self) -> int:
        """Number of columns."""
        return len(self._held)

    @classmethod
    def marks(cls, layout: Layout) -> dict[str, int]:
        """The values of an empty row."""
        return cls.empty

    @classmethod
    def in_use(cls, name: str, at: str) -> str:
        """Source that is true if a row of the structure of this name is not empty."""
        raise NotImplementedError

    def clear(self, numbers: Array | slice) -> None:
        """Clear rows, which are empty afterwards."""
        heads = self.arrays["heads_"]
        heads[numbers] = 0
        for name, value in self.marks(self.layout).items():
            heads[numbers, self.layout.column(name).place] = value

    def is_like(self, other: Structure) -> bool:
        """The same, whatever columns other structures have in the rows."""
        return type(self).__base__ is type(other).__base__ and _apart(self.layout) == _apart(other.layout)

    def copy_from(self, other: Structure) -> None:
        if self.table is not None and isinstance(other, ByKey) and other.table is not None:
            self.table.resize(other.table.capacity)
        super().copy_from(other)

    def head(self, name: str) -> Array:
        """A column of ``heads_``."""
        return self.arrays["heads_"][:, self.layout.column(name).place]

    def alive(self) -> Array:
        """Flags of rows that are not empty, as in `in_use`."""
        raise NotImplementedError

    def key_count(self) -> int | None:
        """Number of keys with an entry; None where it has no keys."""
        return None if self.table is None else int(np.count_nonzero(self.alive()))

    def saved_heads(self) -> list[Array]:
        """The keys with an entry, and the entries."""
        alive = np.flatnonzero(self.alive()) if self.table is not None else np.arange(1)
        keys = np.zeros((1, 0), np.int64) if self.table is None else self.table.keys_of(alive)
        return [keys, self.arrays["heads_"][alive]]

    def restore_heads(self, keys: Array, heads: Array) -> None:
        width = 0 if self.table is None else self.table.key_width
        for array, columns in ((keys, width), (heads, self.own_width)):
            if array.ndim != 2 or array.dtype != np.int64 or array.shape[1] != columns or len(array) != len(heads):
                raise ValueError("another layout")
        self.clear(np.arange(self.heads))
        at = np.arange(1) if self.table is None else self.table.enter(keys)
        self.arrays["heads_"][at] = heads


def head_columns(payload: dict[str, Element]) -> tuple[tuple[str, Column], ...]:
    """The columns of the entry for each key."""
    return row_columns("heads_", payload)


@cache
def number_functions(width: int) -> str:
    """Source of ``number_n`` and ``numbered_n``, the number of a key of n parts; ``numbered_n`` adds new keys.

    ``number_n`` returns -1 where there is none. Both are small, so that they are inlined: most often it is the last
    key. ``index_n`` fills an empty index.
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
    at = {high_source(keys, "keys.shift")}
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
            at = {high_source([f"keys.{key}[number]" for key in keys], "keys.shift")}
            while keys.index[at] != 0:
                at = (at + 1) & keys.mask
            keys.index[at] = number + 1


def apart_new_number_{width}(keys: KeyNumbers, {given}) -> int:
    if keys.frees == 0 and keys.count == keys.capacity:
        grow(keys)
        index_{width}(keys)
    at = {high_source(keys, "keys.shift")}
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
        return apart_new_number_{width}(keys, {passed})
    return found
"""


def tidying(table: str, width: int, held: Mapping[str, tuple[type[ByKey], Layout]], queues: Sequence[str] = ()) -> str:
    """Source of ``rarely_tidy_table()``, which frees the numbers of a table without an entry, if these are most.

    `held` are the structures with its keys, by name. `queues` keep its numbers beside rows; they forget them.
    """
    used = " or ".join(f"({kind.in_use(name, 'number')})" for name, (kind, _) in held.items()) or "False"
    marks = [
        f"                {name}.{column}[number] = {value}"
        for name, (kind, layout) in held.items()
        for column, value in kind.marks(layout).items()
    ]
    forgotten = [
        f"        for row in range({queue}.first, {queue}.count):\n            {queue}.number[row] = -1"
        for queue in queues
    ]
    return f"""
def rarely_tidy_{table}() -> None:
    kept = 0
    for number in range({table}.count):
        if {table}.taken[number] != 0 and ({used}):
            kept += 1
    if {FEW_ALIVE} * kept < {table}.used:
        for number in range({table}.count):
            if {table}.taken[number] != 0 and not ({used}):
                {table}.taken[number] = 0
                {table}.free[{table}.frees] = number
                {table}.frees += 1
{NEWLINE.join(marks)}
        {table}.used = kept
        for at in range({table}.mask + 1):
            {table}.index[at] = 0
        index_{width}({table})
        {table}.last = -1
{NEWLINE.join(forgotten)}
    {table}.limit = max({table}.least, 2 * {table}.used)
"""


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.splitlines())


def attach_all(structures: dict[str, Structure], tables: dict[str, Sequence[Any]]) -> None:
    """Give structures the tables that number their keys; `tables` has the arguments of each structure."""
    for name, structure in structures.items():
        if isinstance(structure, ByKey) and tables[name][0]:
            table = structures[tables[name][0]]
            assert isinstance(table, KeyNumbers)
            structure.number_by(table)
