"""Conditions on single events that every use of their type makes, as SQL: events that fulfil none need not be read.

These filters may let more events through than the rules do, never fewer: the rules are evaluated in any case.
Spark and the rules agree on integers, text and truth, and on nulls, which fulfil nothing. A NaN is larger than any
number to Spark and compares with nothing in rules, so it may pass; that is more, not less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ensue.language import typed
from ensue.language.walk import atoms, constituents, pairs, patterns
from ensue.spark.sql import among, literal, quoted
from ensue.spark.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

Comparison = tuple[str, str, int | float | str | bool]
"""An attribute, an operator, a constant."""

_TURNED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_EXACT = 2**53
"""Integers below this compare with others as they do after all have become floats."""


def conditions(rules: typed.Program) -> dict[str, tuple[frozenset[Comparison], ...]]:
    """For each type the ways in which an event can matter: one for each atom, all comparisons of which must hold.

    A type of which any event can matter has none.
    """
    found: dict[str, set[frozenset[Comparison]]] = {}
    for rule in rules.rules:
        compared = _compared(rule.body)
        for atom in atoms(rule.body):
            found.setdefault(atom.event, set()).add(frozenset([*_constants(atom), *compared.get(atom.id, ())]))
    return {event: tuple(sorted(ways, key=_text)) if all(ways) else () for event, ways in found.items()}


def _text(way: frozenset[Comparison]) -> str:
    """For an order that is always the same."""
    return str(sorted(map(str, way)))


def pushed(rules: typed.Program, reads: tuple[str, ...], wire: Wire, types: Mapping[str, DataType]) -> str:
    """A condition on events, as SQL: they are of a type that is read, and may matter."""
    ways = conditions(rules)
    free, held = [], []
    for event in reads:
        written = [_written(event, way, wire, types) for way in ways.get(event, ())]
        if not written or not all(written):
            free.append(event)
        else:
            held.append(f"({among('type', [event])} and ({' or '.join(dict.fromkeys(map(str, written)))}))")
    return " or ".join([among("type", free)] * bool(free or not held) + held)


def _constants(atom: typed.Atom) -> Iterator[Comparison]:
    for attribute, term in atom.fields:
        if isinstance(term, typed.Constant) and isinstance(term.value, int | float | str | bool):
            yield attribute, "=", term.value


def _compared(body: typed.Body) -> dict[int, list[Comparison]]:
    """Comparisons with constants that a body, and nested ones, require of the events of single atoms, by their id.

    With a context, in a window and under ``policy restricted`` an event that a condition rejects may still have been
    chosen before another one, or counted; there it requires nothing.
    """
    nested = [pattern.body for pattern in patterns(body) if isinstance(pattern, typed.Nested)]
    if any(each.restricted for each in (body, *nested)):
        return {}
    found: dict[int, list[Comparison]] = {}
    for each in (body, *nested):
        if each.window is not None or any(pair.left_context or pair.right_context for pair in pairs(each.pattern)):
            continue
        for atom in constituents(each.pattern):
            for condition in (*each.where, *each.on):
                found.setdefault(atom.id, []).extend(_about(condition, atom))
    return found


def _about(condition: typed.Expression, atom: typed.Atom) -> Iterator[Comparison]:
    """Comparisons of an atom's attributes with constants that a condition implies."""
    match condition:
        case typed.Operation(name="and", arguments=arguments):
            for argument in arguments:
                yield from _about(argument, atom)
        case typed.Operation(name=name, arguments=(one, typed.Constant(value=int() | float() | str() as value))):
            if name in _TURNED:
                yield from ((attribute, name, value) for attribute in _held(one, atom))
        case typed.Operation(name=name, arguments=(typed.Constant(value=int() | float() | str() as value), other)):
            if name in _TURNED:
                yield from ((attribute, _TURNED[name], value) for attribute in _held(other, atom))


def _held(expression: typed.Expression, atom: typed.Atom) -> Iterator[str]:
    """The attributes of an atom whose value an expression is."""
    match expression:
        case typed.Variable(name=name):
            yield from (a for a, term in atom.fields if isinstance(term, typed.Variable) and term.name == name)
        case typed.AttributeOf(label=label, attribute=attribute) if label == atom.label:
            yield attribute


def _written(event: str, way: frozenset[Comparison], wire: Wire, types: Mapping[str, DataType]) -> str | None:
    """Comparisons as SQL, those that Spark would decide as the rules do; None if there is no such one."""
    found = []
    for attribute, operator, value in sorted(way, key=str):
        columns = [column.name for column in wire.columns if column.attribute == attribute and column.holds(event)]
        if len(columns) == 1 and _alike(types[columns[0]], value):
            found.append(f"{quoted(columns[0])} {operator} {literal(value)}")
    return " and ".join(found) or None


def _alike(type_: DataType, value: int | float | str | bool) -> bool:
    """True if values of a Spark type compare with a constant as they do in rules."""
    match value:
        case bool():
            return type_.simpleString() == "boolean"
        case int():
            return type_.typeName() in ("byte", "short", "integer", "long", "float", "double") and abs(value) < _EXACT
        case float():
            return type_.typeName() in ("float", "double") and value == value
        case _:
            return type_.simpleString() == "string"
