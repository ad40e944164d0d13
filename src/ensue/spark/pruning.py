"""Attributes that no rule uses need not be read, nor sent anywhere.

Where the order of events of one moment decides something, attributes are part of that order, in theirs: one stays that
comes before one that is used. Those after the last that is used only tell events apart that are alike for all rules.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from ensue.language import typed
from ensue.language.aggregates import AGGREGATES
from ensue.language.nodes import nodes, rebuilt
from ensue.language.types import Type


def pruned(program: typed.Program) -> typed.Program:
    """The program without the attributes of given events that no rule uses."""
    ordered = any(_ordered(node) for rule in program.rules for node in nodes(rule))
    used: set[tuple[str, str]] = set()
    for rule in program.rules:
        used |= _used(rule)
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


def _used(rule: typed.Rule) -> set[tuple[str, str]]:
    """The attributes of events that a rule uses: what a variable stands for that occurs more than once, or a value."""
    parts = list(nodes(rule))
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


def _without_unused(rule: typed.Rule, events: dict[str, typed.EventType]) -> typed.Rule:
    def atom(node: Any) -> Any:
        if isinstance(node, typed.Atom) and not events[node.event].derived:
            known = events[node.event].attributes
            return replace(node, fields=tuple(term for term in node.fields if term[0] in known))
        return node

    return rebuilt(rule, atom)  # type: ignore[no-any-return]
