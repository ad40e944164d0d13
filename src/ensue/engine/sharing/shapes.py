"""The shape of a rule: the rule with its names numbered and its constants taken out.

Rules of one shape differ in constants and in the names of variables, of events and of the rules. A constant that the
structure of a rule depends on (a null, a truth value, a divisor, the size of a window) is part of its shape.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from ensue.language import typed
from ensue.language.types import Type
from ensue.records import dataclass

EXACT = 2**53
"""Largest integer up to which floats represent all integers exactly."""

BLANK = 2
"""Stands for a constant in a shape. Lengths of 0 and 1 are part of the shape, so this is another number."""

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Site:
    """The place of a constant, with its type and value.

    `place` is ``field`` (the required value of an attribute of an atom), ``term`` (in an expression), or a length of
    time: ``within``, ``lasting``, ``shift`` (of a timer), ``low`` and ``high`` (of a distance).
    """

    place: str
    value: typed.Value
    type: Type


@dataclass(frozen=True)
class Shape:
    """The common form of similar rules: the rule with names and constants replaced, and the types of its head."""

    rule: typed.Rule
    head: tuple[Type, ...]


Fill = Callable[[Site], typed.Value | typed.Variable]
"""Gives the replacement of a constant: another one, or a variable."""


def shape_of(rule: typed.Rule, event: typed.EventType) -> tuple[Shape, tuple[Site, ...]]:
    """The shape of a rule that derives an event, and its constants in order."""
    sites: list[Site] = []

    def taken_out(site: Site) -> typed.Value:
        sites.append(site)
        return BLANK

    types = tuple(event.attributes.values())
    blank = replace(filled(rule, types, taken_out), event="", label=None)
    names = tuple((str(place), term) for place, (_, term) in enumerate(blank.head))
    return Shape(replace(blank, head=names), types), tuple(sites)


def filled(rule: typed.Rule, head: tuple[Type, ...], fill: Fill) -> typed.Rule:
    """A rule with its names numbered, and each constant replaced; `head` are the head's types."""
    return _filled(_Walk(fill), rule, head)


def rule_names(program: typed.Program, rules: Iterable[int]) -> dict[int, str]:
    """Names for the parts of a state that belong to each rule: the same for the same rule in another program."""
    names: dict[int, str] = {}
    times: Counter[str] = Counter()
    for i in rules:
        name = hashlib.sha256(repr(program.rules[i]).encode()).hexdigest()[:16]
        names[i] = f"{name}.{times[name]}"
        times[name] += 1
    return names


def names_of(rule: typed.Rule, head: tuple[Type, ...]) -> dict[str, str]:
    """The names of a rule, by the numbered names in its shape."""
    walk = _Walk(lambda site: site.value)
    _filled(walk, rule, head)
    return {numbered: name for name, numbered in walk.names.items()}


def _filled(walk: _Walk, rule: typed.Rule, head: tuple[Type, ...]) -> typed.Rule:
    body = walk.body(rule.body)
    terms = tuple(
        (name, walk.expression(_as_float(term) if type_ == "float" else term))
        for (name, term), type_ in zip(rule.head, head, strict=True)
    )
    beginning = None if rule.beginning is None else walk.name(rule.beginning)
    return replace(rule, head=terms, body=body, beginning=beginning)


def _as_float(expression: typed.Expression) -> typed.Expression:
    """A whole number as the float that it stands for, so that 20 and 20.5 are constants of one type."""
    match expression:
        case typed.Constant(value=int(value), type="int") if not isinstance(value, bool) and abs(value) <= EXACT:
            return typed.Constant(float(value), "float")
        case _:
            return expression


class _Walk:
    """Visits a rule, always in the same order."""

    def __init__(self, fill: Fill) -> None:
        self.fill = fill
        self.names: dict[str, str] = {}
        self.restricted = False
        """True inside a body under ``policy restricted``, where `seq` means more than its distances."""

    def name(self, name: str) -> str:
        return self.names.setdefault(name, f"n{len(self.names)}")

    def label(self, label: str | None) -> str | None:
        return None if label is None else self.name(label)

    def sorted_names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(map(self.name, names), key=lambda name: int(name[1:])))

    def length(self, place: str, value: int | None) -> int | None:
        if value is None:
            return None
        found = self.fill(Site(place, value, "time"))
        assert isinstance(found, int)
        return found

    # --- bodies

    def body(self, body: typed.Body) -> typed.Body:
        outside, self.restricted = self.restricted, body.restricted
        found = self._body(body)
        self.restricted = outside
        return found

    def _body(self, body: typed.Body) -> typed.Body:
        pattern = None if body.pattern is None else self.pattern(body.pattern)
        window = None if body.window is None else self.window(body.window)
        return typed.Body(
            pattern,
            tuple(map(self.timer, body.timers)),
            tuple(replace(look, arguments=tuple(map(self.argument, look.arguments))) for look in body.lookups),
            tuple(self.related(each) for each in body.related),
            tuple(map(self.expression, body.on)),
            tuple(map(self.expression, body.where)),
            self.length("within", body.within),
            self.length("lasting", body.lasting),
            tuple(map(self.absence, body.absences)),
            tuple(map(self.gathering, body.gatherings)),
            window,
            body.restricted,
            tuple(map(self.name, body.correlation)),
            keep=body.keep,
        )

    def argument(self, argument: typed.Variable | typed.Constant | None) -> typed.Variable | typed.Constant | None:
        return replace(argument, name=self.name(argument.name)) if isinstance(argument, typed.Variable) else argument

    def timer(self, timer: typed.Timer) -> typed.Timer:
        shifts = [
            0 if shift == 0 else self.length("shift", shift) or 0 for shift in (timer.start_shift, timer.end_shift)
        ]
        return replace(
            timer, of=self.name(timer.of), start_shift=shifts[0], end_shift=shifts[1], label=self.label(timer.label)
        )

    def related(self, related: typed.Related) -> typed.Related:
        left, right = self.name(related.left), self.name(related.right)
        return replace(related, left=left, relation=self.relation(related.relation), right=right)

    def relation(self, relation: typed.Relation) -> typed.Relation:
        distances = tuple(
            replace(
                distance,
                low=distance.low if distance.low in (0, 1) else self.length("low", distance.low),
                high=distance.high if distance.high in (0, 1) else self.length("high", distance.high),
            )
            for distance in relation.distances
        )
        return typed.Relation(relation.word if self.restricted else "", distances)

    def scope(self, scope: typed.Scope) -> typed.Scope:
        return replace(scope, label=self.name(scope.label)) if isinstance(scope, typed.During) else scope

    def absence(self, absence: typed.Absence) -> typed.Absence:
        pattern, shared = self.pattern(absence.pattern), self.sorted_names(absence.shared)
        return replace(absence, scope=self.scope(absence.scope), pattern=pattern, shared=shared)

    def gathering(self, gathering: typed.Gathering) -> typed.Gathering:
        pattern, shared = self.pattern(gathering.pattern), self.sorted_names(gathering.shared)
        return replace(gathering, scope=self.scope(gathering.scope), pattern=pattern, shared=shared)

    def window(self, window: typed.Window) -> typed.Window:
        pattern = self.pattern(window.pattern)
        beginning = None if window.beginning is None else self.pattern(window.beginning)
        shared, keys = self.sorted_names(window.shared), self.sorted_names(window.keys)
        return replace(window, pattern=pattern, beginning=beginning, shared=shared, keys=keys)

    # --- patterns

    def pattern(self, pattern: typed.Pattern) -> typed.Pattern:
        match pattern:
            case typed.Atom():
                fields = tuple((attribute, self.field(term)) for attribute, term in pattern.fields)
                return replace(pattern, fields=fields, label=self.label(pattern.label))
            case typed.Pair(left=left, right=right, relation=relation):
                left, right = self.pattern(left), self.pattern(right)
                shared = self.sorted_names(pattern.shared)
                return replace(pattern, relation=self.relation(relation), left=left, right=right, shared=shared)
            case typed.Either(alternatives=alternatives):
                return replace(pattern, alternatives=tuple(map(self.pattern, alternatives)))
            case typed.Lacking(pattern=inner):
                return replace(pattern, pattern=self.pattern(inner))
            case typed.Run(pattern=inner):
                return replace(pattern, pattern=self.pattern(inner), keys=tuple(map(self.name, pattern.keys)))
            case typed.Nested(body=body):
                return replace(pattern, body=self.body(body), label=self.label(pattern.label))
            case typed.Moment() | typed.Periodic():
                return replace(pattern, label=self.label(pattern.label))

    def field(self, term: typed.Variable | typed.Constant) -> typed.Variable | typed.Constant:
        found = self.expression(term) if isinstance(term, typed.Variable) else self.constant("field", term)
        assert isinstance(found, typed.Variable | typed.Constant)
        return found

    # --- expressions

    def expression(self, expression: typed.Expression) -> typed.Expression:
        match expression:
            case typed.Constant():
                return self.constant("term", expression)
            case typed.Variable(name=name):
                return replace(expression, name=self.name(name))
            case typed.AttributeOf(label=label) | typed.TimeOf(label=label):
                return replace(expression, label=self.name(label))
            case typed.Operation(name=name, arguments=arguments):
                if name in COMPARISONS and any(argument.type == "float" for argument in arguments):
                    arguments = tuple(map(_as_float, arguments))
                kept = len(arguments) if name not in ("/", "//", "%", "mod") else 1
                found = tuple(self.expression(a) if i < kept else self.literal(a) for i, a in enumerate(arguments))
                return replace(expression, arguments=found)
            case typed.Holds(arguments=terms):
                return replace(expression, arguments=tuple(t if t is None else self.literal(t) for t in terms))
            case typed.Aggregate(argument=argument):
                return expression if argument is None else replace(expression, argument=self.expression(argument))

    def literal(self, expression: typed.Expression) -> typed.Expression:
        """An expression that is part of the shape if it is a constant."""
        return expression if isinstance(expression, typed.Constant) else self.expression(expression)

    def constant(self, place: str, constant: typed.Constant) -> typed.Expression:
        if constant.value is None or isinstance(constant.value, bool | tuple):
            return constant
        found = self.fill(Site(place, constant.value, constant.type))
        return found if isinstance(found, typed.Variable) else replace(constant, value=found)
