"""Parameters: constants with a name (``param limit: float = 100.0.``), replaced by their values before checking.

So a parameter may stand wherever a constant may: in a condition, as an argument of an event, as a length of time. A
name that is a parameter is no variable in any rule. One that has no value yet is replaced by some value of its type, so
that the rest can be checked; nothing is run with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from ensue.language import syntax
from ensue.language.diagnostics import Report, did_you_mean
from ensue.language.types import DECLARED
from ensue.records import dataclass

DURATION = "duration"
TYPES = (*DECLARED, DURATION)
"""The types of parameters: those of attributes, and lengths of time."""

_ANY: dict[str, syntax.Literal | syntax.Amount] = {
    "int": syntax.Literal(1), "float": syntax.Literal(1.0), "bool": syntax.Literal(True),
    "string": syntax.Literal("", missing=True), "timestamp": syntax.Literal("1970-01-01T00:00:00Z", timestamp=True),
    DURATION: syntax.Amount(1, False),
}  # fmt: skip
"""Stands for a parameter that has no value yet."""

WRITTEN = {
    "int": "as in `3`", "float": "as in `1.5`", "string": 'as in `"text"`', "bool": "`true` or `false`",
    "timestamp": 'as in `"2026-12-25T12:00:00Z"`', DURATION: "as in `6h`, or a plain number",
}  # fmt: skip
"""Notation of values, by type."""

Value = syntax.Literal | syntax.Amount


@dataclass(frozen=True)
class Parameter:
    """A parameter and its value as rules write it; None if it must be given."""

    name: str
    type: str
    value: Value | None


def declared_parameters(file: syntax.File, report: Report) -> dict[str, Parameter]:
    """The parameters that a file declares."""
    found: dict[str, Parameter] = {}
    for statement in file.statements:
        if not isinstance(statement, syntax.ParameterDeclaration):
            continue
        name, type_ = statement.name.text, statement.type.text
        if name in found:
            report.error("E106", statement.name.span, f"there is a parameter `{name}` already", "declare it once")
            continue
        if type_ not in TYPES:
            hint = did_you_mean(type_, TYPES) or f"a parameter is one of {', '.join(TYPES)}"
            report.error("E108", statement.type.span, f"`{type_}` is not a type", hint)
            type_ = "any"
        value = None if statement.value is None else read_value(statement.value, name, type_, report)
        found[name] = Parameter(name, type_, value)
    return found


def read_value(node: syntax.Expression, name: str, type_: str, report: Report) -> Value | None:
    """The value that is written for a parameter, as a constant of its type; None after reporting an error."""
    value = _constant(node)
    if value is None:
        hint = f"{WRITTEN[type_]}; a parameter is a constant" if type_ in WRITTEN else "a parameter is a constant"
        report.error("E206", node.span, "a constant is needed here", hint)
        return None
    fitting = value if type_ == "any" else fitted(value, type_)
    if fitting is None:
        report.error(
            "E202", node.span, f"the parameter `{name}` is declared as `{type_}`, and this is not one", WRITTEN[type_]
        )
        return _ANY[type_]
    return fitting


def fitted(value: Value, type_: str) -> Value | None:
    """A constant as one of a type; None if it is none."""
    match value, type_:
        case (syntax.Literal(value=bool()), "bool") | (syntax.Literal(value=str()), "string"):
            return value
        case (syntax.Literal(value=bool() | None), _):
            return None
        case (syntax.Literal(value=int()), "int") | (syntax.Literal(value=float()), "float"):
            return value
        case (syntax.Literal(value=int() as number), "float"):
            return replace(value, value=float(number))
        case (syntax.Literal(value=str() as text), "timestamp"):
            return replace(value, timestamp=True) if _is_timestamp(text) else None
        case (syntax.Amount(parameter=None), "duration"):
            return value
        case (syntax.Literal(value=int() as number), "duration"):
            return syntax.Amount(number, False, span=value.span)
        case _:
            return None


def _is_timestamp(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _constant(node: syntax.Expression) -> Value | None:
    match node:
        case syntax.Literal() | syntax.Amount(parameter=None):
            return node
        case syntax.Negative(operand=syntax.Literal(value=int() | float() as number)) if not isinstance(number, bool):
            return syntax.Literal(-number, span=node.span)
        case syntax.Negative(operand=syntax.Amount(value=length, timed=timed)):
            return syntax.Amount(-length, timed, span=node.span)
        case _:
            return None


# --- replacing --------------------------------------------------------------------------------------------------------


def with_values(file: syntax.File, parameters: Mapping[str, Parameter], report: Report) -> syntax.File:
    """The file with values in the places of parameters; in a test those that it states."""
    values = {name: each.value or _ANY.get(each.type, syntax.Literal(1)) for name, each in parameters.items()}
    return replace(file, statements=tuple(_statement(s, parameters, values, report) for s in file.statements))


def _statement(
    statement: syntax.Statement, parameters: Mapping[str, Parameter], values: Mapping[str, Value], report: Report
) -> Any:
    if isinstance(statement, syntax.ParameterDeclaration):
        return statement
    if isinstance(statement, syntax.Test):
        values = {**values, **_settings(statement.settings, parameters, report)}
    return _Replacing(values, report).node(statement)


def _settings(
    settings: Iterable[syntax.Setting], parameters: Mapping[str, Parameter], report: Report
) -> dict[str, Value]:
    """The values that a test states."""
    found: dict[str, Value] = {}
    for setting in settings:
        name = setting.name.text
        if name not in parameters:
            _report_unknown(name, setting.name, parameters, report)
        elif name in found:
            report.error("E106", setting.name.span, f"`{name}` is already given", "give it once")
        else:
            value = read_value(setting.value, name, parameters[name].type, report)
            if value is not None:
                found[name] = value
    return found


def _report_unknown(name: str, place: syntax.Node, known: Iterable[str], report: Report) -> None:
    hint = did_you_mean(name, known) or f"declare it: `param {name}: …`"
    report.error("E110", place.span, f"there is no parameter `{name}`", hint)


_NAMES: dict[type[syntax.Node], frozenset[str]] = {
    syntax.Call: frozenset({"name"}),
    syntax.Attribute: frozenset({"owner", "name"}),
    syntax.Argument: frozenset({"name"}),
    syntax.Labelled: frozenset({"name"}),
    syntax.Absence: frozenset({"window"}),
    syntax.Collection: frozenset({"window"}),
    syntax.Policy: frozenset({"name"}),
    syntax.Once: frozenset({"keys"}),
    syntax.AtMost: frozenset({"keys"}),
    syntax.Unit: frozenset({"name"}),
    syntax.Column: frozenset({"name", "type"}),
    syntax.EventDeclaration: frozenset({"name"}),
    syntax.TableDeclaration: frozenset({"name"}),
    syntax.EventRule: frozenset({"label", "beginning"}),
    syntax.StaticRule: frozenset({"label"}),
    syntax.Nothing: frozenset({"type"}),
    syntax.Setting: frozenset({"name"}),
}
"""Names that are no values: of events, attributes, rules and the like."""


class _Replacing:
    """Puts values in the places of parameters."""

    def __init__(self, values: Mapping[str, Value], report: Report) -> None:
        self.values, self.report = values, report

    def node(self, node: Any) -> Any:
        match node:
            case syntax.Amount(parameter=str() as name):
                return self._length(node, name)
            case syntax.Name(text=text, span=span) if text in self.values:
                return replace(self.values[text], of=text, span=span)
            case syntax.Labelled(name=name) if name.text in self.values:
                hint = "give the event another name"
                self.report.error("E106", name.span, f"`{name.text}` is the name of a parameter", hint)
            case syntax.Negative(operand=syntax.Name(text=text)) if text in self.values:
                return _constant(self._inside(node)) or self._inside(node)
        return self._inside(node)

    def _inside(self, node: Any) -> Any:
        apart = _NAMES.get(type(node), frozenset())
        new = {}
        for each in fields(node):
            held = getattr(node, each.name)
            if each.name not in apart and each.name != "span":
                changed = _mapped(held, self.node)
                if changed is not held:
                    new[each.name] = changed
        return replace(node, **new) if new else node

    def _length(self, node: syntax.Amount, name: str) -> syntax.Amount:
        if name not in self.values:
            _report_unknown(name, node, self.values, self.report)
            return syntax.Amount(1, False, node.written, span=node.span)
        match self.values[name]:
            case syntax.Amount(value=value, timed=timed):
                return syntax.Amount(value * node.value, timed, node.written, duration=True, span=node.span)
            case syntax.Literal(value=int() as value) if not isinstance(value, bool):
                return syntax.Amount(value * node.value, False, node.written, span=node.span)
            case _:
                hint = f"declare it as `param {name}: duration`, or as an `int`"
                self.report.error("E202", node.span, f"a length is needed here, and `{name}` is not one", hint)
                return syntax.Amount(1, False, node.written, span=node.span)


def _mapped(held: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(held, syntax.Node):
        return change(held)
    if isinstance(held, tuple):
        changed = tuple(_mapped(item, change) for item in held)
        return changed if any(new is not old for new, old in zip(changed, held, strict=True)) else held
    return held
