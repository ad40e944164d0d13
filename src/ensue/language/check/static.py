"""Static knowledge: facts, and Datalog rules over tables."""

from __future__ import annotations

from ensue.language import syntax, typed
from ensue.language.aggregates import AGGREGATES
from ensue.language.check.declarations import Declarations, Predicate
from ensue.language.check.expressions import Expressions, names_in, type_of
from ensue.language.check.phrases import a, written
from ensue.language.check.scope import Scope
from ensue.language.diagnostics import Report, did_you_mean
from ensue.language.functions import TIMERS
from ensue.language.graphs import components
from ensue.language.source import Span
from ensue.language.types import Type, common, comparable, fits
from ensue.language.walk import predicates_used


class Static:
    """Checks facts and static rules of one program."""

    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations
        self.report = declarations.report
        self.expressions = Expressions(declarations)

    def check(
        self, facts: list[syntax.Fact], rules: list[syntax.StaticRule]
    ) -> tuple[dict[str, typed.Predicate], tuple[typed.StaticRule, ...], tuple[tuple[str, ...], ...]]:
        """The predicates with their facts, the rules, and the order in which the predicates are evaluated."""
        rows: dict[str, list[tuple[typed.Value, ...]]] = {}
        for fact in facts:
            row = self._fact(fact)
            if row is not None:
                rows.setdefault(fact.call.name.text, []).append(row)
        self._infer_types(rules)
        written_as = [(found, rule) for rule in rules if (found := self._rule(rule)) is not None]
        checked = tuple(found for found, _ in written_as)
        predicates = {
            name: typed.Predicate(name, dict(p.types), tuple(rows.get(name, ())), p.declared)
            for name, p in self.declarations.predicates.items()
        }
        return predicates, checked, self._strata(written_as)

    # --- facts

    def _fact(self, fact: syntax.Fact) -> tuple[typed.Value, ...] | None:
        predicate = self.declarations.predicates.get(fact.call.name.text)
        if predicate is None or fact.call.name.text in self.declarations.lost:
            return None  # its error is reported already
        arguments = self.expressions.predicate_arguments(fact.call)
        if arguments is None:
            return None
        row = []
        for column, argument in zip(predicate.columns, arguments, strict=True):
            if argument is None:
                self.report.error(
                    "E105", _gap(fact.call), f"the fact has no value for `{column}`",
                    "facts are made of constants; write `null` for none",
                )  # fmt: skip
                return None
            row.append(self._constant(argument, predicate, column))
        return tuple(row)

    def _constant(self, node: syntax.Expression, predicate: Predicate, column: str) -> typed.Value:
        wanted = predicate.types[column]
        found = constant(node, wanted, self.declarations)
        if found is None:
            return None
        if predicate.declared:
            if not comparable(found.type, wanted):
                self.report.error(
                    "E202", node.span,
                    f"`{predicate.name}.{column}` is declared as {a(wanted)}, this is {a(found.type)}",
                    written(wanted),
                )  # fmt: skip
        else:
            together = common(wanted, found.type)
            if together is None:
                self.report.error(
                    "E207", node.span,
                    f"this is {a(found.type)}, and {a(wanted)} in another fact of `{predicate.name}`",
                    "give it the same type in all facts",
                )  # fmt: skip
            predicate.types[column] = together or "any"
        return float(found.value) if wanted == "float" and isinstance(found.value, int) else found.value

    # --- rules

    def _infer_types(self, rules: list[syntax.StaticRule]) -> None:
        real, scratch = self.report, Report(self.report.source)
        self.report = self.expressions.report = self.declarations.report = scratch
        for _ in range(2 * len(rules) + 1):
            changed = False
            for rule in rules:
                found = self._rule(rule)
                predicate = self.declarations.predicates.get(rule.head.name.text)
                if found is None or predicate is None or predicate.declared:
                    continue
                for column, term in zip(predicate.columns, found.head, strict=True):
                    together = common(predicate.types[column], term.type)
                    if together is not None and together != predicate.types[column]:
                        predicate.types[column] = together
                        changed = True
            if not changed:
                break
        self.report = self.expressions.report = self.declarations.report = real

    def _rule(self, rule: syntax.StaticRule) -> typed.StaticRule | None:
        predicate = self.declarations.predicates.get(rule.head.name.text)
        if predicate is None:
            return None  # the name was refused
        self.expressions.begin()
        conditions: list[syntax.Expression] = []
        literals: list[tuple[syntax.Call, bool]] = []
        for item in rule.body.items:
            match item:
                case syntax.Call(name=name) if name.text in self.declarations.predicates:
                    literals.append((item, False))
                case syntax.Not(operand=syntax.Call(name=name) as call) if name.text in self.declarations.predicates:
                    literals.append((call, True))
                case syntax.Call(name=name) | syntax.Not(operand=syntax.Call(name=name)) if self._is_unknown(name):
                    self._report_unknown(name)
                case (
                    syntax.NotIn() | syntax.Absence() | syntax.Collection() | syntax.Window()
                    | syntax.SinceWindow() | syntax.Temporal() | syntax.Without() | syntax.InContext() | syntax.Repeat()
                    | syntax.Labelled()
                ):  # fmt: skip
                    self._event_in_static(item)
                case _:
                    conditions.append(item)
        for suffix in rule.body.suffixes:
            if isinstance(suffix, syntax.Where):
                conditions.append(suffix.condition)
            else:
                self._event_in_static(suffix)
        scope = Scope()
        self.computed: list[tuple[str, typed.Expression]] = []
        self.equal: list[tuple[typed.Variable, syntax.Expression]] = []
        checked = [self._literal(call, False, scope) for call, negated in literals if not negated]
        conditions = self._compute(conditions, scope)
        checked += [self._literal(call, True, scope) for call, negated in literals if negated]
        known = len(self.report.found)
        where = [c for condition in conditions for c in self.expressions.conjuncts(condition, scope, aggregates=False)]
        where += [self._equality(variable, node, scope) for variable, node in self.equal]
        self.expressions.incomplete |= len(self.report.found) > known
        head = self._head(rule, predicate, scope)
        if head is None or None in checked:
            return None
        return typed.StaticRule(
            predicate.name, head, tuple(c for c in checked if c), tuple(where), tuple(self.computed), rule.span
        )

    def _compute(self, items: list[syntax.Expression], scope: Scope) -> list[syntax.Expression]:
        """Binds variables whose values items give (`k = m * 2`); returns the other items, which are conditions."""
        waiting, before = items, -1
        while len(waiting) != before:
            before, left = len(waiting), []
            for item in waiting:
                name, value = _bound_by(item, scope)
                if name is None or value is None:
                    left.append(item)
                else:
                    found = self.expressions.resolve(value, scope, aggregates=False)
                    self.computed.append((name, found))
                    scope.variables[name] = found.type
            waiting = left
        return waiting

    def _computed(self, node: syntax.Expression, scope: Scope) -> typed.Variable:
        """A variable that has the value of an expression."""
        found = self.expressions.resolve(node, scope, aggregates=False)
        name = f"{len(self.computed)} computed"
        self.computed.append((name, found))
        return typed.Variable(name, found.type)

    def _equality(self, variable: typed.Variable, node: syntax.Expression, scope: Scope) -> typed.Expression:
        """Condition that a literal's value equals an expression."""
        found = self.expressions.resolve(node, scope, aggregates=False)
        self._check_comparable(node, found.type, variable.type)
        return typed.Operation("=", (variable, found), "bool")

    def _check_comparable(self, node: syntax.Expression, given: Type, wanted: Type) -> None:
        if not comparable(given, wanted):
            self.report.error(
                "E202", node.span, f"{a(wanted)} is needed here, this is {a(given)}", written(wanted)
            )  # fmt: skip

    def _event_in_static(self, node: syntax.Node) -> None:
        self.expressions.incomplete = True
        self.report.error(
            "E306", node.span, "a static rule has no events and no time", "an event rule is written with `<-`"
        )

    def _is_unknown(self, name: syntax.Name) -> bool:
        return self.declarations.signature(name.text) is None and name.text not in AGGREGATES

    def _report_unknown(self, name: syntax.Name) -> None:
        """Reports a name that is no static predicate, where one is needed."""
        if name.text in self.declarations.events or name.text in TIMERS:
            self._event_in_static(name)
        elif name.text not in self.declarations.lost:
            hint = did_you_mean(name.text, self.declarations.predicates) or f"declare it: `table {name.text}(…).`"
            self.report.error("E103", name.span, f"there is no table or static predicate `{name.text}`", hint)
        self.expressions.incomplete = True

    def _literal(self, call: syntax.Call, negated: bool, scope: Scope) -> typed.StaticLiteral | None:
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
                    hidden = negated and text not in scope.variables and not self.expressions.incomplete
                    if hidden and self.expressions.is_news(text):
                        self.report.error(
                            "E105", argument.span, f"`{text}` stands only under `not`, and is never bound",
                            "write `_` for any value, or bind it in another item of the body",
                        )  # fmt: skip
                    known = scope.variables.get(text, wanted)
                    if not comparable(known, wanted):
                        self.report.error(
                            "E202", argument.span,
                            f"`{text}` is {a(wanted)} here and {a(known)} elsewhere, and the two are never equal",
                            "use two variables, and convert one in a condition",
                        )  # fmt: skip
                    scope.variables.setdefault(text, wanted)
                    arguments.append(typed.Variable(text, wanted))
                case _ if _is_constant(argument):
                    found = constant(argument, wanted, self.declarations)
                    if found is not None:
                        self._check_comparable(argument, found.type, wanted)
                    arguments.append(found)
                case _ if negated:
                    computed = self._computed(argument, scope)
                    self._check_comparable(argument, computed.type, wanted)
                    arguments.append(computed)
                case _:
                    variable = typed.Variable(f"{len(self.equal)} equal", wanted)
                    arguments.append(variable)
                    self.equal.append((variable, argument))
        return typed.StaticLiteral(call.name.text, tuple(arguments), negated)

    def _head(
        self, rule: syntax.StaticRule, predicate: Predicate, scope: Scope
    ) -> tuple[typed.Variable | typed.Constant, ...] | None:
        arguments = self.expressions.predicate_arguments(rule.head)
        if arguments is None:
            return None
        head: list[typed.Variable | typed.Constant] = []
        for column, argument in zip(predicate.columns, arguments, strict=True):
            match argument:
                case None:
                    self.report.error(
                        "E306", _gap(rule.head), f"the head does not give `{column}`",
                        "give every column a value",
                    )  # fmt: skip
                    return None
                case syntax.Name(text=text):
                    if text not in scope.variables:
                        self.expressions.report_unbound(argument, scope)
                    head.append(typed.Variable(text, scope.variables.get(text, "any")))
                case _ if _is_constant(argument):
                    found = constant(argument, predicate.types[column], self.declarations)
                    if found is None:
                        return None
                    head.append(found)
                case _:
                    head.append(self._computed(argument, scope))
            self._check_type(argument, head[-1].type, predicate, column)
        return tuple(head)

    def _check_type(self, node: syntax.Expression, given: Type, predicate: Predicate, column: str) -> None:
        """Check that a head's value fits the declaration, or without one the other rules and facts."""
        wanted, name = predicate.types[column], predicate.name
        if predicate.declared and not fits(given, wanted):
            self.report.error(
                "E202", node.span, f"`{name}.{column}` is declared as {a(wanted)}, this is {a(given)}",
                "change the declaration, or use another variable",
            )  # fmt: skip
        elif common(wanted, given) is None:
            self.report.error(
                "E207", node.span, f"this is {a(given)}, and {a(wanted)} in another rule or fact of `{name}`",
                "give it the same type everywhere",
            )  # fmt: skip

    # --- strata

    def _strata(self, rules: list[tuple[typed.StaticRule, syntax.StaticRule]]) -> tuple[tuple[str, ...], ...]:
        depends: dict[str, list[str]] = {name: [] for name in self.declarations.predicates}
        for rule, _ in rules:
            depends[rule.predicate].extend(literal.predicate for literal in rule.literals)
            depends[rule.predicate].extend(predicates_used(*rule.asks))
        found = components(depends)
        component_of = {name: i for i, component in enumerate(found) for name in component}
        told: set[int] = set()
        for rule, node in rules:
            negated = [literal.predicate for literal in rule.literals if literal.negated]
            negated += predicates_used(*rule.asks)
            for name in negated:
                component = component_of[name]
                if component == component_of[rule.predicate] and component not in told:
                    told.add(component)
                    through = f", through `{name}`" if name != rule.predicate else ""
                    self.report.error(
                        "E602", _asked(node.body, name), f"`{rule.predicate}` depends on its own negation{through}",
                        "negate, or use in a condition, only what is defined without it",
                    )  # fmt: skip
        return tuple(tuple(component) for component in found)


def _bound_by(item: syntax.Expression, scope: Scope) -> tuple[str | None, syntax.Expression | None]:
    """The variable that an item gives a value to, and that: it has none yet, and all in the value has one."""
    if isinstance(item, syntax.Comparison) and item.operator == "=":
        for side, value in ((item.left, item.right), (item.right, item.left)):
            match side:
                case syntax.Name(text=text) if text != "_" and text not in scope.variables:
                    if all(name in scope.variables for name in names_in(value)):
                        return text, value
    return None, None


def _is_constant(node: syntax.Expression) -> bool:
    """True if an argument is a constant as written, and not computed."""
    return isinstance(node.operand if isinstance(node, syntax.Negative) else node, syntax.Literal | syntax.Amount)


def _gap(call: syntax.Call) -> Span:
    """Position of a call's first `_`, else of the call."""
    gaps = (each.span for each in call.arguments if isinstance(each.value, syntax.Name) and each.value.text == "_")
    return next(gaps, call.span)


def _asked(body: syntax.Body, name: str) -> Span:
    """Position where a static rule uses a predicate under `not`, else of any use."""
    found: dict[bool, Span] = {}
    waiting: list[tuple[syntax.Node, bool]] = [(body, False)]
    while waiting:
        node, negated = waiting.pop()
        if isinstance(node, syntax.Call) and node.name.text == name:
            found[negated] = node.span
        waiting.extend((child, negated or isinstance(node, syntax.Not)) for child in reversed(list(node.children())))
    return found.get(True) or found.get(False) or body.span


def constant(
    node: syntax.Expression, wanted: str, declarations: Declarations, instead: str = "write the value itself"
) -> typed.Constant | None:
    """A constant as written; text is read as a timestamp where one is wanted. None if it is no constant."""
    match node:
        case syntax.Literal(value=str() as text) if wanted == "time":
            return typed.Constant(declarations.moment(text, node.span), "timestamp")
        case syntax.Literal(value=str() as text, timestamp=known) if known or wanted == "timestamp":
            return typed.Constant(declarations.timestamp(text, node.span), "timestamp")
        case syntax.Literal(value=int() as number) if wanted == "timestamp" and not isinstance(number, bool):
            return typed.Constant(number, "timestamp")
        case syntax.Literal(value=value):
            return typed.Constant(value, type_of(value))
        case syntax.Amount():
            return typed.Constant(declarations.duration(node), "int")
        case syntax.Negative(operand=syntax.Amount() as amount):
            return typed.Constant(-declarations.duration(amount), "int")
        case syntax.Negative(operand=syntax.Literal(value=int() | float() as number)) if not isinstance(number, bool):
            return typed.Constant(-number, type_of(number))
        case syntax.Name(text=text):
            hint = did_you_mean(text, ["true", "false", "null"])
            if hint is None:
                hint = f'write text in double quotes: "{text}"' if wanted == "string" else written(wanted) or instead
            declarations.report.error("E206", node.span, f"a constant is needed here, and `{text}` is a name", hint)
            return None
        case _:
            declarations.report.error("E206", node.span, "a constant is needed here", instead)
            return None
