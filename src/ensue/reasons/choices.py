"""Who took an event: how contexts chose at each pairing of a rule, told by the reference itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ensue.language import typed
from ensue.reasons.answer import Stop
from ensue.reference.contexts import Arrival
from ensue.reference.evaluate import World
from ensue.reference.matches import Match

Said = Callable[[Match], str]
"""An instance in words: its events, with their times."""

_TAKES = {
    "recent": "`recent` takes the newest",
    "continuous": "`continuous` takes the newest",
    "chronicle": "`chronicle` takes the oldest",
    "cumulative": "`cumulative` takes all together",
}


@dataclass
class Choices:
    """All that came to the pairings of a rule with contexts, by the id of the pairing."""

    arrivals: dict[int, list[Arrival]] = field(default_factory=dict)

    @classmethod
    def of(cls, rule: typed.Rule, world: World) -> Choices:
        """Evaluate a rule, and note what its pairings choose."""
        found = cls()
        world.witness = lambda pair, arrival: found.arrivals.setdefault(pair.id, []).append(arrival)
        world.body(rule.body, head=[term for _, term in rule.head])
        world.witness = None
        return found

    def paired(self, pair: typed.Pair, left: Match, right: Match) -> bool:
        """Tell whether two instances were paired."""
        for arrival in self.arrivals.get(pair.id, ()):
            own, other = (left, right) if arrival.side == 0 else (right, left)
            if arrival.match.identity == own.identity and _among(other, arrival.taken):
                return True
        return False

    def composites(self, pair: typed.Pair) -> list[Arrival]:
        """The instances that took others."""
        return [arrival for arrival in self.arrivals.get(pair.id, ()) if arrival.taken]

    def stop(self, pair: typed.Pair, left: Match, right: Match, said: Said) -> Stop:
        """Why two instances that may be paired were not: one of them was taken by, or took, another."""
        terminator_side = 1 if pair.initiator == 0 or left.order <= right.order else 0
        sides = (left, right)
        first, last = sides[1 - terminator_side], sides[terminator_side]
        context = (pair.left_context, pair.right_context)[1 - terminator_side]
        assert context is not None
        arrivals = self.arrivals.get(pair.id, [])
        place = next((n for n, a in enumerate(arrivals) if _came(a, terminator_side, last)), None)
        if place is not None:
            arrival = arrivals[place]
            if _among(first, arrival.offered):
                instead = " and ".join(map(said, arrival.taken[:3]))
                return Stop("context", f"{said(last)} took {instead} instead: {_TAKES[context.initiator]}", 0.6)
            for before in arrivals[:place]:
                if _among(first, before.taken):
                    text = f"{said(first)} was taken by {said(before.match)} ({context.initiator})"
                    return Stop("context", text, 0.6)
                if _among(first, before.gone):
                    instead = " and ".join(map(said, before.taken[:3]))
                    text = f"{said(first)} was discarded when {said(before.match)} took {instead}"
                    return Stop("context", f"{text} ({context.initiator})", 0.6)
        own = next((a for a in arrivals if _came(a, 1 - terminator_side, first)), None)
        if own is not None and own.taken:
            with_ = " and ".join(map(said, own.taken[:3]))
            text = f"{said(first)} completed a match with {with_} itself, so that it does not wait for {said(last)}"
            return Stop("context", text, 0.6)
        return Stop("context", f"{said(first)} and {said(last)} were not chosen for each other by their contexts", 0.6)


def _came(arrival: Arrival, side: int, match: Match) -> bool:
    return arrival.side == side and arrival.match.identity == match.identity


def _among(match: Match, others: tuple[Match, ...]) -> bool:
    identity: Any = match.identity
    return any(other.identity == identity for other in others)
