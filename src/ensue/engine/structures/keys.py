"""Slots of keys: open addressing over rows that hold a key and its fields.

Any structure with the columns ``slot_used``, ``slot_k0`` … and the numbers ``slots``, ``slot_mask`` can be keyed. A
slot keeps its place until the table is enlarged, which drops dead slots.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np

from ensue.engine.structure import Array, Column, Element, Structure, row_columns
from ensue.engine.subset.builtin import bits, unsigned_shift, wrap

NUMBERS = ("slots", "slot_mask", "slot_width", "old_slots")

MULTIPLIER = -7046029254386353131
"""Odd, with bits in no order: products with it differ in their high bits."""


def spread(key: int) -> int:
    """Spread a key over the high bits of 64: consecutive keys go far apart there, and no two give one number."""
    return wrap((key ^ unsigned_shift(key, 32)) * -7046029254386353131)


def mix(key: int) -> int:
    """Spread a key over 64 bits."""
    product = spread(key)
    return product ^ unsigned_shift(product, 29)


def key_bits(number: float) -> int:
    """A float as a key: equal numbers have equal bits, and so have all NaNs."""
    if number != number:
        return 9221120237041090560
    return bits(number + 0.0)


@cache
def key_functions(width: int) -> str:
    """Source of ``find_n`` and ``slot_n``, which look for a key of n numbers; ``slot_n`` adds it where it is new.

    Both return the place of its slot; ``find_n`` returns -1 where there is none. Without a key there is one slot.
    """
    if width == 0:
        return "def find_0(table: Keyed) -> int:\n    return 0\n\n\ndef slot_0(table: Keyed) -> int:\n    return 0\n"
    keys = [f"k{i}" for i in range(width)]
    given = ", ".join(f"{key}: int" for key in keys)
    same = " and ".join(f"table.slot_{key}[at] == {key}" for key in keys)
    hashed, old = hash_source(keys), hash_source([f"table.old_{key}[i]" for key in keys])
    written = "\n".join(f"    table.slot_{key}[at] = {key}" for key in keys)
    return f"""
def place_{width}(table: Keyed) -> None:
    for i in range(table.old_slots):
        at = {old} & table.slot_mask
        while table.slot_used[at] != 0:
            at = (at + 1) & table.slot_mask
        for c in range(table.slot_width):
            table.slot_cell[at * table.slot_width + c] = table.old_cell[i * table.slot_width + c]
    table.slots = table.old_slots
    table.old_slots = 0


def find_{width}(table: Keyed, {given}) -> int:
    at = {hashed} & table.slot_mask
    while table.slot_used[at] != 0:
        if {same}:
            return at
        at = (at + 1) & table.slot_mask
    return -1


def slot_{width}(table: Keyed, {given}) -> int:
    hashed = {hashed}
    at = hashed & table.slot_mask
    while table.slot_used[at] != 0:
        if {same}:
            return at
        at = (at + 1) & table.slot_mask
    if 2 * table.slots >= table.slot_mask:
        table.slot_wanted = 1
        grow(table)
        place_{width}(table)
        at = hashed & table.slot_mask
        while table.slot_used[at] != 0:
            at = (at + 1) & table.slot_mask
    table.slots += 1
    table.slot_used[at] = 1
{written}
    return at
"""


TOGETHER = 50
"""Parts of a key that are hashed one into the other; Python allows at most 200 parentheses inside each other."""


def hash_source(keys: list[str]) -> str:
    """Source for the hash of a key."""
    found = ""
    for begin in range(0, len(keys), TOGETHER):
        first, *others = keys[begin : begin + TOGETHER]
        group = f"mix({first})"
        for key in others:
            group = f"mix({group} ^ {key})"
        found = f"mix({found} ^ {group})" if found else group
    return found


def high_source(keys: list[str], shift: str) -> str:
    """Source for a place by the high bits of a key's hash."""
    last = f"{hash_source(keys[:-1])} ^ {keys[-1]}" if len(keys) > 1 else keys[0]
    return f"unsigned_shift(spread({last}), {shift})"


def slot_columns(kinds: int | str, payload: dict[str, Element]) -> tuple[tuple[str, Column], ...]:
    """The columns of slots: a flag that it is used, its key, and its fields.

    The kinds of a key's parts mark codes of values; where only their number is given, all may be codes.
    """
    parts = "s" * kinds if isinstance(kinds, int) else kinds
    keys: dict[str, Element] = {f"slot_k{i}": "code" if kind in "so" else "i64" for i, kind in enumerate(parts)}
    fields: dict[str, Element] = {"slot_used": "i64", **keys, **payload}
    old: dict[str, Element] = {f"old_{name.removeprefix('slot_')}": "i64" for name in fields}
    return (*row_columns("slots_", fields, cell="slot_cell"), *row_columns("old_slots_", old, cell="old_cell"))


class Keyed(Structure):
    """A structure with slots. `empty` are the values of an unused slot besides zeros, by column."""

    empty: ClassVar[dict[str, int]] = {}

    @property
    def marks(self) -> dict[str, int]:
        """The values of an unused slot."""
        return self.empty

    def first_slots(self, width: int) -> None:
        columns = dict(self.layout.columns)
        self.key_width = width
        slots = self._no_slots(columns["slot_used"].width, 1 if width == 0 else self.frame.capacity.slots)
        slots[:, 0] = width == 0
        self.put("slots_", slots)
        self.put("old_slots_", slots[:0])
        self.slot_mask, self.slot_width = len(slots) - 1, slots.shape[1]
        self.slots = self.old_slots = 0

    def _no_slots(self, width: int, size: int) -> Array:
        slots = np.zeros((size, width), np.int64)
        for name, value in self.marks.items():
            slots[:, self.layout.column(name).place] = value
        return slots

    def rehash(self, alive: Array) -> None:
        """Make a table with twice the room of the slots that are alive; code then puts them there.

        A small table that is full of dead slots is doubled all the same, so that Python is seldom called.
        """
        kept = self.arrays["slots_"][alive]
        capacity = self.frame.capacity
        size = max(capacity.slots, min(2 * len(alive), capacity.table), 1 << (4 * len(kept)).bit_length())
        self.put("slots_", self._no_slots(kept.shape[1], size))
        self.put("old_slots_", kept)
        self.slot_mask = size - 1
        self.slots, self.old_slots = 0, len(kept)

    def place_slots(self, kept: Array) -> None:
        """Put slots into a table with twice their room."""
        size = max(self.frame.capacity.slots, 1 << (4 * len(kept)).bit_length())
        new = self._no_slots(kept.shape[1], size)
        new[places(kept[:, 1 : 1 + self.key_width], size - 1)] = kept
        self.put("slots_", new)
        self.slot_mask, self.slots = size - 1, len(kept)


def places(keys: Array, mask: int) -> Array:
    """The places of keys in an empty table: each by `mix`, or at the next free place."""
    return free_places(hashes(keys) & mask, mask)


def high_places(keys: Array, shift: int) -> Array:
    """The same by the high bits of `spread` for the last part."""
    high = products(hashes(keys[:, :-1]) ^ keys[:, -1]).view(np.uint64) >> np.uint64(shift)
    return free_places(high.view(np.int64), (1 << (64 - shift)) - 1)


def hashes(keys: Array) -> Array:
    """The hashes of many keys, of which each is a row: those of `hash_source`."""
    found = np.zeros(len(keys), np.int64)
    for begin in range(0, keys.shape[1], TOGETHER):
        group = np.zeros(len(keys), np.int64)
        for column in range(begin, min(begin + TOGETHER, keys.shape[1])):
            group = mixed(group ^ keys[:, column])
        found = mixed(found ^ group) if begin else group
    return found


def free_places(at: Array, mask: int) -> Array:
    """For each of several wanted places the next free one."""
    found = np.empty(len(at), np.int64)
    taken = np.zeros(mask + 1, bool)
    waiting = np.arange(len(at))
    while len(waiting):
        free = ~taken[at]
        first = np.zeros(len(waiting), bool)
        candidates = np.flatnonzero(free)
        _, firsts = np.unique(at[candidates], return_index=True)
        first[candidates[firsts]] = True
        found[waiting[first]] = at[first]
        taken[at[first]] = True
        waiting, at = waiting[~first], (at[~first] + 1) & mask
    return found


def products(keys: Array) -> Array:
    """`spread` of many keys."""
    with np.errstate(over="ignore"):
        found: Array = (keys ^ (keys.view(np.uint64) >> np.uint64(32)).view(np.int64)) * np.int64(MULTIPLIER)
    return found


def mixed(keys: Array) -> Array:
    """`mix` of many keys."""
    product = products(keys)
    return product ^ (product.view(np.uint64) >> np.uint64(29)).view(np.int64)
