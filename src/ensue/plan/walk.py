"""Walking over plans, whatever operators they consist of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields

from ensue.language import typed
from ensue.plan import operators as plan

PATTERNS = ("atom", "timer", "pair", "run", "nested", "pattern")
"""The fields in which operators hold the pattern that they match."""


def inputs_of(node: plan.Operator | plan.Derive) -> tuple[plan.Operator, ...]:
    """The operators that an operator takes matches from, in the order of its fields.

    >>> atom = typed.Atom(1, "order", ())
    >>> inputs_of(plan.Spanned(2, plan.Scan(atom)))
    (Scan(atom=Atom(id=1, event='order', fields=(), label=None), conditions=()),)
    """
    found = []
    for each in fields(node):
        held = getattr(node, each.name)
        for one in held if isinstance(held, tuple) else (held,):
            if isinstance(one, plan.Ending):
                found.append(one.input)
            elif isinstance(one, plan.Operator):
                found.append(one)
    return tuple(found)


def walk(node: plan.Operator | plan.Derive) -> Iterator[plan.Operator | plan.Derive]:
    """An operator and all below it."""
    yield node
    for inner in inputs_of(node):
        yield from walk(inner)


def aggregates_in(expressions: Iterable[typed.Expression | None]) -> Iterator[typed.Aggregate]:
    """The aggregates in expressions, including those inside others."""
    for each in expressions:
        match each:
            case typed.Aggregate(argument=argument):
                yield each
                yield from aggregates_in([argument])
            case typed.Operation(arguments=arguments) | typed.Holds(arguments=arguments):
                yield from aggregates_in(arguments)


def pattern_of(node: plan.Operator) -> typed.Pattern | None:
    """The pattern that an operator matches; that of its first input if it has none; None for an empty match."""
    if not isinstance(node, plan.Distinct):  # its pattern is the whole body
        for name in PATTERNS:
            if hasattr(node, name):
                found: typed.Pattern = getattr(node, name)
                return found
    inputs = (node.input,) if hasattr(node, "input") else inputs_of(node)
    return pattern_of(inputs[0]) if inputs else None
