"""Lengths of derived events, from the rules that derive them ([000], rule 4).

An event covers the match of its rule, so the closure of the rule's distances bounds its length. Events of several rules
are as short and as long as any of them allows. The bounds of a type enter the closure of the rules that use it, its own
rules included: such rules are visited again until nothing changes. A bound that keeps changing is dropped, so that the
loop ends; bounds that follow from the others still hold.

This applies to types that only rules derive. A declared type may have given rows, whose lengths are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ensue.language import typed
from ensue.language.graphs import components
from ensue.language.walk import atoms
from ensue.temporal.constraints import ANY, Length, length_of, union

Events = Mapping[str, typed.EventType]

TURNS = 3
"""Number of visits to recursive rules before bounds that still change are dropped."""

NEVER: Length = (1, 0)
"""The length of a type of which no rule has derived anything yet: no rule that needs one can be matched."""


def with_lengths(program: typed.Program) -> typed.Program:
    """The program with bounds on the lengths of derived events, from its rules.

    >>> from ensue.program import compile
    >>> program = compile("event a() instant. event b() instant. c() <- a() seq b() within 5. d() <- c() seq a().")
    >>> program.typed.events["c"].length
    (1, 5)
    """
    return replace(program, events=known_events(program.rules, program.events))


def known_events(rules: Sequence[typed.Rule], events: Events) -> dict[str, typed.EventType]:
    """Event types with bounds on the lengths of derived events, from the rules."""
    return {name: _lasting(events[name], length) for name, length in _all_lengths(rules, events).items()}


def without_lengths(program: typed.Program) -> typed.Program:
    """The program without bounds on the lengths of derived events."""
    events = {name: event if event.given else _lasting(event, ANY) for name, event in program.events.items()}
    return replace(program, events=events)


def lengths_of(program: typed.Program) -> dict[str, Length]:
    """The smallest and the largest length of each type that rules derive and use, if no rows of it can be given."""
    events = known_events(program.rules, program.events)
    return {name: event.length for name, event in events.items() if not event.given}


def _lasting(event: typed.EventType, length: Length | None) -> typed.EventType:
    if length is None:
        return event
    return replace(event, length=length, instant=length == (0, 0))


def _all_lengths(rules: Sequence[typed.Rule], events: Events) -> dict[str, Length | None]:
    """The lengths of all types, None where they stay as they are."""
    used = {atom.event for rule in rules for atom in atoms(rule.body)}
    deriving: dict[str, list[typed.Rule]] = {name: [] for name in events if name in used and not events[name].given}
    for rule in rules:
        if rule.event in deriving:
            deriving[rule.event].append(rule)
    uses = {
        name: dict.fromkeys(atom.event for rule in own for atom in atoms(rule.body)) for name, own in deriving.items()
    }
    known = {name: _lasting(event, NEVER) if name in deriving else event for name, event in events.items()}
    for component in components(uses):
        recursive = len(component) > 1 or component[0] in uses[component[0]]
        _settle(component, deriving, known, recursive)
    found = {name: known[name].length for name in deriving}
    return {name: None if name not in found else ANY if found[name] == NEVER else found[name] for name in events}


def _settle(
    component: Sequence[str], deriving: Mapping[str, Sequence[typed.Rule]], known: dict[str, typed.EventType],
    recursive: bool,
) -> None:  # fmt: skip
    """Find the lengths of types that depend on each other; the types that they depend on besides are known."""

    def derived(name: str) -> Length | None:
        return union(length_of(rule.body, known, rule.beginning) for rule in deriving[name])

    changed, turn = True, 0
    while changed:
        changed = False
        turn += 1
        for name in component:
            before = None if known[name].length == NEVER else known[name].length
            found = union([before, derived(name)])
            if found is not None and found != before:
                wider = found if before is None or turn <= TURNS else _given_up(before, found)
                known[name] = _lasting(known[name], wider)
                changed = recursive
    if turn > TURNS:  # a dropped bound may still follow from others, such as `within`
        for name in component:
            known[name] = _lasting(known[name], derived(name))


def _given_up(before: Length, found: Length) -> Length:
    """Bounds without those that have changed."""
    return (before[0] if found[0] == before[0] else 0), (before[1] if found[1] == before[1] else None)
