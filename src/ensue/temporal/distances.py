"""Difference constraints ``later - earlier <= limit`` over points in time, and their closure.

The closure of such constraints is the distance matrix of shortest paths; it has a solution unless a cycle is negative.
Shortest paths are computed on request, from one point at a time, by Johnson's algorithm: one solution makes all steps
positive.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from heapq import heappop, heappush
from itertools import count

from ensue.records import dataclass

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
    _solution: dict[Point, int] | list[object] | None = field(default=None, repr=False)
    """For each point a height that no constraint leads below, or the reasons why there is none; None until computed."""

    def require(
        self, earlier: Point, later: Point, low: int | None = None, high: int | None = None, reason: object = None
    ) -> None:
        """Add ``low <= later - earlier <= high``; None is no limit."""
        if high is not None:
            self.constraints.append(Constraint(earlier, later, high, reason))
        if low is not None:
            self.constraints.append(Constraint(later, earlier, -low, reason))
        self._from.clear()
        self._leaving.clear()
        self._solution = None

    def copy(self) -> Distances:
        return Distances(list(self.constraints))

    def without(self, constraint: Constraint) -> Distances:
        """The other constraints. Heights that no constraint leads below are heights for fewer of them, too."""
        rest = list(self.constraints)
        rest.remove(constraint)
        return Distances(rest, _solution=self._solution if isinstance(self._solution, dict) else None)

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
        """Shortest paths from one point. They are meaningless where constraints contradict each other."""
        self._by_earlier()
        solution = self._solved()
        return self._relaxed(start) if isinstance(solution, list) else self._nearest_first(start, solution)

    def _by_earlier(self) -> Mapping[Point, Sequence[tuple[Point, int]]]:
        """The constraints of each earlier point."""
        if not self._leaving:
            for c in self.constraints:
                self._leaving.setdefault(c.earlier, []).append((c.later, c.limit))
        return self._leaving

    def _nearest_first(self, start: Point, heights: Mapping[Point, int]) -> dict[Point, int]:
        """Shortest paths with each point visited once: relative to the heights no step is negative."""
        reached: dict[Point, int] = {}
        own = heights.get(start, 0)
        turn = count()  # points have no order
        waiting = [(0, next(turn), start)]
        near = {start: 0}
        while waiting:
            distance, _, point = heappop(waiting)
            if point in reached:
                continue
            reached[point] = distance - own + heights.get(point, 0)
            for later, limit in self._leaving.get(point, ()):
                if later not in reached:
                    through = distance + limit + heights[point] - heights[later]
                    if later not in near or through < near[later]:
                        near[later] = through
                        heappush(waiting, (through, next(turn), later))
        return reached

    def _relaxed(self, start: Point) -> dict[Point, int]:
        """Shortest paths by relaxing changed points; a negative cycle ends the loop."""
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
        solution = self._solved()
        return solution if isinstance(solution, list) else None

    def _solved(self) -> dict[Point, int] | list[object]:
        if self._solution is None:
            self._solution = self._solve()
        return self._solution

    def _solve(self) -> dict[Point, int] | list[object]:
        """The heights of all points; if there are none, the reasons of constraints that cannot all hold."""
        heights = self._heights()
        return self._reasons() if heights is None else heights

    def _heights(self) -> dict[Point, int] | None:
        """The heights of all points by following those that changed; None if that does not end."""
        leaving = self._by_earlier()
        points = list(dict.fromkeys(p for c in self.constraints for p in (c.earlier, c.later)))
        reached: dict[Point, int] = dict.fromkeys(points, 0)
        waiting, queued = deque(points), set(points)
        turns: Counter[Point] = Counter()
        while waiting:
            point = waiting.popleft()
            queued.discard(point)
            turns[point] += 1
            if turns[point] > len(points):
                return None
            height = reached[point]
            for later, limit in leaving.get(point, ()):
                if height + limit < reached[later]:
                    reached[later] = height + limit
                    if later not in queued:
                        queued.add(later)
                        waiting.append(later)
        return reached

    def _relax_all(self) -> tuple[Point, dict[Point, int], dict[Point, Constraint]]:
        """Heights by relaxing all constraints until nothing changes, and the constraint that changed each point last.

        The first value is the last point that changed, None if nothing changes any more.
        """
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
                break
        return last, reached, came

    def _reasons(self) -> list[object]:
        """The reasons along a cycle of constraints that cannot all hold; forward turns find a short one."""
        last, reached, came = self._relax_all()
        for _ in reached:  # back into the cycle
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
