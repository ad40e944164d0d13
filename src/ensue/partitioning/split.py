"""A rule as several rules, each with a key of its own: a match by one key is an event for the next.

    d(u, x) <- a(u, v) seq b(v, w) seq c(w, x) within 9.

    d/b+c(v, w, x) <- b(v, w) seq c(w, x) within 9.
    d(u, x)        <- a(u, v) seq d/b+c(v, w, x) within 9.

Both derive the same. A match of the rule is a match of each group of its events whose values are equal and whose times
are in relation. The event of a group covers the group's match, and has the values, attributes and times that the rest
uses. Groups that are equal in all these are one event; the rest could not distinguish them, and would derive one event
from them, too. A condition is checked in the smallest group that has all its names. A limit between two times becomes
one between intervals where these always begin or end with the times, and else a comparison of times that are attributes
of the group's event. Negated and gathered patterns, timers and ``from`` stay in the last rule, with the events that
they name; or an event is a group with its timers, and the absences during them, if these depend on nothing else.

Where no limit bounds the distance of two members of a rule, the bound that follows from the whole rule is added, so
that lifetimes stay bounded. Differences of times are assumed to be exact: on Spark times are up to 2^61 in size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from ensue.language import typed
from ensue.language.nodes import nodes, rebuilt
from ensue.language.types import Type
from ensue.language.walk import conjuncts, has_aggregate, names_used, visible_labels, visible_variables
from ensue.partitioning.chain import Chain
from ensue.partitioning.grouping import Group, places_in
from ensue.records import dataclass
from ensue.rewriting.conjunctions import Limit, covers, label_of
from ensue.temporal.constraints import Events, constrain, length_of
from ensue.temporal.distances import Distances

Point = tuple[int, bool]
"""The start or the end of a unit, by its place, or of a pattern, by its id."""

Item = tuple[str, ...] | Point
"""Attribute of a group's event: a variable, an attribute of a named event, or a time of a unit."""

AND = typed.Relation("and", ())
NAMED = typed.Atom | typed.Moment | typed.Periodic | typed.Nested
"""Patterns that can have a name."""


@dataclass(frozen=True)
class GroupEvent:
    """An event that stands for a group of a rule's events, and the rule that derives it."""

    event: typed.EventType
    rule: typed.Rule
    key: str
    """The variable that the group is joined by."""


@dataclass(frozen=True)
class Split:
    """A rule that uses the events of its parts; each part comes after those that it uses."""

    rule: typed.Rule
    parts: tuple[GroupEvent, ...]


class UnnamedError(Exception):
    """Raised where a limit is about a pattern that can have no name."""


def split(chain: Chain, group: Group, events: Events) -> Split:
    """The rules that join the events of a chain group by group.

    Raises `UnnamedError` where times of a pattern that can have no name would have to be compared.
    """
    return _Splitting(chain, group, events).result()


class _Splitting:
    """A rule while it is split: the data that all its groups share."""

    def __init__(self, chain: Chain, group: Group, events: Events) -> None:
        self.rule, self.units, self.top = chain.rule, chain.conjunction.events, group
        self.conjunction = chain.conjunction
        self.beside = {place: chain.beside[place] for place in _alone(group)}
        """The parts of the rule that belong to events which are groups of their own, by their places."""
        self.events = dict(events)
        self.closure = constrain(chain.rule.body, events)
        self.limits = [*chain.conjunction.limits, *self._kept()]
        self.parts: list[GroupEvent] = []
        found = list(nodes(chain.rule))
        self.taken = {node.name for node in found if isinstance(node, typed.Variable)}
        self.taken |= {label for node in found if isinstance(label := getattr(node, "label", None), str)}
        self.last_id = max(id_ for node in found if isinstance(id_ := getattr(node, "id", None), int))
        self.labels = {place: label_of(unit) for place, unit in enumerate(self.units)}
        self.conditions: dict[Group, list[typed.Expression]] = {}
        self.related: dict[Group, list[typed.Related]] = {}
        self._distribute()

    def result(self) -> Split:
        level = _Level(self, self.top)
        rule, body = self.rule, self.rule.body
        gone = {id(each) for beside in self.beside.values() for each in (*beside.timers, *beside.absences)}
        timers = tuple(timer for timer in body.timers if id(timer) not in gone)
        apart = (tuple(a for a in body.absences if id(a) not in gone), body.gatherings, rule.head)
        absences, gatherings, head = (rebuilt(each, level.substituted) for each in apart)
        level.compare_timers()
        found = level.body(replace(body, on=(), timers=timers, absences=absences, gatherings=gatherings), head)
        level.derive_parts()
        return Split(replace(rule, head=head, body=found), tuple(self.parts))

    def _kept(self) -> Iterator[Limit]:
        """The longest lifetime as limits: of two ends the one is at most so much later than the other."""
        keep, places = self.rule.body.keep, range(len(self.units))
        if keep is not None:
            for one in places:
                yield from (
                    Limit((one, True), (other, True), None, keep, "and", one) for other in places if other != one
                )

    def _distribute(self) -> None:
        """Give each condition, and each relation between names, to the smallest group that has all its names."""
        body = self.rule.body
        limited = {id(limit.named) for limit in self.limits if limit.named is not None}
        conditions = [part for each in (*body.on, *body.where) for part in conjuncts(each)]
        for related in body.related:
            home = self.home({related.left, related.right})
            if not any({related.left, related.right} & self.names_in(inner) for inner in home.inner):
                self.related.setdefault(home, []).append(related)
            elif id(related) not in limited:
                conditions += _comparisons_of(related)
        for condition in conditions:
            home = self.top if has_aggregate(condition) else self.home(set(names_used(condition)))
            self.conditions.setdefault(home, []).append(condition)

    def home(self, names: set[str]) -> Group:
        """The smallest group that has some names."""
        group = self.top
        while names and (inner := next((each for each in group.inner if names <= self.names_in(each)), None)):
            group = inner
        return group

    def names_in(self, group: Group) -> set[str]:
        units = [self.units[place] for place in group.places]
        timers = {timer.label for timer in self.timers_in(group) if timer.label is not None}
        return timers.union(*map(visible_variables, units), *map(visible_labels, units))

    def timers_in(self, group: Group) -> list[typed.Timer]:
        """The timers that a group's event covers."""
        return [timer for place in sorted(group.places & set(self.beside)) for timer in self.beside[place].timers]

    def ids_of(self, member: int | Group) -> list[int]:
        """The ids of the patterns and timers that a member covers."""
        found = [self.units[place].id for place in sorted(places_in(member))]
        return found if isinstance(member, int) else found + [timer.id for timer in self.timers_in(member)]

    def covering(self, group: Group, point: Point) -> Iterator[bool]:
        """Yield True if a point of a unit is always the end of all that a group's event covers, False if the start."""
        distances, places = self.conjunction.distances(group.places), list(group.places)
        bases = {label: place for place, label in self.labels.items() if label is not None}
        for timer in self.timers_in(group):
            place = -timer.id
            places.append(place)
            for end, (point_of, shift) in zip((False, True), timer.points, strict=True):
                distances.require((bases[timer.of], point_of), (place, end), shift, shift)
            if timer.label is not None:
                bases[timer.label] = place
        return (kind for kind in (point[1], not point[1]) if covers(point, kind, places, distances))

    def variables_of(self, group: Group) -> dict[str, Type]:
        """The variables of a group, and their types, in the order of its events."""
        return {
            term.name: term.type
            for place in sorted(group.places)
            for term in _terms(self.units[place])
            if isinstance(term, typed.Variable)
        }

    def label(self, place: int) -> str:
        """The name of a unit, which gets one if it has none."""
        found = self.labels[place]
        if found is None:
            unit = self.units[place]
            if not isinstance(unit, NAMED):
                raise UnnamedError
            found = self.labels[place] = self.fresh(unit.event if isinstance(unit, typed.Atom) else "part")
        return found

    def fresh(self, name: str) -> str:
        """A name that nothing in the rule has."""
        found = unique(name, self.taken)
        self.taken.add(found)
        return found

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id


class _Level:
    """The body of one group in the making: events of its own, and one for each group inside it."""

    def __init__(self, whole: _Splitting, group: Group) -> None:
        self.whole, self.group = whole, group
        self.direct = frozenset(member for member in group.members if isinstance(member, int))
        name = whole.rule.label if whole.rule.label is not None else whole.rule.event
        self.handed: dict[Group, dict[Item, tuple[str, typed.Expression]]] = {}
        self.atoms: dict[Group, typed.Atom] = {}
        self.pairs: dict[Group, int] = {}
        for inner in group.inner:
            types = [unit.event for p in sorted(inner.places) if isinstance(unit := whole.units[p], typed.Atom)]
            event = unique(f"{name}/{'+'.join(types)}", whole.events)
            whole.events[event] = typed.EventType(event, {}, False, True)
            self.atoms[inner] = typed.Atom(whole.next_id(), event, (), whole.fresh(event), whole.rule.span)
            self.pairs[inner] = whole.next_id()
            self.handed[inner] = {}
        self.conditions = [rebuilt(each, self.substituted) for each in whole.conditions.get(group, ())]
        self.distances: dict[tuple[str, str], list[typed.Distance]] = {}

    # --- attributes of group events

    def inner_of(self, place: int) -> Group | None:
        """The group inside this one that has a unit."""
        return next((inner for inner in self.group.inner if place in inner.places), None)

    def attribute(self, inner: Group, item: Item, name: str, term: typed.Expression) -> typed.AttributeOf:
        """An attribute of a group's event."""
        handed = self.handed[inner]
        if item not in handed:
            variables = self.whole.variables_of(inner)
            handed[item] = unique(name, {*variables, *(each for each, _ in handed.values())}), term
        label = self.atoms[inner].label
        assert label is not None
        return typed.AttributeOf(label, handed[item][0], term.type)

    def point(self, point: Point) -> Point | None:
        """The point of a pattern that is always that of a unit, by its id; None if that lies inside a group's event."""
        place, end = point
        inner = self.inner_of(place)
        if inner is None:
            return self.whole.units[place].id, end
        kind = next(self.whole.covering(inner, point), None)
        return None if kind is None else (self.atoms[inner].id, kind)

    def time(self, place: int, end: bool) -> typed.Expression:
        """The start or end of a unit."""
        inner, label = self.inner_of(place), self.whole.label(place)
        if inner is None:
            return typed.TimeOf(label, end)
        point = self.point((place, end))
        if point is not None:
            own = self.atoms[inner].label
            assert own is not None
            return typed.TimeOf(own, point[1])
        return self.attribute(inner, (place, end), f"{label}.{'end' if end else 'start'}", typed.TimeOf(label, end))

    def substituted(self, node: Any) -> Any:
        """A node that refers to an event inside a group through the group's event."""
        if not isinstance(node, typed.AttributeOf | typed.TimeOf):
            return node
        place = next((place for place, label in self.whole.labels.items() if label == node.label), None)
        inner = None if place is None else self.inner_of(place)
        if place is None or inner is None:
            return node
        if isinstance(node, typed.TimeOf):
            return self.time(place, node.end)
        return self.attribute(inner, (node.label, node.attribute), f"{node.label}.{node.attribute}", node)

    # --- limits

    def compare_timers(self) -> None:
        """With a longest lifetime a match may end with a timer, and each of its events must be young enough still."""
        keep = self.whole.rule.body.keep
        if keep is None:
            return
        for timer in self.whole.rule.body.timers:
            if timer.label is None:
                raise UnnamedError
            for inner in self.group.inner:
                for place in inner.places:
                    if self.point((place, True)) != (self.atoms[inner].id, True):
                        end = typed.TimeOf(timer.label, True)
                        self.conditions += _comparisons(self.time(place, True), end, None, keep)

    def _add_limits(self, body: typed.Body) -> None:
        """Add the limits between units of different members that the body does not have yet."""
        known = constrain(body, self.whole.events)
        for limit in self.whole.limits:
            one, other = (self.inner_of(place) for place in (limit.earlier[0], limit.later[0]))
            if not limit.places <= self.group.places or (one is not None and one == other):
                continue
            earlier, later = self.point(limit.earlier), self.point(limit.later)
            if earlier is None or later is None:
                times = self.time(*limit.earlier), self.time(*limit.later)
                self.conditions += _comparisons(*times, limit.low, limit.high)
            else:
                self._require(known, earlier, later, limit.low, limit.high)
        self._add_implied(known)

    def _add_implied(self, known: Distances) -> None:
        """Add bounds that follow from the whole rule for two members, where nothing else bounds their distance."""
        members = [member for member in self.group.members if self._has_name(member)]
        ends = (False, True)
        for (one, start), (other, end) in product(product(members, ends), repeat=2):
            earlier, later = (self._id(one), start), (self._id(other), end)
            if one != other and known.longest(earlier, later) is None:
                self._require(known, earlier, later, None, self._longest(one, other, (start, end)))

    def _longest(self, one: int | Group, other: int | Group, ends: tuple[bool, bool]) -> int | None:
        """Largest distance from a point of one member to a point of another in a match of the whole rule.

        The last end of a group is no farther from a later time than that of each of its units, its first start no
        farther than that of the farthest.
        """
        longest, found = self.whole.closure.longest, []
        for first in self.whole.ids_of(one):
            each = [longest((first, ends[0]), (last, ends[1])) for last in self.whole.ids_of(other)]
            found.append(_most(each) if ends[1] else _least(each))
        return _least(found) if ends[0] else _most(found)

    def _require(self, known: Distances, earlier: Point, later: Point, low: int | None, high: int | None) -> None:
        """Add a limit between two members, unless it already follows from the known distances."""
        shortest, longest = known.shortest(earlier, later), known.longest(earlier, later)
        if low is not None and shortest is not None and shortest >= low:
            low = None
        if high is not None and longest is not None and longest <= high:
            high = None
        if low is None and high is None:
            return
        known.require(earlier, later, low, high)
        names = self._name_of(earlier[0]), self._name_of(later[0])
        self.distances.setdefault(names, []).append(typed.Distance((0, earlier[1]), (1, later[1]), low, high))

    def _id(self, member: int | Group) -> int:
        return self.whole.units[member].id if isinstance(member, int) else self.atoms[member].id

    def _has_name(self, member: int | Group) -> bool:
        """True if a member has a name, or can have one."""
        return isinstance(member, Group) or isinstance(self.whole.units[member], NAMED)

    def _name_of(self, id_: int) -> str:
        for atom in self.atoms.values():
            if atom.id == id_:
                assert atom.label is not None
                return atom.label
        return self.whole.label(next(place for place, unit in enumerate(self.whole.units) if unit.id == id_))

    # --- the body

    def body(self, body: typed.Body, head: tuple[tuple[str, typed.Expression], ...]) -> typed.Body:
        """The body of this group; all but its pattern, relations and conditions comes from the given body."""
        related = tuple(self.whole.related.get(self.group, ()))
        body = replace(body, pattern=self._pattern(), related=related, where=())
        self._add_limits(body)
        limits = self.distances.items()
        more = (typed.Related(one, typed.Relation("and", tuple(each)), other) for (one, other), each in limits)
        body = replace(body, related=(*related, *more), where=tuple(self.conditions))
        used = {node.name for node in nodes((body, head)) if isinstance(node, typed.Variable)}
        for inner in self.group.inner:
            self._hand_on_key(inner)
            self._hand_on_variables(inner, used)
        return replace(body, pattern=self._pattern())

    def _hand_on_key(self, inner: Group) -> None:
        """Add the key of a group to its event, where that is no variable: then only one partition derives it."""
        for condition in self.whole.conditions.get(inner, ()):
            match condition:
                case typed.Operation(name="=", arguments=(typed.AttributeOf() as left, typed.AttributeOf())):
                    self.substituted(left)

    def _hand_on_variables(self, inner: Group, used: set[str]) -> None:
        """Complete a group's event with the variables that are used here, and those that it is joined by."""
        own = self.whole.variables_of(inner)
        shared = set.intersection(*(visible_variables(self.whole.units[place]) for place in inner.places))
        if len(inner.places) == 1:
            shared = {inner.key}
        others = set().union(*(self.whole.variables_of(each) for each in self.group.inner if each != inner))
        kept = {name: type_ for name, type_ in own.items() if name in used | shared | others}
        self.handed[inner] |= {("variable", name): (name, typed.Variable(name, type_)) for name, type_ in kept.items()}
        fields = tuple((name, typed.Variable(name, type_)) for name, type_ in kept.items())
        self.atoms[inner] = replace(self.atoms[inner], fields=fields)

    def _pattern(self) -> typed.Pattern:
        """The pattern as it is written, without events that are in groups, and with those of the groups."""
        assert self.whole.rule.body.pattern is not None
        found = self._direct(self.whole.rule.body.pattern)
        units = {unit.id for unit in self.whole.units}
        while isinstance(found, typed.Nested) and found.id not in units:  # parentheses around all of it
            found = found.body.pattern
        for inner, atom in self.atoms.items():
            found = atom if found is None else _joined(self.pairs[inner], found, atom)
        assert found is not None
        return found

    def _direct(self, pattern: typed.Pattern) -> typed.Pattern | None:
        place = next((place for place, unit in enumerate(self.whole.units) if unit is pattern), None)
        if place is not None:
            return self._unit(place) if place in self.direct else None
        match pattern:
            case typed.Pair(left=left, right=right):
                one, other = self._direct(left), self._direct(right)
                if one is None or other is None:
                    return other if one is None else one
                whole = all(self._is_whole(side) for side in (left, right))
                return replace(pattern, left=one, right=other) if whole else _joined(pattern.id, one, other)
            case typed.Nested(body=body):
                assert body.pattern is not None
                inside = self._direct(body.pattern)
                whole = inside is not None and self._is_whole(body.pattern)
                return replace(pattern, body=replace(body, pattern=inside)) if whole else inside
            case _:
                raise AssertionError(pattern)

    def _is_whole(self, pattern: typed.Pattern) -> bool:
        """True if all units of a pattern are direct members."""
        inside = {id(node) for node in nodes(pattern)}
        return all(place in self.direct for place, unit in enumerate(self.whole.units) if id(unit) in inside)

    def _unit(self, place: int) -> typed.Pattern:
        unit, label = self.whole.units[place], self.whole.labels[place]
        return replace(unit, label=label) if isinstance(unit, NAMED) else unit

    # --- the groups inside

    def derive_parts(self) -> None:
        """Add the rules that derive the events of the groups inside this one."""
        for inner, atom in self.atoms.items():
            level = _Level(self.whole, inner)
            handed = self.handed[inner].values()
            head = tuple((name, rebuilt(term, level.substituted)) for name, term in handed)
            whole = self.whole.rule.body
            within = _least([whole.within, whole.lasting])
            beside = self.whole.beside.get(min(inner.places)) if len(inner.places) == 1 else None
            timers, absences = ((), ()) if beside is None else (beside.timers, beside.absences)
            body = typed.Body(
                None, timers, within=within, absences=absences, keep=whole.keep, span=whole.span
            )  # fmt: skip
            body = level.body(body, head)
            level.derive_parts()
            length = length_of(body, self.whole.events) or (0, None)
            event = typed.EventType(
                atom.event, {name: term.type for name, term in head}, False, True, length == (0, 0), length
            )
            self.whole.events[atom.event] = event
            label = self.whole.rule.label if self.whole.rule.label is not None else self.whole.rule.event
            rule = typed.Rule(label, atom.event, head, body, span=self.whole.rule.span)
            self.whole.parts.append(GroupEvent(event, rule, inner.key))


# --- small steps


def unique(name: str, taken: Mapping[str, object] | set[str]) -> str:
    """A name that is not taken, with a number if necessary.

    >>> unique("a", {"a", "a/2"})
    'a/3'
    """
    found, number = name, 2
    while found in taken:
        found, number = f"{name}/{number}", number + 1
    return found


def _alone(group: Group) -> Iterator[int]:
    """The events of a group that are groups of their own inside it."""
    for inner in group.inner:
        if len(inner.members) == 1 and isinstance(inner.members[0], int):
            yield inner.members[0]
        yield from _alone(inner)


def _terms(unit: typed.Pattern) -> Iterator[typed.Expression]:
    if isinstance(unit, typed.Atom):
        yield from (term for _, term in unit.fields)


def _joined(id_: int, left: typed.Pattern, right: typed.Pattern) -> typed.Pair:
    names = visible_variables(right)
    return typed.Pair(id_, AND, left, right, tuple(sorted(visible_variables(left) & names)))


def _comparisons_of(related: typed.Related) -> Iterator[typed.Expression]:
    """A relation between names as comparisons of their times."""
    labels = (related.left, related.right)
    for distance in related.relation.distances:
        earlier, later = (typed.TimeOf(labels[side], end) for side, end in (distance.earlier, distance.later))
        yield from _comparisons(earlier, later, distance.low, distance.high)


def _comparisons(
    earlier: typed.Expression, later: typed.Expression, low: int | None, high: int | None
) -> Iterator[typed.Expression]:
    """Comparisons for a distance between two times; without arithmetic where one need only be earlier or later."""
    gap = typed.Operation("-", (later, earlier), "int")
    for bound, plain, word in ((low, {0: "<=", 1: "<"}, ">="), (high, {0: ">=", -1: ">"}, "<=")):
        if bound in plain:
            yield typed.Operation(plain[bound], (earlier, later), "bool")
        elif bound is not None:
            yield typed.Operation(word, (gap, typed.Constant(bound, "int")), "bool")


def _least(limits: list[int | None]) -> int | None:
    """The smallest of some limits; None is no limit."""
    return min((each for each in limits if each is not None), default=None)


def _most(limits: list[int | None]) -> int | None:
    """The largest of some limits; None if one of them is no limit."""
    return None if None in limits else max((each for each in limits if each is not None), default=None)
