"""Patterns: pairings with their contexts, alternatives, repetitions, and the scopes they bind."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import field

from ensue.language import syntax, typed
from ensue.language.check.atoms import Atoms, Elsewhere, is_timer
from ensue.language.check.phrases import a
from ensue.language.check.scope import Label, Scope
from ensue.language.limits import DEEPEST
from ensue.language.relations import BOTH, TOLERANT, UNBOUNDED, brackets, relation
from ensue.language.source import Span
from ensue.language.types import common, comparable
from ensue.records import dataclass

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
class BodyPosition:
    """Position of a body: its policy, the parentheses around it, and the names that it sees from outside."""

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


class Patterns(Atoms):
    """Checks the patterns of one rule; `bodies.Bodies` adds the other items of bodies."""

    # --- patterns

    def pattern(self, node: syntax.Node, place: BodyPosition, pending: Pending) -> tuple[typed.Pattern, Scope]:
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
            case syntax.Not(operand=syntax.Among()) | syntax.Among() if self.is_pattern(node):
                self.report.error(
                    "E408", node.span, "`in` compares a value, and this is an event",
                    "write an absence between two events with brackets: `not p in [a, b]`",
                )  # fmt: skip
                return self._missing()
            case syntax.Not(operand=syntax.Call(name=name)) if name.text in self.declarations.events:
                self.report.error(
                    "E408", node.span, f"`{name.text}` is an event, and its absence cannot be joined to a pattern here",
                    f"say where it is absent: `while [w]: not {name.text}(…)`, `not {name.text}(…) in [a, b]`, or "
                    f"`a without {name.text}(…)`",
                )  # fmt: skip
                return self._missing()
            case _ if isinstance(node, syntax.Condition):
                self.report.error(
                    "E408", node.span, "this is a condition, and cannot be joined to a pattern here",
                    "make it a separate item, after a comma, or put it after `where`",
                )  # fmt: skip
                return self._missing()
            case _:
                self.report.error(
                    "E408", node.span, "this is a value, and an event is needed here",
                    "relate patterns or names of matched events; values are compared after `where`",
                )  # fmt: skip
                return self._missing()

    def constituent(self, node: syntax.Node, place: BodyPosition, pending: Pending) -> Constituent:
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
        """True if the pattern of a context can have one; reports an error if not."""
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
        """The words of a context, without the pattern behind them."""
        words = CONTEXT_WORDS.match(self.report.source.text, node.span.start)
        return Span(*words.span()) if words else node.span

    def _report_idle_context(self, node: syntax.InContext) -> None:
        self.report.error(
            "E401", self.context_span(node), f"`{node.initiator}` has nothing to select from here",
            "a context stands before one side of `seq`, `and`, a comma or another temporal operator",
        )  # fmt: skip

    # --- atoms

    def _labelled(self, node: syntax.Labelled, place: BodyPosition) -> tuple[typed.Pattern, Scope]:
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

    # --- composition

    def _nested(
        self, body: syntax.Body, span: Span, label: syntax.Name | None, place: BodyPosition
    ) -> tuple[typed.Pattern, Scope]:
        found, scope = self.body(body, BodyPosition(place.policy, span, place.outer, place.positive))
        visible = Scope(dict(scope.variables), dict(scope.labels), set(scope.partial), dict(scope.gathered))
        if label is not None:
            if label.text in visible.labels:
                self._duplicate_label(label.text, label.span)
            visible.labels[label.text] = Label(None, label.span)
        return typed.Nested(next(self.ids), found, label.text if label else None), visible

    def body(self, node: syntax.Body, place: BodyPosition) -> tuple[typed.Body, Scope]:
        raise AssertionError("made in bodies.Bodies")

    def _either(self, node: syntax.Or, place: BodyPosition, pending: Pending) -> tuple[typed.Pattern, Scope]:
        parts = []
        for operand in node.operands:
            if self.is_pattern(operand):
                parts.append(self.pattern(operand, place, pending))
                continue
            self.report.error(
                "E408", operand.span, "this is a condition, and another side of the `or` is an event",
                "write a rule for each side, or put the condition after `where`",
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

    def conjunction(self, parts: list[Constituent], place: BodyPosition) -> tuple[typed.Pattern, Scope]:
        """All of the parts, paired from the left."""
        if len(parts) > DEEPEST:
            self.report.error(
                "E004", parts[DEEPEST].span, f"this joins {len(parts)} events: there can be {DEEPEST}",
                "move some of them to a separate rule, and use its head here",
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

    def _chain(self, node: syntax.Temporal, place: BodyPosition, pending: Pending) -> tuple[typed.Pattern, Scope]:
        """A chain of temporal operators from the left; a repetition between two `seq` is gathered between them."""
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
        """True if a repetition in a chain of `seq` has neighbours on both sides that are not repeated themselves."""
        return (
            at + 1 < len(operands)
            and operators[at - 1].relation == operators[at].relation == "seq"
            and not isinstance(operands[at - 1], syntax.Repeat)
            and not isinstance(operands[at + 1], syntax.Repeat)
        )

    def _check_repeat(self, node: syntax.Repeat, place: BodyPosition) -> None:
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

    def _run(self, node: syntax.Repeat, place: BodyPosition) -> tuple[typed.Pattern, Scope]:
        self._check_repeat(node, place)
        if node.low == node.high == 0:
            self.report.error("E404", node.span, "this repeats zero times", "give it a number above zero: `p{3}`")
        elif (node.low != node.high or node.low < 1) and node.span not in self.excused:
            self.report.error(
                "E404", node.span, "this repetition needs a neighbour on both sides that is not repeated",
                "put it between two events in one chain, `a seq p+ seq b`, or give it a fixed number: `p{3}`",
            )  # fmt: skip
        pending = Pending()
        pattern, inner = self.pattern(node.pattern, BodyPosition(None, place.group, None, place.positive), pending)
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
        """Span of the word of a temporal operator."""
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
        self, related: typed.Relation, left: Constituent, right: Constituent, initiator: int | None, place: BodyPosition
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
        """Position where a variable is first bound inside a span; the span itself if it is not."""
        places = (at for bound, at in self.bound if bound == name and span.start <= at.start and at.end <= span.end)
        return next(places, span)

    def _duplicate_label(self, label: str, span: Span) -> None:
        self.report.error("E106", span, f"`{label}` names two matched events", "give each of them its own name")

    def _contexts(
        self, left: Constituent, right: Constituent, initiator: int | None, place: BodyPosition
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
                "E402", span, "each side of a sequence takes one context, because its order is known",
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


def _initiator(related: typed.Relation) -> int | None:
    """Side of a relation that always ends first, so that only it can be the initiator; None if neither does."""
    if related.word not in ("seq", "before", "after"):
        return None
    gap = related.distances[0].low
    if gap is None or gap <= 0:
        return None
    return 1 if related.word == "after" else 0
