"""Room in the arrays of a lane: generated code asks for it before it takes an event, and goes on when it is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ensue.engine.compiled.arrays import NOTHING, Arrays, resized
from ensue.engine.compiled.layout import Space, Store

MANY_KEYS = 1 << 16
"""From how many keys on it is worth while to look for those of which nothing is left."""

USUAL = 1 << 10
"""For how many rows there is room at least where rows are used up: they are looked through now and then only."""

Kernels = Callable[[str], Callable[..., Any]]
"""Gives a kernel by its name: as it is, or compiled."""


class Room:
    """Makes the arrays of a lane larger, and forgets what can go instead.

    `kernels` are those of the function that is running. `checked` says of each space from how many keys on to look
    again for those that can be forgotten.
    """

    def __init__(self, arrays: Arrays, kernels: Kernels, checked: dict[int, int]) -> None:
        self.arrays = arrays
        self.layout = arrays.layout
        self.kernels = kernels
        self.checked = checked

    def for_events(self, count: int) -> None:
        """Room for the slots of so many events; keys of which nothing is left are forgotten if they are many."""
        arrays = self.arrays
        for number, _ in self.layout.slots.values():
            slots = arrays[f"S{number}"]
            if len(slots) < count:
                arrays[f"S{number}"] = np.empty(max(count, 2 * len(slots)), np.int64)
        for space in self.layout.spaces.values():
            used = arrays.number(f"kc{space.number}")
            if used > self.checked.get(space.number, MANY_KEYS):
                self._forget_keys(space, used)
                self.checked[space.number] = max(MANY_KEYS, 4 * arrays.number(f"kc{space.number}"))

    def enlarge(self, name: str, need: int) -> None:
        """Makes room for so many more rows in an array."""
        arrays = self.arrays
        if name.startswith("KV"):
            self._for_keys(next(s for s in self.layout.spaces.values() if f"KV{s.number}" == name), need)
            return
        letter, n = name[0], name[1:]
        rows = arrays[name]
        if letter == "T":
            self._in_store(next(s for s in self.layout.stores.values() if s.number == int(n)), need)
            return
        ring = arrays.ring(name)
        if ring is not None:
            low, high = ring
            while high - low + need > len(rows):
                rows = self.kernels("bigger_ring")(rows, low, high)
            arrays[name] = rows
            return
        used = arrays.number({"D": "dh", "B": "bh", "Q": "qh", "W": "wr"}[letter] + n)
        size = max(used + need, 2 * len(rows))
        arrays[name] = resized(rows, used, size)
        if letter == "Q":
            arrays[f"P{n}"] = resized(arrays[f"P{n}"], arrays.number(f"qs{n}"), size)

    # --- stores

    def let_go(self) -> None:
        """Lets go of rows that were used up, wherever they are still there."""
        for store in self.layout.stores.values():
            if store.bound is None and store.ended_by is None:
                self._compact(store)

    def _compact(self, store: Store) -> None:
        arrays, n = self.arrays, store.number
        low, high = arrays.number(f"lo{n}"), arrays.number(f"hi{n}")
        arrays[f"T{n}"], high = self.kernels("compact")(arrays[f"T{n}"], arrays[f"H{n}"], low, high)
        arrays.set_number(f"lo{n}", 0)
        arrays.set_number(f"hi{n}", high)

    def _in_store(self, store: Store, count: int) -> None:
        if store.ended_by is not None:
            self._in_place(store, count)
            return
        arrays, n = self.arrays, store.number
        if store.bound is None:
            self._compact(store)
        rows = arrays[f"T{n}"]
        low, high = arrays.number(f"lo{n}"), arrays.number(f"hi{n}")
        if store.bound is None:
            count = max(count, high, min(7 * high, 1 << 15), USUAL)
        elif high > low:  # rows whose time is over go now and then only
            assert store.bound is not None
            ends = rows[np.arange(low, high) & (len(rows) - 1), 3]
            low += int(np.searchsorted(ends, arrays.number("t") - store.bound))
            arrays.set_number(f"lo{n}", low)
            count = max(count, high - low)
        while high - low + count > len(rows):
            rows = self.kernels("bigger_ring")(rows, low, high)
        arrays[f"T{n}"] = rows

    def _in_place(self, store: Store, count: int) -> None:
        """Room in a store whose rows are ended by something: without those of keys whose time is over."""
        arrays, n = self.arrays, store.number
        self._drop_ended(store)
        rows, heads = arrays[f"T{n}"], arrays[f"H{n}"]
        rows, high = self.kernels("compact")(rows, heads, 0, arrays.number(f"hi{n}"))
        while 2 * high + 4 * count > len(rows):
            rows = self.kernels("bigger_ring")(rows, 0, high)
        arrays[f"T{n}"] = rows
        for name, value in (("hi", high), ("fr", 0), ("fc", 0)):
            arrays.set_number(f"{name}{n}", value)

    def _drop_ended(self, store: Store) -> None:
        """Forgets the rows of keys that were ended; those of a key that never comes again stay until then."""
        assert store.ended_by is not None
        arrays, heads = self.arrays, self.arrays[f"H{store.number}"]
        used = np.flatnonzero(heads >= 0)
        newest = arrays[f"T{store.number}"][heads[used], 3]
        over = newest < arrays[f"L{store.ended_by.number}"][used]
        if store.bound is not None:
            over |= arrays.number("t") - newest > store.bound
        heads[used[over]] = -1

    # --- keys

    def _for_keys(self, space: Space, count: int) -> None:
        used = self.arrays.number(f"kc{space.number}")
        size = len(self.arrays[f"KV{space.number}"])
        while used + count > size:
            size *= 2
        self._resize(space, used, size)

    def _keyed(self, space: Space) -> list[str]:
        return [name for name, own in self.arrays.keyed() if own is space]

    def _forget_keys(self, space: Space, used: int) -> None:
        """Gives the slots of keys that nothing is stored for any more to others, if they are many."""
        arrays = self.arrays
        stores = [store for store in self.layout.stores.values() if store.space is space]
        live = np.zeros(used, bool)
        for store in stores:
            if store.ended_by is not None:
                self._drop_ended(store)
            live |= arrays[f"H{store.number}"][:used] >= arrays.number(f"lo{store.number}")
        for groups in self.layout.groups.values():
            if groups.space is space:
                live |= arrays[f"G{groups.number}"][:used, 2] > 0
        kept = int(live.sum())
        if kept > used // 2:
            return
        place = np.cumsum(live) - 1
        for store in stores:
            rows = arrays[f"T{store.number}"]
            low, high = arrays.number(f"lo{store.number}"), arrays.number(f"hi{store.number}")
            at = np.arange(low, high) & (len(rows) - 1)
            rows[at, 1] = np.where(live[rows[at, 1]], place[rows[at, 1]], 0)
        keys = arrays[f"KV{space.number}"]
        keys[:kept] = keys[:used][live]
        for name in self._keyed(space):
            held = arrays[name]
            held[:kept] = held[:used][live]
            held[kept:] = NOTHING[name[0]]
        arrays.set_number(f"kc{space.number}", kept)
        self._resize(space, kept, len(keys))

    def _resize(self, space: Space, used: int, size: int) -> None:
        """A new table of the keys, and a place for each of so many wherever there is one for each."""
        arrays, n = self.arrays, space.number
        keys = arrays[f"KV{n}"]
        if size > len(keys):
            arrays[f"KV{n}"] = keys = resized(keys, len(keys), size)
            for name in self._keyed(space):
                arrays[name] = resized(arrays[name], len(arrays[name]), size, NOTHING[name[0]])
        table = np.full(2 * size, -1, np.int64)
        self.kernels("rehash")(table, keys, used)
        arrays[f"KT{n}"] = table
