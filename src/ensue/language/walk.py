"""Questions about typed nodes: which names an expression uses, which variables a pattern shows."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.language import typed


def names_used(expression: typed.Expression | None) -> Iterator[str]:
    """The variables and the names of matched events in an expression, those inside aggregates aside."""
    match expression:
        case typed.Variable(name=name):
            yield name
        case typed.AttributeOf(label=label) | typed.TimeOf(label=label):
            yield label
        case typed.Operation(arguments=arguments):
            for argument in arguments:
                yield from names_used(argument)
        case typed.Holds(arguments=terms):
            for term in terms:
                yield from names_used(term)


def predicates_used(*expressions: typed.Expression | None) -> Iterator[str]:
    """The static predicates in expressions."""
    for expression in expressions:
        match expression:
            case typed.Holds(predicate=name, arguments=terms):
                yield name
                yield from predicates_used(*terms)
            case typed.Operation(arguments=arguments):
                yield from predicates_used(*arguments)


def asks_predicates(rule: typed.Rule) -> bool:
    """True if a rule uses static predicates."""
    nested = (pattern.body for pattern in patterns(rule.body) if isinstance(pattern, typed.Nested))
    for body in (rule.body, *nested):
        if body.lookups or any(predicates_used(*body.on, *body.where)):
            return True
    return any(predicates_used(*(term for _, term in rule.head)))


def conjuncts(condition: typed.Expression) -> Iterator[typed.Expression]:
    """The conditions that a conjunction is made of."""
    match condition:
        case typed.Operation(name="and", arguments=arguments):
            for argument in arguments:
                yield from conjuncts(argument)
        case _:
            yield condition


def has_aggregate(expression: typed.Expression | None) -> bool:
    match expression:
        case typed.Aggregate():
            return True
        case typed.Operation(arguments=arguments):
            return any(has_aggregate(argument) for argument in arguments)
        case typed.Holds(arguments=terms):
            return any(has_aggregate(term) for term in terms)
        case _:
            return False


def visible_variables(pattern: typed.Pattern) -> set[str]:
    """The variables that a pattern binds and shows outside."""
    match pattern:
        case typed.Atom(fields=fields):
            return {value.name for _, value in fields if isinstance(value, typed.Variable)}
        case typed.Pair(left=left, right=right, shared=shared):
            found = set(shared)
            found |= visible_variables(left) if pattern.left_gathering is None else set()
            return found | (visible_variables(right) if pattern.right_gathering is None else set())
        case typed.Either(alternatives=alternatives):
            return set.intersection(*map(visible_variables, alternatives))
        case typed.Lacking(pattern=inner):
            return visible_variables(inner)
        case typed.Run(keys=keys):
            return set(keys)
        case typed.Nested(body=body):
            found = visible_variables(body.pattern) if body.pattern is not None else set()
            for lookup in body.lookups:
                found |= {term.name for term in lookup.arguments if isinstance(term, typed.Variable)}
            if body.window is not None:
                found |= set(body.window.keys) | set(body.window.shared)
                found |= visible_variables(body.window.beginning) if body.window.beginning is not None else set()
            return found
        case _:
            return set()


def visible_labels(pattern: typed.Pattern) -> set[str]:
    """The labels of matched events that a pattern shows outside."""
    match pattern:
        case typed.Atom(label=label) | typed.Moment(label=label) | typed.Periodic(label=label):
            return {label} if label is not None else set()
        case typed.Pair(left=left, right=right):
            found = visible_labels(left) if pattern.left_gathering is None else set()
            return found | (visible_labels(right) if pattern.right_gathering is None else set())
        case typed.Either(alternatives=alternatives):
            return set.intersection(*map(visible_labels, alternatives))
        case typed.Lacking(pattern=inner):
            return visible_labels(inner)
        case typed.Nested(body=body, label=label):
            found = {timer.label for timer in body.timers if timer.label is not None}
            found |= {label} if label is not None else set()
            if body.window is not None and body.window.beginning is not None:
                found |= visible_labels(body.window.beginning)
            return found | (visible_labels(body.pattern) if body.pattern is not None else set())
        case _:
            return set()


def atoms(body: typed.Body) -> Iterator[typed.Atom]:
    """Every atom of a body, those of negated, gathered and collected patterns included."""
    return (pattern for pattern in patterns(body) if isinstance(pattern, typed.Atom))


def patterns(body: typed.Body) -> Iterator[typed.Pattern]:
    """Every pattern of a body, each before those inside it; also negated, gathered and collected ones."""
    waiting: list[typed.Pattern | None] = [body.pattern]
    waiting += [absence.pattern for absence in body.absences]
    waiting += [gathering.pattern for gathering in body.gatherings]
    if body.window is not None:
        waiting += [body.window.pattern, body.window.beginning]
    while waiting:
        pattern = waiting.pop()
        if pattern is not None:
            yield pattern
        match pattern:
            case typed.Pair(left=left, right=right):
                waiting += [left, right]
            case typed.Either(alternatives=alternatives):
                waiting += alternatives
            case typed.Lacking(pattern=inner) | typed.Run(pattern=inner):
                waiting.append(inner)
            case typed.Nested(body=nested):
                yield from patterns(nested)


def pairs(pattern: typed.Pattern | None) -> Iterator[typed.Pair]:
    """The pairings of a body, those in parentheses aside."""
    match pattern:
        case typed.Pair(left=left, right=right):
            yield pattern
            yield from pairs(left)
            yield from pairs(right)
        case typed.Either(alternatives=alternatives):
            for alternative in alternatives:
                yield from pairs(alternative)
        case typed.Lacking(pattern=inner):
            yield from pairs(inner)


def leaves(pattern: typed.Pattern | None) -> Iterator[typed.Pattern]:
    """Operands of the joins of a pattern: events, timers, alternatives, runs, and groups in parentheses."""
    match pattern:
        case None:
            return
        case typed.Pair(left=left, right=right):
            yield from leaves(left)
            yield from leaves(right)
        case typed.Lacking(pattern=inner):
            yield from leaves(inner)
        case _:
            yield pattern


def constituents(pattern: typed.Pattern | None) -> Iterator[typed.Atom]:
    """The atoms that every match of a pattern has an event of, those in parentheses aside."""
    return (each for each in leaves(pattern) if isinstance(each, typed.Atom))


def has_alternatives(pattern: typed.Pattern | None) -> bool:
    """True if a pattern has an ``or`` outside of parentheses."""
    return any(isinstance(each, typed.Either) for each in leaves(pattern))
