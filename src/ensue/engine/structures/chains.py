"""Parts of matches in chains, where a match has as many as a cumulative side had members.

A part that stands for many is the first of them, and a chain of the others: a node, which knows the next one, or a
negative number for none. Chains are never changed. Nodes without a reference are collected between batches; until then
an unused row may still refer to its chain.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ensue.engine.structure import Element, Frame, Layout, Structure
from ensue.engine.structures.rows import Rows, StepRows, rows_layout
from ensue.engine.subset.builtin import grow
from ensue.engine.subset.source import source_of

NONE = -(2**62)
"""A missing part, as one of an alternative that was not taken; and the end of a chain."""


def chains_layout() -> Layout:
    parts: dict[str, Element] = {"end": "i64", "start": "i64", "place": "i64", "k": "i64"}
    return rows_layout({**parts, "next": "i64", "free_next": "i64"}, ("free", "head", "tail"))


class Chains(Rows):
    """The nodes of all chains of a rule.

    Free nodes are linked from ``free`` on; ``head`` and ``tail`` are the ends of a chain that is being made.
    """

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.free = -1
        self._enough = self.frame.capacity.chains

    def collect(self, structures: Iterable[Structure]) -> None:
        """Free the nodes that no column of chains refers to, if there are many."""
        if self.free >= 0 or self.count < self._enough:
            return
        rows = self.arrays["rows"]
        next_, free_next = (rows[:, self.layout.column(name).place] for name in ("next", "free_next"))
        used = np.zeros(self.count, bool)
        for structure in structures:
            for held in structure.columns_with("chain"):
                at = held[(held >= 0) & (held < self.count)]
                while len(at := np.unique(at[~used[at]])):
                    used[at] = True
                    at = next_[at]
                    at = at[at >= 0]
        free = np.flatnonzero(~used)
        next_[free] = NONE
        free_next[free[:-1]], free_next[free[-1:]] = free[1:], -1
        self.free = int(free[0]) if len(free) else -1
        self._enough = max(self.count, 2 * (self.count - len(free)))

    def size(self) -> tuple[int | None, int, int]:
        return None, 0, 8 * self.count * self._width


def flat_layout() -> Layout:
    return rows_layout({"end": "i64", "start": "i64", "place": "i64", "k": "i64"})


class Flat(StepRows):
    """All parts of a match, one after the other, while it is compared with another."""


def begin_chain(chains: Chains) -> None:
    """Begin a chain; it is ``chains.head`` when its parts have been added."""
    chains.head = -4611686018427387904
    chains.tail = -4611686018427387904


def add_part(chains: Chains, end: int, start: int, place: int, k: int) -> None:
    """Add a part to the current chain, unless it is missing."""
    if end == -4611686018427387904:
        return
    node = chains.free
    if node >= 0:
        chains.free = chains.free_next[node]
    else:
        if chains.count == chains.capacity:
            grow(chains)
        node = chains.count
        chains.count += 1
    chains.end[node] = end
    chains.start[node] = start
    chains.place[node] = place
    chains.k[node] = k
    chains.next[node] = -4611686018427387904
    if chains.tail >= 0:
        chains.next[chains.tail] = node
    else:
        chains.head = node
    chains.tail = node


def add_chain(chains: Chains, chain: int) -> None:
    """Add all parts of a chain to the current one."""
    while chain >= 0:
        add_part(chains, chains.end[chain], chains.start[chain], chains.place[chain], chains.k[chain])
        chain = chains.next[chain]


def chain_has(chains: Chains, chain: int, end: int, k: int) -> bool:
    """True if an event is among the parts of a chain."""
    while chain >= 0:
        if chains.end[chain] == end and chains.k[chain] == k:
            return True
        chain = chains.next[chain]
    return False


def chains_meet(chains: Chains, one: int, other: int) -> bool:
    """True if two chains have an event in common."""
    while one >= 0:
        if chain_has(chains, other, chains.end[one], chains.k[one]):
            return True
        one = chains.next[one]
    return False


def flat_part(flat: Flat, end: int, start: int, place: int, k: int) -> None:
    """Add a part, unless it is missing."""
    if end == -4611686018427387904:
        return
    if flat.count == flat.capacity:
        grow(flat)
    flat.end[flat.count] = end
    flat.start[flat.count] = start
    flat.place[flat.count] = place
    flat.k[flat.count] = k
    flat.count += 1


def flat_order(one: Flat, other: Flat, themselves: bool) -> int:
    """Compare two matches, part by part: -1, 0, 1. A prefix of the other comes before it.

    Where the parts of both are equal, the events `themselves` decide if set, else the result is 0.
    """
    for i in range(min(one.count, other.count)):
        if one.end[i] != other.end[i]:
            return -1 if one.end[i] < other.end[i] else 1
        if one.start[i] != other.start[i]:
            return -1 if one.start[i] < other.start[i] else 1
        if one.place[i] != other.place[i]:
            return -1 if one.place[i] < other.place[i] else 1
    if one.count != other.count:
        return -1 if one.count < other.count else 1
    for i in range(one.count):
        if themselves and one.k[i] != other.k[i]:
            return -1 if one.k[i] < other.k[i] else 1
    return 0


CHAIN_KERNELS = tuple(source_of(kernel) for kernel in (begin_chain, add_part, add_chain, chain_has, chains_meet))
FLAT_KERNELS = tuple(source_of(kernel) for kernel in (flat_part, flat_order))
