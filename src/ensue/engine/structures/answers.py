"""Answers of static predicates: for each combination of bound values a run of rows, and the order of all answered rows.

`Answers` belong to one lookup. Python computes each combination once; the rows that agree are remembered one after the
other, in their order. `Facts` belong to a unit: the places of rows that are parts of matches in the order of rows.
Neither is state: both can be computed again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ensue.engine.structure import Column, Element, Frame, Layout, Structure, row_columns
from ensue.engine.structures.keys import NUMBERS, Keyed, slot_columns
from ensue.engine.subset.builtin import ask
from ensue.language import typed
from ensue.language.semantics import order

STATIC = ((1 << 20) + 1) << 40
"""First number of static rows among parts: after events and timers, and before events with a sequence."""

LAST_PLACE = 1 << 59
"""Upper limit of places."""


facts: Any = None
"""The facts of a unit: generated code finds them by this name."""


def answers_layout(width: int, fields: dict[str, Element]) -> Layout:
    """Layout of slots by a key of bound values, and rows with these fields."""
    runs = slot_columns(width, {"known": "i64", "first": "i64", "count": "i64"})
    return Layout(("slot_wanted", *NUMBERS), (*runs, *row_columns("rows", {"number": "i64", **fields})))


class Answers(Keyed):
    """Rows of a static predicate by the bound values.

    `bound` names the variables of the key, with their kinds; `names` those that a row gives values for, with theirs.
    """

    keeps = False

    def __init__(
        self, frame: Frame, base: int, lookup: typed.Lookup, bound: Sequence[tuple[str, str]],
        names: Sequence[tuple[str, str]], nullable: Sequence[bool], numbered: bool,
    ) -> None:  # fmt: skip
        super().__init__(frame, base)
        self.lookup, self.bound, self.names, self.nullable, self.numbered = lookup, bound, names, nullable, numbered
        self.forget()

    def forget(self) -> None:
        """Drop all answers: codes in their keys may stand for other values from now on."""
        self.first_slots(len(self.bound))
        self.filled = 0
        self.put("rows", np.zeros((self.frame.capacity.rows, self.layout.column("number").width), np.int64))

    def grow(self) -> None:
        if self.slots < self.frame.capacity.calls and self.filled < self.frame.capacity.calls:
            self.rehash(self.arrays["slots_"][:, 0] != 0)
        else:
            self.forget()

    def answer(self, lane: Any, slot: int) -> int:
        """Compute the rows that agree with the values of a slot, and add them."""
        known = {
            name: lane._decoded(getattr(self, f"slot_k{i}")[slot], kind) for i, (name, kind) in enumerate(self.bound)
        }
        predicate, terms = self.lookup.predicate, self.lookup.arguments
        shown = [term.name for term in terms if isinstance(term, typed.Variable)]
        found = list(lane.knowledge.bindings(predicate, terms, known))
        found.sort(key=lambda values: [order(values[name]) for name in shown])
        first = self.filled
        for values in found:
            number = 0
            if self.numbered:
                row = row_value(predicate, (values[name] for name in shown))
                number = lane.values.code(row)
                lane.structures["facts"].know(lane.values, row, number)
            self._add(lane, values, number)
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
                getattr(self, f"f{i}")[row] = lane.encoded(values[name], kind)
                flags[i // 63] |= 1 << (i % 63)
        if any(self.nullable):
            for word, held in enumerate(flags):
                getattr(self, f"f_valid{word or ''}")[row] = held


def facts_layout() -> Layout:
    return Layout(("capacity",), (("place", Column("places")),))


class Facts(Structure):
    """Places of static rows by their codes: rows are ordered by their values in turn, then by predicate.

    A row is a value of the dictionary (`row_value`), so its code lasts as long as a state. It gets a place when it is
    answered, which may move others: never between the two sides of a comparison, one of which would be of the past. So
    those of a state that was restored get their places together, when the first one is needed.
    """

    keeps = False

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self._sorted: list[tuple[Any, int]] = []
        self._make_room(self.frame.capacity.rows)

    def _make_room(self, size: int) -> None:
        places = np.zeros(size, np.int64)
        if "places" in self.arrays:
            places[: self.capacity] = self.arrays["places"]
        self.put("places", places)
        self.capacity = size

    def know(self, values: Any, row: tuple[Any, ...], code: int) -> int:
        """Give a row a place, by its code; the first time, give one to all rows in the dictionary."""
        for known in row_codes(values.others()) if not self._sorted else ():
            self._place(values.value(known), known)
        self._place(row, code)
        return 0

    def _place(self, row: tuple[Any, ...], code: int) -> None:
        if code >= self.capacity:
            self._make_room(2 << code.bit_length())
        if self.place[code] == 0:
            key = (tuple(map(order, row[2:])), row[1])
            at = bisect_left(self._sorted, (key, -1))
            self._sorted.insert(at, (key, code))
            self._put_between(at, code)

    def _put_between(self, at: int, code: int) -> None:
        """Give a new row a place between its neighbours; where there is none left, all get new ones."""
        known, last = self._sorted, at + 1 == len(self._sorted)
        low = self.place[known[at - 1][1]] if at else 0
        high = LAST_PLACE if last else self.place[known[at + 1][1]]
        if high - low > 1:
            self.place[code] = low + (min(1 << 32, (high - low) // 2) if last else (high - low) // 2)
        else:
            for rank, (_, each) in enumerate(known):
                self.place[each] = (rank + 1) * (LAST_PLACE // (2 * len(known) + 2))


ROW = "a row of"
"""First item of a static row as a value of the dictionary."""


def row_value(predicate: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """A static row as a value, equal for rows with equal values: 1.0 is 1 there.

    >>> row_value("rated", (1.0, "x", None))
    ('a row of', 'rated', 1, 'x', None)
    """
    whole = (int(v) if isinstance(v, float) and v.is_integer() else v for v in values)
    return (ROW, predicate, *whole)


def row_codes(values: Iterable[tuple[int, Any]]) -> list[int]:
    """The codes of static rows among values with their codes: they are never dropped, as parts may refer to them."""
    return [code for code, value in values if type(value) is tuple and value[:1] == (ROW,)]


def part_place(k: int) -> int:
    """The number by which a part is ordered: a static row has a place, all others have their own number."""
    if k < 1152922604118474752 or k >= 2305843009213693952:
        return k
    code = k - 1152922604118474752
    if code >= facts.capacity or facts.place[code] == 0:
        ask(facts, code)
    return 1152922604118474752 + facts.place[code]
