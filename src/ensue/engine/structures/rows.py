"""Rows that live as long as a step, wait for a time, or are derived by rules; and the sorting of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ensue.engine.limits import LimitReached
from ensue.engine.structure import Array, Column, Element, Frame, Layout, Structure, row_columns
from ensue.engine.subset.builtin import grow


class Rows(Structure):
    """Rows one after the other: ``count`` of them, from ``first`` on those of the current step; no more than `most`."""

    most = 1 << 62

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.width = self._width
        self.put("rows", np.zeros((self.frame.capacity.rows, self._width), np.int64))
        self.capacity = self.frame.capacity.rows

    @property
    def _width(self) -> int:
        return next(column.width for name, column in self.layout.columns if name != "cell")

    def grow(self) -> None:
        old = self.arrays["rows"]
        if len(old) >= self.most:
            raise LimitReached(self.base, self.most)
        self._set(old, min(2 * len(old), self.most))

    def reserve(self, count: int) -> None:
        """Make room for so many rows at once. Memory that is never written is free; copying or clearing it is not."""
        if count > self.capacity:
            self._set(self.arrays["rows"][: self.count], count, np.empty)

    def _set(self, old: Array, size: int, make: Callable[..., Array] = np.zeros) -> None:
        rows = make((size, old.shape[1]), np.int64)
        rows[: len(old)] = old
        self.put("rows", rows)
        self.capacity = len(rows)

    def saved(self) -> list[Any]:
        return [self.numbers(), self.arrays["rows"][: self.count].copy()]

    def restore(self, state: Sequence[Any]) -> None:
        numbers, rows = state
        if rows.ndim != 2 or rows.shape[1] != self._width or rows.dtype != np.int64:
            raise ValueError("another layout")
        self.set_numbers(numbers)
        if len(rows) != self.count:
            raise ValueError("rows are missing")
        self._set(rows, max(self.frame.capacity.rows, 1 << (2 * len(rows)).bit_length()))

    def size(self) -> tuple[int | None, int, int]:
        return None, self.count, 8 * self.count * self._width


class Queue(Rows):
    """Rows in the order of their times, from ``first`` on; those before that have been removed.

    Beside each row stands the number of its key in a table, or -1: it spares a lookup when its time has come. It is no
    part of the state, as the table is none.
    """

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.put("numbers_", np.full(self.capacity, -1, np.int64))

    def _set(self, old: Array, size: int, make: Callable[..., Array] = np.zeros) -> None:
        super()._set(old, size, make)
        numbers, known = np.full(size, -1, np.int64), self.arrays["numbers_"]
        numbers[: len(known)] = known[:size]
        self.put("numbers_", numbers)

    def saved(self) -> list[Any]:
        numbers = self.numbers()
        numbers[self.layout.cell_of_number("first")] = 0
        numbers[self.layout.cell_of_number("count")] = self.count - self.first
        return [numbers, self.arrays["rows"][self.first : self.count].copy()]

    def restore(self, state: Sequence[Any]) -> None:
        super().restore(state)
        self.arrays["numbers_"].fill(-1)

    def size(self) -> tuple[int | None, int, int]:
        waiting = self.count - self.first
        return None, waiting, 8 * waiting * self._width


class StepRows(Rows):
    """Rows that last as long as a step."""

    keeps = False


class StaticRows(Rows):
    """Rows derived from static facts: no state, as they can be computed again."""

    keeps = False


def rows_layout(fields: dict[str, Element], numbers: tuple[str, ...] = ()) -> Layout:
    return Layout(("first", "count", "capacity", "width", *numbers), row_columns("rows", fields, cell="cell"))


def queue_layout(fields: dict[str, Element]) -> Layout:
    """Layout of a queue of rows with these fields."""
    rows = rows_layout(fields)
    return Layout(rows.numbers, (*rows.columns, ("number", Column("numbers_"))))


def swap_rows(rows: Rows, one: int, other: int) -> None:
    """Swap two rows."""
    for c in range(rows.width):
        held = rows.cell[one * rows.width + c]
        rows.cell[one * rows.width + c] = rows.cell[other * rows.width + c]
        rows.cell[other * rows.width + c] = held


def copy_row(rows: Rows, to: int, source: int) -> None:
    for c in range(rows.width):
        rows.cell[to * rows.width + c] = rows.cell[source * rows.width + c]


def sorting(name: str, structure: str, before: str) -> str:
    """Source of ``sort_name(low, high)``, which sorts rows of a structure; `before` compares the rows one and other."""
    return f"""
def before_{name}(one: int, other: int) -> bool:
{before}


def sink_{name}(low: int, place: int, count: int) -> None:
    child = 2 * place + 1
    while child < count:
        if child + 1 < count and before_{name}(low + child, low + child + 1):
            child += 1
        if not before_{name}(low + place, low + child):
            return
        swap_rows({structure}, low + place, low + child)
        place = child
        child = 2 * place + 1


def sort_{name}(low: int, high: int) -> None:
    count = high - low
    if count < 12:
        for k in range(low + 1, high):
            at = k
            while at > low and before_{name}(at, at - 1):
                swap_rows({structure}, at, at - 1)
                at -= 1
        return
    sorted_already = True
    for k in range(low + 1, high):
        if before_{name}(k, k - 1):
            sorted_already = False
            break
    if sorted_already:
        return
    for k in range(count // 2):
        sink_{name}(low, count // 2 - 1 - k, count)
    for k in range(count - 1):
        last = count - 1 - k
        swap_rows({structure}, low, low + last)
        sink_{name}(low, 0, last)
"""


def make_room_behind(queue: Queue) -> None:
    """Make room for a row behind the last one of a queue."""
    if queue.count == queue.capacity:
        rarely_make_room_behind(queue)


def rarely_make_room_behind(queue: Queue) -> None:
    """Make room in a queue: where half of it has been removed, by moving the others."""
    if 2 * queue.first >= queue.count:
        for k in range(queue.first, queue.count):
            copy_row(queue, k - queue.first, k)
            queue.number[k - queue.first] = queue.number[k]
        queue.count -= queue.first
        queue.first = 0
    else:
        grow(queue)


def enqueue(queue: Queue, heap: Rows) -> None:
    """Add the row behind the last one of a queue; where its time is before that of the last one, to the heap."""
    if queue.first < queue.count and queue.due[queue.count] < queue.due[queue.count - 1]:
        apart_into_heap(queue, heap)
    else:
        queue.count += 1


def apart_into_heap(queue: Queue, heap: Rows) -> None:
    """Add the row behind the last one of a queue to a heap."""
    if heap.count == heap.capacity:
        grow(heap)
    for c in range(heap.width):
        heap.cell[heap.count * heap.width + c] = queue.cell[queue.count * heap.width + c]
    heap.count += 1
    rise(heap, heap.count - 1)


def rise(heap: Rows, place: int) -> None:
    """Move a row of a heap up to the place of its time."""
    while place > 0:
        parent = (place - 1) // 2
        if heap.due[parent] <= heap.due[place]:
            return
        swap_rows(heap, parent, place)
        place = parent


def apart_sink(heap: Rows) -> None:
    """Remove the first row of a heap: it is behind the last one afterwards."""
    heap.count -= 1
    swap_rows(heap, 0, heap.count)
    place = 0
    child = 1
    while child < heap.count:
        if child + 1 < heap.count and heap.due[child + 1] < heap.due[child]:
            child += 1
        if heap.due[place] <= heap.due[child]:
            return
        swap_rows(heap, place, child)
        place = child
        child = 2 * place + 1


class Given(Structure):
    """The events of a batch, as columns over all of them. Its arrays are set for each batch."""

    keeps = counted = False

    def grow(self) -> None:
        raise AssertionError("a batch does not grow")


def given_layout(columns: dict[str, Element]) -> Layout:
    own: dict[str, Element] = {"kind": "i32", "start": "i64", "end": "i64", **columns}
    return Layout(
        ("rows", "at", "sequenced", "alike"), tuple((name, Column(name, element)) for name, element in own.items())
    )


class Kinds(Structure):
    """The number in the unit of each type of the program, by its rank plus one; -1 for types that it does not take."""

    keeps = False


def kinds_layout() -> Layout:
    return Layout((), (("local", Column("local_", "i32")),))


class Numbers(Structure):
    """Single numbers: a timer's next time."""

    def grow(self) -> None:
        raise AssertionError("numbers do not grow")


class StaticNumbers(Numbers):
    """Numbers about answers from static facts: no state, as these can be computed again."""

    keeps = False


class Constants(Numbers):
    """Constants and lengths of rules, so that code does not contain them; and the clock."""

    keeps = False


def numbers_layout(whole: tuple[str, ...], floats: tuple[str, ...] = ()) -> Layout:
    return Layout(whole, tuple((name, Column(name, "f64")) for name in floats))
