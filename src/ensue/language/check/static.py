"""Static knowledge: facts, and Datalog rules over tables."""

from __future__ import annotations

from ensue.language import syntax, typed
from ensue.language.check.declarations import Declarations, Predicate
from ensue.language.check.expressions import Expressions, a, type_of
from ensue.language.check.graphs import components
from ensue.language.check.scope import Scope
from ensue.language.diagnostics import Report, did_you_mean
from ensue.language.types import common, comparable


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
        checked = tuple(found for rule in rules if (found := self._rule(rule)) is not None)
        predicates = {
            name: typed.Predicate(name, dict(p.types), tuple(rows.get(name, ())), p.declared)
            for name, p in self.declarations.predicates.items()
        }
        return predicates, checked, self._strata(checked)

    # --- facts

    def _fact(self, fact: syntax.Fact) -> tuple[typed.Value, ...] | None:
        predicate = self.declarations.predicates.get(fact.call.name.text)
        if predicate is None:
            return None  # the name was refused
        arguments = self.expressions.predicate_arguments(fact.call)
        if arguments is None:
            return None
        row = []
        for column, argument in zip(predicate.columns, arguments, strict=True):
            if argument is None:
                self.report.error(
                    "E105", fact.span, f"the fact has no value for `{column}`",
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
                )  # fmt: skip
        else:
            together = common(wanted, found.type)
            if together is None:
                self.report.error(
                    "E207", node.span, f"`{column}` is {a(found.type)} here and {a(wanted)} in another fact",
                    "give it the same type in all facts",
                )  # fmt: skip
            predicate.types[column] = together or "any"
        return float(found.value) if wanted == "float" and isinstance(found.value, int) else found.value

    # --- rules

    def _infer_types(self, rules: list[syntax.StaticRule]) -> None:
        real, scratch = self.report, Report(self.report.source)
        self.report = self.expressions.report = self.declarations.report = scratch
        for _ in range(len(rules) + 1):
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
        conditions: list[syntax.Expression] = []
        literals: list[tuple[syntax.Call, bool]] = []
        for item in rule.body.items:
            match item:
                case syntax.Call() if self._is_predicate(item):
                    literals.append((item, False))
                case syntax.Not(operand=syntax.Call() as call) if self._is_predicate(call):
                    literals.append((call, True))
                case (
                    syntax.NotIn() | syntax.Absence() | syntax.Collection() | syntax.LastWindow() | syntax.EachWindow()
                    | syntax.SinceWindow()
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
        checked = [self._literal(call, False, scope) for call, negated in literals if not negated]
        checked += [self._literal(call, True, scope) for call, negated in literals if negated]
        where = [c for condition in conditions for c in self.expressions.conjuncts(condition, scope, aggregates=False)]
        head = self._head(rule, predicate, scope)
        if head is None or None in checked:
            return None
        return typed.StaticRule(predicate.name, head, tuple(c for c in checked if c), tuple(where), rule.span)

    def _event_in_static(self, node: syntax.Node) -> None:
        self.report.error(
            "E306", node.span, "a static rule has no events and no time", "an event rule is written with `<-`"
        )

    def _is_predicate(self, call: syntax.Call) -> bool:
        name = call.name.text
        if name in self.declarations.predicates:
            return True
        if name in self.declarations.events:
            self._event_in_static(call)
            return False
        return False

    def _literal(self, call: syntax.Call, negated: bool, scope: Scope) -> typed.StaticLiteral | None:
        given = self.expressions.predicate_arguments(call)
        if given is None:
            return None
        predicate = self.declarations.predicates[call.name.text]
        arguments: list[typed.Variable | typed.Constant | None] = []
        for column, argument in zip(predicate.columns, given, strict=True):
            wanted = predicate.types[column]
            match argument:
                case None:
                    arguments.append(None)
                case syntax.Name(text=text):
                    if negated and text not in scope.variables:
                        self.expressions.report_unbound(argument, scope)
                    known = scope.variables.get(text, wanted)
                    if not comparable(known, wanted):
                        self.report.error(
                            "E202", argument.span,
                            f"`{text}` is {a(known)} in one place and {a(wanted)} in another, and never equal",
                            "use two variables",
                        )  # fmt: skip
                    scope.variables.setdefault(text, wanted)
                    arguments.append(typed.Variable(text, wanted))
                case _:
                    found = constant(argument, wanted, self.declarations)
                    if found is not None and not comparable(found.type, wanted):
                        self.report.error("E202", argument.span, f"{a(wanted)} is needed here, this is {a(found.type)}")
                    arguments.append(found)
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
                        "E306", rule.head.span, f"the head does not give `{column}`",
                        "give every column a variable or a constant",
                    )  # fmt: skip
                    return None
                case syntax.Name(text=text):
                    if text not in scope.variables:
                        self.expressions.report_unbound(argument, scope)
                    head.append(typed.Variable(text, scope.variables.get(text, "any")))
                case _:
                    found = constant(argument, predicate.types[column], self.declarations)
                    if found is None:
                        return None
                    head.append(found)
        return tuple(head)

    # --- strata

    def _strata(self, rules: tuple[typed.StaticRule, ...]) -> tuple[tuple[str, ...], ...]:
        depends: dict[str, list[str]] = {name: [] for name in self.declarations.predicates}
        for rule in rules:
            depends[rule.predicate].extend(literal.predicate for literal in rule.literals)
            depends[rule.predicate].extend(_held(rule.conditions))
        found = components(depends)
        component_of = {name: i for i, component in enumerate(found) for name in component}
        for rule in rules:
            negated = [literal.predicate for literal in rule.literals if literal.negated] + list(_held(rule.conditions))
            for name in negated:
                if component_of[name] == component_of[rule.predicate]:
                    self.report.error(
                        "E602", rule.span, f"`{rule.predicate}` depends on the negation of itself, through `{name}`",
                        "negate only what is defined without it",
                    )  # fmt: skip
        return tuple(tuple(component) for component in found)


def _held(conditions: tuple[typed.Expression, ...]) -> list[str]:
    """The predicates used inside conditions."""
    found: list[str] = []
    waiting: list[typed.Expression | None] = list(conditions)
    while waiting:
        match waiting.pop():
            case typed.Holds(predicate=name, arguments=arguments):
                found.append(name)
                waiting.extend(arguments)
            case typed.Operation(arguments=operands):
                waiting.extend(operands)
    return found


def constant(node: syntax.Expression, wanted: str, declarations: Declarations) -> typed.Constant | None:
    """A constant as written; text is read as a timestamp where one is wanted. None if it is no constant."""
    match node:
        case syntax.Literal(value=str() as text) if wanted == "timestamp":
            return typed.Constant(declarations.moment(text, node.span), "timestamp")
        case syntax.Literal(value=int() as number) if wanted == "timestamp" and not isinstance(number, bool):
            return typed.Constant(number, "timestamp")
        case syntax.Literal(value=value):
            return typed.Constant(value, type_of(value))
        case syntax.Amount():
            return typed.Constant(declarations.length(node), "int")
        case syntax.Negative(operand=syntax.Amount() as amount):
            return typed.Constant(-declarations.length(amount), "int")
        case syntax.Negative(operand=syntax.Literal(value=int() | float() as number)):
            return typed.Constant(-number, type_of(number))
        case _:
            hint = did_you_mean(node.text, ["true", "false", "null"]) if isinstance(node, syntax.Name) else None
            declarations.report.error(
                "E206", node.span, "a constant is needed here", hint or 'text stands in double quotes: "tea"'
            )
            return None
