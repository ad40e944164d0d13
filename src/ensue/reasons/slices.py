"""Select the events that concern a key: those that can change whether an event with certain attributes is derived.

A requested value in the head is a value of a variable, and so of the attributes that the variable stands for in the
body; for a derived type these are requested in the heads of its rules, and so on down to given events. A value is
followed only where events with another one cannot matter: not into a pairing with contexts that is not correlated by
it, nor into a window, a repetition or a rule with ``once`` or ``at most`` that is not grouped by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ensue.language import typed
from ensue.language.semantics import equality
from ensue.language.walk import visible_variables

MOST_GOALS = 200
"""Largest number of combinations of values; with more, all events of the types count."""

Values = Mapping[str, Any]
Concern = dict[str, list[Values]]
"""For each type the attributes that concern a question: any of several combinations; an empty one stands for all."""


def concerned(program: typed.Program, event: str, key: Values) -> Concern:
    """The given and derived events that can change whether `event` is derived with the attributes in `key`.

    >>> import ensue
    >>> rules = "event a(k: int, x: int). event b(k: int).  ab(k) <- a(k, x) seq b(k).  big(k) <- ab(k), a(k, 5)."
    >>> concerned(ensue.compile(rules).typed, "big", {"k": 7})
    {'big': [{'k': 7}], 'ab': [{'k': 7}], 'a': [{'k': 7}], 'b': [{'k': 7}]}
    """
    waiting: list[tuple[str, dict[str, Any]]] = [(event, dict(key))]
    seen: set[Any] = set()
    found: Concern = {}
    while waiting:
        type_, values = waiting.pop(0)
        if len(seen) > MOST_GOALS:
            values = {}
        goal = (type_, frozenset((name, equality(value)) for name, value in values.items()))
        if goal in seen:
            continue
        seen.add(goal)
        found.setdefault(type_, []).append(values)
        for rule in program.rules:
            if rule.event == type_:
                waiting += _asked_of(rule, values)
    return found


def is_concerned(values: Iterable[Values], attributes: Values) -> bool:
    """True if an event has one of several combinations of values."""
    return any(
        all(equality(attributes.get(name)) == equality(value) for name, value in each.items()) for each in values
    )


def bindings(rule: typed.Rule, key: Values) -> tuple[dict[str, Any], dict[tuple[str, str], Any]] | None:
    """The variables, and the attributes of named events, that a rule's head sets equal to requested values.

    None where the head has another constant, so that the rule cannot derive such an event.
    """
    variables: dict[str, Any] = {}
    attributes: dict[tuple[str, str], Any] = {}
    for name, term in rule.head:
        if name not in key:
            continue
        value = key[name]
        match term:
            case typed.Constant(value=constant):
                if equality(constant) != equality(value):
                    return None
            case _ if equality(value) is None or (isinstance(value, float) and term.type == "int"):
                continue  # null correlates with nothing, and several integers are one float
            case typed.Variable(name=variable):
                if variable in variables and equality(variables[variable]) != equality(value):
                    return None
                variables[variable] = value
            case typed.AttributeOf(label=label, attribute=attribute):
                attributes[label, attribute] = value
    return variables, attributes


def _asked_of(rule: typed.Rule, key: Values) -> Iterator[tuple[str, dict[str, Any]]]:
    quiet = rule.quiet
    bound = bindings(rule, key)
    if bound is None:
        return
    if quiet is not None:
        bound = bindings(rule, {name: value for name, value in key.items() if name in quiet.keys})
        assert bound is not None
    variables = bound[0]
    grouping = {term.name for _, term in rule.head if isinstance(term, typed.Variable)}
    yield from _body(rule.body, variables, grouping)


def _body(body: typed.Body, bound: Values, grouping: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    if body.restricted:
        bound = _only(bound, body.correlation)
    if body.pattern is not None:
        yield from _pattern(body.pattern, bound, body.restricted)
    parts: tuple[typed.Absence | typed.Gathering, ...] = (*body.absences, *body.gatherings)
    for part in parts:
        yield from _pattern(part.pattern, _only(bound, part.shared), body.restricted)
    window = body.window
    if window is not None:
        yield from _pattern(window.pattern, _only(bound, {*window.shared, *window.keys, *grouping}), False)
        if window.beginning is not None:
            yield from _pattern(window.beginning, _only(bound, window.shared), False)


def _pattern(pattern: typed.Pattern, bound: Values, restricted: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    if restricted:
        bound = _only(bound, visible_variables(pattern))
    match pattern:
        case typed.Atom(event=event, fields=fields):
            asked = {a: bound[t.name] for a, t in fields if isinstance(t, typed.Variable) and t.name in bound}
            constants = {a: t.value for a, t in fields if isinstance(t, typed.Constant)}
            yield event, asked or constants
        case typed.Pair(left=left, right=right, shared=shared):
            inner = bound if pattern.left_context is None else _only(bound, shared)
            yield from _pattern(left, inner, restricted)
            yield from _pattern(right, inner, restricted)
        case typed.Either(alternatives=alternatives):
            for alternative in alternatives:
                yield from _pattern(alternative, _only(bound, visible_variables(pattern)), restricted)
        case typed.Lacking(pattern=inner_pattern):
            yield from _pattern(inner_pattern, bound, restricted)
        case typed.Run(pattern=inner_pattern, keys=keys):
            yield from _pattern(inner_pattern, _only(bound, keys), False)
        case typed.Nested(body=body):
            yield from _body(body, _only(bound, visible_variables(pattern)), set())


def _only(bound: Values, names: Iterable[str]) -> dict[str, Any]:
    wanted = set(names)
    return {name: value for name, value in bound.items() if name in wanted}
