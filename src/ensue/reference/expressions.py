"""The value of an expression for a match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ensue.language import typed
from ensue.language.aggregates import aggregate
from ensue.language.functions import apply
from ensue.language.semantics import among, calculate, compare
from ensue.reference.matches import Match

Held = Callable[[str, list[Any], list[bool]], bool]
"""True if a static predicate has a row with these values; the flags select those that matter."""


def evaluate(expression: typed.Expression, match: Match, held: Held) -> Any:
    """The value; None is null."""
    match expression:
        case typed.Constant(value=value):
            return value
        case typed.Variable(name=name):
            return match.values[name]
        case typed.AttributeOf(label=label, attribute=attribute):
            return match.labels[label].attributes.get(attribute)
        case typed.TimeOf(label=label, end=end):
            return match.labels[label].end if end else match.labels[label].start
        case typed.Holds(predicate=predicate, arguments=terms):
            values = [None if term is None else evaluate(term, match, held) for term in terms]
            return held(predicate, values, [term is not None for term in terms])
        case typed.Aggregate(name=name, argument=argument, path=path, constants=constants):
            rows = _rows(match, path)
            if argument is None:
                return len(rows)
            values = [evaluate(argument, row, held) for row in rows]
            return aggregate(name, [value for value in values if value is not None], constants)
        case typed.Operation():
            return _operation(expression, match, held)


def holds(condition: typed.Expression, match: Match, held: Held) -> bool:
    """A condition holds only if it is true: null is not."""
    return evaluate(condition, match, held) is True


def _rows(match: Match, path: tuple[int, ...]) -> list[Match]:
    """Each gathered event at the end of the path, with everything known around it."""
    rows = [match]
    for gathering in path:
        rows = [_within(row, member) for row in rows for member in row.gathered.get(gathering, ())]
    return rows


def _within(outer: Match, member: Match) -> Match:
    return Match(
        member.start,
        member.end,
        {**outer.values, **member.values},
        {**outer.labels, **member.labels},
        gathered={**outer.gathered, **member.gathered},
    )


def _operation(operation: typed.Operation, match: Match, held: Held) -> Any:
    name, terms = operation.name, operation.arguments
    match name:
        case "and" | "or":
            decisive = name == "or"
            values = [evaluate(term, match, held) for term in terms]
            if any(value is decisive for value in values):
                return decisive
            return None if any(value is None for value in values) else not decisive
        case "if_else":
            found = evaluate(terms[1 if holds(terms[0], match, held) else 2], match, held)
            return float(found) if operation.type == "float" and isinstance(found, int) else found
    values = [evaluate(term, match, held) for term in terms]
    if operation.own is not None:
        return operation.own.call(values)
    match name:
        case "not":
            return None if values[0] is None else not values[0]
        case "=" | "!=" | "<" | "<=" | ">" | ">=":
            return compare(name, *values)
        case "in":
            return among(*values)
        case "+" | "-" | "*" | "/" | "//" | "%":
            return calculate(name, *values)
    found = apply(name, values, [term.type for term in terms])
    return float(found) if operation.type == "float" and isinstance(found, int) else found
