"""The state of generated code: numbers and arrays of 64-bit integers, by the names that a layout has for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ensue.engine.batch import Integers
from ensue.engine.compiled.layout import Ask, Field, Layout, Space

NEVER = -(2**63)

NOTHING = {"H": -1, "G": 0, "L": NEVER}
"""What stands for a key of which there is nothing: in the heads of a store, in groups, in marks."""

SIZE = 16
"""The rows for which there is room at first."""

ANSWERS = 1 << 14
"""The rows for answers of static predicates at first: memory that is not used costs nothing."""


class Arrays:
    """The arrays of a layout, and the numbers beside them."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.places = {name: place for place, name in enumerate(layout.scalars())}
        self.numbers = np.zeros(len(self.places), np.int64)
        self.by_name = _empty(layout)

    def __getitem__(self, name: str) -> Integers:
        return self.by_name[name]

    def __setitem__(self, name: str, array: Integers) -> None:
        self.by_name[name] = array

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    def number(self, name: str) -> int:
        return int(self.numbers[self.places[name]])

    def set_number(self, name: str, value: int) -> None:
        self.numbers[self.places[name]] = value

    def keyed(self) -> Iterator[tuple[str, Space | None]]:
        """The arrays with a place for each key, and the space of the keys; without one there is a single place."""
        for store in self.layout.stores.values():
            yield f"H{store.number}", store.space
        for groups in self.layout.groups.values():
            yield f"G{groups.number}", groups.space
        for mark in self.layout.marks.values():
            yield f"L{mark.number}", mark.space

    def codes(self) -> Iterator[Integers]:
        """The codes of all strings that are held between two batches."""
        for space in self.layout.spaces.values():
            keys = self[f"KV{space.number}"][: self.number(f"kc{space.number}")]
            yield from (keys[:, place] for place, kind in enumerate(space.kinds) if kind == "s")
        held: list[tuple[str, str, Mapping[Field, tuple[int, str]]]] = []
        held += [(f"T{store.number}", f"hi{store.number}", store.columns) for store in self.layout.stores.values()]
        held += [(f"Q{queue.number}", f"qh{queue.number}", queue.columns) for queue in self.layout.queues.values()]
        held += [(f"W{group.number}", f"wr{group.number}", group.row_columns) for group in self.layout.groups.values()]
        for name, high, columns in held:
            rows, ring = self[name], self.ring(name)
            rows = rows[: self.number(high)] if ring is None else rows[np.arange(*ring) & (len(rows) - 1)]
            yield from (rows[:, column] for column, kind in columns.values() if kind == "s")

    def ring(self, name: str) -> tuple[int, int] | None:
        """The first row of an array that is a ring, and the one after its last."""
        n = name[1:]
        if name[0] == "T" and f"fr{n}" not in self.places:
            return self.number(f"lo{n}"), self.number(f"hi{n}")
        if name[0] == "Q" and f"qs{n}" not in self.places:
            return self.number(f"ql{n}"), self.number(f"qh{n}")
        return None


def resized(rows: Integers, used: int, size: int, nothing: int | None = None) -> Integers:
    """So many rows, those that are used in front; the others hold nothing, or anything if that does not matter."""
    shape = (size, *rows.shape[1:])
    new = np.empty(shape, np.int64) if nothing is None else np.full(shape, nothing, np.int64)
    new[:used] = rows[:used]
    return new


def no_answers(ask: Ask, size: int) -> Integers:
    """Room for answers, half of it to be used; before them a row for where to ask, and how many there are."""
    return np.zeros((1 + size, ask.width), np.int64)


def _empty(layout: Layout) -> dict[str, Integers]:
    """Arrays of a state in which nothing has happened."""
    arrays: dict[str, Integers] = {}
    for space in layout.spaces.values():
        arrays[f"KT{space.number}"] = np.full(2 * SIZE, -1, np.int64)
        arrays[f"KV{space.number}"] = np.empty((SIZE, len(space.kinds)), np.int64)
    for store in layout.stores.values():
        arrays[f"T{store.number}"] = np.empty((SIZE, store.width), np.int64)
        arrays[f"H{store.number}"] = np.full(_places(store.space), -1, np.int64)
    for derived in layout.derived.values():
        arrays[f"D{derived.number}"] = np.empty((SIZE, derived.width), np.int64)
    for queue in layout.queues.values():
        arrays[f"Q{queue.number}"] = np.empty((SIZE, queue.width), np.int64)
        if not queue.ordered:
            arrays[f"P{queue.number}"] = np.empty((SIZE, 2), np.int64)
    for groups in layout.groups.values():
        arrays[f"W{groups.number}"] = np.empty((SIZE, groups.width), np.int64)
        arrays[f"G{groups.number}"] = np.zeros((_places(groups.space), groups.columns), np.int64)
    for buffer in layout.buffers.values():
        arrays[f"B{buffer.number}"] = np.empty((SIZE, buffer.width), np.int64)
    for mark in layout.marks.values():
        arrays[f"L{mark.number}"] = np.full(_places(mark.space), NEVER, np.int64)
    for ask in layout.asks.values():
        arrays[f"A{ask.number}"] = no_answers(ask, ANSWERS)
    for number, _ in layout.slots.values():
        arrays[f"S{number}"] = np.empty(0, np.int64)
    return {name: arrays[name] for name in layout.arrays()}


def _places(space: Space | None) -> int:
    return 1 if space is None else SIZE
