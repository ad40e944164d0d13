"""Orders of joins as patterns: which limits are checked in which join, and which as relations between names.

A limit is checked in the join that first brings its two events together, if the one is the first or the last of its
side, so that it is one on the interval of that side. Else it is a relation between names, which is checked on the
complete match. Where limits on other events imply that one side is before the other, their join checks that, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ensue.language import typed
from ensue.language.types import DECLARED
from ensue.language.walk import visible_variables
from ensue.rewriting.conjunctions import Conjunction, Limit, Tree, covers, holds_for_each, label_of, places_of
from ensue.temporal.distances import Distances


class Joins:
    """Writes orders of joins as patterns."""

    def __init__(self, conjunction: Conjunction) -> None:
        self.conjunction = conjunction
        self.names = [label_of(event) for event in conjunction.events]
        self.all = conjunction.distances(range(len(conjunction.events)))
        self.checked: dict[Tree, Distances] = {}

    @property
    def interchangeable(self) -> bool:
        """True if events may change places: each shared variable has one type, so that equal values are identical."""
        types: dict[str, list[str | None]] = {}
        for event in self.conjunction.events:
            if isinstance(event, typed.Atom):
                for name, type_ in {(t.name, t.type) for _, t in event.fields if isinstance(t, typed.Variable)}:
                    types.setdefault(name, []).append(type_)
            else:
                for name in visible_variables(event):
                    types.setdefault(name, []).append(None)
        return all(len(each) == 1 or (len(set(each)) == 1 and each[0] in DECLARED) for each in types.values())

    def possible(self, left: Tree, right: Tree) -> bool:
        """True if all limits between two sides can be written, in their join or as relations between names.

        A limit that a join checks as written must still be checked in a join, not on the complete match: that could
        make far more tuples than estimated. A limit that is written in a join alone must bound the events as closely as
        before, so that lifetimes stay.
        """
        for limit in self._between(left, right):
            if limit.named is None:
                found = self._distance(limit, left, right)
                if found is None:
                    return False
                if found.high is not None and not self._have_names(limit) and not self._as_tight(found, left, right):
                    return False
        return True

    # --- writing

    def body(self, tree: Tree, body: typed.Body) -> typed.Body:
        """The body with its events joined in an order."""
        ids = iter(self.conjunction.ids)
        moved: set[int] = set()
        more: list[typed.Related] = []

        def written(tree: Tree) -> typed.Pattern:
            if isinstance(tree, int):
                return self.conjunction.events[tree]
            id_, (left, right) = next(ids), tree
            one, other = written(left), written(right)
            names = visible_variables(other)
            shared = tuple(name for name in self._variables(left) if name in names)
            return typed.Pair(id_, self._relation(left, right, moved, more), one, other, shared)

        pattern = written(tree)
        kept = (each for each in body.related if id(each) not in moved)
        return replace(body, pattern=pattern, related=(*kept, *more))

    def _variables(self, tree: Tree) -> Iterator[str]:
        """The variables of a side, each once, in the order in which its events have them."""
        found: dict[str, None] = {}
        for place in sorted(places_of(tree)):
            event = self.conjunction.events[place]
            if isinstance(event, typed.Atom):
                found |= {term.name: None for _, term in event.fields if isinstance(term, typed.Variable)}
            else:
                found |= dict.fromkeys(sorted(visible_variables(event)))
        return iter(found)

    def _relation(self, left: Tree, right: Tree, moved: set[int], more: list[typed.Related]) -> typed.Relation:
        """The relation that the join of two sides checks.

        Relations between names that it checks completely go into `moved`, new ones into `more`.
        """
        found: list[typed.Distance] = []
        words: set[str] = set()
        groups: dict[int, list[Limit]] = {}
        for limit in self._between(left, right):
            groups.setdefault(id(limit if limit.named is None else limit.named), []).append(limit)
        for limits in groups.values():
            placed = [each for limit in limits if (each := self._distance(limit, left, right)) is not None]
            tight = all(self._as_tight(each, left, right) for each in placed)
            if len(placed) == len(limits):
                found += placed
                words |= {limit.word if limit.left in places_of(left) else "and" for limit in limits}
            else:
                tight = False
            if limits[0].named is None:
                more += [self._related(limit) for limit in limits if not tight and self._have_names(limit)]
            elif tight:
                moved.add(id(limits[0].named))
        order = self._order(left, right)
        if order is not None:
            found.append(order)
            words.add("after" if order.earlier[0] else "before")
        return typed.Relation(words.pop() if len(words) == 1 else "and", tuple(_merged(found)))

    def _between(self, left: Tree, right: Tree) -> list[Limit]:
        one, other = places_of(left), places_of(right)
        return [each for each in self.conjunction.limits if each.places & one and each.places & other]

    def _have_names(self, limit: Limit) -> bool:
        return all(self.names[place] is not None for place in limit.places)

    def _related(self, limit: Limit) -> typed.Related:
        """A limit as a relation between the names of its two events."""
        one, other = self.names[limit.earlier[0]], self.names[limit.later[0]]
        assert one is not None and other is not None
        distance = typed.Distance((0, limit.earlier[1]), (1, limit.later[1]), limit.low, limit.high)
        return typed.Related(one, typed.Relation(limit.word, (distance,)), other)

    def _distance(self, limit: Limit, left: Tree, right: Tree) -> typed.Distance | None:
        """A limit on two events as one on the sides that they are in; None if these do not start or end with them."""
        points = []
        for place, end in (limit.earlier, limit.later):
            tree = left if place in places_of(left) else right
            kinds = [kind for kind in (end, not end) if covers((place, end), kind, places_of(tree), self._known(tree))]
            if not kinds:
                return None
            points.append((int(tree is right), kinds[0]))
        return typed.Distance(points[0], points[1], limit.low, limit.high)

    def _as_tight(self, distance: typed.Distance, left: Tree, right: Tree) -> bool:
        """True if a limit on two sides bounds each of their events as closely."""
        given = [lower for lower, value in ((True, distance.low), (False, distance.high)) if value is not None]
        return all(
            isinstance((left, right)[side], int) or all(holds_for_each(end, later, lower) for lower in given)
            for (side, end), later in ((distance.earlier, False), (distance.later, True))
        )

    # --- orders that other events imply

    def _known(self, tree: Tree) -> Distances:
        """Distances between joined events: the limits between them, and the orders that their joins check besides."""
        if tree not in self.checked:
            found = self.conjunction.distances(places_of(tree))
            for left, right in _joins_in(tree):
                order = self._order(left, right)
                if order is not None:
                    sides = (left, right)[:: -1 if order.earlier[0] else 1]
                    for one in places_of(sides[0]):
                        for other in places_of(sides[1]):
                            found.require((one, True), (other, False), low=1)
            self.checked[tree] = found
        return self.checked[tree]

    def _order(self, left: Tree, right: Tree) -> typed.Distance | None:
        """The order of two sides, where limits on events outside them imply it; None if there is none.

        It is checked where they are joined, so that no more tuples are made than necessary.
        """
        both = self.conjunction.distances(places_of(left) | places_of(right))
        for side, (earlier, later) in enumerate(((left, right), (right, left))):
            if _before(earlier, later, self.all) and not _before(earlier, later, both):
                return typed.Distance((side, True), (1 - side, False), 1, None)
        return None


def _before(earlier: Tree, later: Tree, distances: Distances) -> bool:
    gaps = [distances.shortest((a, True), (b, False)) for a in places_of(earlier) for b in places_of(later)]
    return all(gap is not None and gap >= 1 for gap in gaps)


def _joins_in(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    if not isinstance(tree, int):
        yield tree
        yield from _joins_in(tree[0])
        yield from _joins_in(tree[1])


def _merged(distances: list[typed.Distance]) -> Iterator[typed.Distance]:
    """Distances between the same two points as one."""
    found: dict[object, typed.Distance] = {}
    for each in distances:
        points = (each.earlier, each.later)
        known = found.get(points, each)
        lows = [low for low in (known.low, each.low) if low is not None]
        highs = [high for high in (known.high, each.high) if high is not None]
        found[points] = replace(each, low=max(lows, default=None), high=min(highs, default=None))
    return iter(found.values())
