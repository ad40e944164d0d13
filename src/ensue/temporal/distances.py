"""Difference constraints ``later - earlier <= limit`` over points in time, and what follows from them.

The closure of such constraints is the distance matrix of shortest paths; it has a solution unless a cycle is negative.
Shortest paths are computed from one point at a time, when asked for.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

Point = Hashable


@dataclass(frozen=True)
class Constraint:
    """``later - earlier <= limit``, with the reason for it."""

    earlier: Point
    later: Point
    limit: int
    reason: object = None


@dataclass
class Distances:
    """A set of constraints between points.

    >>> d = Distances()
    >>> d.require("a", "b", low=1)
    >>> d.require("b", "c", low=2, high=5)
    >>> d.shortest("a", "c"), d.longest("b", "c"), d.longest("a", "c")
    (3, 5, None)
    >>> d.require("c", "a", low=0, reason="c before a")
    >>> d.contradiction()
    ['c before a']
    """

    constraints: list[Constraint] = field(default_factory=list)
    _from: dict[Point, dict[Point, int]] = field(default_factory=dict, repr=False)
    _leaving: dict[Point, list[tuple[Point, int]]] = field(default_factory=dict, repr=False)

    def require(
        self, earlier: Point, later: Point, low: int | None = None, high: int | None = None, reason: object = None
    ) -> None:
        """Adds ``low <= later - earlier <= high``; None is no limit."""
        if high is not None:
            self.constraints.append(Constraint(earlier, later, high, reason))
        if low is not None:
            self.constraints.append(Constraint(later, earlier, -low, reason))
        self._from.clear()
        self._leaving.clear()

    def copy(self) -> Distances:
        return Distances(list(self.constraints))

    def matrix(self, points: Sequence[Point]) -> list[list[tuple[int | None, int | None]]]:
        """The closure: for each two points the smallest and the largest distance from the one to the other.

        >>> d = Distances()
        >>> d.require("a", "b", 2, 2)
        >>> d.matrix("ab")
        [[(0, 0), (2, 2)], [(-2, -2), (0, 0)]]
        """
        return [[(self.shortest(one, other), self.longest(one, other)) for other in points] for one in points]

    def longest(self, earlier: Point, later: Point) -> int | None:
        """The largest value that ``later - earlier`` can have, None if there is no limit."""
        return self._paths(earlier).get(later)

    def shortest(self, earlier: Point, later: Point) -> int | None:
        """The smallest value that ``later - earlier`` can have, None if there is no limit."""
        found = self.longest(later, earlier)
        return None if found is None else -found

    def _paths(self, start: Point) -> dict[Point, int]:
        if start not in self._from:
            self._from[start] = self._search(start)
        return self._from[start]

    def _search(self, start: Point) -> dict[Point, int]:
        """Shortest paths by relaxing what has changed; a negative cycle ends it, and then they mean nothing."""
        if not self._leaving:
            for c in self.constraints:
                self._leaving.setdefault(c.earlier, []).append((c.later, c.limit))
        reached: dict[Point, int] = {start: 0}
        waiting, queued = deque([start]), {start}
        turns: Counter[Point] = Counter()
        while waiting:
            point = waiting.popleft()
            queued.discard(point)
            turns[point] += 1
            if turns[point] > len(reached) + 1:
                break
            for later, limit in self._leaving.get(point, ()):
                through = reached[point] + limit
                if later not in reached or through < reached[later]:
                    reached[later] = through
                    if later not in queued:
                        queued.add(later)
                        waiting.append(later)
        return reached

    def contradiction(self) -> list[object] | None:
        """The reasons of constraints that cannot all hold, each once; None if all can."""
        points = {p for c in self.constraints for p in (c.earlier, c.later)}
        reached: dict[Point, int] = dict.fromkeys(points, 0)
        came: dict[Point, Constraint] = {}
        last: Point = None
        for _ in range(len(points) + 1):
            last = None
            for c in self.constraints:
                if reached[c.earlier] + c.limit < reached[c.later]:
                    reached[c.later] = reached[c.earlier] + c.limit
                    came[c.later] = c
                    last = c.later
            if last is None:
                return None
        for _ in points:  # back into the cycle
            last = came[last].earlier
        reasons: list[object] = []
        at = last
        while True:
            constraint = came[at]
            if constraint.reason is not None and constraint.reason not in reasons:
                reasons.append(constraint.reason)
            at = constraint.earlier
            if at == last:
                return list(reversed(reasons))
