"""Record the choices of contexts at each pairing of a rule, as the reference reports them: who took an event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from ensue.language import typed
from ensue.reasons.answer import Stop
from ensue.records import dataclass
from ensue.reference.contexts import Arrival
from ensue.reference.evaluate import World
from ensue.reference.matches import Match

Describe = Callable[[Match], str]
"""An instance in words: its events, with their times."""

_TAKES = {
    "recent": "`recent` takes the newest",
    "continuous": "`continuous` takes the newest",
    "chronicle": "`chronicle` takes the oldest",
    "cumulative": "`cumulative` takes all together",
}


@dataclass
class _Index:
    """Positions among arrivals: of each instance by its side, and of its consumption; and the pairs that were made."""

    came: dict[tuple[int, Any], int] = field(default_factory=dict)
    gone: dict[Any, int] = field(default_factory=dict)
    pairs: set[tuple[Any, Any]] = field(default_factory=set)


@dataclass
class Choices:
    """All that came to the pairings of a rule with contexts, by the id of the pairing."""

    arrivals: dict[int, list[Arrival]] = field(default_factory=dict)
    indexes: dict[int, _Index] = field(default_factory=dict)

    @classmethod
    def of(cls, rule: typed.Rule, world: World) -> Choices:
        """Evaluate a rule, and note the choices of its pairings."""
        found = cls()
        world.witness = lambda pair, arrival: found.arrivals.setdefault(pair.id, []).append(arrival)
        world.body(rule.body, head=[term for _, term in rule.head])
        world.witness = None
        return found

    def paired(self, pair: typed.Pair, left: Match, right: Match) -> bool:
        """True if two instances were paired."""
        return (left.identity, right.identity) in self._of(pair).pairs

    def _of(self, pair: typed.Pair) -> _Index:
        if pair.id not in self.indexes:
            self.indexes[pair.id] = _indexed(self.arrivals.get(pair.id, []))
        return self.indexes[pair.id]

    def composites(self, pair: typed.Pair) -> list[Arrival]:
        """The instances that took others."""
        return [arrival for arrival in self.arrivals.get(pair.id, ()) if arrival.taken]

    def stop(self, pair: typed.Pair, left: Match, right: Match, describe: Describe) -> Stop:
        """Reason why two instances that may be paired were not: one of them was taken by, or took, another."""
        terminator_side = 1 if pair.initiator == 0 or left.order <= right.order else 0
        sides = (left, right)
        first, last = sides[1 - terminator_side], sides[terminator_side]
        context = (pair.left_context, pair.right_context)[1 - terminator_side]
        assert context is not None
        arrivals = self.arrivals.get(pair.id, [])
        index = self._of(pair)
        place = index.came.get((terminator_side, last.identity))
        if place is not None:
            arrival = arrivals[place]
            if _among(first, arrival.offered):
                instead = " and ".join(map(describe, arrival.taken[:3]))
                return Stop("context", f"{describe(last)} took {instead} instead: {_TAKES[context.initiator]}", 0.6)
            at = index.gone.get(first.identity)
            before = None if at is None or at >= place else arrivals[at]
            if before is not None and _among(first, before.taken):
                text = f"{describe(first)} was taken by {describe(before.match)} ({context.initiator})"
                return Stop("context", text, 0.6)
            if before is not None:
                instead = " and ".join(map(describe, before.taken[:3]))
                text = f"{describe(first)} was discarded when {describe(before.match)} took {instead}"
                return Stop("context", f"{text} ({context.initiator})", 0.6)
        at = index.came.get((1 - terminator_side, first.identity))
        own = None if at is None else arrivals[at]
        if own is not None and own.taken:
            with_ = " and ".join(map(describe, own.taken[:3]))
            text = f"{describe(first)} completed a match with {with_} itself"
            return Stop("context", f"{text}, so that it does not wait for {describe(last)}", 0.6)
        return Stop(
            "context", f"{describe(first)} and {describe(last)} were not chosen for each other by their contexts", 0.6
        )


def _indexed(arrivals: list[Arrival]) -> _Index:
    """Index arrivals by the instances that came, and by those that were consumed then."""
    index = _Index()
    for place, arrival in enumerate(arrivals):
        index.came.setdefault((arrival.side, arrival.match.identity), place)
        for one in arrival.gone:
            index.gone.setdefault(one.identity, place)
        for one in arrival.taken:
            sides = (arrival.match, one) if arrival.side == 0 else (one, arrival.match)
            index.pairs.add((sides[0].identity, sides[1].identity))
    return index


def _among(match: Match, others: tuple[Match, ...]) -> bool:
    identity: Any = match.identity
    return any(other.identity == identity for other in others)
