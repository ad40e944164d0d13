"""The parts of a rule: its patterns and names, which fields are used of them, and where conditions are checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ensue.engine.compiled.atoms import bindings, inner_of
from ensue.engine.compiled.expressions import Code, Find, NotCompiledError
from ensue.engine.compiled.fields import Fields
from ensue.engine.compiled.layout import Field
from ensue.engine.compiled.unit import Unit
from ensue.language import typed
from ensue.language.walk import has_aggregate
from ensue.temporal.constraints import constrain

Part = typed.Absence | typed.Gathering


@dataclass
class RuleParts:
    """A rule that is written into a unit, and what there is in it. What cannot be compiled is an error."""

    unit: Unit
    rule: typed.Rule
    number: str
    """What its part of the state is called."""
    parents: dict[int, tuple[typed.Pair | typed.Lacking, int]] = field(default_factory=dict)
    atoms: dict[int, typed.Atom] = field(default_factory=dict)
    nodes: dict[int, typed.Pattern] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    variables: dict[str, Field] = field(default_factory=dict)

    def __post_init__(self) -> None:
        body = self.rule.body
        if body.restricted or body.lookups or body.pattern is None or body.window is not None:
            raise NotCompiledError("a policy or a table")
        self.body = body
        self.root = body.pattern
        self._register(body.pattern)
        for timer in body.timers:
            if timer.label is not None:
                self.labels[timer.label] = timer.id
        self.selecting = any(isinstance(n, typed.Pair) and n.left_context is not None for n in self.nodes.values())
        if self.selecting and (body.timers or body.related):
            raise NotCompiledError("a context beside a timer or a relation between names")
        self.distances = constrain(body, self.unit.events)
        self.wanted = set(self._wanted())
        self.checked: dict[int, list[typed.Expression]] = {}
        """The conditions that are checked as soon as a pattern is matched."""
        self.checked_last: list[typed.Expression] = []
        """Those that are checked when the match is complete."""
        self._place_conditions()

    @property
    def apart(self) -> str:
        """What tells the stores of this rule from those of others, where rules do not share them."""
        return "" if self.unit.shared else self.number

    def length(self, which: object, value: int) -> str:
        """Source for a length of time that the rule states; `which` says which one."""
        return self.unit.layout.knob(("length", self.number, which), value)

    @property
    def inner_parts(self) -> list[Part]:
        """What is negated or gathered."""
        return [*self.body.absences, *self.body.gatherings]

    # --- patterns

    def _register(self, pattern: typed.Pattern) -> None:
        self.nodes[pattern.id] = pattern
        match pattern:
            case typed.Atom():
                self.atoms[pattern.id] = pattern
                if pattern.label is not None:
                    self.labels[pattern.label] = pattern.id
                for name, attribute in bindings(pattern).items():
                    self.variables.setdefault(name, ("attr", pattern.id, attribute))
            case typed.Pair(left=left, right=right):
                if pattern.left_gathering is not None or pattern.right_gathering is not None:
                    raise NotCompiledError("a cumulative context")
                for side, node in enumerate((left, right)):
                    self.parents[node.id] = (pattern, side)
                    self._register(node)
            case typed.Lacking(pattern=inner):
                self.parents[inner.id] = (pattern, 0)
                self._register(inner)
            case _:
                raise NotCompiledError("a pattern that is not made of events and pairings")

    def pair(self, id_: int) -> typed.Pair:
        pair = self.nodes[id_]
        assert isinstance(pair, typed.Pair)
        return pair

    def below(self, node: typed.Pattern) -> Iterator[typed.Atom]:
        """The atoms of a pattern."""
        if isinstance(node, typed.Atom):
            yield node
        for part in _parts(node):
            yield from self.below(part)

    def inside(self, node: typed.Pattern) -> Iterator[int]:
        """The ids of a pattern and of all that it consists of."""
        yield node.id
        for part in _parts(node):
            yield from self.inside(part)

    # --- fields

    def field_of(self, expression: typed.Expression) -> Field:
        match expression:
            case typed.Variable(name=name) if name in self.variables:
                return self.variables[name]
            case typed.AttributeOf(label=label, attribute=attribute) if self.labels.get(label) in self.atoms:
                return ("attr", self.labels[label], attribute)
            case typed.TimeOf(label=label, end=end) if label in self.labels:
                return ("end" if end else "start", self.labels[label])
        raise NotCompiledError("a name that is not an event's")

    def field_of_variable(self, name: str) -> Field:
        return self.field_of(typed.Variable(name, "any"))

    def kind_of(self, field_: Field) -> str:
        if field_[0] != "attr":
            return "i"
        return self.unit.kind(self.atoms[field_[1]].event, field_[2])

    def nullable(self, field_: Field) -> bool:
        """Whether a field may be null."""
        return field_[0] == "attr" and self.unit.nullable(self.atoms[field_[1]].event, field_[2])

    def fields(self, expression: typed.Expression, inner: Mapping[str, str] | None = None) -> Iterator[Field]:
        """The fields that an expression uses; those of an inner atom aside."""
        match expression:
            case typed.Constant():
                return
            case typed.Operation(arguments=arguments) | typed.Holds(arguments=arguments):
                for argument in arguments:
                    if argument is not None:
                        yield from self.fields(argument, inner)
            case typed.Aggregate(argument=argument, path=path):
                names = self._gathered(path)
                if argument is not None:
                    yield from self.fields(argument, names)
            case typed.Variable(name=name) if inner is not None and name in inner:
                return
            case typed.AttributeOf(label=label) | typed.TimeOf(label=label) if inner is not None and label in inner:
                return
            case _:
                yield self.field_of(expression)

    def _gathered(self, path: tuple[int, ...]) -> dict[str, str]:
        for gathering in self.body.gatherings:
            if path == (gathering.id,):
                return inner_of(gathering.pattern).names
        raise NotCompiledError("an aggregate of an aggregate")

    def find(self, env: Fields, aggregates: Mapping[typed.Aggregate, Code] | None = None) -> Find:
        """What names stand for where these fields are known."""

        def found(expression: typed.Expression) -> Code:
            if isinstance(expression, typed.Aggregate):
                assert aggregates is not None
                return aggregates[expression]
            return env[self.field_of(expression)]

        return found

    def truths(self, conditions: Iterable[typed.Expression], find: Find) -> list[str]:
        """Conditions as tests."""
        return [f"({self.unit.expressions.truth(condition, find)})" for condition in conditions]

    # --- what is used where

    def _wanted(self) -> Iterator[Field]:
        """What must be known of a match when it is complete."""
        body = self.body
        for expression in (*(term for _, term in self.rule.head), *body.where, *body.on):
            yield from self.fields(expression)
        for label in (name for r in body.related for name in (r.left, r.right)):
            yield from self._times(label)
        for timer in body.timers:
            if timer.of in self.labels and self.labels[timer.of] in self.nodes:
                yield from self._times(timer.of)
        if self.rule.beginning is not None:
            yield from self._times(self.rule.beginning)
        for part in self.inner_parts:
            inner = inner_of(part.pattern)
            for condition in inner.conditions:
                yield from self.fields(condition, inner.names)
            for name in part.shared:
                yield self.field_of_variable(name)
            yield from self.span(part.scope)

    def _times(self, label: str) -> Iterator[Field]:
        if label not in self.labels:
            raise NotCompiledError("a name that is not an event's")
        if self.labels[label] in self.nodes:
            yield ("start", self.labels[label])
            yield ("end", self.labels[label])

    def span(self, scope: typed.Scope) -> tuple[Field, Field]:
        """Where a scope begins and ends."""
        match scope:
            case typed.During(label=label):
                if label not in self.labels:
                    raise NotCompiledError("a name that is not an event's")
                return ("start", self.labels[label]), ("end", self.labels[label])
            case typed.Between(pair=id_):
                pair = self.pair(id_)
                return ("end", pair.left.id), ("start", pair.right.id)
            case typed.Inside(pattern=id_):
                return ("start", id_), ("end", id_)

    def _place_conditions(self) -> None:
        """Each condition is checked at the innermost pattern that knows all it uses; with contexts, at the end."""
        timers = {timer.id for timer in self.body.timers}
        selected = isinstance(self.root, typed.Pair) and self.root.left_context is not None
        for condition in (*self.body.on, *self.body.where):
            uses = {f[1] for f in self.fields(condition)}
            if selected and condition in self.body.on and uses <= self.atoms.keys():
                continue  # it decides which instances are selected
            if self.selecting or has_aggregate(condition) or uses & timers:
                self.checked_last.append(condition)
                continue
            node = self.root
            while uses:
                inner = [n for n in _parts(node) if uses <= {*(a.id for a in self.below(n)), n.id}]
                if not inner:
                    break
                node = inner[0]
            self.checked.setdefault(node.id, []).append(condition)


def _parts(node: typed.Pattern) -> list[typed.Pattern]:
    match node:
        case typed.Pair(left=left, right=right):
            return [left, right]
        case typed.Lacking(pattern=inner):
            return [inner]
        case _:
            return []
