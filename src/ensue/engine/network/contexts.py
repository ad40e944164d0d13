"""Two patterns with parameter contexts: instances arrive in order, find initiators, and use them up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ensue.engine.network.instances import Instance, correlation, order_of, together
from ensue.engine.network.node import New, Node
from ensue.engine.network.pairs import paired
from ensue.language import typed
from ensue.temporal.lifetimes import Lifetime

Eligible = Callable[[Instance, Instance], bool]
"""Whether an instance of the left side and one of the right side may be paired."""

Waiting = tuple[list[Instance], list[Instance]]
"""The initiators of each side that are not used up, oldest first."""


class SelectNode(Node):
    """Pairs by initiator and terminator contexts, within one correlation.

    Instances of one step arrive in their order; null correlates with nothing. What waits is kept until it is used up or
    no longer eligible for anything to come.
    """

    STATE = ("waiting",)

    def __init__(
        self, pair: typed.Pair, left: Node, right: Node, eligible: Eligible, lifetimes: tuple[Lifetime, Lifetime]
    ) -> None:
        self.pair = pair
        self.left, self.right = left, right
        self.eligible = eligible
        self.lifetimes = lifetimes
        self.waiting: dict[tuple[Any, ...], Waiting] = {}
        self.arrived = 0
        self.kept = 0

    def children(self) -> Iterator[Node]:
        yield self.left
        yield self.right

    def step(self, time: int, new: New) -> list[Instance]:
        lefts, rights = self.left.step(time, new), self.right.step(time, new)
        arrivals = [(0, m) for m in lefts] + [(1, m) for m in rights]
        if not arrivals:
            return []
        if len(arrivals) > 1:
            arrivals.sort(key=lambda arrival: (order_of(arrival[1]), arrival[0]))
        found: list[Instance] = []
        for side, arrived in arrivals:
            key = correlation(arrived.values, self.pair.shared)
            if key is not None:
                found.extend(self._arrive(side, arrived, self.waiting.setdefault(key, ([], []))))
        self.arrived += len(arrivals)
        if self.arrived > self.kept + 32:
            self._sweep(time)
        return found

    def _arrive(self, side: int, arrived: Instance, waiting: Waiting) -> Iterator[Instance]:
        pair, other = self.pair, 1 - side
        contexts = (pair.left_context, pair.right_context)
        own, others = contexts[side], contexts[other]
        assert own is not None
        assert others is not None
        taken: list[list[Instance]] = []
        if pair.initiator != side and waiting[other]:
            offered = [
                initiator
                for initiator in waiting[other]
                if (self.eligible(arrived, initiator) if side == 0 else self.eligible(initiator, arrived))
                and not _share_an_event(initiator, arrived)
            ]
            if offered:
                taken, waiting[other][:] = take(others.initiator, own.terminator, offered, waiting[other])
        for initiators in taken:
            sides = [initiators, [arrived]] if side == 1 else [[arrived], initiators]
            yield self._compose(*sides)
        if pair.initiator in (None, side):
            if not taken:
                _insert(waiting[side], arrived)
            elif own.terminator == "continuous":
                waiting[side][:] = [arrived]

    def _compose(self, left: list[Instance], right: list[Instance]) -> Instance:
        pair = self.pair
        sides = []
        for members, gathering in ((left, pair.left_gathering), (right, pair.right_gathering)):
            sides.append(members[0] if gathering is None else together(members, gathering, pair.shared))
        return paired(pair, *sides)

    def _sweep(self, time: int) -> None:
        swept: dict[tuple[Any, ...], Waiting] = {}
        for key, sides in self.waiting.items():
            live = tuple(
                [m for m in side if not life.over(m, time)] if life.bounded else side
                for side, life in zip(sides, self.lifetimes, strict=True)
            )
            if live[0] or live[1]:
                swept[key] = (live[0], live[1])
        self.waiting = swept
        self.kept = sum(len(one) + len(other) for one, other in swept.values())
        self.arrived = 0


def _insert(waiting: list[Instance], arrived: Instance) -> None:
    """Adds an instance at its place in the order: what ends now comes last, but not all that ends now comes at once."""
    place = len(waiting)
    while place and waiting[place - 1].end >= arrived.end and order_of(waiting[place - 1]) > order_of(arrived):
        place -= 1
    waiting.insert(place, arrived)


def _share_an_event(one: Instance, other: Instance) -> bool:
    """With a context, one event does not stand on both sides."""
    if len(one.parts) == 1 and len(other.parts) == 1:
        left, right = one.parts[0], other.parts[0]
        return left.event and right.event and bool(left.identity == right.identity)
    events = {part.identity for part in one.parts if part.event}
    return any(part.event and part.identity in events for part in other.parts)


def take(
    context: str, terminator: str, offered: list[Instance], waiting: list[Instance]
) -> tuple[list[list[Instance]], list[Instance]]:
    """What a terminator takes of the initiators offered, composite by composite, and what then still waits."""
    match context:
        case "recent":
            newest = offered[-1]
            return [[newest]], waiting[waiting.index(newest) + 1 :]
        case "continuous":
            newest = offered[-1]
            return [[newest]], waiting[waiting.index(newest) :]
        case "chronicle":
            used = offered if terminator == "continuous" else offered[:1]
            return [[one] for one in used], [one for one in waiting if one not in used]
        case _:
            return [offered], [one for one in waiting if one not in offered]
