"""Answers of static predicates: for each combination of bound values a run of rows, and the order of all rows handed out.

`Answers` belong to one lookup. Python is asked once for each combination; the rows that agree are remembered one after
the other, in their order. `Facts` belong to a unit: each row that a match may have among its parts has a number there,
which it keeps, and a place in the order of rows, which may move when others come between.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from ensue.engine.structures.keys import NUMBERS, Keyed, slot_columns
from ensue.engine.structures.structure import Column, Element, Frame, Layout, Structure, row_columns
from ensue.language import typed
from ensue.values import order

MOST = 1 << 18
"""How many combinations, and how many rows, are remembered at most; beyond that all are forgotten, and asked again."""

FIRST_ROWS = 16

STATIC = ((1 << 20) + 1) << 40
"""From here on numbers of parts are those of static rows: after events and timers, and before events with a sequence."""

LAST_PLACE = 1 << 59
"""Places lie below it."""


def answers_layout(width: int, fields: dict[str, Element]) -> Layout:
    """Slots by a key of bound values, and rows with these fields."""
    runs = slot_columns(width, {"known": "i64", "first": "i64", "count": "i64"})
    return Layout(("slot_wanted", *NUMBERS), (*runs, *row_columns("rows", {"number": "i64", **fields})))


class Answers(Keyed):
    """Rows of a static predicate by the values that were bound.

    `bound` names the variables of the key, with their kinds; `names` those that a row gives values for, with theirs.
    """

    def __init__(
        self, frame: Frame, base: int, lookup: typed.Lookup, bound: Sequence[tuple[str, str]],
        names: Sequence[tuple[str, str]], nullable: Sequence[bool], numbered: bool,
    ) -> None:  # fmt: skip
        super().__init__(frame, base)
        self.lookup, self.bound, self.names, self.nullable, self.numbered = lookup, bound, names, nullable, numbered
        self.forget()

    def forget(self) -> None:
        """Forgets all: codes that were asked about may mean something else from now on."""
        self.first_slots(len(self.bound))
        self.filled = 0
        self.put("rows", np.zeros((FIRST_ROWS, self.layout.column("number").width), np.int64))

    def grow(self) -> None:
        if self.slots < MOST and self.filled < MOST:
            self.rehash(self.arrays["slots_"][:, 0] != 0)
        else:
            self.forget()

    def answer(self, lane: Any, slot: int) -> int:
        """Asks for the rows that agree with the values of a slot, and adds them."""
        known = {
            name: lane._decoded(getattr(self, f"slot_k{i}")[slot], kind) for i, (name, kind) in enumerate(self.bound)
        }
        predicate, terms = self.lookup.predicate, self.lookup.arguments
        shown = [term.name for term in terms if isinstance(term, typed.Variable)]
        found = [
            (tuple(order(values[name]) for name in shown), values)
            for values in lane.knowledge.bindings(predicate, terms, known)
        ]
        found.sort(key=lambda pair: pair[0])
        first = self.filled
        for key, values in found:
            self._add(lane, values, lane.structures["facts"].number(predicate, key) if self.numbered else 0)
        self.known[slot], self.first[slot], self.count[slot] = 1, first, self.filled - first
        return 0

    def _add(self, lane: Any, values: dict[str, Any], number: int) -> None:
        row = self.filled
        old = self.arrays["rows"]
        if row == len(old):
            self.put("rows", np.concatenate([old, np.zeros_like(old)]))
        self.filled += 1
        self.number[row] = number
        flags = [0] * ((len(self.names) + 62) // 63)
        for i, (name, kind) in enumerate(self.names):
            if values[name] is not None:
                getattr(self, f"f{i}")[row] = lane._encoded(values[name], kind)
                flags[i // 63] |= 1 << (i % 63)
        if any(self.nullable):
            for word, held in enumerate(flags):
                getattr(self, f"f_valid{word or ''}")[row] = held


def facts_layout() -> Layout:
    return Layout((), (("place", Column("places")),))


class Facts(Structure):
    """Static rows by number, each with its place among all of them: by values in order, then by predicate."""

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.numbers_of: dict[Any, int] = {}
        self._sorted: list[Any] = []
        self.put("places", np.zeros(FIRST_ROWS, np.int64))

    def number(self, predicate: str, row: tuple[Any, ...]) -> int:
        """The number of a row, given by the keys of its values in order."""
        key = (row, predicate)
        found = self.numbers_of.get(key)
        if found is None:
            found = self.numbers_of[key] = len(self.numbers_of)
            if found == len(self.place):
                self.put("places", np.concatenate([self.arrays["places"], np.zeros_like(self.arrays["places"])]))
            at = bisect_left(self._sorted, key)
            self._sorted.insert(at, key)
            self._put_between(at, found)
        return found

    def _put_between(self, at: int, number: int) -> None:
        """Gives a new row a place between its neighbours; where there is none left, all get new ones."""
        known, last = self._sorted, at + 1 == len(self._sorted)
        low = self.place[self.numbers_of[known[at - 1]]] if at else 0
        high = LAST_PLACE if last else self.place[self.numbers_of[known[at + 1]]]
        if high - low > 1:
            self.place[number] = low + (min(1 << 32, (high - low) // 2) if last else (high - low) // 2)
        else:
            for rank, key in enumerate(known):
                self.place[self.numbers_of[key]] = (rank + 1) * (LAST_PLACE // (2 * len(known) + 2))


def part_place(k: int) -> int:
    """The number by which a part is ordered: a static row has a place, all others are in order by their own number."""
    if k < 1152922604118474752 or k >= 2305843009213693952:
        return k
    return 1152922604118474752 + facts.place[k - 1152922604118474752]
