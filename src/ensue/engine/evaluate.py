"""The value of an operation on Python values; generated code calls this and remembers the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ensue.engine.event import Event
from ensue.language import typed
from ensue.language.functions import apply
from ensue.language.semantics import among, as_integer, calculate, compare, equality
from ensue.plan import late
from ensue.records import dataclass


def operate(operation: typed.Operation, values: Sequence[Any]) -> Any:
    """The value of an operator or function; None is null."""
    name, terms = operation.name, operation.arguments
    if operation.own is not None:
        return operation.own.call(values)
    match name:
        case "and" | "or":
            decisive = name == "or"
            if any(value is decisive for value in values):
                return decisive
            return None if any(value is None for value in values) else not decisive
        case "not":
            return None if values[0] is None else not values[0]
        case "=" | "!=" | "<" | "<=" | ">" | ">=":
            return compare(name, *values)
        case "in":
            return among(*values)
        case "+" | "-" | "*" | "/" | "//" | "%":
            return calculate(name, *values)
        case late.ROW:
            return tuple(values)
        case "as i" | "as f" | "as b" | "as s" | "as o":
            return converted(values[0], name[-1])
    found = apply(name, values, [term.type for term in terms])
    return float(found) if operation.type == "float" and isinstance(found, int) else found


def converted(value: Any, kind: str) -> Any:
    """A value as generated code represents its kind; None if it has another kind."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "i":
            return as_integer(value) if number else None
        case "f":
            return float(value) if number else None
        case "b":
            return value if isinstance(value, bool) else None
        case "s":
            return value if isinstance(value, str) else None
        case _:
            return value


# --- whole expressions: of one event, or of a static rule


@dataclass(frozen=True)
class Matched:
    """An event that an atom matched: the values of its variables, and itself under its name; or values alone."""

    values: Mapping[str, Any]
    label: str | None = None
    event: Event | None = None


def match_atom(atom: typed.Atom, event: Event) -> Matched | None:
    """The event as an atom matches it; None where it does not."""
    values: dict[str, Any] = {}
    for attribute, term in atom.fields:
        value = event.attributes.get(attribute)
        if isinstance(term, typed.Constant):
            if equality(value) is None or equality(value) != equality(term.value):
                return None
        elif term.name not in values:
            values[term.name] = value
        elif equality(value) is None or equality(value) != equality(values[term.name]):
            return None
    return Matched(values, atom.label, event)


Held = Callable[[str, list[Any], list[bool]], bool]
"""Returns True if a static predicate has a row with these values; the flags mark those that matter."""


def holds(condition: typed.Expression, match: Matched, held: Held) -> bool:
    """True only if the condition is true; null is not."""
    return evaluate(condition, match, held) is True


def evaluate(expression: typed.Expression, match: Matched, held: Held) -> Any:
    """The value of an expression without aggregates; None is null."""
    match expression:
        case typed.Constant(value=value):
            return value
        case typed.Variable(name=name):
            return match.values[name]
        case typed.AttributeOf(attribute=attribute) if match.event is not None:
            return match.event.attributes.get(attribute)
        case typed.TimeOf(end=end) if match.event is not None:
            return match.event.end if end else match.event.start
        case typed.Holds(predicate=predicate, arguments=terms):
            values = [None if term is None else evaluate(term, match, held) for term in terms]
            return held(predicate, values, [term is not None for term in terms])
        case typed.Operation(name="if_else", arguments=(condition, one, other)):
            found = evaluate(one if holds(condition, match, held) else other, match, held)
            return float(found) if expression.type == "float" and isinstance(found, int) else found
        case typed.Operation(arguments=terms):
            return operate(expression, [evaluate(term, match, held) for term in terms])
        case _:
            raise AssertionError("one event has no aggregates")
