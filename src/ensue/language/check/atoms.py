"""Atoms: events with their arguments, and timers. Finds the patterns of a body, and where variables are bound."""

from __future__ import annotations

from collections import Counter
from itertools import count

from ensue.language import syntax, typed
from ensue.language.aggregates import AGGREGATES
from ensue.language.check.declarations import Declarations, Event
from ensue.language.check.expressions import Expressions, type_of
from ensue.language.check.phrases import a, written
from ensue.language.check.scope import Label, Scope
from ensue.language.diagnostics import did_you_mean
from ensue.language.functions import TIMERS
from ensue.language.limits import FARTHEST
from ensue.language.source import Span
from ensue.language.types import common, comparable
from ensue.records import dataclass

RELATIVE_TIMERS = frozenset({"extend", "extend_backward", "shift", "following", "preceding"})


@dataclass(frozen=True)
class Elsewhere:
    """A variable that must not be bound outside a part of the rule, and the error if it is."""

    code: str
    name: str
    part: Span
    message: str
    hint: str
    place: Span | None = None
    """Position to report; None is the position where the variable is bound outside."""


class Atoms:
    """Checks the atoms of one rule, and knows where each variable is bound; `patterns.Patterns` composes them."""

    def __init__(self, declarations: Declarations, rule: syntax.Node, head_variables: set[str]) -> None:
        self.declarations = declarations
        self.report = declarations.report
        self.expressions = Expressions(declarations)
        self.ids = count(1)
        self.head_variables = head_variables
        self.bare: set[str] = set()
        """Events that stand without parentheses."""
        self.occurrences = Counter(self._atom_variables(rule))
        """In how many atoms each variable occurs."""
        self.expressions.labelled = given_names(rule)
        self.expressions.written = set(self.occurrences) | self.expressions.labelled
        self.bound: list[tuple[str, Span]] = []
        """Each variable that is bound positively, with the place of its atom."""
        self.used: list[tuple[str, Span]] = []
        """Each variable of an atom, negated and collected ones included."""
        self.elsewhere: list[Elsewhere] = []
        """Names that must not be bound outside a part of the rule."""
        self.excused: set[Span] = set()
        """Repetitions without neighbours that are not reported."""

    @property
    def names(self) -> set[str]:
        """The names that the rule gives to events, the variables of its atoms, and events without arguments."""
        return self.expressions.written | self.bare

    def _atom_variables(self, node: syntax.Node) -> list[str]:
        """The variables of each atom of a pattern or body, each once for an atom; those of conditions are left out."""
        found: list[str] = []
        waiting: list[syntax.Node] = [node.body if isinstance(node, syntax.EventRule) else node]
        while waiting:
            match waiting.pop():
                case syntax.Body(items=items):
                    for item in items:
                        if isinstance(item, syntax.Call) and item.name.text in self.declarations.predicates:
                            found += _variables(item)
                        else:
                            waiting.append(item)
                case syntax.Call(name=name) as call if self.is_event_name(name):
                    found += _variables(call)
                case syntax.Name(text=text) if text in self.declarations.events:
                    self.bare.add(text)
                case syntax.Call() | syntax.Arithmetic() | syntax.Case():
                    pass
                case condition if isinstance(condition, syntax.Condition):
                    pass
                case other:
                    waiting.extend(other.children())
        return found

    def is_event_name(self, name: syntax.Name) -> bool:
        """True if a call of this name is an event: declared, derived, quoted, or known as nothing else."""
        known, text = self.declarations, name.text
        other = text in known.predicates or known.signature(text) is not None or text in AGGREGATES
        return text in known.events or name.quoted or not other

    # --- what is a pattern

    def is_pattern(self, node: syntax.Node) -> bool:
        """True if a node is a pattern of events; otherwise it is a condition."""
        match node:
            case syntax.Call(name=name):
                return self.is_event_name(name)
            case syntax.Name(text=text):
                return text in self.declarations.events or text not in self.occurrences
            case syntax.And(operands=operands) | syntax.Or(operands=operands):
                return any(self.is_pattern(operand) for operand in operands)
            case (
                syntax.Among(operand=syntax.Call(name=name))
                | syntax.Not(operand=syntax.Among(operand=syntax.Call(name=name)))
            ):
                return name.text in self.declarations.events
            case syntax.Group(body=body):
                return len(body.items) > 1 or bool(body.suffixes) or self.is_pattern(body.items[0])
            case (
                syntax.Temporal() | syntax.Without() | syntax.InContext() | syntax.Repeat() | syntax.Labelled()
                | syntax.NotIn() | syntax.Absence() | syntax.Collection() | syntax.Window()
                | syntax.SinceWindow()
            ):  # fmt: skip
                return True
            case _:
                return False

    def _missing(self) -> tuple[typed.Pattern, Scope]:
        """Stands where something was wrong and has been reported."""
        self.expressions.incomplete = True
        return typed.Moment(next(self.ids), 0), Scope()

    # --- atoms

    def _event(self, node: syntax.Call | syntax.Name, label: syntax.Name | None) -> tuple[typed.Pattern, Scope]:
        call = node if isinstance(node, syntax.Call) else syntax.Call(node, span=node.span)
        name = call.name.text
        if name in TIMERS and not call.name.quoted:
            return self._timer(call, label)
        event = self.event(call.name, positional=bool(call.arguments) and call.arguments[0].name is None)
        if event is None:
            return self._missing()
        values = self._arguments(call, event)
        scope = Scope()
        fields: list[tuple[str, typed.Variable | typed.Constant]] = []
        for attribute, argument in values:
            wanted = event.types[attribute]
            match argument:
                case syntax.Name(text=text):
                    fields.append((attribute, typed.Variable(text, wanted)))
                    if text != attribute:
                        self.expressions.attributes.setdefault(attribute, (name, text))
                    self.bound.append((text, argument.span))
                    self.used.append((text, argument.span))
                    known = scope.variables.get(text)
                    if known is not None and not comparable(known, wanted):
                        self._never_equal(text, known, wanted, argument.span)
                    scope.variables[text] = wanted if known is None else common(known, wanted) or "any"
                case _:
                    fields.append((attribute, self.constant(argument, wanted)))
        if label is not None:
            scope.labels[label.text] = Label(name, label.span)
        found = typed.Atom(next(self.ids), name, tuple(fields), label.text if label else None, call.span)
        return found, scope

    def _never_equal(self, name: str, one: str, other: str, span: Span) -> None:
        self.report.error(
            "E202", span, f"`{name}` is {a(other)} here and {a(one)} elsewhere, and the two are never equal",
            "use two variables, and convert one in a condition",
        )  # fmt: skip

    def event(self, name: syntax.Name, positional: bool) -> Event | None:
        """An event type by its name; one that is neither declared nor derived must be used with named attributes."""
        known = self.declarations.events
        found = known.get(name.text)
        if found is not None and not (found.open and positional):
            return found
        if name.text in self.declarations.lost:
            return None  # its declaration is wrong, which is reported already
        if found is None and not name.quoted and (other := self._other_use(name.text)) is not None:
            self.report.error("E408", name.span, f"`{name.text}` is {other[0]}, and an event is needed here", other[1])
            return None
        silent = positional and self.report.crowded
        names = [n for n, e in known.items() if not e.open]
        guess = None if silent else did_you_mean(name.text, names, sure=not positional)
        if guess is None and positional and not silent and not name.quoted:
            guess = did_you_mean(name.text, TIMERS.keys() - {"at"}, sure=True)
        if positional or guess:
            if guess or self.report.is_first("E101", name.text):  # where no slip is likely, once is enough
                hint = guess or f"declare it, as in `event {name.text}(id: int).`, or write a rule for it"
                self.report.error("E101", name.span, f"there is no event `{name.text}`", hint)
            return None
        known[name.text] = Event(name.text, [], {}, open=True, place=name.span)
        return known[name.text]

    def _other_use(self, name: str) -> tuple[str, str] | None:
        """Kind of a name that is no event, and a hint where such a name belongs."""
        if name in self.declarations.predicates:
            return "a table or static predicate", "make it a separate item, after a comma, or put it after `where`"
        if self.declarations.signature(name) is not None:
            return "a function", "put it into a condition, after `where`"
        if name in AGGREGATES:
            return "an aggregate", "use aggregates in the head and after `where`"
        return None

    def _arguments(self, call: syntax.Call, event: Event) -> list[tuple[str, syntax.Expression]]:
        """Pairs of an attribute and the expression that it must equal."""
        if event.open:
            for argument in call.arguments:
                if argument.name is not None:
                    self.expressions.attribute_type(event.name, argument.name)
        if event.derived and not event.declared and not event.attributes and not call.arguments:
            return []
        given = self.expressions.by_position(call, event.attributes, f"the event `{event.name}`")
        if given is None:
            self.expressions.incomplete = True
            return []
        return [(n, v) for n, v in zip(event.attributes, given, strict=True) if v is not None]

    def constant(self, node: syntax.Expression, wanted: str) -> typed.Constant:
        """A constant in an atom: it filters."""
        value: typed.Value
        type_: str | None = None
        match node:
            case syntax.Literal(value=None):
                self.report.error(
                    "E202", node.span, "nothing is equal to null, so this never matches",
                    "use a variable, and `x is null` after `where`",
                )  # fmt: skip
                return typed.Constant(None, "null")
            case syntax.Literal(value=str() as text, timestamp=known) if known or wanted == "timestamp":
                value, type_ = self.declarations.timestamp(text, node.span), "timestamp"
            case syntax.Literal(value=value):
                pass
            case syntax.Amount():
                value = self.declarations.duration(node)
            case syntax.Negative(operand=syntax.Amount() as amount):
                value = -self.declarations.duration(amount)
            case syntax.Negative(operand=syntax.Literal(value=0 | 0.0 as zero)) if not isinstance(zero, bool):
                value = -zero
            case _:
                self.report.error(
                    "E206", node.span, "an argument of an event is a variable or a constant",
                    "use a variable, and a condition: `where x = …`",
                )  # fmt: skip
                return typed.Constant(None, "any")
        type_ = type_ or type_of(value)
        if not comparable(type_, wanted):
            self.report.error("E202", node.span, f"{a(wanted)} is needed here, this is {a(type_)}", written(wanted))
        return typed.Constant(value, type_)

    def _timer(self, call: syntax.Call, label: syntax.Name | None) -> tuple[typed.Pattern, Scope]:
        name = call.name.text
        if name in RELATIVE_TIMERS:
            self.report.error(
                "E405", call.span, f"the timer `{name}` must be an item of the body",
                f"name it there: `…, w: {name}(…), …`, and use `w` here",
            )  # fmt: skip
            return self._missing()
        scope = Scope(labels={label.text: Label(None, label.span)} if label else {})
        text = label.text if label else None
        match name, call.arguments:
            case "at", (syntax.Argument(value=syntax.Literal(value=str() as moment), name=None),):
                time = self.declarations.moment(moment, call.arguments[0].span)
                self.declarations.durations = True  # so that integer times without a unit are refused
                return typed.Moment(next(self.ids), time, text), scope
            case _, (syntax.Argument(name=None) as argument,) if (length := self.length(argument.value)) is not None:
                if name == "at":
                    if abs(length) > FARTHEST:
                        self.report.error(
                            "E007", argument.span, "this time is too far away", f"times lie within {FARTHEST:,} of 0"
                        )
                    return typed.Moment(next(self.ids), length, text), scope
                length = self.declarations.not_too_long(length, argument.span)
                if length > 0:
                    return typed.Periodic(next(self.ids), length, text), scope
                self.report.error("E504", argument.span, "the period of a timer must be positive", "as in `every(5m)`")
            case _:
                hint = '`at("2026-12-25T12:00:00Z")`' if name == "at" else "`every(5m)`"
                self.report.error(
                    "E405", call.span, f"the timer `{name}` takes one {'time' if name == 'at' else 'length'}",
                    f"as in {hint}",
                )  # fmt: skip
        return self._missing()[0], scope

    def length(self, node: syntax.Expression) -> int | None:
        """A length of time written as a constant, with its sign."""
        match node:
            case syntax.Amount():
                return self.declarations.duration(node)
            case syntax.Literal(value=int() as value) if not isinstance(value, bool):
                return value
            case syntax.Negative(operand=syntax.Amount() as amount):
                return -self.declarations.duration(amount)
            case syntax.Negative(operand=syntax.Literal(value=int() as zero)) if not isinstance(zero, bool):
                return -zero
            case _:
                return None


def is_timer(node: syntax.Node) -> bool:
    """True if a node is a timer, with or without a label."""
    match node:
        case syntax.Call(name=name) | syntax.Labelled(pattern=syntax.Call(name=name)):
            return name.text in TIMERS and not name.quoted
        case _:
            return False


def is_relative_timer(node: syntax.Node) -> bool:
    """True if something is ``extend(…)``, ``following(…)`` or the like, with or without a name."""
    match node:
        case syntax.Call(name=name) | syntax.Labelled(pattern=syntax.Call(name=name)):
            return name.text in RELATIVE_TIMERS and not name.quoted
        case _:
            return False


def _variables(call: syntax.Call) -> set[str]:
    """The variables among the arguments of a call."""
    values = (argument.value for argument in call.arguments)
    return {value.text for value in values if isinstance(value, syntax.Name) and value.text != "_"}


def given_names(node: syntax.Node) -> set[str]:
    """The names given to patterns in a body, deep inside included."""
    found: set[str] = set()
    waiting: list[syntax.Node] = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, syntax.Labelled):
            found.add(current.name.text)
        waiting.extend(current.children())
    return found
