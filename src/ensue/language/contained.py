"""Make negated and gathered patterns self-contained: matched without the match that they belong to.

Conditions that use names from outside are pulled out, and checked with each match:

    while w: not (a(x) seq (b(y) where y > o.z), …)   ─►   while w: not (a(x) seq b(y), …)  where y > o.z

That is sound as long as nothing between makes a choice or counts: through pairs without contexts, ``without``, and
parentheses; not through contexts, sides of an `or`, or nested negated or gathered patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ensue.language import typed
from ensue.language.walk import has_aggregate, pairs, visible_labels, visible_variables
from ensue.records import dataclass

Apart = typed.Absence | typed.Gathering


def self_contained(part: Apart) -> tuple[typed.Pattern | None, tuple[typed.Expression, ...]]:
    """A pattern without its conditions that use names from outside, and these; None where that is not enough."""
    if part.self_contained:
        return part.pattern, ()
    pattern, pulled = _pull(part.pattern)
    hidden = (visible_variables(pattern) | visible_labels(pattern)) - set(part.shared)
    if names_outside(pattern) or any(each.outside & hidden for each in pulled):
        return None, ()
    return pattern, tuple(each.condition for each in pulled)


# --- pulling conditions out


@dataclass(frozen=True)
class _Pulled:
    """A condition, and the names in it that come from outside of where it was."""

    condition: typed.Expression
    outside: frozenset[str]


def _pull(pattern: typed.Pattern) -> tuple[typed.Pattern, list[_Pulled]]:
    """A pattern without as many of its conditions on names outside as can be checked later."""
    match pattern:
        case typed.Pair(left=left, right=right, left_context=None):
            (one, first), (other, second) = _pull(left), _pull(right)
            return replace(pattern, left=one, right=other), first + second
        case typed.Lacking(pattern=inner):
            found, pulled = _pull(inner)
            return replace(pattern, pattern=found), pulled
        case typed.Nested(body=body):
            inside, pulled = _pull_from_body(body)
            return replace(pattern, body=inside), pulled
        case _:
            return pattern, []


def _pull_from_body(body: typed.Body) -> tuple[typed.Body, list[_Pulled]]:
    known = known_names(body)
    pulled: list[_Pulled] = []
    found = body.pattern
    if found is not None and not body.restricted:
        inside, inner = _pull(found)
        replaced = {t for lookup in body.lookups for t in lookup.arguments if isinstance(t, typed.Variable)}
        if not any(_reads_otherwise(each.condition, replaced) for each in inner):
            found, pulled = inside, inner

    def keep(conditions: tuple[typed.Expression, ...]) -> tuple[typed.Expression, ...]:
        kept = []
        for condition in conditions:
            outside = frozenset(_names(condition) - known)
            if outside and not _gathers(condition, body):
                pulled.append(_Pulled(condition, outside))
            else:
                kept.append(condition)
        return tuple(kept)

    chosen = any(pair.left_context is not None for pair in pairs(body.pattern))
    related = body.related
    if not chosen:
        for each in body.related:
            if outside := frozenset({each.left, each.right} - known):
                pulled += [_Pulled(condition, outside) for condition in as_conditions(each)]
        related = tuple(each for each in body.related if {each.left, each.right} <= known)
    on = body.on if chosen else keep(body.on)
    return replace(body, pattern=found, related=related, on=on, where=keep(body.where)), pulled


def _gathers(condition: typed.Expression, body: typed.Body) -> bool:
    """True if a condition aggregates with names from outside, or over gatherings that depend on them."""
    if not has_aggregate(condition):
        return False
    dependent = any(names_outside(each.pattern) - known_names(body) for each in body.gatherings)
    return dependent or bool(_aggregated_names(condition) - known_names(body) - gathered_names(body))


def _reads_otherwise(condition: typed.Expression, replaced: set[typed.Variable]) -> bool:
    """True if a condition uses a variable that a static row replaces by a value of another type: 1 by 1.0."""
    match condition:
        case typed.Variable(name=name, type=type_):
            return any(each.name == name and each.type != type_ for each in replaced)
        case typed.Operation(arguments=terms) | typed.Holds(arguments=terms):
            return any(_reads_otherwise(term, replaced) for term in terms if term is not None)
        case _:
            return False


def as_conditions(related: typed.Related) -> Iterator[typed.Expression]:
    """A relation between names as comparisons of their times."""
    labels = (related.left, related.right)
    for distance in related.relation.distances:
        earlier, later = (typed.TimeOf(labels[side], end) for side, end in (distance.earlier, distance.later))
        gap = typed.Operation("-", (later, earlier), "int")
        for name, bound in ((">=", distance.low), ("<=", distance.high)):
            if bound is not None:
                yield typed.Operation(name, (gap, typed.Constant(bound, "int")), "bool")


# --- names from outside


def names_outside(pattern: typed.Pattern | None) -> set[str]:
    """The names that a pattern uses and does not bind where it uses them.

    A body in parentheses sees the names that it binds itself, and those outside of all that surrounds it; negated and
    gathered patterns in a body see the names of that body, too.
    """
    match pattern:
        case typed.Pair(left=left, right=right):
            return names_outside(left) | names_outside(right)
        case typed.Either(alternatives=alternatives):
            return set().union(*map(names_outside, alternatives))
        case typed.Lacking(pattern=inner):
            return names_outside(inner)
        case typed.Nested(body=body):
            return _outside_of_body(body)
        case _:
            return set()


def _outside_of_body(body: typed.Body) -> set[str]:
    known, paired = known_names(body), paired_names(body)
    found = set() if body.restricted else names_outside(body.pattern)
    for condition in body.where:
        found |= _names(condition) - known
    for condition in body.on:
        found |= _names(condition) - paired
    for condition in (*body.where, *body.on):
        found |= _aggregated_names(condition) - known - gathered_names(body)
    for related in body.related:
        found |= {related.left, related.right} - paired
    apart: list[Apart] = [*body.absences, *body.gatherings]
    for part in apart:
        found |= (names_outside(part.pattern) | set(part.shared)) - known
        if isinstance(part.scope, typed.During):
            found |= {part.scope.label} - known
    return found


def needs_whole_step(part: Apart) -> bool:
    """True if an event that ends with a match can lie in its scope, so that its whole step must be known to decide it.

    That is so where the scope includes its end, or where a scope inside the negated or gathered pattern is an interval
    outside of it, and includes its end.
    """
    return typed.includes_end(part.scope) or bool(closed_outside(part.pattern))


def closed_outside(pattern: typed.Pattern | None) -> set[str]:
    """The names outside a pattern whose intervals are scopes in it that include their ends."""
    match pattern:
        case typed.Pair(left=left, right=right):
            return closed_outside(left) | closed_outside(right)
        case typed.Either(alternatives=alternatives):
            return set().union(*map(closed_outside, alternatives))
        case typed.Lacking(pattern=inner) | typed.Run(pattern=inner):
            return closed_outside(inner)
        case typed.Nested(body=body):
            found = closed_outside(body.pattern)
            apart: list[Apart] = [*body.absences, *body.gatherings]
            for part in apart:
                found |= closed_outside(part.pattern)
                if isinstance(part.scope, typed.During) and part.scope.to_end:
                    found.add(part.scope.label)
            return found - known_names(body)
        case _:
            return set()


def known_names(body: typed.Body) -> set[str]:
    """The names that a body binds for its conditions."""
    nested = typed.Nested(0, body)
    return visible_variables(nested) | visible_labels(nested)


def paired_names(body: typed.Body) -> set[str]:
    """The names that ``on`` sees: each instance of a cumulative side, too."""
    found = known_names(body)
    for pair in pairs(body.pattern):
        for side in (pair.left, pair.right):
            found |= visible_variables(side) | visible_labels(side)
    return found


def gathered_names(body: typed.Body) -> set[str]:
    """The names that aggregates see besides those of the body: of all that is gathered in it, however deep."""
    found = paired_names(body)
    gathered = [each.pattern for each in body.gatherings]
    if body.window is not None:
        gathered.append(body.window.pattern)
    waiting: list[typed.Pattern | None] = [body.pattern, *gathered]
    while waiting:
        match pattern := waiting.pop():
            case typed.Pair(left=left, right=right):
                waiting += [left, right]
            case typed.Either(alternatives=alternatives):
                waiting += alternatives
            case typed.Lacking(pattern=inner) | typed.Run(pattern=inner):
                waiting.append(inner)
            case typed.Nested(body=nested):
                found |= gathered_names(nested)
        if pattern is not None:
            found |= visible_variables(pattern) | visible_labels(pattern)
    return found


def _names(expression: typed.Expression | None) -> set[str]:
    """The names in an expression, those inside aggregates aside."""
    match expression:
        case typed.Variable(name=name):
            return {name}
        case typed.AttributeOf(label=label) | typed.TimeOf(label=label):
            return {label}
        case typed.Operation(arguments=terms) | typed.Holds(arguments=terms):
            return set().union(*map(_names, terms))
        case _:
            return set()


def _aggregated_names(expression: typed.Expression | None) -> set[str]:
    """The names inside aggregates."""
    match expression:
        case typed.Aggregate(argument=argument):
            return _names(argument)
        case typed.Operation(arguments=terms) | typed.Holds(arguments=terms):
            return set().union(*map(_aggregated_names, terms))
        case _:
            return set()
