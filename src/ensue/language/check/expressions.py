"""Conditions and terms: names looked up, operators and functions given types."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.language import syntax, typed
from ensue.language.check.declarations import Declarations
from ensue.language.check.scope import Scope
from ensue.language.diagnostics import did_you_mean
from ensue.language.functions import AGGREGATES, FUNCTIONS, TIMERS, Signature, aggregate_type, result_type
from ensue.language.source import Span
from ensue.language.types import NUMBERS, TIMES, Type, common, comparable, is_list

UNKNOWN = typed.Constant(None, "any")
"""Stands where something was wrong and has been reported; of any type, so that no error follows from it."""


class Expressions:
    """Checks expressions of one program."""

    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations
        self.report = declarations.report
        self.incomplete = False
        """Whether a part of the rule was refused, so that names may be missing only because of that."""

    def condition(self, node: syntax.Expression, scope: Scope, aggregates: bool = True) -> typed.Expression:
        """An expression that must be true or false."""
        found = self.resolve(node, scope, aggregates)
        if found.type not in ("bool", "any", "null"):
            self.report.error(
                "E205", node.span, f"a condition is needed here, this is {a(found.type)}", "compare it with something"
            )
        return found

    def conjuncts(self, node: syntax.Expression, scope: Scope, aggregates: bool = True) -> Iterator[typed.Expression]:
        """The parts of a condition between its outermost `and`s."""
        match node:
            case syntax.And(operands=operands):
                for operand in operands:
                    yield from self.conjuncts(operand, scope, aggregates)
            case syntax.Group(body=syntax.Body(items=(inner,), suffixes=())):
                yield from self.conjuncts(inner, scope, aggregates)  # type: ignore[arg-type]
            case _:
                yield self.condition(node, scope, aggregates)

    def resolve(self, node: syntax.Expression, scope: Scope, aggregates: bool = True) -> typed.Expression:
        match node:
            case syntax.Literal(value=value):
                return typed.Constant(value, type_of(value))
            case syntax.Amount():
                return typed.Constant(self.declarations.length(node), "int")
            case syntax.Name():
                return self._variable(node, scope)
            case syntax.Attribute():
                return self._attribute(node, scope)
            case syntax.Negative(operand=operand):
                inner = self._number(operand, scope, aggregates)
                return typed.Operation("neg", (inner,), inner.type)
            case syntax.Arithmetic():
                return self._arithmetic(node, scope, aggregates)
            case syntax.Comparison():
                return self._comparison(node, scope, aggregates)
            case syntax.Not(operand=operand):
                return typed.Operation("not", (self.condition(operand, scope, aggregates),), "bool")
            case syntax.And(operands=operands) | syntax.Or(operands=operands):
                word = "and" if isinstance(node, syntax.And) else "or"
                parts = tuple(self.condition(operand, scope, aggregates) for operand in operands)
                return typed.Operation(word, parts, "bool")
            case syntax.Group(body=syntax.Body(items=(inner,), suffixes=())):
                return self.resolve(inner, scope, aggregates)  # type: ignore[arg-type]
            case syntax.Call():
                return self._call(node, scope, aggregates)
            case syntax.ListLiteral():
                return self._wrong(node.span, "a list can only stand in a test", "use several conditions instead")
            case _:
                return self._wrong(node.span, "a condition or value is needed here, this is a pattern of events",
                                   "patterns are items of the body: put it before `where` or `on`")  # fmt: skip

    def _wrong(self, span: Span, message: str, hint: str | None) -> typed.Constant:
        self.report.error("E408", span, message, hint)
        return UNKNOWN

    # --- names

    def _variable(self, node: syntax.Name, scope: Scope) -> typed.Expression:
        name = node.text
        if name == "_":
            self.report.error("E105", node.span, "`_` stands for any value and has none", "use a variable instead")
            return UNKNOWN
        found = scope.find_variable(name)
        if found is not None:
            return typed.Variable(name, found)
        self.report_unbound(node, scope)
        return UNKNOWN

    def report_unbound(self, node: syntax.Name, scope: Scope) -> None:
        """Says why a variable has no value here."""
        name = node.text
        if scope.find_label(name) is not None:
            self.report.error(
                "E105", node.span, f"`{name}` is an event, not a value",
                f"name an attribute, `{name}.attribute`, or a time, `{name}.start`",
            )  # fmt: skip
        elif name in scope.partial:
            self.report.error(
                "E302", node.span, f"`{name}` is not bound on every side of the `or`",
                "bind it on each side, or leave it out here",
            )  # fmt: skip
        elif name in scope.all_gathered():
            self.report.error(
                "E301", node.span, f"`{name}` belongs to collected events and has many values",
                f"use it in an aggregate: `list({name})`, `max({name})`, `count({name})`",
            )  # fmt: skip
        elif not self.incomplete:
            hint = did_you_mean(name, scope.names()) or "bind it in an atom of the body, as in `order(id, qty)`"
            self.report.error("E105", node.span, f"the variable `{name}` is never bound", hint)

    def _attribute(self, node: syntax.Attribute, scope: Scope) -> typed.Expression:
        owner, attribute = node.owner.text, node.name.text
        label = scope.find_label(owner)
        if label is None:
            if owner in scope.all_gathered():
                self.report.error(
                    "E301", node.owner.span, f"`{owner}` stands for many collected events",
                    f"use it in an aggregate: `max({owner}.{attribute})`",
                )  # fmt: skip
            elif owner in scope.partial:
                self.report.error(
                    "E302", node.owner.span, f"`{owner}` is not bound on every side of the `or`",
                    "name a pattern on each side, or leave it out here",
                )  # fmt: skip
            elif not self.incomplete:
                hint = did_you_mean(owner, scope.names()) or f"name a matched event with it: `{owner}: order(id)`"
                self.report.error("E104", node.owner.span, f"there is no matched event called `{owner}`", hint)
            return UNKNOWN
        if attribute in ("start", "end"):
            return typed.TimeOf(owner, attribute == "end")
        if label.event is None:
            self.report.error(
                "E102", node.name.span, f"`{owner}` is a timer or a composite and has no attributes",
                f"it has only `{owner}.start` and `{owner}.end`",
            )  # fmt: skip
            return UNKNOWN
        return typed.AttributeOf(owner, attribute, self.attribute_type(label.event, node.name))

    def attribute_type(self, event: str, name: syntax.Name) -> Type:
        """The type of an event's attribute; says so if it has none such."""
        known = self.declarations.events[event]
        if name.text in known.types:
            return known.types[name.text]
        if known.open:
            known.attributes.append(name.text)
            known.types[name.text] = "any"
            return "any"
        hint = did_you_mean(name.text, known.attributes) or (
            f"it has {', '.join(known.attributes)}" if known.attributes else "it has no attributes"
        )
        self.report.error("E102", name.span, f"the event `{event}` has no attribute `{name.text}`", hint)
        return "any"

    # --- operators

    def _number(self, node: syntax.Expression, scope: Scope, aggregates: bool) -> typed.Expression:
        found = self.resolve(node, scope, aggregates)
        if found.type not in NUMBERS and found.type not in ("any", "null"):
            self._wrong_type(node.span, "a number", found.type)
            return UNKNOWN
        return found

    def _wrong_type(self, span: Span, wanted: str, given: Type, hint: str | None = None) -> None:
        self.report.error("E202", span, f"{wanted} is needed here, this is {a(given)}", hint)

    def _arithmetic(self, node: syntax.Arithmetic, scope: Scope, aggregates: bool) -> typed.Expression:
        left, right = self.resolve(node.left, scope, aggregates), self.resolve(node.right, scope, aggregates)
        type_ = self._arithmetic_type(node, left.type, right.type)
        return typed.Operation(node.operator, (left, right), type_) if type_ else UNKNOWN

    def _arithmetic_type(self, node: syntax.Arithmetic, left: Type, right: Type) -> Type | None:
        operator = node.operator
        if left in TIMES and right in TIMES and operator == "-":
            return "int"
        if operator in "+-" and {left, right} & TIMES and {left, right} - TIMES <= {"int", "null", "any"}:
            if operator == "-" and right in TIMES:
                self._wrong_type(node.left.span, "a time", left, "a time can be taken from a time")
                return None
            if not (left in TIMES and right in TIMES):
                return left if left in TIMES else right
        for side, type_ in ((node.left, left), (node.right, right)):
            if type_ not in NUMBERS and type_ not in ("any", "null"):
                hint = "use `concat` to put text together" if type_ == "string" and operator == "+" else None
                self._wrong_type(side.span, "a number", type_, hint)
                return None
        if operator == "/":
            return "float"
        return common(left, right)

    def _comparison(self, node: syntax.Comparison, scope: Scope, aggregates: bool) -> typed.Expression:
        left, right = self.resolve(node.left, scope, aggregates), self.resolve(node.right, scope, aggregates)
        if isinstance(right, typed.Constant) and isinstance(right.value, str) and left.type == "timestamp":
            right = typed.Constant(self.declarations.moment(right.value, node.right.span), "timestamp")
        elif isinstance(left, typed.Constant) and isinstance(left.value, str) and right.type == "timestamp":
            left = typed.Constant(self.declarations.moment(left.value, node.left.span), "timestamp")
        if {left.type, right.type} == {"int", "timestamp"} or not comparable(left.type, right.type):
            self.report.error(
                "E202", node.span, f"{a(left.type)} cannot be compared with {a(right.type)}",
                "convert one of them: `int(…)`, `float(…)`, `string(…)`, `timestamp(…)`",
            )  # fmt: skip
            return UNKNOWN
        if isinstance(right, typed.Constant) and right.value is None and right.type == "null":
            self.report.error(
                "E202", node.right.span, "nothing equals null, so this never holds",
                "use `is_null(…)` or `is_not_null(…)`",
            )  # fmt: skip
        return typed.Operation(node.operator, (left, right), "bool")

    # --- calls

    def _call(self, node: syntax.Call, scope: Scope, aggregates: bool) -> typed.Expression:
        name = node.name.text
        if name in self.declarations.predicates:
            return self.holds(node, scope, aggregates)
        if name in AGGREGATES:
            return self._aggregate(node, scope, aggregates)
        for argument in node.arguments:
            if argument.name is not None and name in FUNCTIONS:
                self.report.error(
                    "E201", argument.span, f"the function `{name}` takes no named arguments",
                    "put a comparison in parentheses: `((x = 1))`",
                )  # fmt: skip
                return UNKNOWN
        signature = FUNCTIONS.get(name)
        if signature is not None:
            return self._function(node, signature, scope, aggregates)
        if name in self.declarations.events:
            return self._wrong(
                node.span, f"`{name}` is an event, and a condition contains no event",
                "make it an item of the body, before `where`",
            )  # fmt: skip
        if name in TIMERS:
            return self._wrong(
                node.span, f"`{name}` is a timer, and a condition contains no event",
                f"make it an item of the body: `w: {name}(…)`",
            )  # fmt: skip
        known = [*FUNCTIONS, *AGGREGATES, *self.declarations.predicates]
        self.report.error(
            "E103", node.name.span, f"there is no function `{name}`",
            did_you_mean(name, known) or "the language reference lists them",
        )  # fmt: skip
        return UNKNOWN

    def _function(self, node: syntax.Call, signature: Signature, scope: Scope, aggregates: bool) -> typed.Expression:
        name = node.name.text
        arguments = [self.resolve(argument.value, scope, aggregates) for argument in node.arguments]
        if not signature.accepts(len(arguments)):
            self.report.error(
                "E201", node.span, f"`{name}` takes {signature.arity()}, here are {len(arguments)}",
                f"`{name}` gives {signature.text}",
            )  # fmt: skip
            return UNKNOWN
        for index, argument in enumerate(arguments):
            wanted = signature.parameter(index)
            if not _accepts(wanted, argument.type):
                self._wrong_type(node.arguments[index].span, a(wanted), argument.type)
                return UNKNOWN
        type_ = result_type(signature, [argument.type for argument in arguments])
        if type_ is None:
            self.report.error(
                "E202", node.span, f"the arguments of `{name}` have no type in common",
                "convert them: `int(…)`, `float(…)`, `string(…)`",
            )  # fmt: skip
            return UNKNOWN
        return typed.Operation(name, tuple(arguments), type_)

    def holds(self, node: syntax.Call, scope: Scope, aggregates: bool = True) -> typed.Expression:
        """A static predicate as a condition: every variable has its value already."""
        arguments = self.predicate_arguments(node)
        if arguments is None:
            return UNKNOWN
        predicate = self.declarations.predicates[node.name.text]
        resolved: list[typed.Expression | None] = []
        for column, argument in zip(predicate.columns, arguments, strict=True):
            if argument is None:
                resolved.append(None)
                continue
            found = self.resolve(argument, scope, aggregates)
            if not comparable(found.type, predicate.types[column]):
                self._wrong_type(argument.span, a(predicate.types[column]), found.type)
            resolved.append(found)
        return typed.Holds(node.name.text, tuple(resolved))

    def predicate_arguments(self, node: syntax.Call) -> list[syntax.Expression | None] | None:
        """The arguments of a static predicate by column, None for `_` or one left out; None if they do not fit."""
        predicate = self.declarations.predicates[node.name.text]
        return self.by_position(node, predicate.columns, f"`{predicate.name}`")

    def by_position(self, node: syntax.Call, columns: list[str], what: str) -> list[syntax.Expression | None] | None:
        """The arguments of a call in the order of the columns: all of them by position, or some by name."""
        named = [argument for argument in node.arguments if argument.name is not None]
        if named and len(named) < len(node.arguments):
            self.report.error(
                "E201", node.span, "arguments are either all by position or all by name",
                "write `name = variable` for each, or for none",
            )  # fmt: skip
            return None
        values: dict[str, syntax.Expression] = {}
        if named:
            for argument in named:
                assert argument.name is not None
                column = argument.name.text
                if column in values:
                    self.report.error("E106", argument.span, f"`{column}` is given twice", "give it once")
                    return None
                if column not in columns:
                    hint = did_you_mean(column, columns) or f"it has {', '.join(columns)}"
                    self.report.error("E102", argument.name.span, f"{what} has no `{column}`", hint)
                    return None
                values[column] = argument.value
        elif node.arguments:
            if len(node.arguments) != len(columns):
                self.report.error(
                    "E201", node.span,
                    f"{what} has {counted(len(columns), 'attribute')} ({', '.join(columns)}), here are {len(node.arguments)}",
                    "give all of them (`_` for any), or some by name: `name = variable`",
                )  # fmt: skip
                return None
            values = {c: argument.value for c, argument in zip(columns, node.arguments, strict=True)}
        result = [values.get(column) for column in columns]
        return [None if isinstance(v, syntax.Name) and v.text == "_" else v for v in result]

    def _aggregate(self, node: syntax.Call, scope: Scope, aggregates: bool) -> typed.Expression:
        name = node.name.text
        if not aggregates:
            self.report.error(
                "E304", node.span, f"the aggregate `{name}` cannot stand here",
                "aggregates stand in the head and in `where`",
            )  # fmt: skip
            return UNKNOWN
        if len(node.arguments) != 1 or node.arguments[0].name is not None:
            hint = {
                "min": "the smallest of several values is `least(…)`",
                "max": "the largest of several values is `greatest(…)`",
            }.get(name)
            self.report.error(
                "E201", node.span, f"`{name}` takes one argument, here are {len(node.arguments)}",
                hint or f"it gives {AGGREGATES[name]}",
            )  # fmt: skip
            return UNKNOWN
        argument = node.arguments[0].value
        names = set(names_in(argument))
        hidden = {n for n in names if scope.find_variable(n) is None and scope.find_label(n) is None}
        paths = scope.paths_to(hidden or names)
        if not paths:
            for missing in value_names(argument):
                if missing.text in hidden:
                    self.report_unbound(missing, scope)
            if not hidden and not self.incomplete:
                self.report.error(
                    "E304", node.span, f"`{name}` has nothing to range over: none of its names is collected",
                    "aggregates range over `while … collect`, repetitions and cumulative constituents",
                )  # fmt: skip
            return UNKNOWN
        path = max(paths, key=len)
        if any(path[: len(other)] != other for other in paths):
            self.report.error("E305", node.span, f"`{name}` mixes events of two collections", "aggregate each on its own")
            return UNKNOWN
        inside = scope.inside(path)
        if isinstance(argument, syntax.Name) and inside.names_event(argument.text):
            if name != "count":
                self.report.error(
                    "E304", argument.span, f"`{argument.text}` is an event; only `count` takes one",
                    f"name an attribute: `{name}({argument.text}.attribute)`",
                )  # fmt: skip
                return UNKNOWN
            return typed.Aggregate("count", None, path, "int")
        inner = self.resolve(argument, inside, aggregates=False)
        type_ = aggregate_type(name, inner.type)
        if type_ is None:
            wanted = "a single value" if is_list(inner.type) else "a number"
            self._wrong_type(argument.span, wanted, inner.type)
            return UNKNOWN
        return typed.Aggregate(name, inner, path, type_)


def _accepts(parameter: str, given: Type) -> bool:
    if given in ("any", "null"):
        return True
    if parameter == "number":
        return given in NUMBERS
    if parameter == "value":
        return not is_list(given)
    return given == parameter


def type_of(value: object) -> Type:
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case _:
            return "string"


def a(type_: Type) -> str:
    """A type with its article."""
    match type_:
        case "null":
            return "null"
        case "any":
            return "any value"
        case "value":
            return "a single value"
        case "int" | "any":
            return f"an {type_}"
        case _:
            return f"a {type_}"


def counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' if count != 1 else ''}"


def value_names(node: syntax.Node) -> Iterator[syntax.Name]:
    """The names in an expression that stand for values or matched events: variables, and owners of attributes."""
    match node:
        case syntax.Name():
            yield node
        case syntax.Attribute(owner=owner):
            yield owner
        case syntax.Call(arguments=arguments):
            for argument in arguments:
                yield from value_names(argument.value)
        case _:
            for child in node.children():
                yield from value_names(child)


def names_in(node: syntax.Node) -> Iterator[str]:
    return (name.text for name in value_names(node) if name.text != "_")
