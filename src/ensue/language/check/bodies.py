"""Bodies: items sorted by kind, names made visible, suffixes, absences, collections and windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ensue.language import syntax, typed
from ensue.language.check.atoms import Elsewhere, given_names, is_relative_timer, is_timer
from ensue.language.check.patterns import POLICIES, BodyPosition, Pending
from ensue.language.check.scope import Scope
from ensue.language.check.timers import Timers
from ensue.language.diagnostics import did_you_mean
from ensue.language.source import Span
from ensue.language.types import comparable
from ensue.language.walk import names_used, pairs, visible_variables
from ensue.language.windows import WINDOWS, WORDS, kind_written
from ensue.records import dataclass

Windowed = syntax.Window | syntax.SinceWindow


@dataclass
class Sorted:
    """The items of a body by kind."""

    patterns: list[syntax.Node] = field(default_factory=list)
    gaps: list[syntax.NotIn] = field(default_factory=list)
    timers: list[tuple[syntax.Call, syntax.Name | None]] = field(default_factory=list)
    lookups: list[syntax.Call] = field(default_factory=list)
    related: list[syntax.Temporal] = field(default_factory=list)
    conditions: list[syntax.Expression] = field(default_factory=list)
    absences: list[syntax.Absence] = field(default_factory=list)
    collections: list[syntax.Collection] = field(default_factory=list)
    windows: list[Windowed] = field(default_factory=list)


class Bodies(Timers):
    """Checks the bodies of one rule."""

    def body(self, node: syntax.Body, place: BodyPosition) -> tuple[typed.Body, Scope]:
        policy = self._policy(node) or place.policy
        place = BodyPosition(policy, place.group, place.outer, place.positive)
        items = self._sort(node, place.outer)
        pending = Pending()
        pattern, scope = self._constituents(items, place, pending)
        scope.outer = place.outer
        lookups = tuple(lookup for item in items.lookups if (lookup := self._lookup(item, scope)) is not None)
        timers = self.timers(items.timers, scope)
        window = self._window(items.windows, scope, place)
        if pattern is None and window is None and not self.expressions.incomplete:
            self._report_no_event(node, items, place)
        pairing = self._pairing_scope(pattern, scope)
        absences = self._absences(items, pending, scope, place)
        gatherings = self._gatherings(items, pending, scope, place)
        related = tuple(each for item in items.related if (each := self._related(item, pairing)) is not None)
        where = [c for item in items.conditions for c in self.expressions.conjuncts(item, scope)]
        on: list[typed.Expression] = []
        on_places: list[Span] = []
        within: int | None = None
        lasting: int | None = None
        for suffix in node.suffixes:
            match suffix:
                case syntax.On(condition=condition):
                    on.extend(self.expressions.conjuncts(condition, pairing, aggregates=False))
                    on_places += [condition.span] * (len(on) - len(on_places))
                case syntax.Where(condition=condition):
                    where.extend(self.expressions.conjuncts(condition, scope))
                case syntax.Within(length=length):
                    value = self._suffix_length(length)
                    within = value if within is None else min(value, within)
                case syntax.Lasting(length=length):
                    value = self._suffix_length(length)
                    if lasting is not None and lasting != value:
                        self.report.error(
                            "E501", suffix.span, "a pattern cannot last two different lengths", "write `lasting` once"
                        )
                    lasting = value
                case syntax.Once() | syntax.AtMost() if place.group is not None:
                    self.report.error(
                        "E411", suffix.span, "`once` and `at most` stand at the end of a rule, not inside it",
                        "put it behind the whole body, after the last parenthesis",
                    )  # fmt: skip
        keep = self.declarations.keep
        if policy == "restricted" and keep is not None:
            within = keep if within is None else min(within, keep)  # so its memory stays as small as it is
        conditions = [(set(names_used(c)), at) for c, at in zip(on, on_places, strict=True)]
        conditions += [({r.left, r.right}, r.span) for r in related]
        self._check_pairing_names(pattern, scope, conditions)
        found = typed.Body(
            pattern, timers, lookups, related, tuple(on), tuple(where), within, lasting, absences, gatherings, window,
            policy == "restricted", self._correlation() if policy == "restricted" else (), node.span,
            keep,
        )  # fmt: skip
        if policy == "restricted":
            self._check_restricted(node, items)
        return found, scope

    def _report_no_event(self, node: syntax.Body, items: Sorted, place: BodyPosition) -> None:
        self.expressions.incomplete = True
        items.conditions.clear()
        if place.group is not None:
            self.report.error(
                "E409", node.span, "there is no event in these parentheses",
                "leave the parentheses out, or join conditions with `and`",
            )  # fmt: skip
        else:
            self.report.error(
                "E409", node.span, "there is no event in this body",
                "a rule with `<-` matches at least one event; a static rule is written with `:-`",
            )  # fmt: skip

    # --- sorting the items

    def _sort(self, node: syntax.Body, outer: Scope | None) -> Sorted:
        labels = given_names(node)
        items = Sorted()
        for item in node.items:
            self._sort_item(item, items, labels, outer)
        return items

    def _sort_item(self, item: syntax.Node, items: Sorted, labels: set[str], outer: Scope | None) -> None:
        match item:
            case syntax.NotIn():
                items.gaps.append(item)
                items.patterns.append(item)
            case syntax.Absence():
                items.absences.append(item)
            case syntax.Collection():
                items.collections.append(item)
            case syntax.Window() | syntax.SinceWindow():
                items.windows.append(item)
            case syntax.Labelled(name=name, pattern=syntax.Call() as call) if is_relative_timer(call):
                items.timers.append((call, name))
            case syntax.Call() if is_relative_timer(item):
                items.timers.append((item, None))
            case syntax.InContext(pattern=inner) if is_relative_timer(inner):
                self.check_context(item)
                self._sort_item(inner, items, labels, outer)
            case syntax.Temporal() if self._names_operand(item, labels, outer):
                self._sort_related(item, items, labels, outer)
            case syntax.Call(name=name) if name.text in self.declarations.predicates:
                items.lookups.append(item)
            case syntax.Labelled(name=label, pattern=syntax.Call(name=name) as call) if (
                name.text in self.declarations.predicates
            ):
                self.report.error(
                    "E408", label.span, f"`{name.text}` is no event, and cannot be named", "leave the name out"
                )
                items.lookups.append(call)
            case _ if self.is_pattern(item):
                items.patterns.append(item)
            case _:
                items.conditions.append(item)  # type: ignore[arg-type]

    def _names_operand(self, node: syntax.Temporal, labels: set[str], outer: Scope | None) -> bool:
        return any(self._is_reference(side, labels, outer) for side in (node.left, node.right))

    def _is_reference(self, node: syntax.Node, labels: set[str], outer: Scope | None) -> bool:
        match node:
            case syntax.Name(text=text):
                return text in labels or (outer is not None and outer.find_label(text) is not None)
            case _:
                return is_relative_timer(node)

    def _sort_related(self, node: syntax.Temporal, items: Sorted, labels: set[str], outer: Scope | None) -> None:
        """Sort ``o before s``; a side that is a pattern or a timer becomes an item with a new name."""
        names: list[syntax.Expression] = []
        for side in (node.left, node.right):
            match side:
                case syntax.Name() if self._is_reference(side, labels, outer):
                    names.append(side)
                    continue
                case syntax.Name(text=text) if text not in self.declarations.events and (
                    guess := did_you_mean(text, labels)
                ):
                    self.report.error("E104", side.span, f"there is no matched event called `{text}`", guess)
                    return
                case syntax.InContext():
                    self.report.error(
                        "E401", self.context_span(side), f"`{side.initiator}` has nothing to select from here",
                        f"the other side is the matched event itself; write `{side.initiator} a(x) seq b(y)`",
                    )  # fmt: skip
                    self.expressions.incomplete = True
                    return
                case syntax.Temporal() if self._names_operand(side, labels, outer):
                    self.report.error(
                        "E408", node.span, "a relation of matched events is a condition, and cannot be related again",
                        "write each relation as an item: `a before b, b before c`",
                    )  # fmt: skip
                    return
                case syntax.Temporal() | syntax.Without() | syntax.Repeat():
                    self.report.error(
                        "E408", side.span, "this pattern is related to a matched event or a timer, and needs a name",
                        "make it an item, `c: (…)`, and relate `c`",
                    )  # fmt: skip
                    self.expressions.incomplete = True
                    return
                case syntax.Labelled(name=name):
                    item: syntax.Expression = side
                case syntax.Call() | syntax.Name() | syntax.Group():
                    name = syntax.Name(f"the event at {side.span.start}", span=side.span)
                    item = syntax.Labelled(name, side, span=side.span)
                case _:
                    self.report.error(
                        "E408", side.span, "a temporal operator relates events, this is a value",
                        "relate patterns or names of matched events; values are compared after `where`",
                    )  # fmt: skip
                    return
            labels.add(name.text)
            self._sort_item(item, items, labels, outer)
            names.append(name)
        items.related.append(syntax.Temporal(node.relation, node.bounds, names[0], names[1], span=node.span))

    # --- constituents

    def _constituents(self, items: Sorted, place: BodyPosition, pending: Pending) -> tuple[typed.Pattern | None, Scope]:
        parts = []
        for item in items.patterns:
            if isinstance(item, syntax.NotIn):
                if POLICIES.get(place.policy or "") is not None:
                    self.report.error(
                        "E401", item.span, f"`policy {place.policy}` cannot apply to `not … in`",
                        "leave the policy out, or put one of them into a separate rule",
                    )  # fmt: skip
                for side in (item.first, item.last):
                    if isinstance(side, syntax.InContext):
                        self.report.error(
                            "E401", self.context_span(side), "`not … in` takes no contexts", "leave the context out"
                        )
                first, last = (s.pattern if isinstance(s, syntax.InContext) else s for s in (item.first, item.last))
                pair = syntax.Temporal("seq", (), _grouped(first), _grouped(last), span=item.span)
                found = self.constituent(pair, BodyPosition(None, place.group, place.outer, place.positive), pending)
                assert isinstance(found.pattern, typed.Pair)
                pending.absences.append((typed.Between(found.pattern.id), item.absent, found.scope))
                parts.append(found)
            else:
                parts.append(self.constituent(item, place, pending))
        if not parts:
            return None, Scope()
        return self.conjunction(parts, place)

    def _pairing_scope(self, pattern: typed.Pattern | None, scope: Scope) -> Scope:
        """Scope of `on` and of relations: they see each instance of a cumulative constituent, when it is paired."""
        seen = Scope(dict(scope.variables), dict(scope.labels), scope.partial, scope.gathered, scope.outer)
        for pair in pairs(pattern):
            for gathering in (pair.left_gathering, pair.right_gathering):
                if gathering is not None and gathering in scope.gathered:
                    inner = scope.gathered[gathering]
                    seen.variables.update(inner.variables)
                    seen.labels.update(inner.labels)
        return seen

    def _check_pairing_names(
        self, pattern: typed.Pattern | None, scope: Scope, conditions: list[tuple[set[str], Span]]
    ) -> None:
        """A condition on a cumulative constituent must be decided by its own pairing."""
        for pair in pairs(pattern):
            gatherings = [each for each in (pair.left_gathering, pair.right_gathering) if each in scope.gathered]
            reached = _bound_names(pair) if gatherings else set()
            for gathering in gatherings:
                assert gathering is not None
                inner = scope.gathered[gathering]
                own = (set(inner.variables) | set(inner.labels)) - set(scope.variables) - set(scope.labels)
                for names, at in conditions:
                    if names & own and not names <= reached:
                        name, other = min(names & own), min(names - reached)
                        self.report.error(
                            "E301", at, f"`{name}` of the cumulative constituent is not paired with `{other}`",
                            f"compare `{name}` with the other side of its own pair, or in an aggregate after `where`",
                        )  # fmt: skip

    # --- lookups, relations

    def _lookup(self, call: syntax.Call, scope: Scope) -> typed.Lookup | None:
        given = self.expressions.predicate_arguments(call)
        if given is None:
            self.expressions.incomplete = True
            return None
        predicate = self.declarations.predicates[call.name.text]
        arguments: list[typed.Variable | typed.Constant | None] = []
        for column, argument in zip(predicate.columns, given, strict=True):
            wanted = predicate.types[column]
            match argument:
                case None:
                    arguments.append(None)
                case syntax.Name(text=text):
                    known = scope.variables.get(text)
                    if known is not None and not comparable(known, wanted):
                        self._never_equal(text, known, wanted, argument.span)
                    scope.variables.setdefault(text, wanted)
                    self.bound.append((text, argument.span))
                    self.used.append((text, argument.span))
                    arguments.append(typed.Variable(text, wanted))
                case _:
                    arguments.append(self.constant(argument, wanted))
        return typed.Lookup(call.name.text, tuple(arguments), call.span)

    def _related(self, node: syntax.Temporal, scope: Scope) -> typed.Related | None:
        related = self.relation(node)
        left, right = node.left, node.right
        assert isinstance(left, syntax.Name)
        assert isinstance(right, syntax.Name)
        missing = [name for name in (left, right) if scope.find_label(name.text) is None]
        for name in missing:
            self.report_no_label(name, scope)
        return None if missing else typed.Related(left.text, related, right.text, node.span)

    # --- absence and accumulation

    def inner(
        self, node: syntax.Expression, outer: Scope, place: BodyPosition
    ) -> tuple[typed.Pattern, Scope, tuple[str, ...], bool]:
        """Negated or collected pattern, its scope, the variables that it shares, and True if it is self-contained."""
        group = node.span if isinstance(node, syntax.Group) else None
        body = node.body if isinstance(node, syntax.Group) else syntax.Body((node,), span=node.span)
        known, asked = len(self.bound), len(outer.asked)
        policy = place.policy if place.policy == "restricted" else None
        found, scope = self.body(body, BodyPosition(policy, group, outer, positive=False))
        del self.bound[known:]
        self_contained = len(outer.asked) == asked
        pattern: typed.Pattern = typed.Nested(next(self.ids), found)
        if found.pattern is not None and found == typed.Body(found.pattern, keep=found.keep):
            pattern = found.pattern
        shared = tuple(name for name in scope.variables if self._visible(name, outer, place))
        return pattern, scope, shared, self_contained

    def _visible(self, name: str, scope: Scope, place: BodyPosition) -> bool:
        """True if a body binds a variable itself, or if its surroundings do and nothing encloses it."""
        return name in scope.variables if place.group is not None else scope.find_variable(name) is not None

    def _absences(
        self, items: Sorted, pending: Pending, scope: Scope, place: BodyPosition
    ) -> tuple[typed.Absence, ...]:
        found = []
        waiting: list[tuple[typed.Scope, syntax.Expression, Scope]] = list(pending.absences)
        for item in items.absences:
            if scope.find_label(item.window.text) is None:
                self.report_no_label(item.window, scope, "extend(o, 6h)")
            waiting.append((_during(item), item.pattern, Scope()))
        for where, node, local in waiting:
            seen = Scope(local.variables | scope.variables, local.labels | scope.labels, outer=scope.outer)
            pattern, inner, shared, self_contained = self.inner(node, seen, place)
            self._keep_inside(node, inner, shared, place)
            self.expressions.absent |= (set(inner.variables) - set(shared)) | set(inner.labels)
            if place.policy == "restricted" and isinstance(where, typed.Inside):
                for name in shared:
                    if name not in local.variables:
                        self.report.error(
                            "E303", _argument(node, name), f"`{name}` is not bound by the pattern before `without`",
                            "under `policy restricted` what is absent shares variables with that pattern only",
                        )  # fmt: skip
            found.append(typed.Absence(where, pattern, shared, self_contained, node.span))
        return tuple(found)

    def _gatherings(
        self, items: Sorted, pending: Pending, scope: Scope, place: BodyPosition
    ) -> tuple[typed.Gathering, ...]:
        found = []
        waiting: list[tuple[typed.Scope, syntax.Expression, int, int | None, Scope]] = [
            (between, node.pattern, node.low, node.high, local) for between, node, local in pending.gatherings
        ]
        for item in items.collections:
            if scope.find_label(item.window.text) is None:
                self.report_no_label(item.window, scope, "extend(o, 6h)")
            waiting.append((_during(item), item.pattern, 1, None, Scope()))
        for where, node, low, high, local in waiting:
            seen = Scope(local.variables | scope.variables, local.labels | scope.labels, outer=scope.outer)
            pattern, inner, shared, self_contained = self.inner(node, seen, place)
            id_ = next(self.ids)
            scope.gathered[id_] = inner
            self._keep_inside(node, inner, shared, place)
            found.append(typed.Gathering(id_, where, pattern, shared, self_contained, low, high, node.span))
        return tuple(found)

    def _keep_inside(self, node: syntax.Expression, inner: Scope, shared: tuple[str, ...], place: BodyPosition) -> None:
        """Names in negated or collected patterns in parentheses must not be bound outside these only."""
        if place.group is None:
            return
        for name in inner.variables:
            if name not in shared:
                self.elsewhere.append(
                    Elsewhere(
                        "E303", name, place.group, f"`{name}` is bound only outside the parentheses around this",
                        f"bind `{name}` inside them too, or leave the parentheses out", _argument(node, name),
                    )
                )  # fmt: skip

    def _window(self, windows: list[Windowed], scope: Scope, place: BodyPosition) -> typed.Window | None:
        if not windows:
            return None
        for extra in windows[1:]:
            self.expressions.incomplete = True
            self.report.error(
                "E406", extra.span, f"a body has at most one `while {'`, `'.join(WORDS[:-1])}` or `{WORDS[-1]}`",
                "put the other into a separate rule",
            )  # fmt: skip
        node = windows[0]
        beginning: typed.Pattern | None = None
        kind, size = "since", 0
        match node:
            case syntax.Window(word=word, size=amount):
                kind, size = kind_written(word, amount.is_length), self.declarations.length(amount)
            case syntax.SinceWindow(beginning=first):
                beginning, begins = self.pattern(_grouped(first), place, Pending())
                merged = self.merge(scope, begins, first.span)
                scope.variables, scope.labels = merged.variables, merged.labels
                scope.partial, scope.gathered = merged.partial, merged.gathered
        if isinstance(node, syntax.Window) and size <= 0:
            sized = (f"`{each.example}`" for each in WINDOWS.values() if each.takes != "pattern")
            self.report.error(
                "E504", node.size.span, "the size of a window must be positive",
                f"as in {', '.join(sized)}",
            )  # fmt: skip
            size = 1
        asked = len(scope.asked)
        pattern, inner, shared, self_contained = self.inner(node.pattern, scope, place)
        if not self_contained:
            name = scope.asked[asked]
            self.report.error(
                "E406", _mention(node.pattern, name), f"what a window collects cannot use `{name}` from outside it",
                "put the condition into a separate rule, or after `where`",
            )  # fmt: skip
        id_ = next(self.ids)
        keys = tuple(n for n in inner.variables if n not in shared and n in self.head_variables and place.group is None)
        scope.variables.update({name: inner.variables[name] for name in keys})
        scope.gathered[id_] = inner
        return typed.Window(id_, kind, size, pattern, shared, keys, beginning, node.span)

    # --- suffixes and policies

    def _suffix_length(self, amount: syntax.Amount) -> int:
        value = self.declarations.length(amount)
        if value < 0:
            self.report.error(
                "E504", amount.span, "a length of time cannot be negative here", "an event ends at or after its start"
            )
        return value

    def _policy(self, node: syntax.Body) -> str | None:
        written = [suffix for suffix in node.suffixes if isinstance(suffix, syntax.Policy)]
        for suffix in written[1:]:
            self.report.error("E106", suffix.span, "there is a policy here already", "write one of them")
        if not written:
            return None
        name = written[0].name
        if name.text not in POLICIES:
            hint = did_you_mean(name.text, POLICIES) or f"there are {', '.join(POLICIES)}"
            self.report.error("E108", name.span, f"there is no policy `{name.text}`", hint)
            return None
        return name.text

    def _correlation(self) -> tuple[str, ...]:
        return tuple(sorted(name for name, times in self.occurrences.items() if times > 1))

    def _check_restricted(self, node: syntax.Body, items: Sorted) -> None:
        wrong: list[tuple[Span, str]] = []
        wrong.extend((timer.span, "timers") for timer, _ in items.timers)
        wrong.extend((call.span, "tables among the items") for call in items.lookups)
        wrong.extend((temporal.span, "relations of matched events") for temporal in items.related)
        wrong.extend((item.span, "`while`") for item in (*items.absences, *items.collections, *items.windows))
        wrong.extend((gap.span, "`not … in`") for gap in items.gaps)
        for suffix in node.suffixes:
            if isinstance(suffix, syntax.On | syntax.Lasting):
                wrong.append((suffix.span, "`on`" if isinstance(suffix, syntax.On) else "`lasting`"))
        for item in items.patterns:
            wrong.extend(self._unrestricted(item))
        for span, what in wrong:
            self.report.error(
                "E403", span, f"`policy restricted` does not take {what}",
                "it supports `or`, `and`, `seq`, `without`, `within`, `where`; leave the policy out, or this part",
            )  # fmt: skip

    def _unrestricted(self, node: syntax.Node) -> Iterator[tuple[Span, str]]:
        """Operators that ``policy restricted`` does not allow, with their spans; nested bodies are checked apart."""
        match node:
            case syntax.Temporal(relation=word, left=left, right=right):
                if word != "seq":
                    yield self.operator_span(node), f"`{word}`"
                yield from self._unrestricted(left)
                yield from self._unrestricted(right)
            case syntax.And(operands=operands) | syntax.Or(operands=operands):
                for operand in operands:
                    yield from self._unrestricted(operand)
            case syntax.Without(pattern=pattern) | syntax.Labelled(pattern=pattern) | syntax.InContext(pattern=pattern):
                yield from self._unrestricted(pattern)
            case syntax.Repeat():
                yield node.span, "repetitions"
            case syntax.Call() if is_timer(node):
                yield node.span, "timers"


def _during(item: syntax.Absence | syntax.Collection) -> typed.During:
    """The scope of ``while w``, with the ends that its brackets include."""
    bare = None if item.ends else item.window.span
    return typed.During(item.window.text, item.ends.startswith("["), item.ends.endswith("]"), bare)


def _grouped(node: syntax.Expression) -> syntax.Expression:
    """An operand that keeps its own grouping when it is put into a sequence."""
    if isinstance(node, syntax.Temporal | syntax.Without | syntax.And | syntax.Or | syntax.Repeat):
        return syntax.Group(syntax.Body((node,), span=node.span), span=node.span)
    return node


def _argument(node: syntax.Node, name: str) -> Span:
    """Span of the first argument that is this variable; the node's own span if there is none."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        match current:
            case syntax.Argument(value=syntax.Name(text=text, span=span)) if text == name:
                return span
        waiting.extend(reversed(list(current.children())))
    return node.span


def _mention(node: syntax.Node, name: str) -> Span:
    """Span of the first mention of a name inside a node; the node's own span if there is none."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, syntax.Name) and current.text == name:
            return current.span
        waiting.extend(reversed(list(current.children())))
    return node.span


def _bound_names(pattern: typed.Pattern) -> set[str]:
    """Every variable and name that is bound somewhere in a pattern."""
    names = visible_variables(pattern)
    match pattern:
        case typed.Atom(label=label) | typed.Moment(label=label) | typed.Periodic(label=label):
            return names | ({label} if label is not None else set())
        case typed.Pair(left=left, right=right):
            return names | _bound_names(left) | _bound_names(right)
        case typed.Either(alternatives=alternatives):
            return names.union(*map(_bound_names, alternatives))
        case typed.Lacking(pattern=inner) | typed.Run(pattern=inner):
            return names | _bound_names(inner)
        case typed.Nested(body=body, label=label):
            names |= {label} if label is not None else set()
            names |= {timer.label for timer in body.timers if timer.label is not None}
            return names | (_bound_names(body.pattern) if body.pattern is not None else set())
