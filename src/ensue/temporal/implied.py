"""Bounds that say nothing new: what follows from the other temporal conditions of a body need not be checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ensue.language import typed
from ensue.language.walk import pairs
from ensue.temporal.constraints import Events, constrain, labelled, parts, selects
from ensue.temporal.distances import Constraint, Distances


@dataclass(frozen=True)
class Implied:
    """A bound that follows from others: of a relation between names, of a pairing, or ``within``.

    `distances` are those of the relation that need not be checked; none stand for all of ``within``.
    """

    of: typed.Related | typed.Pair | typed.Body
    distances: tuple[typed.Distance, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether nothing of it is left to be checked."""
        return isinstance(self.of, typed.Body) or self.distances == self.of.relation.distances


def implied(body: typed.Body, events: Events) -> tuple[Implied, ...]:
    """What need not be checked in a body, those in parentheses aside: no two of these rest on each other.

    Of a pairing only that which its own sides imply is left out: what the rest of the body implies keeps it small.
    Where instances are chosen, relations and ``within`` take part in the choice, and stay.
    """
    return (*_of_pairings(body, events), *(() if selects(body) else _of_body(body, events)))


def _of_pairings(body: typed.Body, events: Events) -> Iterator[Implied]:
    for pair in pairs(body.pattern):
        distances = constrain(typed.Body(pair), events)
        found = []
        for distance in pair.relation.distances:
            rest = _without(distances, pair, distance, (pair.left.id, pair.right.id))
            if rest is not None:
                distances = rest
                found.append(distance)
        if found:
            yield Implied(pair, tuple(found))


def _of_body(body: typed.Body, events: Events) -> Iterator[Implied]:
    distances = constrain(body, events)
    labels = _labels(body)
    for related in body.related:
        if related.left not in labels or related.right not in labels:
            continue
        found = []
        for distance in related.relation.distances:
            rest = _without(distances, related, distance, (labels[related.left], labels[related.right]))
            if rest is not None:
                distances = rest
                found.append(distance)
        if found:
            yield Implied(related, tuple(found))
    if body.within is not None and body.window is None:
        rest = Distances([c for c in distances.constraints if c.reason != ("within", body)])
        longest = [rest.longest((one, False), (other, True)) for one in parts(body) for other in parts(body)]
        if longest and all(length is not None and length <= body.within for length in longest):
            yield Implied(body)


def _labels(body: typed.Body) -> dict[str, int]:
    found = dict(labelled(body.pattern)) if body.pattern is not None else {}
    return found | {timer.label: timer.id for timer in body.timers if timer.label is not None}


def _without(
    distances: Distances, reason: object, distance: typed.Distance, sides: tuple[int, int]
) -> Distances | None:
    """The constraints without those of one distance, if they follow from the others; else None."""
    earlier = (sides[distance.earlier[0]], distance.earlier[1])
    later = (sides[distance.later[0]], distance.later[1])
    own = []
    if distance.high is not None:
        own.append(Constraint(earlier, later, distance.high, reason))
    if distance.low is not None:
        own.append(Constraint(later, earlier, -distance.low, reason))
    rest = list(distances.constraints)
    for constraint in own:
        at = next((i for i, each in enumerate(rest) if each == constraint and each.reason is reason), None)
        if at is None:
            return None
        del rest[at]
    remaining = Distances(rest)
    low, high = remaining.shortest(earlier, later), remaining.longest(earlier, later)
    follows = (distance.low is None or (low is not None and low >= distance.low)) and (
        distance.high is None or (high is not None and high <= distance.high)
    )
    return remaining if follows else None


def without_implied(body: typed.Body, events: Events) -> typed.Body:
    """A body that checks only what does not follow from the rest of it."""
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
    if implied is None:
        return relation
    return replace(relation, distances=tuple(d for d in relation.distances if d not in implied.distances))


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
