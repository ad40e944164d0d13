"""A pattern as a conjunction: events that all occur, and limits on the distances between their points.

A pairing relates the intervals that cover its sides. Where it means the same, the relation becomes limits on the events
inside: `(a seq b) seq c` is `a` before `b` and `b` before `c`, as `b` is the last of `a seq b`. A side stays whole and
counts as an event where a relation concerns its start or end and no single event always determines that point; so does
a pairing with an absence or a gathering between its sides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations

from ensue.language import typed
from ensue.language.walk import has_alternatives
from ensue.records import dataclass
from ensue.temporal.constraints import Events
from ensue.temporal.distances import Distances
from ensue.temporal.instants import instantaneous

Tree = int | tuple["Tree", "Tree"]
"""Order in which events are joined: an event by its place, or two trees that are joined."""

Side = frozenset[int]
"""The places of the events on one side of a join."""

Point = tuple[int, bool]
"""The start or the end of an event, by its place."""


@dataclass(frozen=True)
class Limit:
    """``low <= later - earlier <= high``; None is no limit.

    `word` is that of the relation that it comes from, and `left` the place of an event on the left side of that.
    """

    earlier: Point
    later: Point
    low: int | None
    high: int | None
    word: str
    left: int
    named: typed.Related | None = None
    """The relation between names that the limit is part of, if any."""

    @property
    def places(self) -> frozenset[int]:
        return frozenset((self.earlier[0], self.later[0]))


@dataclass(frozen=True)
class Conjunction:
    """Events, limits on their points, the order in which they are joined as written, and the pairings' ids for that."""

    events: tuple[typed.Pattern, ...]
    instants: frozenset[int]
    """The places of events that have one time each."""
    limits: tuple[Limit, ...]
    written: Tree
    ids: tuple[int, ...]

    @cached_property
    def all_distances(self) -> Distances:
        """Distances between the points of all events."""
        return self.distances(range(len(self.events)))

    def distances(self, places: Collection[int]) -> Distances:
        """Distances between the points of some events, from the limits between these alone."""
        found, inside = Distances(), frozenset(places)
        for place in places:
            found.require((place, False), (place, True), 0, 0 if place in self.instants else None)
        for limit in self.limits:
            if limit.places <= inside:
                found.require(limit.earlier, limit.later, limit.low, limit.high)
        return found


def conjunction_of(body: typed.Body, events: Events) -> Conjunction | None:
    """The pattern of a body as a conjunction, with the relations between names; None if it is no pairing."""
    if not isinstance(body.pattern, typed.Pair):
        return None
    scopes = [*(absence.scope for absence in body.absences), *(gathering.scope for gathering in body.gatherings)]
    kept = {scope.pair for scope in scopes if isinstance(scope, typed.Between)}
    flat = _Flattened(events, kept).pattern(body.pattern)
    places = {label: place for place, event in enumerate(flat.events) if (label := label_of(event)) is not None}
    limits = [
        Limit(
            (sides[distance.earlier[0]], distance.earlier[1]),
            (sides[distance.later[0]], distance.later[1]),
            distance.low, distance.high, related.relation.word, sides[0], related,
        )
        for related in body.related
        if related.left in places and related.right in places and related.left != related.right
        and _crosses(related.relation)
        for sides in [(places[related.left], places[related.right])]
        for distance in related.relation.distances
    ]  # fmt: skip
    return replace(flat, limits=(*flat.limits, *limits))


def joins_several(pattern: typed.Pattern | None) -> bool:
    """True if there may be more than two events, so that they can be joined in several ways."""
    match pattern:
        case typed.Pair(left=typed.Atom(), right=typed.Atom()):
            return False
        case _:
            return isinstance(pattern, typed.Pair)


def label_of(pattern: typed.Pattern) -> str | None:
    """The name of a matched event."""
    match pattern:
        case typed.Atom(label=label) | typed.Moment(label=label) | typed.Periodic(label=label):
            return label
        case typed.Nested(label=label):
            return label
        case _:
            return None


def holds_for_each(end: bool, later: bool, lower: bool) -> bool:
    """True if a limit on the covering start or end of several events means the same limit on each of them.

    All start after a time if the first does, and all end before one if the last does.
    """
    return end == (later != lower)


def covers(point: Point, end: bool, places: Collection[int], distances: Distances) -> bool:
    """True if a point of one of several events is always the end (or the start) of all of them.

    >>> ab = Distances()
    >>> ab.require((0, True), (1, False), low=1)
    >>> for place in (0, 1): ab.require((place, False), (place, True), low=0)
    >>> covers((1, True), True, (0, 1), ab), covers((0, False), False, (0, 1), ab), covers((0, True), True, (0, 1), ab)
    (True, True, False)
    """
    for place in places:
        earlier, later = (point, (place, True)) if end else ((place, False), point)
        longest = distances.longest(earlier, later)
        if longest is None or longest > 0:
            return False
    return True


def places_of(tree: Tree) -> Side:
    return frozenset((tree,)) if isinstance(tree, int) else places_of(tree[0]) | places_of(tree[1])


def splits(places: Side, in_order: bool) -> list[tuple[Side, Side]]:
    """The ways to split events into two sides, those that keep their order first; with `in_order` only these.

    >>> [(sorted(left), sorted(right)) for left, right in splits(frozenset((0, 1, 2)), in_order=False)]
    [([0], [1, 2]), ([0, 1], [2]), ([0, 2], [1])]
    """
    first, *others = sorted(places)
    found = [
        (frozenset((first, *chosen)), places - {first, *chosen})
        for size in range(len(others))
        for chosen in combinations(others, size)
    ]
    kept = [(left, right) for left, right in found if max(left) < min(right)]
    return kept if in_order else kept + [split for split in found if split not in kept]


@dataclass(frozen=True)
class _Flattened:
    """Takes patterns apart; the pairings with the ids in `kept` stay whole."""

    events: Events
    kept: Collection[int]

    def pattern(self, pattern: typed.Pattern) -> Conjunction:
        match pattern:
            case typed.Pair(left=left, right=right) if pattern.id not in self.kept and _crosses(pattern.relation):
                return self.pair(pattern, (self.pattern(left), self.pattern(right)))
            case typed.Nested(body=body, label=None) if _plain(body):
                assert body.pattern is not None
                return self.pattern(body.pattern)
            case _:
                return self.whole(pattern)

    def whole(self, pattern: typed.Pattern) -> Conjunction:
        """A pattern that counts as an event."""
        instants = frozenset((0,)) if instantaneous(pattern, self.events) else frozenset[int]()
        return Conjunction((pattern,), instants, (), 0, ())

    def pair(self, pair: typed.Pair, sides: tuple[Conjunction, Conjunction]) -> Conjunction:
        for side, other in ((0, 1), (1, 0)):
            if any(_points(sides[side], *each) is None for each in _asked(pair.relation, side)):
                whole = self.whole((pair.left, pair.right)[side])
                return self.pair(pair, (whole, sides[other]) if side == 0 else (sides[other], whole))
        left, right = sides
        moved = len(left.events)
        own = [_placed(limit, 0) for limit in left.limits] + [_placed(limit, moved) for limit in right.limits]
        return Conjunction(
            (*left.events, *right.events),
            left.instants | {place + moved for place in right.instants},
            (*own, *_limits(pair.relation, sides)),
            (left.written, _moved(right.written, moved)),
            (pair.id, *left.ids, *right.ids),
        )


def _crosses(relation: typed.Relation) -> bool:
    """True if each limit of a relation is between its sides; `par` also limits one side alone (it is no instant)."""
    return all(distance.earlier[0] != distance.later[0] for distance in relation.distances)


def _plain(body: typed.Body) -> bool:
    """True if parentheses hold a pairing of events and nothing else."""
    plain = body == typed.Body(body.pattern, keep=body.keep)  # the largest lifetime applies to the whole body
    return isinstance(body.pattern, typed.Pair) and plain and not has_alternatives(body.pattern)


def _asked(relation: typed.Relation, side: int) -> Iterator[tuple[bool, bool, bool]]:
    """The limits of a relation on one of its sides, as flags: its end (or start), the later point, a lower bound."""
    for distance in relation.distances:
        for point, later in ((distance.earlier, False), (distance.later, True)):
            if point[0] == side:
                yield from ((point[1], later, True) for _ in range(distance.low is not None))
                yield from ((point[1], later, False) for _ in range(distance.high is not None))


def _points(side: Conjunction, end: bool, later: bool, lower: bool) -> list[Point] | None:
    """The points of a side's events that a limit on its own start or end applies to; None if they are unknown."""
    places = range(len(side.events))
    distances = side.all_distances
    for place in places:
        if covers((place, end), end, places, distances):
            return [(place, end)]
    return [(place, end) for place in places] if holds_for_each(end, later, lower) else None


def _limits(relation: typed.Relation, sides: tuple[Conjunction, Conjunction]) -> Iterator[Limit]:
    """The limits on events that a relation between two sides means."""
    moved = (0, len(sides[0].events))
    for distance in relation.distances:
        for lower, value in ((True, distance.low), (False, distance.high)):
            if value is None:
                continue
            earlier, later = (
                [(place + moved[side], end) for place, end in _points(sides[side], end, is_later, lower) or ()]
                for (side, end), is_later in ((distance.earlier, False), (distance.later, True))
            )
            low, high = (value, None) if lower else (None, value)
            for one in earlier:
                for other in later:
                    yield Limit(one, other, low, high, relation.word, (one, other)[distance.earlier[0]][0])


def _placed(limit: Limit, moved: int) -> Limit:
    (earlier, earlier_end), (later, later_end) = limit.earlier, limit.later
    points = (earlier + moved, earlier_end), (later + moved, later_end)
    return replace(limit, earlier=points[0], later=points[1], left=limit.left + moved)


def _moved(tree: Tree, moved: int) -> Tree:
    return tree + moved if isinstance(tree, int) else (_moved(tree[0], moved), _moved(tree[1], moved))
