"""Two patterns that both occur, related in time and by the values they share: a join of what came on both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ensue.engine.network.instances import Instance, both, correlation
from ensue.engine.network.node import New, Node
from ensue.engine.network.stores import Store
from ensue.language import typed
from ensue.temporal.lifetimes import Lifetime

Related = Callable[[int, int, int, int], bool]
"""Whether two intervals stand in a relation: start and end of the one, start and end of the other."""


def relating(relation: typed.Relation) -> Related:
    """A relation as a function of the four points."""
    checks = []
    for distance in relation.distances:
        (earlier, earlier_end), (later, later_end) = distance.earlier, distance.later
        checks.append((2 * earlier + earlier_end, 2 * later + later_end, distance.low, distance.high))

    def related(start: int, end: int, other_start: int, other_end: int) -> bool:
        points = (start, end, other_start, other_end)
        for earlier, later, low, high in checks:
            gap = points[later] - points[earlier]
            if (low is not None and gap < low) or (high is not None and gap > high):
                return False
        return True

    return related


def paired(pair: typed.Pair, left: Instance, right: Instance) -> Instance:
    """Both sides as one instance, which remembers what lies between them."""
    found = both(left, right)
    found.spans = {**found.spans, pair.id: (left.end, right.start)}
    return found


class JoinNode(Node):
    """All pairs of instances that agree in their shared variables and stand in the relation.

    Each side is stored as long as it can find a partner; null agrees with nothing, and is not stored.
    """

    STATE = ("lefts", "rights")

    def __init__(self, pair: typed.Pair, left: Node, right: Node, lifetimes: tuple[Lifetime, Lifetime]) -> None:
        self.pair = pair
        self.left, self.right = left, right
        self.related = relating(pair.relation)
        self.lefts, self.rights = (Store(life.over if life.bounded else None) for life in lifetimes)

    def children(self) -> Iterator[Node]:
        yield self.left
        yield self.right

    def step(self, time: int, new: New) -> list[Instance]:
        lefts, rights = self.left.step(time, new), self.right.step(time, new)
        if not lefts and not rights:
            return []
        found: list[Instance] = []
        pair, related, shared = self.pair, self.related, self.pair.shared
        for one in lefts:
            key = correlation(one.values, shared)
            if key is not None:
                for other in self.rights.get(key):
                    if related(one.start, one.end, other.start, other.end):
                        found.append(paired(pair, one, other))
                self.lefts.add(key, one, time)
        for other in rights:
            key = correlation(other.values, shared)
            if key is not None:
                for one in self.lefts.get(key):
                    if related(one.start, one.end, other.start, other.end):
                        found.append(paired(pair, one, other))
                self.rights.add(key, other, time)
        return found
