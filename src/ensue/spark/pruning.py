"""Attributes that no rule uses need not be read, nor sent anywhere.

Where the order of events of one moment matters, attributes are part of that order, one after the other: an attribute
stays that comes before a used one. Those after the last used one only distinguish events that are equal for all rules.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ensue.language import typed
from ensue.language.aggregates import AGGREGATES
from ensue.language.nodes import nodes, rebuilt
from ensue.language.types import Type
from ensue.language.used import attributes_read_by


def pruned(program: typed.Program) -> typed.Program:
    """The program without the attributes of given events that no rule uses."""
    ordered = any(_ordered(node) for rule in program.rules for node in nodes(rule))
    used: set[tuple[str, str]] = set()
    for rule in program.rules:
        used |= attributes_read_by(rule)
    events = {
        name: event if event.derived or not event.declared else replace(event, attributes=_kept(event, used, ordered))
        for name, event in program.events.items()
    }
    rules = tuple(_without_unused(rule, events) for rule in program.rules)
    return replace(program, events=events, rules=rules)


def _kept(event: typed.EventType, used: set[tuple[str, str]], ordered: bool) -> dict[str, Type]:
    """The attributes that are used; where order matters, all up to the last of them."""
    names = list(event.attributes)
    places = [place for place, name in enumerate(names) if (event.name, name) in used]
    kept = names[: max(places, default=-1) + 1] if ordered else [names[place] for place in places]
    return {name: event.attributes[name] for name in kept}


def _ordered(node: Any) -> bool:
    match node:
        case typed.Pair():
            return node.left_context is not None or node.right_context is not None
        case typed.Run():
            return True
        case typed.Window():
            return node.record.ordered
        case typed.Body(restricted=restricted):
            return restricted
        case typed.Aggregate(name=name):
            return AGGREGATES[name].ordered
    return False


def _without_unused(rule: typed.Rule, events: dict[str, typed.EventType]) -> typed.Rule:
    def atom(node: Any) -> Any:
        if isinstance(node, typed.Atom) and not events[node.event].derived:
            known = events[node.event].attributes
            return replace(node, fields=tuple(term for term in node.fields if term[0] in known))
        return node

    return rebuilt(rule, atom)  # type: ignore[no-any-return]
