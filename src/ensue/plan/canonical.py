"""Canonical form of a part of a plan: labels, variables and ids are numbered, lifetimes are left out.

Two parts with the same form have the same matches, whatever rules they belong to. Only joins of events, with their
conditions, have a form: selections by context, absences and windows depend on more than their own events.

A variable that stands in one place is the attribute of its event there, so that ``a(k, x)`` and ``a(k, _)`` are the
same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from ensue.language import typed
from ensue.plan import operators as plan
from ensue.plan.renaming import Field, Renaming
from ensue.plan.walk import walk
from ensue.records import dataclass
from ensue.temporal.joins import Side
from ensue.temporal.lifetimes import FOREVER, Lifetime

ANY_SIDE = Side(FOREVER, stored=True, looks=True, suppressed=False)
"""The side of a join in canonical form, whatever its rule needs."""

NO_EVENT = typed.Atom(0, "", ())
"""Replaces patterns inside a pattern: the operators below hold them."""


class NoFormError(Exception):
    """Raised where a part depends on more of its rule than its own events."""


@dataclass(frozen=True)
class Canonical:
    """The form of a part, its operators in that form, and the names that its names have there."""

    form: plan.Operator
    renaming: Renaming
    sides: tuple[Side, ...]
    """The sides of its joins, in the order of `walk`."""


def canonical(node: plan.Operator) -> Canonical:
    """The form of a part; raises `NoFormError` where it has none."""
    names = _Names(node)
    form = names.operator(node)
    variables = tuple((name, names.variable(name)) for name in names.places)
    renaming = Renaming(variables, tuple(names.labels.items()), tuple(names.ids.items()))
    return Canonical(form, renaming, sides_in(node))


def sides_in(node: plan.Operator) -> tuple[Side, ...]:
    """The sides of the joins in a part."""
    return tuple(side for join in walk(node) if isinstance(join, plan.Join) for side in join.sides)


def with_sides(node: plan.Operator, sides: Iterable[Side]) -> plan.Operator:
    """A part with other sides for its joins, in the order of `sides_in`."""
    rest = iter(sides)

    def changed(node: plan.Operator) -> plan.Operator:
        match node:
            case plan.Join():
                own = next(rest), next(rest)
                left, right = changed(node.left), changed(node.right)
                endings = tuple(replace(ending, input=changed(ending.input)) for ending in node.endings)
                return replace(node, sides=own, left=left, right=right, endings=endings)
            case plan.Named() | plan.Restrict() | plan.Spanned():
                return replace(node, input=changed(node.input))
            case _:
                return node

    return changed(node)


def loosest(sides: Iterable[Side]) -> Side:
    """A side that is enough for several."""
    own = list(sides)
    return Side(
        longest(side.lifetime for side in own),
        any(side.stored for side in own),
        any(side.looks for side in own),
        all(side.suppressed for side in own),
    )


def longest(lifetimes: Iterable[Lifetime]) -> Lifetime:
    own = list(lifetimes)
    return Lifetime(_longest(life.start for life in own), _longest(life.end for life in own))


def _longest(lengths: Iterable[int | None]) -> int | None:
    own = list(lengths)
    return None if None in own else max(length for length in own if length is not None)


@dataclass
class _Names:
    """Numbers names in the order in which they occur, from the events up."""

    node: plan.Operator
    places: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The first place of each variable: the event by its id, and the attribute."""
    several: dict[str, str] = field(default_factory=dict)
    """The variables that occur more than once, and their numbers."""
    labels: dict[str, str] = field(default_factory=dict)
    ids: dict[int, int] = field(default_factory=dict)
    events: dict[int, str] = field(default_factory=dict)
    """The labels of events, by their ids."""
    numbered: int = 0
    """Number of labels."""

    def __post_init__(self) -> None:
        times: Counter[str] = Counter()
        for scan in walk(self.node):
            if isinstance(scan, plan.Scan):
                for attribute, term in scan.atom.fields:
                    if isinstance(term, typed.Variable):
                        self.places.setdefault(term.name, (scan.atom.id, attribute))
                        times[term.name] += 1
        for name, count in times.items():
            if count > 1:
                self.several[name] = f"v{len(self.several)}"

    # --- names

    def id(self, id_: int) -> int:
        return self.ids.setdefault(id_, len(self.ids))

    def label(self, label: str | None) -> str:
        """A label for an event or a body in parentheses, with a name or without."""
        found = f"e{self.numbered}"
        self.numbered += 1
        if label is not None:
            if label in self.labels:
                raise NoFormError
            self.labels[label] = found
        return found

    def variable(self, name: str) -> Field:
        """The field that a variable stands for."""
        if name in self.several:
            return ("var", self.several[name])
        if name not in self.places or self.places[name][0] not in self.events:
            raise NoFormError
        event, attribute = self.places[name]
        return ("attr", self.events[event], attribute)

    def shared(self, names: Sequence[str]) -> tuple[str, ...]:
        if not self.several.keys() >= set(names):
            raise NoFormError
        return tuple(sorted(self.several[name] for name in names))

    # --- operators

    def operator(self, node: plan.Operator) -> plan.Operator:
        match node:
            case plan.Scan(atom=atom, conditions=conditions):
                found = self.atom(atom)
                return plan.Scan(found, self.conditions(conditions))
            case plan.Join(pair=pair, conditions=conditions):
                left, right = self.operator(node.left), self.operator(node.right)
                endings = tuple(
                    plan.Ending(self.operator(ending.input), self.shared(ending.shared)) for ending in node.endings
                )
                own = typed.Pair(
                    self.id(pair.id), self.relation(pair.relation), NO_EVENT, NO_EVENT, self.shared(pair.shared)
                )
                return plan.Join(own, left, right, (ANY_SIDE, ANY_SIDE), endings, self.conditions(conditions))
            case plan.Named(nested=nested):
                inner = self.operator(node.input)
                label = self.label(nested.label)
                return plan.Named(typed.Nested(self.id(nested.id), typed.Body(None), label), inner)
            case plan.Restrict(related=related, conditions=conditions):
                inner = self.operator(node.input)
                own_related = tuple(
                    typed.Related(self.known(each.left), self.relation(each.relation), self.known(each.right))
                    for each in related
                )
                return replace(node, input=inner, related=own_related, conditions=self.conditions(conditions))
            case plan.Spanned():
                return plan.Spanned(self.id(node.id), self.operator(node.input))
            case _:
                raise NoFormError

    def atom(self, atom: typed.Atom) -> typed.Atom:
        label = self.events[atom.id] = self.label(atom.label)
        fields: list[tuple[str, typed.Variable | typed.Constant]] = []
        for attribute, term in atom.fields:
            if isinstance(term, typed.Constant):
                fields.append((attribute, term))
            elif term.name in self.several:
                fields.append((attribute, replace(term, name=self.several[term.name])))
        return typed.Atom(self.id(atom.id), atom.event, tuple(fields), label)

    def relation(self, relation: typed.Relation) -> typed.Relation:
        return typed.Relation("", relation.distances)

    def known(self, label: str) -> str:
        if label not in self.labels:
            raise NoFormError
        return self.labels[label]

    # --- conditions

    def conditions(self, conditions: plan.Conditions) -> plan.Conditions:
        return tuple(map(self.expression, conditions))

    def expression(self, expression: typed.Expression) -> typed.Expression:
        if type(expression) not in (  # their subclasses mean something else
            typed.Constant, typed.Variable, typed.AttributeOf, typed.TimeOf, typed.Operation, typed.Holds
        ):  # fmt: skip
            raise NoFormError
        match expression:
            case typed.Variable(name=name, type=type_):
                match self.variable(name):
                    case ("var", str(number)):
                        return typed.Variable(number, type_)
                    case (_, str(label), str(attribute)):
                        return typed.AttributeOf(label, attribute, type_)
            case typed.AttributeOf(label=label) | typed.TimeOf(label=label):
                return replace(expression, label=self.known(label))
            case typed.Operation(own=own) if own is not None:
                raise NoFormError  # a user's function has no name that is known elsewhere
            case typed.Operation(arguments=arguments):
                return replace(expression, arguments=tuple(map(self.expression, arguments)))
            case typed.Holds(arguments=terms):
                return replace(expression, arguments=tuple(t if t is None else self.expression(t) for t in terms))
        return expression
