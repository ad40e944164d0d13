"""Redundant bounds: conditions that follow from the other temporal conditions of a body need not be checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ensue.language import typed
from ensue.language.walk import pairs
from ensue.records import dataclass
from ensue.temporal.constraints import Events, constrain, labelled, parts, selects
from ensue.temporal.distances import Constraint, Distances


@dataclass(frozen=True)
class Implied:
    """A bound that follows from others: of a relation between names, of a pairing, or ``within``.

    `distances` are those of the relation with the limits that need not be checked; ``within`` has none.
    """

    of: typed.Related | typed.Pair | typed.Body
    distances: tuple[typed.Distance, ...] = ()

    @property
    def whole(self) -> bool:
        """True if all of its limits are implied, so that nothing is left to check."""
        return isinstance(self.of, typed.Body) or self.distances == self.of.relation.distances


def implied(body: typed.Body, events: Events) -> tuple[Implied, ...]:
    """The bounds of a body that need not be checked, except in parentheses; no two of them depend on each other.

    A pairing drops only the bounds that its own sides imply: those that the rest of the body implies keep it small.
    Where instances are chosen, relations and ``within`` take part in the choice, and stay. Where nothing can hold, as
    with intervals where given events have none, all bounds stay as well.
    """
    return (*_of_pairings(body, events), *(() if selects(body) else _of_body(body, events)))


def _of_pairings(body: typed.Body, events: Events) -> Iterator[Implied]:
    for pair in pairs(body.pattern):
        if (
            isinstance(pair.left, typed.Atom)
            and isinstance(pair.right, typed.Atom)
            and len(pair.relation.distances) < 2
        ):
            continue  # two events alone imply no bound
        distances = _without_own_ends(pair, constrain(typed.Body(pair), events))
        if distances.contradiction() is None:
            found, _ = _of_relation(pair, (pair.left.id, pair.right.id), distances)
            if found:
                yield Implied(pair, found)


def _without_own_ends(pair: typed.Pair, distances: Distances) -> Distances:
    """The constraints without those of the pairing's own ends that its relation itself implies."""
    own = {(pair.id, False), (pair.id, True)}
    return Distances([c for c in distances.constraints if c.reason is not pair or own.isdisjoint((c.earlier, c.later))])


def _of_body(body: typed.Body, events: Events) -> Iterator[Implied]:
    if not body.related and body.within is None:
        return
    distances = constrain(body, events, kept=False)  # checks in joins stay there
    if distances.contradiction() is not None:
        return  # anything would follow
    labels = dict(labelled(body.pattern)) if body.pattern is not None else {}
    labels |= {timer.label: timer.id for timer in body.timers if timer.label is not None}
    for related in body.related:
        if related.left in labels and related.right in labels:
            found, distances = _of_relation(related, (labels[related.left], labels[related.right]), distances)
            if found:
                yield Implied(related, found)
    if body.within is not None and body.window is None:
        rest = Distances([c for c in distances.constraints if c.reason != ("within", body)])
        longest = [rest.longest((one, False), (other, True)) for one in parts(body) for other in parts(body)]
        if longest and all(length is not None and length <= body.within for length in longest):
            yield Implied(body)


def _of_relation(
    of: typed.Related | typed.Pair, sides: tuple[int, int], distances: Distances
) -> tuple[tuple[typed.Distance, ...], Distances]:
    """The limits of a relation that follow from the other constraints, one by one, and the constraints without them."""
    found = []
    for distance in of.relation.distances:
        earlier = (sides[distance.earlier[0]], distance.earlier[1])
        later = (sides[distance.later[0]], distance.later[1])
        low, high = distance.low, distance.high
        if high is not None:
            rest = _without(distances, Constraint(earlier, later, high, of))
            distances, high = (distances, None) if rest is None else (rest, high)
        if low is not None:
            rest = _without(distances, Constraint(later, earlier, -low, of))
            distances, low = (distances, None) if rest is None else (rest, low)
        if low is not None or high is not None:
            found.append(replace(distance, low=low, high=high))
    return tuple(found), distances


def _without(distances: Distances, constraint: Constraint) -> Distances | None:
    """The other constraints, if this one follows from them; else None."""
    remaining = distances.without(constraint)
    longest = remaining.longest(constraint.earlier, constraint.later)
    return remaining if longest is not None and longest <= constraint.limit else None


def without_implied(body: typed.Body, events: Events) -> typed.Body:
    """A body that checks only conditions that do not follow from the rest of it."""
    found = implied(body, events)
    if not found:
        return body
    left_out = {id(each.of): each for each in found}
    related = []
    for each in body.related:
        relation = _left(each.relation, left_out.get(id(each)))
        if relation.distances or not each.relation.distances:
            related.append(replace(each, relation=relation))
    pattern = None if body.pattern is None else _checked(body.pattern, left_out)
    within = None if any(each.of is body for each in found) else body.within
    return replace(body, related=tuple(related), pattern=pattern, within=within)


def _left(relation: typed.Relation, implied: Implied | None) -> typed.Relation:
    """A relation without the limits that are implied."""
    if implied is None:
        return relation
    left_out = {(each.earlier, each.later): each for each in implied.distances}
    kept = []
    for distance in relation.distances:
        less = left_out.get((distance.earlier, distance.later))
        if less is not None:
            low = None if less.low is not None else distance.low
            distance = replace(distance, low=low, high=None if less.high is not None else distance.high)
        if distance.low is not None or distance.high is not None:
            kept.append(distance)
    return replace(relation, distances=tuple(kept))


def _checked(pattern: typed.Pattern, left_out: dict[int, Implied]) -> typed.Pattern:
    match pattern:
        case typed.Pair(left=left, right=right, relation=relation):
            own = _left(relation, left_out.get(id(pattern)))
            return replace(pattern, relation=own, left=_checked(left, left_out), right=_checked(right, left_out))
        case typed.Either(alternatives=alternatives):
            return replace(pattern, alternatives=tuple(_checked(each, left_out) for each in alternatives))
        case typed.Lacking(pattern=inner):
            return replace(pattern, pattern=_checked(inner, left_out))
        case _:
            return pattern
