"""`a(x), b(y), c(x, y)` becomes `a(x), (b(y), c(x, y))`: of several orders of joins one is run that makes less.

The events of a body, and what its relations say of their starts and ends, are the same in any order of joins
(`conjunctions`, `join_trees`), and so is what it covers. But the order of what is matched changes, and which of several
equal values a variable has:

- so only bodies of rules are ordered, and none in parentheses: nobody sees the order of what a rule matches;
- where events share a variable of which equal values may differ, as 1 and 1.0 do, they stay in their order.

Of all orders of up to six events that can be written so, the one is taken that costs least by estimate (`join_costs`),
and only if that is half of what the order as written costs or less: estimates are rough. With contexts, a policy or a
window the order stays as it is written.
"""

from __future__ import annotations

from dataclasses import dataclass

from ensue.language import typed
from ensue.rewriting.conjunctions import Side, Tree, conjunction_of, joins_several, splits
from ensue.rewriting.join_costs import JoinCosts
from ensue.rewriting.join_trees import Joins
from ensue.rewriting.rates import UNKNOWN, Rates
from ensue.temporal.constraints import Events, constrain, selects

FEWEST_JOINED = 3
"""Two events are joined in one way."""

MOST_JOINED = 6
"""Up to how many events all orders are looked at."""

WORTH = 2.0
"""How many times cheaper another order must be."""


@dataclass(frozen=True)
class Ordered:
    """A body whose joins have another order, with what that costs by estimate, and what it cost as written."""

    body: typed.Body
    cost: float
    written: float

    @property
    def times(self) -> int:
        """How many times as many tuples the order as written would make and keep."""
        return round(self.written / self.cost)


def order_joins(body: typed.Body, events: Events, rates: Rates = UNKNOWN) -> typed.Body:
    found = ordered(body, events, rates)
    return body if found is None else found.body


def ordered(body: typed.Body, events: Events, rates: Rates = UNKNOWN) -> Ordered | None:
    """A rule's body with its joins in a cheaper order, None if it stays as it is written."""
    if not joins_several(body.pattern) or body.window is not None or selects(body):
        return None
    conjunction = conjunction_of(body, events)
    if conjunction is None or not FEWEST_JOINED <= len(conjunction.events) <= MOST_JOINED:
        return None
    distances = constrain(body, events)
    if distances.contradiction() is not None:
        return None
    costs, joins = JoinCosts(conjunction, distances, dict(rates)), Joins(conjunction)
    tree = _cheapest(costs, joins)
    if tree is None:
        return None
    cost, written = costs.of(tree), costs.of(conjunction.written)
    return Ordered(joins.body(tree, body), cost, written) if cost * WORTH <= written else None


def _cheapest(costs: JoinCosts, joins: Joins) -> Tree | None:
    """The cheapest order: for ever larger sets of events, from the cheapest orders of their parts."""
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
