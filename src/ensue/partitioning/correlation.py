"""Correlation: variables that have one value in all events that a match of a rule involves.

A variable correlates a body if every event that can matter for a match, matched, negated, gathered, collected, or
selected before another, has its value in some attribute. The events of one value then never meet those of another:
evaluating the rule for each value separately derives the same events. This holds for two such variables together as
well.

Values are the same as in `ensue.language.semantics.identity`: null is a value of its own. It never equals another
value, so events with a null there never match; in groups, and in a body of one event, they do. A name is a variable,
or an attribute of a matched event (``o.id``). Names that a ``where`` compares for equality have equal values in every
match, but only once it is complete: selection, runs and windows use shared variables only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from ensue.language import typed
from ensue.language.walk import visible_labels, visible_variables
from ensue.partitioning.shapes import has_events
from ensue.records import dataclass

Name = str | tuple[str, str]
"""A variable, or the name of a matched event and its attribute."""

Names = frozenset[Name]


@dataclass(frozen=True)
class Correlation:
    """A value that all events of a match have: for each type the attributes that hold it.

    `nulls` are the types whose events can match with a null there; `head` the attributes of the derived event that have
    the value, too.
    """

    attributes: Mapping[str, frozenset[str]]
    nulls: frozenset[str]
    head: frozenset[str] = frozenset()


def correlations(rule: typed.Rule) -> list[Correlation]:
    """The ways in which a rule is correlated; none if its events have no value in common."""
    terms = {attribute: name for attribute, term in rule.head if (name := name_of(term)) is not None}
    names: dict[Name, None] = dict.fromkeys(sorted(visible_variables(typed.Nested(0, rule.body))))
    names |= dict.fromkeys(terms.values())
    names |= dict.fromkeys(name for pair in equalities(rule.body) for name in pair)
    found: list[Correlation] = []
    for names_alike in dict.fromkeys(_alike(rule.body, name) for name in names):
        head = frozenset(attribute for attribute, name in terms.items() if name in names_alike)
        for each in _body(rule.body, names_alike, frozenset(terms.values())):
            if (with_head := replace(each, head=head)) not in found:
                found.append(with_head)
    return found


# --- names


def name_of(expression: typed.Expression | None) -> Name | None:
    """The name that an expression is; None if it is none."""
    match expression:
        case typed.Variable(name=name):
            return name
        case typed.AttributeOf(label=label, attribute=attribute):
            return (label, attribute)
        case _:
            return None


def equalities(body: typed.Body) -> Iterator[tuple[Name, Name]]:
    """Pairs of names that have equal values in every match of a body."""
    if body.restricted:
        return  # conditions filter only after instances have been chosen
    for condition in (*body.where, *body.on):
        match condition:
            case typed.Operation(name="=", arguments=(left, right)):
                one, other = name_of(left), name_of(right)
                if one is not None and other is not None:
                    yield one, other


def _alike(body: typed.Body, name: Name) -> Names:
    """A name with all names of equal value in every match; names that the body itself does not bind are left out."""
    alike = {name}
    growing = True
    while growing:
        before = len(alike)
        for pair in equalities(body):
            if alike & set(pair) and all(_shows(typed.Nested(0, body), each) for each in pair):
                alike |= set(pair)
        growing = len(alike) > before
    return frozenset(alike)


def _shows(pattern: typed.Pattern, name: Name) -> bool:
    if isinstance(name, tuple):
        return name[0] in visible_labels(pattern)
    return name in visible_variables(pattern)


# --- bodies


def _body(body: typed.Body, names: Names, grouping: Names = frozenset()) -> list[Correlation]:
    """Correlations of a body by some names; `grouping` are the terms of the head that group a window."""
    if body.restricted:
        assert body.pattern is not None
        return [
            found
            for name in sorted(names & set(body.correlation), key=str)
            for found in _restricted(body.pattern, str(name), body)
        ]
    parts: list[list[Correlation]] = []
    if has_events(body.pattern):
        assert body.pattern is not None
        parts.append(_pattern(body.pattern, names))
    if body.window is not None:
        parts.append(_window(body.window, names, grouping, alone=not parts))
        if len(parts) > 1:
            parts = [_not_null(_all(parts))]
    elif not parts:
        return []  # timers alone
    apart: tuple[typed.Absence | typed.Gathering, ...] = (*body.absences, *body.gatherings)
    parts += [_apart(part, names) for part in apart if has_events(part.pattern)]
    return _all(parts)


def _apart(part: typed.Absence | typed.Gathering, names: Names) -> list[Correlation]:
    """Correlations of a negated or gathered pattern by the names that it shares; a null there never matches."""
    own: dict[Name, None] = dict.fromkeys(sorted(names & set(part.shared), key=str))
    if isinstance(part.pattern, typed.Nested):
        for one, other in equalities(part.pattern.body):
            for inner, outer in ((one, other), (other, one)):
                if outer in names and _shows(part.pattern, inner) and not _shows(part.pattern, outer):
                    own[inner] = None
    return _not_null(found for name in own for found in _pattern(part.pattern, frozenset((name,))))


def _window(window: typed.Window, names: Names, grouping: Names, alone: bool) -> list[Correlation]:
    """Correlations of a window: by names that it shares with the body, and where it is alone by terms of the head."""
    if not has_events(window.pattern):
        return []
    begins = has_events(window.beginning)
    shared = set(window.shared)
    groups: set[Name] = {*shared, *window.keys, *grouping} if alone and not begins else {*shared}
    found = []
    for name in sorted(names & groups, key=str):
        parts = [_pattern(window.pattern, frozenset((name,)))]
        if begins:
            assert window.beginning is not None
            parts.append(_pattern(window.beginning, frozenset((name,))))
        found += _not_null(_all(parts)) if name in shared else _all(parts)
    return found


# --- patterns


def _pattern(pattern: typed.Pattern, names: Names) -> list[Correlation]:
    """Correlations of a pattern by names that it shows: they have the same values in the body's match."""
    match pattern:
        case typed.Atom(event=event):
            attributes = _attributes(pattern, names)
            return [Correlation({event: attributes}, frozenset((event,)))] if attributes else []
        case typed.Pair(left=left, right=right, left_context=context, shared=shared):
            if context is not None:  # selection is within the values that are shared
                return _not_null(
                    found
                    for name in sorted(names & set(shared), key=str)
                    for found in _all([_pattern(side, frozenset((name,))) for side in (left, right)])
                )
            sides = [side for side in (left, right) if has_events(side)]
            if len(sides) < 2:
                return [found for side in sides for found in _pattern(side, names)]
            return _not_null(_all([_pattern(side, names) for side in sides]))
        case typed.Either(alternatives=alternatives):
            return [
                found
                for name in sorted(names, key=str)
                if _shows(pattern, name)
                for found in _all([_pattern(each, frozenset((name,))) for each in alternatives])
            ]
        case typed.Lacking(pattern=inner):
            return _pattern(inner, names)
        case typed.Run(pattern=inner, keys=keys):
            return [f for name in sorted(names & set(keys), key=str) for f in _pattern(inner, frozenset((name,)))]
        case typed.Nested(body=body):
            alike = {_alike(body, name): None for name in sorted(names, key=str) if _shows(pattern, name)}
            return [found for names_alike in alike for found in _body(body, names_alike)]
        case _:
            return []


def _attributes(atom: typed.Atom, names: Names) -> frozenset[str]:
    bound = {attribute for attribute, term in atom.fields if isinstance(term, typed.Variable) and term.name in names}
    named = {name[1] for name in names if isinstance(name, tuple) and name[0] == atom.label}
    return frozenset(bound | named)


def _restricted(pattern: typed.Pattern, name: str, body: typed.Body) -> list[Correlation]:
    """Correlations under ``policy restricted``: each pattern keeps instances of each correlation, null being one."""
    if name not in visible_variables(pattern):
        return []
    match pattern:
        case typed.Pair(left=left, right=right):
            return _not_null(_all([_restricted(side, name, body) for side in (left, right)]))
        case typed.Either(alternatives=alternatives):
            return _all([_restricted(each, name, body) for each in alternatives])
        case typed.Lacking(id=id_, pattern=inner):
            (absence,) = (each for each in body.absences if each.scope == typed.Inside(id_))
            if name not in absence.shared:
                return []
            return _all([_restricted(inner, name, body), _not_null(_restricted(absence.pattern, name, body))])
        case _:
            return _pattern(pattern, frozenset((name,)))


# --- together


def _all(parts: list[list[Correlation]]) -> list[Correlation]:
    """Each way in which all parts are correlated by the same value."""
    found = []
    for chosen in product(*parts):
        attributes: dict[str, frozenset[str]] = {}
        for each in chosen:
            for event, own in each.attributes.items():
                attributes[event] = attributes[event] & own if event in attributes else own
        if all(attributes.values()):
            found.append(Correlation(attributes, frozenset().union(*(each.nulls for each in chosen))))
    return found


def _not_null(found: Iterable[Correlation]) -> list[Correlation]:
    return [replace(each, nulls=frozenset()) for each in found]
