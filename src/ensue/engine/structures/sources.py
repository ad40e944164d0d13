"""The inputs of matches: handles of sets, which share common subsets.

A handle is 0 for nothing, an odd number for one input (its position times two and one), or twice the number of a node,
which is the union of two handles. A derived event has a node of its own, so that inputs can be added later, while its
step lasts: so events that are derived from each other have the inputs of all. Otherwise nodes never change; those
without a reference are dropped between batches (`Sources.compact`), when there are many.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ensue.engine.structure import Frame, Layout, Structure
from ensue.engine.structures.rows import Rows, rows_layout
from ensue.engine.subset.builtin import grow

origins: Any = None
"""The unions of a unit: generated code finds them by this name."""


def sources_layout() -> Layout:
    return rows_layout({"one": "i64", "other": "i64"})


class Sources(Rows):
    """Unions of handles. Node 0 stands for the empty set."""

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.count = 1
        self.enough = self.frame.capacity.sources

    def add(self, one: int, other: int) -> int:
        """A handle for the inputs of two."""
        if one == 0 or one == other:
            return other
        if other == 0:
            return one
        if self.count == self.capacity:
            self.grow()
        self.one[self.count], self.other[self.count] = one, other
        self.count += 1
        return 2 * (self.count - 1)

    def compact(self, structures: Iterable[Structure], always: bool = False) -> None:
        """Drop the nodes that no column of handles leads to, if there are many; columns get the new handles."""
        if self.count < self.enough and not always:
            return
        columns = [column for structure in structures for column in structure.columns_with("source")]
        roots = np.unique(np.concatenate([np.unique(column) for column in columns] or [np.zeros(0, np.int64)]))
        nodes = self.arrays["rows"][: self.count, :2].tolist()
        shorter = [_without_boxes(nodes, root) for root in roots.tolist()]
        kept: dict[int, tuple[int, int]] = {}
        waiting = list(shorter)
        while waiting:
            at = waiting.pop()
            if at and not at & 1 and at not in kept:
                pair = kept[at] = tuple(_without_boxes(nodes, each) for each in nodes[at >> 1])  # type: ignore[assignment]
                waiting += pair
        new = {0: 0, **{old: 2 * number for number, old in enumerate(kept, start=1)}}
        rows = [(0, 0), *((new.get(one, one), new.get(other, other)) for one, other in kept.values())]
        size = max(16, 1 << (2 * len(rows)).bit_length())
        array = np.zeros((size, self._width), np.int64)
        array[: len(rows), :2] = rows
        self.put("rows", array)
        self.count, self.capacity = len(rows), size
        self.enough = max(self.frame.capacity.sources, 2 * len(rows))
        found = np.array([new.get(root, root) for root in shorter], np.int64)
        for column in columns:
            column[:] = found[np.searchsorted(roots, column)]

    def absorb(self, other: Sources) -> int:
        """Add the nodes of another unit; returns the offset of their handles."""
        offset = self.count - 1
        for one, two in other.arrays["rows"][1 : other.count, :2].tolist():
            if self.count == self.capacity:
                self.grow()
            self.one[self.count] = one + (2 * offset if one and not one & 1 else 0)
            self.other[self.count] = two + (2 * offset if two and not two & 1 else 0)
            self.count += 1
        return 2 * offset


def shift_sources(structure: Structure, by: int) -> None:
    """Change the handles of a structure to those of a unit that has absorbed their nodes."""
    for column in structure.columns_with("source"):
        column[(column & 1 == 0) & (column != 0)] += by


def _without_boxes(nodes: list[list[int]], handle: int) -> int:
    """The handle behind nodes with a single other handle; 0 if there is none."""
    seen = set()
    while handle and not handle & 1:
        one, other = nodes[handle >> 1]
        if one and other and one != other:
            return handle
        if handle in seen:
            return 0
        seen.add(handle)
        handle = one or other
    return handle


def inputs_of(sources: Sources, handle: int) -> frozenset[int]:
    """The positions of the inputs in a set."""
    found, seen, waiting = set(), set(), [handle]
    while waiting:
        at = waiting.pop()
        if at & 1:
            found.add(at >> 1)
        elif at not in seen:
            seen.add(at)
            if at:
                waiting += [sources.one[at >> 1], sources.other[at >> 1]]
    return frozenset(found)


def union(one: int, other: int) -> int:
    """A handle for the inputs of both."""
    if one == 0 or one == other:
        return other
    if other == 0:
        return one
    if origins.count == origins.capacity:
        grow(origins)
    origins.one[origins.count] = one
    origins.other[origins.count] = other
    origins.count += 1
    return 2 * (origins.count - 1)


def box(handle: int) -> int:
    """A node of its own for a set."""
    if origins.count == origins.capacity:
        grow(origins)
    origins.one[origins.count] = handle
    origins.other[origins.count] = 0
    origins.count += 1
    return 2 * (origins.count - 1)


def add_source(node: int, handle: int) -> None:
    """Add a handle to the set of a node."""
    origins.one[node >> 1] = union(origins.one[node >> 1], handle)
