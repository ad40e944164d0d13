"""`a(x), b(y), c(x, y)` becomes `a(x), (b(y), c(x, y))`: a join order that makes fewer tuples.

The events of a body, the limits on their starts and ends, and the interval of the match are the same in any join order
(`conjunctions`, `join_trees`). But the order of matches changes, and so does the choice between equal values of a
variable:

- so only bodies of rules are ordered, and none in parentheses: the order of a rule's matches is never visible;
- where events share a variable of which equal values may differ, as 1 and 1.0 do, they stay in their order.

Of all orders of up to six events that can be written so, the one is taken that costs least by estimate (`join_costs`),
and only if that is half of what the order as written costs or less: estimates are rough. Sequences whose
last event is no more frequent than the others, as far as is known, and those of more than six, are joined from the last
event (`sequences`), where that costs little beside what is found anyway. With contexts, a policy or a window the order
stays as it is written.
"""

from __future__ import annotations

from ensue.language import typed
from ensue.records import dataclass
from ensue.rewriting.conjunctions import Side, Tree, conjunction_of, joins_several, splits
from ensue.rewriting.join_costs import JoinCosts
from ensue.rewriting.join_trees import Joins
from ensue.rewriting.rates import UNKNOWN, Rates
from ensue.rewriting.sequences import from_the_last
from ensue.temporal.constraints import Events, constrain, selects

FEWEST_JOINED = 3
"""Fewest events that can be joined in several orders."""

MOST_JOINED = 6
"""Most events for which all orders are compared."""

WORTH = 2.0
"""Factor by which another order must be cheaper."""

LONGEST = 32
"""Up to how many events a sequence is joined from its last; the time to plan a join grows with them."""


@dataclass(frozen=True)
class Ordered:
    """A body with a new order of its joins, the estimated cost of that order, and that of the written one."""

    body: typed.Body
    cost: float
    written: float
    from_last: bool = False
    """True for a sequence that is joined from its last event, whatever the estimate."""

    @property
    def times(self) -> int | None:
        """Ratio of the tuples that the order as written would make and keep; None where that did not decide."""
        return None if self.from_last else round(self.written / self.cost)


def order_joins(body: typed.Body, events: Events, rates: Rates = UNKNOWN) -> typed.Body:
    found = ordered(body, events, rates)
    return body if found is None else found.body


def ordered(body: typed.Body, events: Events, rates: Rates = UNKNOWN) -> Ordered | None:
    """A rule's body with its joins in a cheaper order; None if the written order stays."""
    if not joins_several(body.pattern) or body.window is not None or selects(body):
        return None
    conjunction = conjunction_of(body, events)
    if conjunction is None or not FEWEST_JOINED <= len(conjunction.events) <= LONGEST:
        return None
    distances = constrain(body, events)
    if distances.contradiction() is not None:
        return None
    costs, joins = JoinCosts(conjunction, distances, dict(rates)), Joins(conjunction)
    tree = _cheapest(costs, joins) if len(conjunction.events) <= MOST_JOINED else conjunction.written
    if tree is None:
        return None
    cost, written = costs.of(tree), costs.of(conjunction.written)
    backward = from_the_last(body, joins) if len(conjunction.events) > MOST_JOINED or costs.last_is_rarest else None
    if backward is not None:
        found = costs.made(frozenset(range(len(conjunction.events))))
        if costs.of(backward) + found <= WORTH * (cost + found):
            if backward == conjunction.written:
                return None
            return Ordered(joins.body(backward, body), costs.of(backward), written, from_last=True)
    return Ordered(joins.body(tree, body), cost, written) if cost * WORTH <= written else None


def _cheapest(costs: JoinCosts, joins: Joins) -> Tree | None:
    """The cheapest order, built for ever larger sets of events from the cheapest orders of their subsets."""
    in_order = not joins.interchangeable
    best: dict[Side, tuple[float, Tree] | None] = {}

    def search(places: Side) -> tuple[float, Tree] | None:
        if len(places) == 1:
            return 0.0, min(places)
        if places not in best:
            found: tuple[float, Tree] | None = None
            for left, right in splits(places, in_order):
                one, other = search(left), search(right)
                if one is not None and other is not None:
                    cost = one[0] + other[0] + costs.join(left, right)
                    if (found is None or cost < found[0]) and joins.possible(one[1], other[1]):
                        found = cost, (one[1], other[1])
            best[places] = found
        return best[places]

    found = search(frozenset(range(len(joins.conjunction.events))))
    return None if found is None else found[1]
