"""Conditions and terms: names looked up, operators and functions given types."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.language import syntax, typed
from ensue.language.aggregates import AGGREGATES
from ensue.language.check.calls import Calls
from ensue.language.check.comparisons import UNKNOWN, Comparisons
from ensue.language.check.lengths import MICROSECONDS, OWN, units_of
from ensue.language.check.phrases import a, counted, given
from ensue.language.check.scope import Scope
from ensue.language.diagnostics import Report, did_you_mean
from ensue.language.functions import FUNCTIONS, TIMERS, Signature, result_type
from ensue.language.limits import DEEPEST
from ensue.language.print import path
from ensue.language.source import Span
from ensue.language.types import NUMBERS, TIMES, Type, common, comparable, fits, is_list
from ensue.language.walk import conjuncts


class Expressions(Comparisons, Calls):
    """Checks the expressions of one rule."""

    def condition(self, node: syntax.Expression, scope: Scope, aggregates: bool = True) -> typed.Expression:
        """An expression that must be true or false."""
        found = self.resolve(node, scope, aggregates)
        if found.type not in ("bool", "any", "null"):
            self.report.error(
                "E205", node.span, f"a condition is needed here, this is {a(found.type)}",
                "compare it with something, as in `x > 0`",
            )  # fmt: skip
        return found

    def conjuncts(self, node: syntax.Expression, scope: Scope, aggregates: bool = True) -> Iterator[typed.Expression]:
        """The parts of a condition between its outermost `and`s."""
        match node:
            case syntax.And(operands=operands):
                for operand in operands:
                    yield from self.conjuncts(operand, scope, aggregates)
            case syntax.Group(body=syntax.Body(items=(inner,), suffixes=())):
                yield from self.conjuncts(inner, scope, aggregates)  # type: ignore[arg-type]
            case syntax.InRange(negated=False):
                yield from conjuncts(self.resolve(node, scope, aggregates))
            case _:
                yield self.condition(node, scope, aggregates)

    def resolve(self, node: syntax.Expression, scope: Scope, aggregates: bool = True) -> typed.Expression:
        match node:
            case syntax.Literal(value=str() as text, timestamp=True):
                return typed.Constant(self.declarations.timestamp(text, node.span), "timestamp")
            case syntax.Literal(value=value):
                return typed.Constant(value, type_of(value))
            case syntax.Amount():
                return typed.Constant(self.declarations.duration(node), "int", timed=node.timed)
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
                return self.comparison(node, scope, aggregates)
            case syntax.Among() | syntax.InRange() | syntax.Like() | syntax.IsNull():
                found = self.condition_of_words(node, scope, aggregates)
                return typed.Operation("not", (found,), "bool") if node.negated and found is not UNKNOWN else found
            case syntax.Case():
                return self.case(node, scope, aggregates)
            case syntax.Not(operand=syntax.Call(name=name)) if name.text in self.declarations.events:
                return self._wrong(
                    node.span, f"`{name.text}` is an event, and cannot be negated in a condition",
                    f"absence is an item: `while [w]: not {name.text}(…)`, `not {name.text}(…) in [a, b]`, "
                    f"or `a without {name.text}(…)`",
                )  # fmt: skip
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
            case syntax.Distinct() | syntax.Star():
                sign = "distinct" if isinstance(node, syntax.Distinct) else "*"
                return self._wrong(
                    node.span, f"`{sign}` stands only in the aggregate `count`",
                    "as in `count(distinct x)` and `count(*)`",
                )  # fmt: skip
            case syntax.ListLiteral():
                return self._wrong(
                    node.span, "a list can stand only in a test", "compare with several values like this: `x in (1, 2)`"
                )
            case syntax.Repeat(high=None, low=low):
                sign = "*" if low == 0 else "+"
                return self._wrong(
                    node.span,
                    f"`{sign}` has no value behind it",
                    f"as in `x {sign} 1`; repeated events are items of the body",
                )
            case _:
                return self._wrong(
                    node.span, "a condition or value is needed here, this is a pattern of events",
                    "patterns are items of the body: put it before `where` or `on`",
                )  # fmt: skip

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

    def _attribute(self, node: syntax.Attribute, scope: Scope) -> typed.Expression:
        owner, attribute = node.owner.text, node.name.text
        label = scope.find_label(owner)
        if label is None:
            instead = f"use it in an aggregate, as in `max({owner}.{attribute})`"
            self.report_no_event(
                node.owner, scope, f"{instead}; to leave some out, filter inside: `collect (p where …)`"
            )
            return UNKNOWN
        if attribute in ("start", "end"):
            return typed.TimeOf(owner, attribute == "end")
        if label.event is None:
            self.report.error(
                "E102", node.name.span, f"`{owner}` is a timer or a pattern, and has no attributes",
                f"it has only `{owner}.start` and `{owner}.end`",
            )  # fmt: skip
            return UNKNOWN
        return typed.AttributeOf(owner, attribute, self.attribute_type(label.event, node.name))

    def attribute_type(self, event: str, name: syntax.Name) -> Type:
        """The type of an event's attribute; reports an error if there is no such attribute."""
        known = self.declarations.events[event]
        if name.text in known.types:
            return known.types[name.text]
        if known.open:
            known.attributes.append(name.text)
            known.types[name.text] = self.declarations.known.get(event, {}).get(name.text, "any")
            return known.types[name.text]
        hint = did_you_mean(name.text, known.attributes) or (
            f"it has {', '.join(known.attributes)}" if known.attributes else "it has no attributes"
        )
        self.report.error("E102", name.span, f"the event `{event}` has no attribute `{name.text}`", hint)
        return "any"

    # --- operators

    def _number(self, node: syntax.Expression, scope: Scope, aggregates: bool) -> typed.Expression:
        found = self.resolve(node, scope, aggregates)
        if found.type not in NUMBERS and found.type not in ("any", "null"):
            self.wrong_type(node.span, "number", found.type)
            return UNKNOWN
        return found

    def _arithmetic(self, node: syntax.Arithmetic, scope: Scope, aggregates: bool) -> typed.Expression:
        left, right = self.resolve(node.left, scope, aggregates), self.resolve(node.right, scope, aggregates)
        if "time" in (left.type, right.type):
            left, right = self.in_time(left, node.left.span), self.in_time(right, node.right.span)
        type_ = self._arithmetic_type(node, left.type, right.type)
        self.note_units(left, right)
        for time, length in ((left, right), (right, left)):
            unit = {"timestamp": OWN, "time": MICROSECONDS}.get(time.type)
            self.declarations.mixed |= unit in units_of(length)
        return typed.Operation(node.operator, (left, right), type_) if type_ else UNKNOWN

    def _arithmetic_type(self, node: syntax.Arithmetic, left: Type, right: Type) -> Type | None:
        operator = node.operator
        if left in TIMES and right in TIMES and operator == "-":
            return "int"
        if operator in "+-" and {left, right} & TIMES and {left, right} - TIMES <= {"int", "null", "any"}:
            if operator == "-" and right in TIMES:
                self.wrong_type(node.left.span, "time", left, "a time can be subtracted only from a time")
                return None
            if not (left in TIMES and right in TIMES):
                return left if left in TIMES else right
        for side, type_ in ((node.left, left), (node.right, right)):
            if type_ not in NUMBERS and type_ not in ("any", "null"):
                hint = "use `concat` to put text together" if type_ == "string" and operator == "+" else None
                if left in TIMES and right in TIMES:
                    hint = "the distance of two times is their difference: `s.start - o.end`"
                self.wrong_type(side.span, "number", type_, hint)
                return None
        if operator == "/":
            return "float"
        return common(left, right)

    # --- calls

    def _call(self, node: syntax.Call, scope: Scope, aggregates: bool) -> typed.Expression:
        name = node.name.text
        if name in self.declarations.predicates:
            return self.holds(node, scope, aggregates)
        if name in AGGREGATES:
            return self._aggregate(node, scope, aggregates)
        signature = self.declarations.signature(name)
        for argument in node.arguments:
            if argument.name is not None and signature is not None:
                self.report.error(
                    "E201", argument.span, f"the function `{name}` takes no named arguments",
                    "leave the name out; write a comparison as an argument in parentheses: `(x = 1)`",
                )  # fmt: skip
                return UNKNOWN
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
        if name in self.declarations.lost:
            return UNKNOWN  # its error is reported already
        known = [*FUNCTIONS, *self.declarations.functions, *AGGREGATES, *self.declarations.predicates]
        self.report.error(
            "E103", node.name.span, f"there is no function or table `{name}`",
            did_you_mean(name, known)
            or f'the language reference lists all functions; pass your own with `functions={{"{name}": …}}`',
        )  # fmt: skip
        return UNKNOWN

    def _function(self, node: syntax.Call, signature: Signature, scope: Scope, aggregates: bool) -> typed.Expression:
        name = node.name.text
        arguments = [self.resolve(argument.value, scope, aggregates) for argument in node.arguments]
        if not signature.accepts(len(arguments)):
            self.report.error(
                "E201", node.span, f"`{name}` takes {signature.arity()}, {given(len(arguments))}",
                f"as in `{signature.shown(name)}`: {signature.text}",
            )  # fmt: skip
            return UNKNOWN
        if len(arguments) > DEEPEST:
            self.report.error(
                "E004", node.arguments[DEEPEST].span,
                f"this call has {len(arguments)} arguments: there can be {DEEPEST}",
                f"call `{name}` for some of them, and use its result here",
            )  # fmt: skip
            return UNKNOWN
        own = self.declarations.functions.get(name)
        for index, argument in enumerate(arguments):
            wanted = signature.parameter(index)
            if not (_accepts(wanted, argument.type) if own is None else fits(argument.type, wanted)):
                self.wrong_type(node.arguments[index].span, wanted, argument.type)
                return UNKNOWN
        if own is None and not self.check_constants(node, signature, arguments):
            return UNKNOWN
        type_ = result_type(signature, [argument.type for argument in arguments])
        if type_ is None:
            self.report.error(
                "E202", node.span, f"the arguments of `{name}` have no type in common",
                "convert them to one type: `int(…)`, `float(…)` or `string(…)`",
            )  # fmt: skip
            return UNKNOWN
        if signature.result == "same":
            self.note_units(*arguments)
        if type_ == "time":
            arguments = [self.in_time(each, node.arguments[i].span) for i, each in enumerate(arguments)]
        if own is None and (signature.per is not None or signature.zone is not None):
            return self.of_times(name, signature, arguments, type_)
        return typed.Operation(name, tuple(arguments), type_, own=own)

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
                self.wrong_type(argument.span, predicate.types[column], found.type)
            resolved.append(found)
        return typed.Holds(node.name.text, tuple(resolved))

    def predicate_arguments(self, node: syntax.Call) -> list[syntax.Expression | None] | None:
        """The arguments of a static predicate by column, None for `_` or one left out; None if they do not fit."""
        predicate = self.declarations.predicates[node.name.text]
        what = f"the table `{predicate.name}`" if predicate.declared else f"the static predicate `{predicate.name}`"
        return self.by_position(node, predicate.columns, what, "column")

    def by_position(
        self, node: syntax.Call, columns: list[str], what: str, part: str = "attribute"
    ) -> list[syntax.Expression | None] | None:
        """The arguments of a call in the order of the columns: all of them by position, or some by name."""
        known = node.name.text not in self.declarations.lost
        report = self.report if known else Report(self.report.source)  # a lost declaration may have more attributes
        named = [argument for argument in node.arguments if argument.name is not None]
        if named and len(named) < len(node.arguments):
            first = node.arguments[0].name is None
            other = next(argument for argument in node.arguments if (argument.name is None) is not first)
            report.error(
                "E201", other.span, "arguments are either all by position or all by name",
                f"write `{part} = variable` for each of them, or for none",
            )  # fmt: skip
            return None
        values: dict[str, syntax.Expression] = {}
        if named:
            for argument in named:
                assert argument.name is not None
                column = argument.name.text
                if column in values:
                    report.error("E106", argument.name.span, f"`{column}` is already given", "give it once")
                    return None
                if column not in columns:
                    has = f"it has {', '.join(columns)}" if columns else f"it has no {part}s"
                    hint = did_you_mean(column, columns) or has
                    report.error("E102", argument.name.span, f"{what} has no {part} `{column}`", hint)
                    return None
                values[column] = argument.value
        elif node.arguments:
            if len(node.arguments) != len(columns):
                has = f"{counted(len(columns), part)} ({', '.join(columns)})" if columns else f"no {part}s"
                one = f"{path(columns[0])} = x" if columns else ""
                report.error(
                    "E201", node.span, f"{what} has {has}, {given(len(node.arguments))}",
                    f"give all of them (`_` for any), or some by name: {f'`` {one} ``' if '`' in one else f'`{one}`'}"
                    if columns else f"write `{node.name.text}()`",
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
                "use aggregates in the head of an event rule and after its `where`",
            )  # fmt: skip
            return UNKNOWN
        if AGGREGATES[name].fraction:
            return self._quantile(node, scope)
        match node.arguments:
            case (
                syntax.Argument(value=syntax.Repeat(pattern=syntax.Name(text="distinct"), low=0, high=None) as written),
            ):
                self.report.error(
                    "E201", written.span, "`distinct` takes a value, and `*` is not one",
                    "`count(distinct x)` counts different values, `count(*)` everything collected",
                )  # fmt: skip
                return UNKNOWN
            case (syntax.Argument(value=syntax.Star()),):
                return self._count_all(node, scope)
            case (syntax.Argument(value=syntax.Distinct(operand=operand) as written),):
                if name != "count":
                    self.report.error(
                        "E201", written.span, f"`{name}` takes no `distinct`",
                        "`count(distinct x)` counts different values",
                    )  # fmt: skip
                    return UNKNOWN
                return self._aggregate_of("count_distinct", operand, node, scope)
        if len(node.arguments) != 1 or node.arguments[0].name is not None:
            hint = {
                "min": "the smallest of several values is `least(…)`",
                "max": "the largest of several values is `greatest(…)`",
            }.get(name)
            self.report.error(
                "E201", node.span, f"`{name}` takes one argument without a name, {given(len(node.arguments))}",
                hint or f"as in `{name}(x)`: {AGGREGATES[name].text}",
            )  # fmt: skip
            return UNKNOWN
        return self._aggregate_of(name, node.arguments[0].value, node, scope)

    def _quantile(self, node: syntax.Call, scope: Scope) -> typed.Expression:
        """An aggregate with a fraction behind its argument."""
        name = node.name.text
        if len(node.arguments) != 2 or any(argument.name is not None for argument in node.arguments):
            self.report.error(
                "E201", node.span, f"`{name}` takes a value and a fraction, {given(len(node.arguments))}",
                f"as in `{name}(x, 0.95)`: {AGGREGATES[name].text}",
            )  # fmt: skip
            return UNKNOWN
        fraction = node.arguments[1].value
        found = self.resolve(fraction, scope, aggregates=False) if isinstance(fraction, syntax.Literal) else None
        if found is None or not isinstance(found, typed.Constant) or found.type not in NUMBERS:
            self.report.error(
                "E206", fraction.span, "a constant between 0 and 1 is needed here", f"as in `{name}(x, 0.95)`"
            )
            return UNKNOWN
        share = float(found.value)  # type: ignore[arg-type]
        if not 0 <= share <= 1:
            hint = f"95 percent is `{name}(x, 0.95)`" if 1 < share <= 100 else f"as in `{name}(x, 0.95)`"
            self.report.error("E206", fraction.span, "the fraction lies between 0 and 1", hint)
            return UNKNOWN
        return self._aggregate_of(name, node.arguments[0].value, node, scope, (share,))

    def _count_all(self, node: syntax.Call, scope: Scope) -> typed.Expression:
        """``count(*)``: how much was collected."""
        name = node.name.text
        if name != "count":
            self.report.error(
                "E201", node.arguments[0].span, "`*` stands only in `count(*)`", f"name a value: `{name}(x)`"
            )
            return UNKNOWN
        match list(scope.gathered):
            case [only]:
                return typed.Aggregate("count", None, (only,), "int")
            case []:
                if not self.incomplete:
                    self._report_nothing(node, name)
            case _:
                self.report.error(
                    "E305", node.span, "there are several collections here, and `count(*)` does not say which",
                    "name the events, as in `while [w]: collect f: failed(user)`, and write `count(f)`",
                )  # fmt: skip
        return UNKNOWN

    def _report_nothing(self, node: syntax.Call, name: str) -> None:
        self.report.error(
            "E304", node.span, f"`{name}` has nothing to range over: none of its names is collected",
            "aggregates range over `while … collect`, repetitions and cumulative constituents",
        )  # fmt: skip

    def _aggregate_of(
        self, name: str, argument: syntax.Expression, node: syntax.Call, scope: Scope, constants: tuple[float, ...] = ()
    ) -> typed.Expression:
        """An aggregate over the values of an expression."""
        called = node.name.text
        names = set(names_in(argument))
        hidden = {n for n in names if scope.find_variable(n) is None and scope.find_label(n) is None}
        paths = scope.paths_to(hidden or names)
        if not paths:
            for missing in value_names(argument):
                if missing.text in hidden:
                    self.report_unbound(missing, scope)
            if not hidden and not self.incomplete:
                self._report_nothing(node, called)
            return UNKNOWN
        path = max(paths, key=len)
        if any(path[: len(other)] != other for other in paths):
            self.report.error(
                "E305", node.span, f"`{called}` mixes events of two collections", "aggregate each of them on its own"
            )
            return UNKNOWN
        inside = scope.inside(path)
        if isinstance(argument, syntax.Name) and inside.names_event(argument.text):
            if name == "count_distinct":
                self.report.error(
                    "E304", argument.span, f"`{argument.text}` is an event, and no two events are the same",
                    f"name an attribute, `count(distinct {argument.text}.attribute)`, or count all: `count(*)`",
                )  # fmt: skip
                return UNKNOWN
            if name != "count":
                self.report.error(
                    "E304", argument.span, f"`{argument.text}` is an event; only `count` takes one",
                    f"name an attribute: `{name}({argument.text}.attribute)`",
                )  # fmt: skip
                return UNKNOWN
            return typed.Aggregate("count", None, path, "int")
        nested = _aggregate_in(argument)
        if nested is not None:
            self.report.error(
                "E304", nested.span, "an aggregate cannot stand inside another one",
                f"derive an event with `{nested.name.text}` first, and aggregate that",
            )  # fmt: skip
            return UNKNOWN
        inner = self.resolve(argument, inside, aggregates=False)
        type_ = AGGREGATES[name].type(inner.type)
        if type_ is None:
            wanted = "value" if is_list(inner.type) else "number"
            self.wrong_type(argument.span, wanted, inner.type)
            return UNKNOWN
        return typed.Aggregate(name, inner, path, type_, constants)


def _accepts(parameter: str, given: Type) -> bool:
    if given in ("any", "null"):
        return True
    if parameter == "number":
        return given in NUMBERS
    if parameter == "time":
        return given in TIMES
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


def _aggregate_in(node: syntax.Node) -> syntax.Call | None:
    """The first aggregate in an expression."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, syntax.Call) and current.name.text in AGGREGATES:
            return current
        waiting.extend(reversed(list(current.children())))
    return None


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
