"""Estimated cost of a join order: the tuples that joins make, and those that they keep.

The unit of time is the longest distance that the conditions bound; unbounded distances are a hundred units (`FOREVER`).
In that unit there are a hundred events of the rarest type (`EVENTS`); others are ten, a hundred, … times as many where
that has been observed. A variable that two events share selects one in ten pairs (`KEYS`).

- **made**: in a unit of time events of some types make as many tuples as there are events of one of them, times the
  partners that each of the others has. Partners lie in a span of time that the closure of the distances gives; of
  several such spans those count that are shortest and hold all events together.
- **kept**: a side of a join waits as long as the other can still end after it, and so many tuples of it are kept. One
  that always ends last is not stored, as the join streams it. That a side may be suppressed is not counted: with so
  many events, something waits.

The cost of an order is the sum of both over its joins, without the tuples of the last one: these are the same for all
orders.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

from ensue.language import typed
from ensue.language.walk import atoms, visible_variables
from ensue.records import dataclass
from ensue.rewriting.conjunctions import Conjunction, Side, Tree, places_of
from ensue.temporal.distances import Distances

EVENTS = 100.0
KEYS = 10.0
FOREVER = 100.0
SHORTEST = 0.001
"""The shortest span: events that must be at one time may still meet."""


@dataclass(frozen=True)
class JoinCosts:
    """Costs of joining the events of a conjunction; `distances` are those of the whole body, by the ids of events."""

    conjunction: Conjunction
    distances: Distances
    rates: Mapping[str, int]
    """Frequencies of types, as powers of ten."""

    @property
    def last_is_rarest(self) -> bool:
        """Tell whether none of the events is less frequent than the last one, as far as is known."""
        return self._rates[-1] == min(self._rates)

    def of(self, tree: Tree) -> float:
        """The cost of an order."""
        if isinstance(tree, int):
            return 0.0
        left, right = tree
        return self.of(left) + self.of(right) + self.join(places_of(left), places_of(right))

    def join(self, left: Side, right: Side) -> float:
        """The cost of one join: the tuples that it makes, unless it is the last, and those that it keeps."""
        sides = ((left, right), (right, left))
        kept = sum(self.made(one) * max(0.0, self.waits(one, other)) for one, other in sides)
        last = len(left) + len(right) == len(self.conjunction.events)
        return kept if last else kept + self.made(left | right)

    def made(self, places: Side) -> float:
        """Number of tuples of these events in a unit of time."""
        if places not in self._made:
            self._made[places] = self._estimate(sorted(places))
        return self._made[places]

    def _estimate(self, places: list[int]) -> float:
        found, joined = self._rates[places[0]], {places[0]}
        while len(joined) < len(places):
            left = [place for place in places if place not in joined]
            span, place = min((self._spans[one, other], other) for one in joined for other in left)
            found *= span * self._rates[place]
            joined.add(place)
        variables = [variable for place in places for variable in self._variables[place]]
        return found / KEYS ** (len(variables) - len(set(variables)))

    def waits(self, one: Collection[int], other: Collection[int]) -> float:
        """Longest time after the end of `one` until a partner in `other` can still end; below 0 if never."""
        return max(min(self._after[a, b] for a in one) for b in other)

    @cached_property
    def _made(self) -> dict[Side, float]:
        return {}

    @cached_property
    def _after(self) -> dict[tuple[int, int], float]:
        """For each two events, the longest time from the end of the first to the end of the second."""
        events = self.conjunction.events
        lengths = {
            (one, other): self.distances.longest((events[one].id, True), (events[other].id, True))
            for one in range(len(events))
            for other in range(len(events))
            if one != other
        }
        unit = max((length for length in lengths.values() if length is not None and length > 0), default=1)
        return {pair: FOREVER if length is None else length / unit for pair, length in lengths.items()}

    @cached_property
    def _spans(self) -> dict[tuple[int, int], float]:
        """For each two events, the length of the span in which the end of one must lie, given the other."""
        return {(a, b): max(SHORTEST, self._after[a, b] + self._after[b, a]) for a, b in self._after}

    @cached_property
    def _rates(self) -> list[float]:
        return [self._rate(event) for event in self.conjunction.events]

    def _rate(self, pattern: typed.Pattern) -> float:
        """Number of instances in a unit of time; a pattern that is no event has as many as its rarest event."""
        powers = [self.rates.get(atom.event, 0) for atom in atoms(typed.Body(pattern))]
        return EVENTS * 10.0 ** min(powers, default=0)

    @cached_property
    def _variables(self) -> list[set[str]]:
        return [visible_variables(event) for event in self.conjunction.events]
