"""The inputs that matches came from: handles of sets, which share what they have in common.

A handle is 0 for nothing, an odd number for one input (its position times two and one), or twice the number of a node,
which is the union of two handles. A derived event has a node of its own, so that what it came from can be added later.
"""

from __future__ import annotations

from ensue.engine.structures.rows import Rows, rows_layout
from ensue.engine.structures.structure import Frame, Layout


def sources_layout() -> Layout:
    return rows_layout({"one": "i64", "other": "i64"})


class Sources(Rows):
    """Unions of handles. Node 0 stands for nothing."""

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.count = 1


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
    """Adds to the set of a node."""
    origins.one[node >> 1] = union(origins.one[node >> 1], handle)
