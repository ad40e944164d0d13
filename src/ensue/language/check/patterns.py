"""Patterns: atoms, pairings with their contexts, alternatives, repetitions, and the scopes they bind."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import count

from ensue.language import syntax, typed
from ensue.language.check.declarations import Declarations, Event
from ensue.language.check.expressions import Expressions, type_of
from ensue.language.check.phrases import a, written
from ensue.language.check.scope import Label, Scope
from ensue.language.diagnostics import did_you_mean
from ensue.language.functions import AGGREGATES, FUNCTIONS, TIMERS
from ensue.language.limits import DEEPEST
from ensue.language.relations import BOTH, TOLERANT, UNBOUNDED, brackets, relation
from ensue.language.source import Span
from ensue.language.types import common, comparable

RELATIVE_TIMERS = frozenset({"extend", "extend_backward", "shift"})

POLICIES: dict[str, typed.Context | None] = {
    "snoop_recent": typed.Context("continuous", "chronicle"),
    "snoop_chronicle": typed.Context("chronicle", "chronicle"),
    "snoop_continuous": typed.Context("chronicle", "continuous"),
    "snoop_cumulative": typed.Context("cumulative", "chronicle"),
    "unrestricted": None,
    "restricted": None,
}

DEFAULT_CONTEXT = typed.Context("chronicle", "chronicle")

TERMINATORS = ("chronicle", "continuous")
TERMINATORS_HINT = "a terminator is `chronicle` (used once) or `continuous` (pairs with every initiator offered)"

CONTEXT_WORDS = re.compile(r"\w+(\s*/\s*\w+)?")


@dataclass(frozen=True)
class Place:
    """Where a body stands: its policy, the parentheses around it, and what it sees from outside."""

    policy: str | None = None
    group: Span | None = None
    """The parentheses around it, if any."""
    outer: Scope | None = None
    positive: bool = True
    """Not inside anything negated or collected."""


@dataclass
class Pending:
    """Parts of a body that can be resolved only when all its names are known."""

    absences: list[tuple[typed.Scope, syntax.Expression, Scope]] = field(default_factory=list)
    gatherings: list[tuple[typed.Between, syntax.Repeat, Scope]] = field(default_factory=list)


@dataclass(frozen=True)
class Constituent:
    """An operand of a pairing, with the context written before it."""

    pattern: typed.Pattern
    scope: Scope
    words: syntax.InContext | None
    span: Span


@dataclass(frozen=True)
class Elsewhere:
    """A variable that must not be bound outside a part of the rule: what to say if it is."""

    code: str
    name: str
    part: Span
    message: str
    hint: str
    place: Span | None = None
    """Where to say it; None is where the variable is bound outside."""


class Patterns:
    """Checks the patterns of one rule; `bodies.Bodies` adds what stands around them."""

    def __init__(self, declarations: Declarations, rule: syntax.Node, head_variables: set[str]) -> None:
        self.declarations = declarations
        self.report = declarations.report
        self.expressions = Expressions(declarations)
        self.ids = count(1)
        self.head_variables = head_variables
        self.occurrences = Counter(self._atom_variables(rule))
        """In how many atoms each variable occurs."""
        self.expressions.written = set(self.occurrences) | given_names(rule)
        self.bound: list[tuple[str, Span]] = []
        """Each variable that is bound positively, with the place of its atom."""
        self.used: list[tuple[str, Span]] = []
        """Each variable of an atom, negated and collected ones included."""
        self.elsewhere: list[Elsewhere] = []
        """Names that must not be bound outside a part of the rule."""
        self.excused: set[Span] = set()
        """Repetitions without neighbours of which nothing needs to be said."""

    def _atom_variables(self, node: syntax.Node) -> list[str]:
        """The variables of each atom of a pattern or body, each once for an atom; what only conditions use aside."""
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
                case syntax.Call(name=name) as call if self.is_event_name(name.text):
                    found += _variables(call)
                case syntax.Call() | syntax.Comparison() | syntax.Not() | syntax.Arithmetic():
                    pass
                case other:
                    waiting.extend(other.children())
        return found

    def is_event_name(self, name: str) -> bool:
        """Whether a call by this name is an event: one that is declared or derived, or nothing else that is known."""
        known = self.declarations
        return name in known.events or not (name in known.predicates or name in FUNCTIONS or name in AGGREGATES)

    # --- what is a pattern

    def is_pattern(self, node: syntax.Node) -> bool:
        """Whether something means events; otherwise it is a condition."""
        match node:
            case syntax.Call(name=name):
                return self.is_event_name(name.text)
            case syntax.Name(text=text):
                return text in self.declarations.events or text not in self.occurrences
            case syntax.And(operands=operands) | syntax.Or(operands=operands):
                return any(self.is_pattern(operand) for operand in operands)
            case syntax.Group(body=body):
                return len(body.items) > 1 or bool(body.suffixes) or self.is_pattern(body.items[0])
            case (
                syntax.Temporal() | syntax.Without() | syntax.InContext() | syntax.Repeat() | syntax.Labelled()
                | syntax.NotIn() | syntax.Absence() | syntax.Collection() | syntax.LastWindow() | syntax.EachWindow()
                | syntax.SinceWindow()
            ):  # fmt: skip
                return True
            case _:
                return False

    # --- patterns

    def pattern(self, node: syntax.Node, place: Place, pending: Pending) -> tuple[typed.Pattern, Scope]:
        match node:
            case syntax.Call() | syntax.Name():
                return self._event(node, None)
            case syntax.Labelled():
                return self._labelled(node, place)
            case syntax.Group(body=body):
                return self._nested(body, node.span, None, place)
            case syntax.And(operands=operands):
                parts = [self.constituent(operand, place, pending) for operand in operands]
                return self.conjunction(parts, place)
            case syntax.Or():
                return self._either(node, place, pending)
            case syntax.Without(pattern=inner, absent=absent):
                found, scope = self.pattern(inner, place, pending)
                id_ = next(self.ids)
                pending.absences.append((typed.Inside(id_), absent, scope))
                return typed.Lacking(id_, found), scope
            case syntax.Temporal():
                return self._chain(node, place, pending)
            case syntax.Repeat():
                return self._run(node, place)
            case syntax.InContext():
                self._report_idle_context(node)
                return self.pattern(node.pattern, place, pending)
            case syntax.Comparison() | syntax.Not():
                self.report.error(
                    "E408", node.span, "this is a condition, and cannot be joined to a pattern here",
                    "give it an item of its own, after a comma, or put it behind `where`",
                )  # fmt: skip
                return self._missing()
            case _:
                self.report.error(
                    "E408", node.span, "this is a value, and an event is needed here",
                    "relate patterns or names of matched events; values are compared behind `where`",
                )  # fmt: skip
                return self._missing()

    def _missing(self) -> tuple[typed.Pattern, Scope]:
        """Stands where something was wrong and has been reported."""
        self.expressions.incomplete = True
        return typed.Moment(next(self.ids), 0), Scope()

    def constituent(self, node: syntax.Node, place: Place, pending: Pending) -> Constituent:
        if not isinstance(node, syntax.InContext):
            return Constituent(*self.pattern(node, place, pending), None, node.span)
        if not self.check_context(node):
            repeated = isinstance(node.pattern, syntax.Repeat)
            found, scope = self.pattern(node.pattern, place, pending) if repeated else self._missing()
            return Constituent(found, scope, None, node.span)
        if place.policy is not None:
            self.report.error(
                "E401", self.context_span(node), f"a context cannot stand beside `policy {place.policy}`",
                "use either contexts or a policy",
            )  # fmt: skip
        words = node if place.policy is None else None
        return Constituent(*self.pattern(node.pattern, place, pending), words, node.span)

    def check_context(self, node: syntax.InContext) -> bool:
        """Whether what stands behind a context can have one; says so if not."""
        hint = "leave the context out; events and patterns of events take one"
        match node.pattern:
            case syntax.Repeat():
                what, hint = "a repetition", "put the context on a constituent that is not repeated"
            case pattern if is_timer(pattern):
                what = "a timer"
            case syntax.Group(body=syntax.Body(items=(syntax.NotIn(),), suffixes=())):
                what = "`not … in`"
            case syntax.Group(body=syntax.Body(items=(syntax.Repeat(),), suffixes=())):
                what, hint = "a repetition", "put the context on a constituent that is not repeated"
            case pattern if not self.is_pattern(pattern):
                what = "a condition"
            case _:
                return True
        self.report.error("E401", self.context_span(node), f"{what} takes no context", hint)
        return False

    def context_span(self, node: syntax.InContext) -> Span:
        """The words of a context, without what stands behind them."""
        words = CONTEXT_WORDS.match(self.report.source.text, node.span.start)
        return Span(*words.span()) if words else node.span

    def _report_idle_context(self, node: syntax.InContext) -> None:
        self.report.error(
            "E401", self.context_span(node), f"`{node.initiator}` has nothing to select from here",
            "a context stands before one side of `seq`, `and`, a comma or another temporal operator",
        )  # fmt: skip

    # --- atoms

    def _labelled(self, node: syntax.Labelled, place: Place) -> tuple[typed.Pattern, Scope]:
        match node.pattern:
            case syntax.Call() | syntax.Name():
                found, scope = self._event(node.pattern, node.name)
            case syntax.Group(body=body):
                found, scope = self._nested(body, node.pattern.span, node.name, place)
            case _:
                self.report.error(
                    "E408", node.span, "only an event or a pattern in parentheses can be named", "leave the name out"
                )
                return self._missing()
        return found, scope

    def _event(self, node: syntax.Call | syntax.Name, label: syntax.Name | None) -> tuple[typed.Pattern, Scope]:
        call = node if isinstance(node, syntax.Call) else syntax.Call(node, span=node.span)
        name = call.name.text
        if name in TIMERS and name not in self.declarations.events:
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
                    if text in scope.variables and not comparable(scope.variables[text], wanted):
                        self._never_equal(text, scope.variables[text], wanted, argument.span)
                    scope.variables[text] = wanted
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
            return None  # its declaration is wrong, which has been said
        if found is None and (other := self._other_use(name.text)) is not None:
            self.report.error("E408", name.span, f"`{name.text}` is {other[0]}, and an event is needed here", other[1])
            return None
        silent = positional and self.report.crowded
        names = [n for n, e in known.items() if not e.open]
        guess = None if silent else did_you_mean(name.text, names, sure=not positional)
        if positional or guess:
            if guess or self.report.is_first("E101", name.text):  # where no slip is likely, once is enough
                hint = guess or f"declare it, as in `event {name.text}(id: int).`, or write a rule for it"
                self.report.error("E101", name.span, f"there is no event `{name.text}`", hint)
            return None
        known[name.text] = Event(name.text, [], {}, open=True, place=name.span)
        return known[name.text]

    def _other_use(self, name: str) -> tuple[str, str] | None:
        """What a name is, if not an event, and where that stands."""
        if name in self.declarations.predicates:
            return "a table or static predicate", "give it an item of its own, after a comma, or put it behind `where`"
        if name in FUNCTIONS:
            return "a function", "put it into a condition, behind `where`"
        if name in AGGREGATES:
            return "an aggregate", "aggregates stand in the head and behind `where`"
        return None

    def _arguments(self, call: syntax.Call, event: Event) -> list[tuple[str, syntax.Expression]]:
        """Which attribute equals what."""
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
        match node:
            case syntax.Literal(value=None):
                self.report.error(
                    "E202", node.span, "nothing is equal to null, so this never matches",
                    "use a variable, and `is_null(…)` behind `where`",
                )  # fmt: skip
                return typed.Constant(None, "null")
            case syntax.Literal(value=str() as text) if wanted == "timestamp":
                return typed.Constant(self.declarations.moment(text, node.span), "timestamp")
            case syntax.Literal(value=value):
                pass
            case syntax.Amount():
                value = self.declarations.length(node)
            case syntax.Negative(operand=syntax.Amount() as amount):
                value = -self.declarations.length(amount)
            case syntax.Negative(operand=syntax.Literal(value=0 | 0.0 as zero)) if not isinstance(zero, bool):
                value = -zero
            case _:
                self.report.error(
                    "E206", node.span, "an argument of an event is a variable or a constant",
                    "use a variable, and a condition: `where x = …`",
                )  # fmt: skip
                return typed.Constant(None, "any")
        if not comparable(type_of(value), wanted):
            self.report.error(
                "E202", node.span, f"{a(wanted)} is needed here, this is {a(type_of(value))}", written(wanted)
            )
        return typed.Constant(value, type_of(value))

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
                return typed.Moment(next(self.ids), time, text), scope
            case _, (syntax.Argument(name=None) as argument,) if (length := self.length(argument.value)) is not None:
                if name == "at":
                    return typed.Moment(next(self.ids), length, text), scope
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
                return self.declarations.length(node)
            case syntax.Literal(value=int() as value) if not isinstance(value, bool):
                return value
            case syntax.Negative(operand=syntax.Amount() as amount):
                return -self.declarations.length(amount)
            case syntax.Negative(operand=syntax.Literal(value=int() as zero)) if not isinstance(zero, bool):
                return -zero
            case _:
                return None

    # --- composition

    def _nested(
        self, body: syntax.Body, span: Span, label: syntax.Name | None, place: Place
    ) -> tuple[typed.Pattern, Scope]:
        found, scope = self.body(body, Place(place.policy, span, place.outer, place.positive))
        visible = Scope(dict(scope.variables), dict(scope.labels), set(scope.partial), dict(scope.gathered))
        if label is not None:
            if label.text in visible.labels:
                self._duplicate_label(label.text, label.span)
            visible.labels[label.text] = Label(None, label.span)
        return typed.Nested(next(self.ids), found, label.text if label else None), visible

    def body(self, node: syntax.Body, place: Place) -> tuple[typed.Body, Scope]:
        raise AssertionError("made in bodies.Bodies")

    def _either(self, node: syntax.Or, place: Place, pending: Pending) -> tuple[typed.Pattern, Scope]:
        parts = []
        for operand in node.operands:
            if self.is_pattern(operand):
                parts.append(self.pattern(operand, place, pending))
                continue
            self.report.error(
                "E408", operand.span, "this is a condition, and another side of the `or` is an event",
                "write a rule for each side, or put the condition behind `where`",
            )  # fmt: skip
            parts.append(self._missing())
        scopes = [scope for _, scope in parts]
        scope = Scope()
        for name in dict.fromkeys(name for each in scopes for name in each.variables):
            types = [each.variables[name] for each in scopes if name in each.variables]
            if len(types) < len(scopes):
                scope.partial.add(name)
                self.elsewhere.append(
                    Elsewhere(
                        "E302", name, node.span, f"`{name}` is not bound on every side of the `or`",
                        f"bind `{name}` on each side, or use another variable here",
                    )
                )  # fmt: skip
                continue
            together = types[0]
            for operand, type_ in zip(node.operands[1:], types[1:], strict=True):
                if common(together, type_) is None:
                    self.report.error(
                        "E202", self.bound_place(name, operand.span),
                        f"`{name}` is {a(type_)} on this side of the `or`, and {a(together)} on another",
                        "use two variables",
                    )  # fmt: skip
                together = common(together, type_) or "any"
            scope.variables[name] = together
        for label in dict.fromkeys(label for each in scopes for label in each.labels):
            found = [each.labels.get(label) for each in scopes]
            if None in found:
                scope.partial.add(label)
            else:
                first = found[0]
                scope.labels[label] = first if first and all(other == first for other in found) else Label(None)
        for each in scopes:
            scope.partial |= each.partial
            scope.gathered.update(each.gathered)
        return typed.Either(next(self.ids), tuple(p for p, _ in parts), node.span), scope

    def conjunction(self, parts: list[Constituent], place: Place) -> tuple[typed.Pattern, Scope]:
        """All of the parts, paired from the left."""
        if len(parts) > DEEPEST:
            self.report.error(
                "E004", parts[DEEPEST].span, f"this joins {len(parts)} events: there can be {DEEPEST}",
                "give some of them a rule of their own, and use its head here",
            )  # fmt: skip
            parts = parts[:DEEPEST]
            self.expressions.incomplete = True
        together = parts[0]
        for part in parts[1:]:
            pattern, scope = self._pair(BOTH, together, part, None, place)
            together = Constituent(pattern, scope, None, Span(together.span.start, part.span.end))
        if len(parts) == 1 and together.words is not None:
            self._report_idle_context(together.words)
        return together.pattern, together.scope

    def _chain(self, node: syntax.Temporal, place: Place, pending: Pending) -> tuple[typed.Pattern, Scope]:
        """A chain of temporal operators from the left; what is repeated between two `seq` is gathered between them."""
        operands: list[syntax.Expression] = [node.right]
        operators: list[syntax.Temporal] = [node]
        left = node.left
        while isinstance(left, syntax.Temporal):
            operands.append(left.right)
            operators.append(left)
            left = left.left
        operands.append(left)
        operands.reverse()
        operators.reverse()
        for index, operand in enumerate(operands):
            if isinstance(operand, syntax.InContext) and isinstance(operand.pattern, syntax.Repeat):
                self.check_context(operand)
                operands[index] = operand.pattern
            elif isinstance(operand, syntax.Repeat) and index and isinstance(operands[index - 1], syntax.Repeat):
                self.excused.add(operand.span)  # one message is enough for two repetitions side by side
        together = self.constituent(operands[0], place, pending)
        index = 1
        while index < len(operands):
            operator, operand = operators[index - 1], operands[index]
            repeated: syntax.Repeat | None = None
            if isinstance(operand, syntax.Repeat) and self._stands_between(operands, operators, index):
                repeated, index = operand, index + 1
                operand = operands[index]
            right = self.constituent(operand, place, pending)
            related = self.relation(operator)
            pattern, scope = self._pair(related, together, right, _initiator(related), place)
            if repeated is not None:
                assert isinstance(pattern, typed.Pair)
                self._check_repeat(repeated, place)
                pending.gatherings.append((typed.Between(pattern.id), repeated, scope))
            together = Constituent(pattern, scope, None, Span(together.span.start, right.span.end))
            index += 1
        return together.pattern, together.scope

    def _stands_between(self, operands: list[syntax.Expression], operators: list[syntax.Temporal], at: int) -> bool:
        """Whether a repetition has neighbours on both sides, in a chain of `seq`, that are not repeated themselves."""
        return (
            at + 1 < len(operands)
            and operators[at - 1].relation == operators[at].relation == "seq"
            and not isinstance(operands[at - 1], syntax.Repeat)
            and not isinstance(operands[at + 1], syntax.Repeat)
        )

    def _check_repeat(self, node: syntax.Repeat, place: Place) -> None:
        if node.high is not None and node.low > node.high:
            self.report.error(
                "E404", node.span, f"this repeats at least {node.low} and at most {node.high} times",
                "the smaller number comes first",
            )  # fmt: skip
        if POLICIES.get(place.policy or "") is not None:
            self.report.error(
                "E401", node.span, f"`policy {place.policy}` cannot apply to a repetition",
                "use contexts on the constituents that are not repeated",
            )  # fmt: skip

    def _run(self, node: syntax.Repeat, place: Place) -> tuple[typed.Pattern, Scope]:
        self._check_repeat(node, place)
        if node.low == node.high == 0:
            self.report.error("E404", node.span, "this repeats zero times", "give it a number above zero: `p{3}`")
        elif (node.low != node.high or node.low < 1) and node.span not in self.excused:
            self.report.error(
                "E404", node.span, "this repetition needs a neighbour on both sides that is not repeated",
                "put it between two events in one chain, `a seq p+ seq b`, or give it a fixed number: `p{3}`",
            )  # fmt: skip
        pending = Pending()
        pattern, inner = self.pattern(node.pattern, Place(None, place.group, None, place.positive), pending)
        if pending.absences or pending.gatherings:
            pattern, inner = self._nested(syntax.Body((node.pattern,), span=node.pattern.span), node.span, None, place)
        within = Counter(self._atom_variables(node.pattern))
        keys = tuple(
            name for name in inner.variables if name in self.head_variables or self.occurrences[name] > within[name]
        )
        id_ = next(self.ids)
        scope = Scope({name: inner.variables[name] for name in keys}, gathered={id_: inner})
        return typed.Run(id_, pattern, node.low, keys, node.span), scope

    # --- pairs and contexts

    def relation(self, node: syntax.Temporal) -> typed.Relation:
        """A temporal operator with its bounds as lengths of time."""
        word, bounds = node.relation, node.bounds
        if word in ("during", "contains") and len(bounds) == 4 and all(bound.exact for bound in bounds):
            low, high, low_end, high_end = bounds
            bounds = (
                syntax.Bound(low.low, high.low, span=low.span.to(high.span)),
                syntax.Bound(low_end.low, high_end.low, span=low_end.span.to(high_end.span)),
            )
        if bounds and word in UNBOUNDED:
            better = "`before[…]` bounds the gap of a sequence" if word == "seq" else "`overlaps[…]` takes one"
            self.report.error("E504", bounds[0].span.to(bounds[-1].span), f"`{word}` takes no bound", better)
            return relation(word)
        if len(bounds) > brackets(word):
            most = "one bound" if brackets(word) == 1 else "at most two bounds"
            example = f"{word}[2]" if word in TOLERANT else f"{word}[1..2]"
            example = example if brackets(word) == 1 else f"{word}[1..3, 2..5]"
            self.report.error(
                "E504", bounds[0].span.to(bounds[-1].span), f"`{word}` takes {most}, here are {len(bounds)}",
                f"as in `{example}`",
            )  # fmt: skip
            return relation(word)
        return relation(word, tuple(self._bound(bound, word) for bound in bounds))

    def operator_span(self, node: syntax.Temporal) -> Span:
        """Where the word of a temporal operator stands."""
        word = re.compile(rf"\b{node.relation}\b")
        found = word.search(self.report.source.text, node.left.span.end, node.right.span.start)
        return Span(*found.span()) if found else node.span

    def _bound(self, bound: syntax.Bound, word: str) -> tuple[int | None, int | None]:
        low = self.declarations.length(bound.low) if bound.low else None
        high = self.declarations.length(bound.high) if bound.high else None
        if word in TOLERANT:
            if not bound.exact or low is None or low < 0:
                self.report.error(
                    "E504", bound.span, f"`{word}` takes a tolerance: one length, not negative",
                    f"as in `{word}[2]`: at most 2 apart",
                )  # fmt: skip
                return None, None
            return -low, low
        if low is not None and high is not None and low > high:
            self.report.error(
                "E504", bound.span, "the lower bound is above the upper one", "the smaller one comes first"
            )
        return low, high

    def _pair(
        self, related: typed.Relation, left: Constituent, right: Constituent, initiator: int | None, place: Place
    ) -> tuple[typed.Pattern, Scope]:
        contexts = self._contexts(left, right, initiator, place)
        shared = tuple(name for name in left.scope.variables if name in right.scope.variables)
        gatherings: list[int | None] = [None, None]
        sides = [left.scope, right.scope]
        for side, context in enumerate(contexts):
            if context is not None and context.initiator == "cumulative" and initiator in (None, side):
                gatherings[side] = id_ = next(self.ids)
                inner = sides[side]
                sides[side] = Scope({name: inner.variables[name] for name in shared}, gathered={id_: inner})
                span = (left, right)[side].span
                self.elsewhere.extend(
                    Elsewhere(
                        "E301", name, span, f"`{name}` has many values in the cumulative constituent",
                        f"use it in an aggregate, or share `{name}` with the other side of the cumulative constituent",
                    )
                    for name in inner.variables if name not in shared
                )  # fmt: skip
        pattern = typed.Pair(
            next(self.ids), related, left.pattern, right.pattern, shared, contexts[0], contexts[1], initiator,
            gatherings[0], gatherings[1], left.span.to(right.span),
        )  # fmt: skip
        return pattern, self.merge(sides[0], sides[1], right.span)

    def merge(self, one: Scope, other: Scope, span: Span) -> Scope:
        """The names of two patterns that both occur."""
        partial, gathered = one.partial | other.partial, one.gathered | other.gathered
        merged = Scope(dict(one.variables), dict(one.labels), partial, gathered)
        for name, type_ in other.variables.items():
            if name in merged.variables:
                if not comparable(merged.variables[name], type_):
                    self._never_equal(name, merged.variables[name], type_, self.bound_place(name, span))
                merged.variables[name] = common(merged.variables[name], type_) or "any"
            else:
                merged.variables[name] = type_
        for label, found in other.labels.items():
            if label in merged.labels:
                self._duplicate_label(label, found.span)
            merged.labels[label] = found
        return merged

    def bound_place(self, name: str, span: Span) -> Span:
        """Where a variable is bound inside a span."""
        places = (at for bound, at in self.bound if bound == name and span.start <= at.start and at.end <= span.end)
        return next(places, span)

    def _duplicate_label(self, label: str, span: Span) -> None:
        self.report.error("E106", span, f"`{label}` names two matched events", "give each of them its own name")

    def _contexts(
        self, left: Constituent, right: Constituent, initiator: int | None, place: Place
    ) -> tuple[typed.Context | None, typed.Context | None]:
        whole = POLICIES.get(place.policy or "")
        if whole is not None:
            return whole, whole
        if left.words is None and right.words is None:
            return None, None
        found = [self._context(part.words, side, initiator) for side, part in enumerate((left, right))]
        return found[0], found[1]

    def _context(self, words: syntax.InContext | None, side: int, initiator: int | None) -> typed.Context:
        if words is None:
            return DEFAULT_CONTEXT
        first, second = words.initiator, words.terminator
        span = self.context_span(words)
        if initiator is not None and second is not None:
            kept = first if side == initiator else second
            self.report.error(
                "E402", span, "in a sequence a side takes one context, for it is clear which side comes first",
                f"write only `{kept}`",
            )  # fmt: skip
            return DEFAULT_CONTEXT
        if initiator is not None and side != initiator:
            if first not in TERMINATORS:
                self.report.error(
                    "E402", span, f"`{first}` cannot stand here: this side is the terminator, which ends the pair",
                    f"put `{first}` before the other side; {TERMINATORS_HINT}",
                )  # fmt: skip
            return typed.Context("chronicle", first)
        if second is not None and second not in TERMINATORS:
            self.report.error(
                "E402", span, f"the second word is for the terminator, which cannot be `{second}`", TERMINATORS_HINT
            )
        return typed.Context(first, second or "chronicle")


def is_timer(node: syntax.Node) -> bool:
    """Whether something is a timer, with or without a name."""
    match node:
        case syntax.Call(name=name) | syntax.Labelled(pattern=syntax.Call(name=name)):
            return name.text in TIMERS
        case _:
            return False


def is_relative_timer(node: syntax.Node) -> bool:
    """Whether something is ``extend(…)``, ``extend_backward(…)`` or ``shift(…)``, with or without a name."""
    match node:
        case syntax.Call(name=name) | syntax.Labelled(pattern=syntax.Call(name=name)):
            return name.text in RELATIVE_TIMERS
        case _:
            return False


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


def _initiator(related: typed.Relation) -> int | None:
    """Which side of a relation always ends first, so that only it can be the initiator."""
    if related.word not in ("seq", "before", "after"):
        return None
    gap = related.distances[0].low
    if gap is None or gap <= 0:
        return None
    return 1 if related.word == "after" else 0


def _variables(call: syntax.Call) -> set[str]:
    """The variables among the arguments of a call."""
    values = (argument.value for argument in call.arguments)
    return {value.text for value in values if isinstance(value, syntax.Name) and value.text != "_"}
