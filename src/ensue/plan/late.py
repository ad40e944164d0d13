"""Aggregates over names that are not known yet where members are gathered: they are deferred.

``m(sum(x * z)) <- cumulative a(x) seq b(y) seq c(z)`` sums members that were gathered before `z` is known. So the
members' own values are kept as a list of rows, `list(row(x))`, and the aggregate is computed from that and the names
outside: `Late`. Where members have gathered members themselves, a row holds the list of these members' rows after its
values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ensue.language import typed
from ensue.language.aggregates import aggregate
from ensue.language.contained import known_names
from ensue.language.semantics import held
from ensue.language.walk import names_used, patterns, visible_labels, visible_variables
from ensue.records import dataclass

Name = typed.Variable | typed.AttributeOf | typed.TimeOf

ROW, LATE = "row", "late aggregate"


NOTHING_COUNTED = typed.Aggregate("count", None, (), "int")


@dataclass(frozen=True)
class Late(typed.Operation):
    """An aggregate of rows, and of names outside: its arguments, the rows first.

    In the argument of `of` a variable with a number stands for each name: those of rows, level by level, then those
    outside. `counts` are the numbers of names in the rows of each level.
    """

    of: typed.Aggregate = NOTHING_COUNTED
    counts: tuple[int, ...] = ()


def value(late: Late, values: Sequence[Any], evaluate: Callable[[typed.Expression, dict[str, Any]], Any]) -> Any:
    """The value of a deferred aggregate, from the values of its arguments."""
    rows, *outside = values
    first = sum(late.counts)
    known = {str(first + place): each for place, each in enumerate(outside)}
    assert late.of.argument is not None
    found = [evaluate(late.of.argument, {**known, **row}) for row in _rows(rows, late.counts, 0)]
    return held(aggregate(late.of.name, [each for each in found if each is not None], late.of.constants), late.of.type)


def _rows(rows: Any, counts: Sequence[int], first: int) -> Iterator[dict[str, Any]]:
    """The values of each innermost member and of those around it, by number."""
    count, *inner = counts
    for row in rows or ():
        own = {str(first + place): each for place, each in enumerate(row[:count])}
        if inner:
            yield from ({**own, **each} for each in _rows(row[count], inner, first + count))
        else:
            yield own


# --- finding deferred aggregates


@dataclass(frozen=True)
class Gathered:
    """The names that a gathering's members bind, and those known beside them where they are gathered."""

    binds: set[str]
    beside: set[str]


def put_off(rule: typed.Rule) -> typed.Rule:
    """A rule whose late aggregates are computed when all the names that they use are known."""
    gathered = dict(_gathered(rule.body))
    if not gathered:
        return rule
    head = tuple((name, _expression(term, gathered)) for name, term in rule.head)
    return replace(rule, head=head, body=_body(rule.body, gathered))


def _gathered(body: typed.Body) -> Iterator[tuple[int, Gathered]]:
    """All gatherings in a body, and in those inside it."""
    yield from _by_items(body)
    for pattern in patterns(body):
        match pattern:
            case typed.Pair(left=left, right=right):
                for side, other, id_ in ((left, right, pattern.left_gathering), (right, left, pattern.right_gathering)):
                    if id_ is not None:
                        yield id_, Gathered(_names(side), _names(other))
            case typed.Run(id=id_, pattern=inner):
                yield id_, Gathered(_names(inner), set())
            case typed.Nested(body=nested):
                yield from _by_items(nested)


def _by_items(body: typed.Body) -> Iterator[tuple[int, Gathered]]:
    """The gatherings of a body's own items."""
    beside = known_names(body)
    for gathering in body.gatherings:
        yield gathering.id, Gathered(_names(gathering.pattern), beside)
    if body.window is not None:
        yield body.window.id, Gathered(_names(body.window.pattern), beside)


def _names(pattern: typed.Pattern) -> set[str]:
    return visible_variables(pattern) | visible_labels(pattern)


# --- rewriting


def _body(body: typed.Body, gathered: Mapping[int, Gathered]) -> typed.Body:
    found = replace(
        body,
        pattern=None if body.pattern is None else _pattern(body.pattern, gathered),
        where=tuple(_expression(condition, gathered) for condition in body.where),
        absences=tuple(replace(each, pattern=_pattern(each.pattern, gathered)) for each in body.absences),
        gatherings=tuple(replace(each, pattern=_pattern(each.pattern, gathered)) for each in body.gatherings),
    )
    return body if found == body else found


def _pattern(pattern: typed.Pattern, gathered: Mapping[int, Gathered]) -> typed.Pattern:
    match pattern:
        case typed.Pair(left=left, right=right):
            return replace(pattern, left=_pattern(left, gathered), right=_pattern(right, gathered))
        case typed.Either(alternatives=alternatives):
            return replace(pattern, alternatives=tuple(_pattern(each, gathered) for each in alternatives))
        case typed.Lacking(pattern=inner) | typed.Run(pattern=inner):
            return replace(pattern, pattern=_pattern(inner, gathered))
        case typed.Nested(body=body):
            return replace(pattern, body=_body(body, gathered))
        case _:
            return pattern


def _expression(expression: typed.Expression, gathered: Mapping[int, Gathered]) -> typed.Expression:
    match expression:
        case typed.Aggregate(path=path) if all(id_ in gathered for id_ in path):
            last = gathered[path[-1]]
            names = set(names_used(expression.argument))
            return expression if names <= last.binds | last.beside else _late(expression, gathered)
        case typed.Operation(arguments=arguments):
            return replace(expression, arguments=tuple(_expression(each, gathered) for each in arguments))
        case typed.Holds(arguments=terms):
            return replace(expression, arguments=tuple(t if t is None else _expression(t, gathered) for t in terms))
        case _:
            return expression


def _late(of: typed.Aggregate, gathered: Mapping[int, Gathered]) -> Late:
    used = list(dict.fromkeys(_leaves(of.argument)))
    levels: list[list[Name]] = [[] for _ in of.path]
    outside: list[Name] = []
    for leaf in used:
        (name,) = names_used(leaf)
        inside = [level for level, id_ in enumerate(of.path) if name in gathered[id_].binds]
        (levels[inside[-1]] if inside else outside).append(leaf)
    rows: typed.Expression | None = None
    for leaves, id_ in reversed(list(zip(levels, of.path, strict=True))):
        row = typed.Operation(ROW, (*leaves, *(() if rows is None else (rows,))), "any")
        rows = typed.Aggregate("list", row, (id_,), "list<any>")
    assert rows is not None
    numbers = {leaf: str(i) for i, leaf in enumerate([*(leaf for level in levels for leaf in level), *outside])}
    argument = _numbered(of.argument, numbers)
    counts = tuple(map(len, levels))
    return Late(LATE, (rows, *outside), of.type, replace(of, argument=argument), counts)


def _leaves(expression: typed.Expression | None) -> Iterator[Name]:
    match expression:
        case typed.Variable() | typed.AttributeOf() | typed.TimeOf():
            yield expression
        case typed.Operation(arguments=terms) | typed.Holds(arguments=terms):
            for term in terms:
                yield from _leaves(term)


def _numbered(expression: typed.Expression | None, numbers: Mapping[Name, str]) -> typed.Expression | None:
    match expression:
        case typed.Variable() | typed.AttributeOf() | typed.TimeOf():
            return typed.Variable(numbers[expression], expression.type)
        case typed.Operation(arguments=terms) | typed.Holds(arguments=terms):
            return replace(expression, arguments=tuple(_numbered(term, numbers) for term in terms))  # type: ignore[misc]
        case _:
            return expression
