"""Two patterns that both occur, related in time and by the values they share: a join of what came on both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ensue.engine.network.atoms import AtomNode
from ensue.engine.network.instances import Instance, both, correlation, order_of
from ensue.engine.network.node import New, Node
from ensue.engine.network.stores import Store
from ensue.language import typed
from ensue.temporal.joins import Side

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


@dataclass(frozen=True)
class Ending:
    """What is forbidden between the sides of a join, and ends what waits on the left: a node, and its key."""

    node: Node
    shared: tuple[str, ...]


class JoinNode(Node):
    """All pairs of instances that agree in their shared variables and stand in the relation.

    A side is stored as long as it can find a partner, and not at all if all its partners came before; null agrees with
    nothing, and is not stored. A side that is suppressed is not evaluated while nothing waits on the other side, and
    else only for the keys that wait there. What is forbidden between the sides ends the left ones before it, when its
    step is over. What lacks a partner in another join goes, too (see `partners`). With `latest`, as a policy has it, of
    the left ones of a key only that with the latest start counts; `preferring` gives pairs whose sides start later first.
    """

    STATE = ("lefts", "rights", "ended")

    def __init__(
        self, pair: typed.Pair, left: Node, right: Node, sides: tuple[Side, Side], endings: Sequence[Ending] = (),
        latest: bool = False, preferring: bool = False,
    ) -> None:  # fmt: skip
        self.pair = pair
        self.left, self.right = left, right
        self.related = relating(pair.relation)
        self.sides = sides
        self.endings = endings
        self.latest = latest
        self.preferring = preferring
        self.lefts, self.rights = (Store(side.lifetime) for side in sides)
        self.ended: dict[tuple[Any, ...], int] = {}
        self.nodes = ([node for node in left.walk() if node.STATE], [node for node in right.walk() if node.STATE])
        self.swept: int | None = None
        for side, other in enumerate((right, left)):
            if sides[1 - side].suppressed and not self.nodes[side]:
                self._narrow(other, side)

    def _narrow(self, suppressed: Node, side: int) -> None:
        """Has events left out of a suppressed side for whose key nothing waits: they are too early for what comes."""
        store, shared = (self.lefts, self.rights)[side], self.pair.shared

        def wanted(instance: Instance) -> bool:
            return correlation(instance.values, shared) in store.by_value

        for node in suppressed.walk():
            if isinstance(node, AtomNode) and set(shared) <= set(node.variables):
                node.wanted.append(wanted)

    @property
    def stores(self) -> tuple[Store, Store]:
        return self.lefts, self.rights

    def keeps(self) -> bool:
        return bool(self.lefts) or bool(self.rights)

    def children(self) -> Iterator[Node]:
        yield self.left
        yield self.right
        for ending in self.endings:
            yield ending.node

    def step(self, time: int, new: New) -> list[Instance]:
        if self.ended:
            self._end(time)
        lefts, rights = self._evaluated(time, new)
        found = self._paired(time, lefts, rights) if lefts or rights else []
        for ending in self.endings:
            for instance in ending.node.step(time, new):
                key = correlation(instance.values, ending.shared)
                if key is not None and key in self.lefts.by_value:
                    self.ended[key] = time
        return found

    def _evaluated(self, time: int, new: New) -> tuple[list[Instance], list[Instance]]:
        """What is new on both sides; a side that is suppressed is looked at after the other."""
        left, right = self.sides
        if right.suppressed:
            lefts = self.left.step(time, new)
            return lefts, self.right.step(time, new) if lefts or self._waits(0, time) else []
        if left.suppressed:
            rights = self.right.step(time, new)
            return self.left.step(time, new) if rights or self._waits(1, time) else [], rights
        return self.left.step(time, new), self.right.step(time, new)

    def _waits(self, side: int, time: int) -> bool:
        """Whether something on a side, or a part of it, is there that what comes now may be matched with."""
        store = (self.lefts, self.rights)[side]
        if store and store.lifetime.bounded and (self.swept is None or time > self.swept):
            store.sweep(time)
            self.swept = time + (store.lifetime.end or store.lifetime.start or 0) // 2
        return bool(store) or any(node.keeps() for node in self.nodes[side])

    def _paired(self, time: int, lefts: list[Instance], rights: list[Instance]) -> list[Instance]:
        found: list[tuple[Instance, Instance]] = []
        related, shared = self.related, self.pair.shared
        left, right = self.sides
        for one in lefts:
            key = correlation(one.values, shared)
            if key is not None:
                for other in self.rights.get(key):
                    if related(one.start, one.end, other.start, other.end):
                        found.append((one, other))
                if left.stored:
                    self.lefts.add(key, one, time)
                    if self.latest:
                        self._keep_latest(key, time)
        for other in rights:
            key = correlation(other.values, shared)
            if key is not None:
                for one in self.lefts.get(key):
                    if related(one.start, one.end, other.start, other.end):
                        found.append((one, other))
                if right.stored:
                    self.rights.add(key, other, time)
        if self.preferring:
            found.sort(key=lambda sides: [(-side.start, order_of(side)) for side in sides])
        return [paired(self.pair, one, other) for one, other in found]

    def _keep_latest(self, key: tuple[Any, ...], time: int) -> None:
        """Of the left ones that ended before now one is enough: what ends now is too late for what comes now."""
        before = [one for one in self.lefts.get(key) if one.end < time]
        if len(before) > 1:
            kept = min(before, key=lambda one: (-one.start, order_of(one)))
            self.lefts.by_value[key] = [kept, *(one for one in self.lefts.get(key) if one.end == time)]

    def _end(self, time: int) -> None:
        """Forgets what was ended in a step that is over."""
        for key, ended in list(self.ended.items()):
            if ended < time:
                self.lefts.end(key, ended)
                del self.ended[key]
