"""Attributes of events that rules read: those whose values decide something, or are passed on."""

from __future__ import annotations

from collections import Counter

from ensue.language import typed
from ensue.language.nodes import nodes


def read_attributes(program: typed.Program) -> set[tuple[str, str]]:
    """The attributes that rules and reactions read, each with its event."""
    found: set[tuple[str, str]] = set()
    statements: list[typed.Rule | typed.Reaction] = [*program.rules, *program.reactions]
    for statement in statements:
        found |= attributes_read_by(statement)
    return found


def attributes_read_by(statement: typed.Rule | typed.Reaction) -> set[tuple[str, str]]:
    """Those of one statement: attributes with a constant or with a variable that occurs more than once, and `o.qty`."""
    parts = list(nodes(statement))
    times = Counter(node.name for node in parts if isinstance(node, typed.Variable))
    events: dict[str, set[str]] = {}
    for node in parts:
        if isinstance(node, typed.Atom) and node.label is not None:
            events.setdefault(node.label, set()).add(node.event)
    found = set()
    for node in parts:
        match node:
            case typed.Atom(event=event, fields=terms):
                found |= {
                    (event, attribute)
                    for attribute, term in terms
                    if isinstance(term, typed.Constant) or times[term.name] > 1
                }
            case typed.AttributeOf(label=label, attribute=attribute):
                found |= {(event, attribute) for event in events.get(label, ())}
    return found
