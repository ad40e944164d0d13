"""Families: rules of one shape as one rule, with the matches of all of them, and a table of their constants.

The common rule is as loose as its members together: it has the loosest threshold and the longest length. An attribute
that must equal a constant of each member becomes a variable. A match of the common rule is a hidden event; for each of
these the members it belongs to are looked up, by an index on a constant that must be equal, in the order of a
threshold. So an event costs as much as in the loosest of the rules, plus a little for each detection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from ensue.engine.kinds import kind_of
from ensue.engine.sharing.shapes import EXACT, Shape, Site, filled
from ensue.language import typed
from ensue.language.types import Type
from ensue.language.walk import atoms, has_aggregate, pairs, visible_variables
from ensue.records import dataclass

LENGTH = "#length"
"""A variable for the length of a match of the common rule."""

FOUND = "#found"
"""Prefix of the hidden types that common rules derive; a number follows."""

AMONG = "among"
"""An operation that is true if a value is among the constants of a family's index."""

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


Part = TypeVar("Part", typed.Absence, typed.Gathering)


class NotSharedError(Exception):
    """Raised for rules of one shape that cannot run as one, with the reason."""


@dataclass(frozen=True)
class Family:
    """Rules of one shape, `members` by number, and their common rule. They have been made of a `seed`.

    `common` derives an event of the type `found`. The constants of the members are in `columns`, in the order of
    `members`. A member's head is computed from the match where the `conditions` hold: there a variable ``c0`` is an
    attribute of the match, ``=0`` the member's constant in a column.
    """

    number: int
    seed: Seed
    members: tuple[int, ...]
    common: typed.Rule
    found: typed.EventType
    columns: tuple[Column, ...]
    conditions: tuple[typed.Expression, ...]
    head: tuple[typed.Expression, ...]
    index: Index | None
    threshold: typed.Expression | None
    """Threshold. Members are sorted by it, so the first failure ends the loop."""


@dataclass(frozen=True)
class Seed:
    """The origin of a family: the name of each rule, and its constants. Rules removed since are still listed."""

    rules: tuple[tuple[str, tuple[Site, ...]], ...]

    @cached_property
    def name(self) -> str:
        """The name of the family's part of a state."""
        names = " ".join(name for name, _ in self.rules)
        return f"family {hashlib.sha256(names.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Column:
    """A constant of each member."""

    type: Type
    values: tuple[typed.Value, ...]

    def reordered(self, order: Sequence[int]) -> Column:
        return Column(self.type, tuple(self.values[place] for place in order))


@dataclass(frozen=True)
class Index:
    """Members by the constant in a column, which must equal a value of the match."""

    column: int
    value: typed.Expression


def family_of(
    number: int, shape: Shape, seed: Seed, members: Mapping[str, int], rule: typed.Rule,
    events: Mapping[str, typed.EventType],
) -> Family:  # fmt: skip
    """The family of rules of one shape; `members` are the present ones, by name, and `rule` is one of them."""
    return _Maker(number, shape, seed, members, rule, events).family()


class _Loosest(int):
    """The loosest length of all members; their own are in a column."""

    column: int


class _Maker:
    """Makes one rule of several."""

    def __init__(
        self, number: int, shape: Shape, seed: Seed, members: Mapping[str, int], rule: typed.Rule,
        events: Mapping[str, typed.EventType],
    ) -> None:  # fmt: skip
        self.number = number
        self.events = events
        self.seed = seed
        self.members = members
        self.columns: list[Column] = []
        self.known: dict[str, int] = {}
        self.sites = iter(list(zip(*(sites for _, sites in seed.rules), strict=True)))
        self.rule = filled(rule, shape.head, self._fill)
        self.terms: dict[typed.Expression, str] = {}

    # --- constants

    def _fill(self, site: Site) -> typed.Value | typed.Variable:
        """The value or variable of the common rule in place of the members' constants."""
        values = tuple(each.value for each in next(self.sites))
        if len(set(map(repr, values))) == 1:
            return site.value
        column = self._column(Column(site.type, values))
        match site.place:
            case "field":
                return typed.Variable(f"@{column}", site.type)
            case "term":
                return typed.Variable(f"={column}", site.type)
            case "shift":
                raise NotSharedError("a timer that differs")  # waiting matches would have to be stored for each member
        lengths = [value for value in values if isinstance(value, int)]
        loosest = _Loosest(min(lengths) if site.place == "low" else max(lengths))
        loosest.column = column
        return loosest

    def _column(self, column: Column) -> int:
        place = self.known.setdefault(repr(column), len(self.columns))
        if place == len(self.columns):
            self.columns.append(column)
        return place

    # --- the whole

    def family(self) -> Family:
        body = self.rule.body
        self.selecting = any(pair.left_context is not None for pair in pairs(body.pattern))
        lengths = [*self._lengths()]
        own = list(lengths)
        body = self._lifted(self.rule.body)
        self.types = self._field_types(body)
        self.bound = {name for name in _bound(body) if name.startswith("@")}
        if body.restricted and (lengths or self.bound):
            raise NotSharedError("what is matched differs, under a policy")
        if self.selecting and any(_varies(condition) for condition in body.on):
            raise NotSharedError("a condition on the pairing that differs")
        on, where = self._parted(body.on, own), self._parted(body.where, own)
        for name in sorted(self.bound):
            constant = typed.Variable(f"={name[1:]}", self.columns[int(name[1:])].type)
            own.append(_operation("=", typed.Variable(name, self.types[name]), constant))
        index = self._index(own)
        own = [condition for condition in own if condition is not index]
        thresholds = [condition for condition in own if condition not in lengths and _side(condition) is not None]
        threshold = next(iter([*thresholds, *(length for length in lengths if _side(length) is not None)]), None)
        before = tuple(map(self._loosened, thresholds))
        if index is not None and index not in lengths:
            number = typed.Constant(self.number, "int")
            before += (_operation(AMONG, index.arguments[0], number),)
        head = tuple(self._term(self._bound_one(term)) for _, term in self.rule.head)
        order = self._order(index, threshold)
        conditions = tuple(self._term(condition) for condition in own if condition is not threshold)
        last = None if threshold is None else self._term(threshold)
        by = None if index is None else self._by(index)
        self._check_groups(body)
        types = {name: term.type for term, name in self.terms.items()}
        found = typed.EventType(f"{FOUND}{self.number}", types, declared=False, derived=True)
        common = typed.Rule(
            None,
            found.name,
            tuple((name, term) for term, name in self.terms.items()),
            replace(body, on=on, where=(*where, *before)),
            self.rule.beginning,
        )
        columns = tuple(column.reordered(order) for column in self.columns)
        members = tuple(self.members[self.seed.rules[place][0]] for place in order)
        return Family(self.number, self.seed, members, common, found, columns, conditions, head, by, last)

    def _parted(
        self, conditions: Iterable[typed.Expression], own: list[typed.Expression]
    ) -> tuple[typed.Expression, ...]:
        """The conditions that all members share; those that differ are added to their `own`."""
        same: list[typed.Expression] = []
        for condition in map(self._bound_one, conditions):
            (own if _varies(condition) else same).append(_constant_last(condition))
        return tuple(same)

    def _bound_one(self, expression: typed.Expression) -> typed.Expression:
        """An expression with variables of the common rule in place of the constants that they must equal."""
        alike = [name for name in self.bound if self.types[name] == self.columns[int(name[1:])].type]
        return _with(expression, {f"={name[1:]}": name for name in alike})

    # --- lengths of time

    def _lengths(self) -> Iterator[typed.Expression]:
        """Conditions for lengths that differ; the rule keeps the loosest, as a plain number."""
        body = self.rule.body
        length = typed.Variable(LENGTH, "time")
        for place, operator in (("within", "<="), ("lasting", "=")):
            loosest = getattr(body, place)
            if isinstance(loosest, _Loosest):
                if self.selecting or self.rule.beginning is not None:
                    raise NotSharedError("a length of the whole that differs")
                yield _operation(operator, length, typed.Variable(f"={loosest.column}", "time"))
        within, lasting = body.within, body.lasting
        if isinstance(lasting, _Loosest):
            within, lasting = int(lasting) if within is None else min(int(lasting), int(within)), None
        labels: dict[int, str] = {}
        conditions: list[typed.Expression] = []
        pattern = None if body.pattern is None else self._plain_lengths(body.pattern, labels, conditions)
        related = tuple(
            replace(each, relation=self._plain(each.relation, (each.left, each.right), conditions))
            for each in body.related
        )
        yield from conditions
        if conditions and self.selecting:
            raise NotSharedError("a distance that differs")
        if pattern is not None:
            pattern = _labelled(pattern, labels)
        within = None if within is None else int(within)
        self.rule = replace(
            self.rule, body=replace(body, pattern=pattern, related=related, within=within, lasting=lasting)
        )

    def _plain_lengths(
        self, pattern: typed.Pattern, labels: dict[int, str], conditions: list[typed.Expression]
    ) -> typed.Pattern:
        match pattern:
            case typed.Pair(left=left, right=right, relation=relation):
                left, right = (self._plain_lengths(side, labels, conditions) for side in (left, right))
                names: tuple[str, str] | None = None
                if any(isinstance(limit, _Loosest) for d in relation.distances for limit in (d.low, d.high)):
                    if not (isinstance(left, typed.Atom) and isinstance(right, typed.Atom)):
                        raise NotSharedError("a distance between composites that differs")
                    names = (
                        left.label or labels.setdefault(left.id, f"#{left.id}"),
                        right.label or labels.setdefault(right.id, f"#{right.id}"),
                    )
                plain = self._plain(relation, names or ("", ""), conditions)
                return replace(pattern, left=left, right=right, relation=plain)
            case typed.Lacking(pattern=inner):
                return replace(pattern, pattern=self._plain_lengths(inner, labels, conditions))
            case _:
                return pattern

    def _plain(
        self, relation: typed.Relation, names: tuple[str, str], conditions: list[typed.Expression]
    ) -> typed.Relation:
        distances = []
        for distance in relation.distances:
            later, earlier = (typed.TimeOf(names[side], end) for side, end in (distance.later, distance.earlier))
            between = _operation("-", later, earlier, type_="time")
            for limit, operator in ((distance.low, ">="), (distance.high, "<=")):
                if isinstance(limit, _Loosest):
                    conditions.append(_operation(operator, between, typed.Variable(f"={limit.column}", "time")))
            low, high = (None if limit is None else int(limit) for limit in (distance.low, distance.high))
            distances.append(replace(distance, low=low, high=high))
        return replace(relation, distances=tuple(distances))

    # --- attributes that must equal a constant

    def _lifted(self, body: typed.Body) -> typed.Body:
        """A body in which variables that replaced constants correlate the patterns they occur in."""
        _check_visible(body)
        pattern = None if body.pattern is None else self._correlated(body.pattern)
        outside = set() if pattern is None else {n for n in visible_variables(pattern) if n.startswith("@")}
        window = body.window
        if window is not None:
            inside = sorted(n for n in visible_variables(window.pattern) if n.startswith("@"))
            if outside or _varies_inside(window.pattern):
                raise NotSharedError("a window with a condition that differs")
            window = replace(window, keys=(*window.keys, *inside))
        absences = tuple(self._inner(absence, outside) for absence in body.absences)
        gatherings = tuple(self._inner(gathering, outside) for gathering in body.gatherings)
        return replace(body, pattern=pattern, absences=absences, gatherings=gatherings, window=window)

    def _field_types(self, body: typed.Body) -> dict[str, Type]:
        """The types of the attributes whose constants were replaced by variables."""
        types: dict[str, Type] = {}
        for atom in atoms(body):
            attributes = self.events[atom.event].attributes
            for attribute, term in atom.fields:
                if isinstance(term, typed.Variable) and term.name.startswith("@"):
                    type_ = attributes[attribute]
                    if types.setdefault(term.name, type_) != type_:
                        raise NotSharedError("a constant for attributes of several types that differs")
        return types

    def _correlated(self, pattern: typed.Pattern) -> typed.Pattern:
        match pattern:
            case typed.Pair(left=left, right=right):
                left, right = self._correlated(left), self._correlated(right)
                sides = [{n for n in visible_variables(side) if n.startswith("@")} for side in (left, right)]
                shared = (*pattern.shared, *sorted(sides[0] & sides[1]))
                if all(sides) and not shared:
                    raise NotSharedError("constants on both sides of a pairing that nothing correlates")
                if pattern.left_context is not None and sides[0] != sides[1]:
                    raise NotSharedError("a constant on one side of a context")
                return replace(pattern, left=left, right=right, shared=shared)
            case typed.Lacking(pattern=inner):
                return replace(pattern, pattern=self._correlated(inner))
            case typed.Atom():
                return pattern
            case _ if _varies_inside(pattern) or any(n.startswith("@") for n in visible_variables(pattern)):
                raise NotSharedError("a constant inside parentheses that differs")
            case _:
                return pattern

    def _inner(self, part: Part, outside: set[str]) -> Part:
        """A negated or gathered pattern, correlated by variables that replaced constants."""
        names = {f"={name[1:]}": name for name in outside}
        pattern = part.pattern
        if isinstance(pattern, typed.Nested):
            inner = pattern.body
            on, where = (tuple(_with(c, names) for c in conditions) for conditions in (inner.on, inner.where))
            pattern = replace(pattern, body=replace(inner, on=on, where=where))
        own: set[str] = {n for n in visible_variables(pattern) if n.startswith("@")}
        if not own <= outside or _varies_inside(pattern):
            raise NotSharedError("a constant in what is negated or gathered that differs")
        contained = part.self_contained and pattern == part.pattern
        shared = (*part.shared, *sorted(own))
        return replace(part, pattern=pattern, shared=shared, self_contained=contained)

    # --- matches, and the members they belong to

    def _term(self, expression: typed.Expression) -> typed.Expression:
        """An expression on the match: every part that does not differ is one of its attributes."""
        match expression:
            case typed.Constant():
                return expression
            case typed.Variable(name=name) if name == LENGTH or name.startswith("="):
                return expression
            case typed.Operation(arguments=arguments) if _varies(expression):
                return replace(expression, arguments=tuple(map(self._term, arguments)))
        if _varies(expression):
            raise NotSharedError("a constant in an aggregate that differs")
        name = self.terms.setdefault(expression, f"c{len(self.terms)}")
        return typed.Variable(name, expression.type)

    def _index(self, own: Sequence[typed.Expression]) -> typed.Operation | None:
        """The equality with the most different constants."""
        found = [c for c in own if isinstance(c, typed.Operation) and c.name == "=" and self._is_indexed(c)]
        return max(found, key=lambda c: len(set(self.columns[_column_of(c.arguments[1])].values)), default=None)

    def _is_indexed(self, equality: typed.Operation) -> bool:
        """True if a value that does not differ must equal a constant that does, of its kind or exactly convertible."""
        value, constant = equality.arguments
        if not _is_constant(constant) or _varies(value):
            return False
        kinds = kind_of(value.type), kind_of(constant.type)
        if kinds == ("f", "i"):
            return all(abs(each) <= EXACT for each in self.columns[_column_of(constant)].values)  # type: ignore[arg-type]
        return kinds[0] == kinds[1]

    def _by(self, equality: typed.Operation) -> Index:
        """The index by an equality; constants have the type of the values that they must equal."""
        value, column = equality.arguments[0], self.columns[_column_of(equality.arguments[1])]
        place = _column_of(equality.arguments[1])
        if kind_of(value.type) != kind_of(column.type):
            place = self._column(Column(value.type, column.values))
        return Index(place, self._term(value))

    def _loosened(self, condition: typed.Expression) -> typed.Expression:
        """A threshold with the loosest constant."""
        side = _side(condition)
        assert side is not None
        value, operator, column = side
        values = self.columns[column].values
        numbers = [each for each in values if isinstance(each, int | float)]
        loosest = min(numbers) if operator in (">", ">=") else max(numbers)
        return _operation(operator, value, typed.Constant(loosest, self.columns[column].type))

    def _order(self, index: typed.Operation | None, threshold: typed.Expression | None) -> list[int]:
        """The present members by the index, then by threshold, the loosest first."""
        order = [place for place, (name, _) in enumerate(self.seed.rules) if name in self.members]
        side = None if threshold is None else _side(threshold)
        if side is not None:
            _, operator, column = side
            values = self.columns[column].values
            order.sort(key=lambda place: values[place], reverse=operator in ("<", "<="))  # type: ignore[arg-type,return-value]
        if index is not None:
            constants = self.columns[_column_of(index.arguments[1])].values
            order.sort(key=lambda place: constants[place])  # type: ignore[arg-type,return-value]
        return order

    def _check_groups(self, body: typed.Body) -> None:
        """Check that terms of the head that group a window do not differ between members."""
        if body.window is None:
            return
        names = {*body.window.keys, *body.window.shared}
        allowed = {term for _, term in self.rule.head if not has_aggregate(term)}
        if any(_varies(term) and not isinstance(term, typed.Variable) for term in allowed):
            raise NotSharedError("a group that differs")
        for term in self.terms:
            own = isinstance(term, typed.Variable) and term.name in names
            if not has_aggregate(term) and term not in allowed and not own:
                raise NotSharedError("a condition on a window that differs")


def _operation(name: str, *arguments: typed.Expression, type_: Type = "bool") -> typed.Operation:
    return typed.Operation(name, arguments, type_)


def _bound(body: typed.Body) -> set[str]:
    """The variables that matched or collected events bind."""
    pattern = set() if body.pattern is None else visible_variables(body.pattern)
    return pattern if body.window is None else pattern | visible_variables(body.window.pattern)


def _check_visible(body: typed.Body) -> None:
    """Check that each variable that replaced a constant is visible where members compare it."""
    apart: tuple[typed.Absence | typed.Gathering, ...] = (*body.absences, *body.gatherings)
    parts: list[typed.Pattern | None] = [body.pattern, *(part.pattern for part in apart)]
    if body.window is not None:
        parts += [body.window.pattern, body.window.beginning]
        if body.window.beginning is not None and (
            _fields(body.window.beginning) or _varies_inside(body.window.beginning)
        ):
            raise NotSharedError("the beginning of a window that differs")
    if any(part is not None and not _fields(part) <= visible_variables(part) for part in parts):
        raise NotSharedError("a constant that differs where nothing outside sees it")


def _fields(pattern: typed.Pattern) -> set[str]:
    """The variables that replaced constants in a pattern, visible or not."""
    found = (term for atom in atoms(typed.Body(pattern)) for _, term in atom.fields)
    return {term.name for term in found if isinstance(term, typed.Variable) and term.name.startswith("@")}


def _varies(expression: typed.Expression | None) -> bool:
    """True if an expression has a constant that differs."""
    match expression:
        case typed.Variable(name=name):
            return name.startswith("=")
        case typed.Operation(arguments=arguments):
            return any(map(_varies, arguments))
        case typed.Holds(arguments=terms):
            return any(map(_varies, terms))
        case typed.Aggregate(argument=argument):
            return _varies(argument)
        case _:
            return False


def _varies_inside(pattern: typed.Pattern) -> bool:
    """True if a condition in parentheses has a constant that differs."""
    match pattern:
        case typed.Nested(body=body):
            inside = body.pattern is not None and _varies_inside(body.pattern)
            lengths = any(isinstance(length, _Loosest) for length in (body.within, body.lasting))
            return inside or lengths or any(map(_varies, (*body.on, *body.where)))
        case typed.Pair(left=left, right=right, relation=relation):
            limits = (limit for d in relation.distances for limit in (d.low, d.high))
            return any(isinstance(limit, _Loosest) for limit in limits) or any(map(_varies_inside, (left, right)))
        case typed.Lacking(pattern=inner) | typed.Run(pattern=inner):
            return _varies_inside(inner)
        case typed.Either(alternatives=alternatives):
            return any(map(_varies_inside, alternatives))
        case _:
            return False


def _with(expression: typed.Expression, names: Mapping[str, str]) -> typed.Expression:
    """An expression with other names for some variables."""
    match expression:
        case typed.Variable(name=name) if name in names:
            return replace(expression, name=names[name])
        case typed.Operation(arguments=arguments):
            return replace(expression, arguments=tuple(_with(argument, names) for argument in arguments))
        case typed.Aggregate(argument=argument) if argument is not None:
            return replace(expression, argument=_with(argument, names))
        case _:
            return expression


def _labelled(pattern: typed.Pattern, labels: Mapping[int, str]) -> typed.Pattern:
    """A pattern with names for some of its events."""
    match pattern:
        case typed.Atom(id=id_) if id_ in labels:
            return replace(pattern, label=labels[id_])
        case typed.Pair(left=left, right=right):
            return replace(pattern, left=_labelled(left, labels), right=_labelled(right, labels))
        case typed.Lacking(pattern=inner):
            return replace(pattern, pattern=_labelled(inner, labels))
        case _:
            return pattern


def _column_of(expression: typed.Expression) -> int:
    assert isinstance(expression, typed.Variable)
    return int(expression.name[1:])


def _constant_last(condition: typed.Expression) -> typed.Expression:
    """An equality with its constant on the right."""
    match condition:
        case typed.Operation(name="=", arguments=(one, other)) if _is_constant(one):
            return replace(condition, arguments=(other, one))
        case _:
            return condition


def _is_constant(expression: typed.Expression) -> bool:
    return isinstance(expression, typed.Variable) and expression.name.startswith("=")


def _side(condition: typed.Expression) -> tuple[typed.Expression, str, int] | None:
    """A threshold as a value that does not differ, its comparison, and the column of constants; None if it is none."""
    if not isinstance(condition, typed.Operation) or condition.name not in FLIPPED:
        return None
    one, other = condition.arguments
    numbers = ("int", "float", "time", "timestamp")
    if one.type not in numbers or other.type not in numbers:
        return None
    if _is_constant(other) and not _varies(one):
        return one, condition.name, _column_of(other)
    if _is_constant(one) and not _varies(other):
        return other, FLIPPED[condition.name], _column_of(one)
    return None
