"""Detections that are certain as soon as their last event has come.

A rule is monotone if more events can only add to its detections: joins, alternatives, conditions, static predicates and
relative timers are. Absence, selection, collection and counting are not: one event more in the same step, or before,
changes the result. `every` depends on the first event of all, which may still be to come.

Events that monotone rules derive from given events, or from certain ones, are certain. Equal derivations are one event,
so a type is certain if all its rules are.
"""

from __future__ import annotations

from collections.abc import Iterator

from ensue.language import typed
from ensue.language.walk import atoms


def certain_types(program: typed.Program) -> frozenset[str]:
    """The derived types whose events are certain at once."""
    waiting = {rule.event for rule, why in zip(program.rules, waiting_rules(program), strict=True) if why is not None}
    return frozenset(rule.event for rule in program.rules) - waiting


def waiting_rules(program: typed.Program) -> list[str | None]:
    """For each rule the reason why its detections wait for the end of their step; None if they are certain at once."""
    found = [next(_reasons(rule, program), None) for rule in program.rules]
    uses = [list(dict.fromkeys(atom.event for atom in atoms(rule.body))) for rule in program.rules]
    changed = True
    while changed:
        changed = False
        waiting = {rule.event for rule, why in zip(program.rules, found, strict=True) if why is not None}
        for number, rule in enumerate(program.rules):
            if found[number] is None:
                used = [event for event in uses[number] if event in waiting and event != rule.event]
                if used:
                    found[number] = f"it uses {used[0]}, which waits"
                elif rule.event in waiting:
                    found[number] = f"another rule for {rule.event} waits"
                changed = changed or found[number] is not None
    return found


def _reasons(rule: typed.Rule, program: typed.Program) -> Iterator[str]:
    yield from _own_reasons(rule.body)
    if rule.quiet is not None:
        yield "it says how often it derives"
    if program.events[rule.event].each:
        yield "its matches are kept apart"


def _own_reasons(body: typed.Body) -> Iterator[str]:
    """The parts of a body that are not monotone."""
    if body.absences:
        yield "it has an absence"
    if body.window is not None:
        yield "it has a window"
    if body.restricted:
        yield "it has a policy"
    yield from _in_pattern(body.pattern)
    if body.gatherings:
        yield "it collects events"


def _in_pattern(pattern: typed.Pattern | None) -> Iterator[str]:
    match pattern:
        case typed.Pair(left_context=left, right_context=right):
            if left is not None or right is not None:
                yield "it has a context"
            yield from _in_pattern(pattern.left)
            yield from _in_pattern(pattern.right)
        case typed.Either(alternatives=alternatives):
            for alternative in alternatives:
                yield from _in_pattern(alternative)
        case typed.Nested(body=body):
            yield from _own_reasons(body)
        case typed.Moment() | typed.Periodic():
            yield "it has a timer of absolute time"
        case typed.Run():
            yield "it has a repetition"
        case typed.Lacking():
            yield "it has an absence"
