"""Derived lists that no rule uses as values: their values lie one after the other, as in a column.

A list is a number: its values lie from ``past[number]`` to before ``past[number + 1]``, each as 64 bits. Lists last as
long as a batch; emitted ones become an Arrow column without a Python object for each list. Where rules use a list as a
value, it has a code in the dictionary instead (`structures/values.py`), which `answer` turns into a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ensue.engine.structure import Array, Column, Frame, Layout, Structure
from ensue.engine.structures.collected import Collected
from ensue.engine.subset.builtin import ask, grow

if TYPE_CHECKING:
    from ensue.engine.generated import GeneratedLane


def lists_layout() -> Layout:
    return Layout(
        ("count", "capacity", "filled", "room", "wanted"), (("past", Column("ends")), ("value", Column("values")))
    )


class Lists(Structure):
    """``count`` lists of ``filled`` values in all; ``wanted`` is the number of values of the next one."""

    keeps = counted = False

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.clear()

    def clear(self) -> None:
        """Drop all lists, and free their memory."""
        self.count = self.filled = 0
        self.capacity = self.room = self.frame.capacity.rows
        self.put("ends", np.zeros(self.capacity + 1, np.int64))
        self.put("values", np.zeros(self.room, np.int64))

    def grow(self) -> None:
        if self.count == self.capacity:
            self.capacity *= 2
            self._enlarge("ends", self.count + 1, self.capacity + 1)
        if self.filled + self.wanted > self.room:
            self.room = max(2 * self.room, self.filled + self.wanted)
            self._enlarge("values", self.filled, self.room)

    def _enlarge(self, name: str, used: int, size: int) -> None:
        made = np.empty(size, np.int64)
        made[:used] = self.arrays[name][:used]
        self.put(name, made)

    def add(self, values: Array) -> int:
        """Add a list of values, each as 64 bits; returns its number."""
        self.wanted = len(values)
        self.grow()
        self.arrays["values"][self.filled : self.filled + len(values)] = values
        self.filled += len(values)
        self.count += 1
        self.arrays["ends"][self.count] = self.filled
        return self.count - 1

    def column(self, lane: GeneratedLane, numbers: Array, valid: Array, kind: str, type_: pa.DataType) -> pa.Array:
        """Lists by their numbers as a column, null where there is none; `kind` is that of their values."""
        held = self.arrays["values"][: self.filled]
        match kind:
            case "f":
                values = pa.array(held.view(np.float64) + 0.0)
            case "b":
                values = pa.array(held != 0)
            case "s":
                values = lane.values.decode(held, self._within(numbers[valid]))
            case _:
                values = pa.array(held)
        lists = pa.ListArray.from_arrays(pa.array(self.arrays["ends"][: self.count + 1], pa.int32()), values)
        if lists.type != type_:
            lists = lists.cast(type_)
        if valid.all() and len(numbers) == self.count and np.array_equal(numbers, np.arange(self.count)):
            return lists
        return lists.take(pa.array(numbers, mask=None if valid.all() else ~valid))

    def _within(self, numbers: Array) -> Array:
        """Flags of values that belong to some lists: the others may be of another kind."""
        chosen = np.zeros(self.count, bool)
        chosen[numbers] = True
        return np.repeat(chosen, np.diff(self.arrays["ends"][: self.count + 1]))


class OfCode:
    """Makes lists from values of the dictionary, where rules have these."""

    def answer(self, lane: GeneratedLane, structure: Any, code: int) -> int:
        values = lane.values.value(code)
        if any(isinstance(value, float) for value in values):
            return int(structure.add(np.array(values, np.float64).view(np.int64)))
        numbers = [lane.values.code(value) if isinstance(value, str) else int(value) for value in values]
        return int(structure.add(np.array(numbers, np.int64)))


def keep_list(lists: Lists, collected: Collected) -> int:
    """Make a list of collected values, in the order of their places; returns its number."""
    count = collected.count
    lists.wanted = count
    if lists.filled + count > lists.room or lists.count == lists.capacity:
        grow(lists)
    rises = True
    falls = True
    for k in range(1, count):
        if collected.place[k] < collected.place[k - 1]:
            rises = False
        else:
            falls = False
    if not rises and not falls:
        ask(collected, 2)  # SORT
        rises = True
    first = lists.filled
    if rises:
        for k in range(count):
            lists.value[first + k] = collected.value[k]
    else:
        for k in range(count):
            lists.value[first + k] = collected.value[count - 1 - k]
    lists.filled = first + count
    lists.count += 1
    lists.past[lists.count] = lists.filled
    return lists.count - 1


ORDERS = {
    "i": ("lists.value[at]", "lists.value[to]"),
    "b": ("lists.value[at]", "lists.value[to]"),
    "f": ("float_order(from_bits(lists.value[at]))", "float_order(from_bits(lists.value[to]))"),
    "s": ("text_order(values, lists.value[at], lists.value[to])", "0"),
}
"""Two numbers that compare as two values of lists do, as source."""


def order_of_lists(kind: str) -> str:
    """Source of a function that compares two lists, value by value: -1, 0 or 1."""
    one, other = ORDERS[kind]
    return f"""
def order_of_lists_{kind}(one: int, other: int) -> int:
    at = lists.past[one]
    to = lists.past[other]
    while at < lists.past[one + 1] and to < lists.past[other + 1]:
        left = {one}
        right = {other}
        if left != right:
            return -1 if left < right else 1
        at += 1
        to += 1
    if at < lists.past[one + 1]:
        return 1
    return -1 if to < lists.past[other + 1] else 0
"""
