"""Lengths of events, as assumed when the running rules were planned.

The lifetimes of a rule follow from the lengths of the events that it uses (`ensue.temporal.lengths`). Where rules come
and go, those that stay keep their state, so they are planned as before: with the bounds they were planned with,
although fewer rules derive events now. A new rule that derives longer or shorter events than these bounds allow is
rejected where a rule that stays would get another plan: it would need more of the past than is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ensue.data.errors import DataError
from ensue.engine.sharing.shapes import rule_names
from ensue.language import typed
from ensue.language.walk import atoms
from ensue.plan.build import Planner
from ensue.rewriting import rewritten_rule
from ensue.temporal.constraints import Events, Length, length_of_event, selects, union
from ensue.temporal.describe import describe_length

Lengths = tuple[tuple[str, Length], ...]
"""The bounds of each type's length."""


def known_lengths(events: Events) -> Lengths:
    """The known bounds on the lengths of events."""
    return tuple((name, length_of_event(name, events)) for name in events)


def as_before(program: typed.Program, before: Lengths) -> typed.Program:
    """The program with no tighter bounds on lengths than before."""
    known = dict(before)
    events = {name: _wider(event, known.get(name)) for name, event in program.events.items()}
    return replace(program, events=events)


def _wider(event: typed.EventType, before: Length | None) -> typed.EventType:
    own = length_of_event(event.name, {event.name: event})
    both = union([own, before])
    return event if both is None or both == own else replace(event, instant=False, length=both)


def check_as_before(old: typed.Program, before: Events, new: typed.Program, after: Events) -> None:
    """Raise `DataError` where rules that both programs have need other bounds than they were planned with.

    `before` and `after` are the events with the bounds that were, and are, known.
    """
    for rule, event in _kept(old, new):
        then, now = length_of_event(event, before), length_of_event(event, after)
        if then != now and not _planned_alike(rule, (0, 0) in (then, now), before, after):
            name = f"The rule `{rule.label}`" if rule.label is not None else f"The rule for `{rule.event}`"
            raise DataError(
                f"After the change `{event}` may last {_describe(now, new)}; so far it was {_describe(then, new)}. "
                f"{name} uses it, and has kept no more than that needs. Start another session with all of the rules; "
                f"or declare `{event}` with `event` from the start, so that nothing is certain of how long it lasts."
            )


def _kept(old: typed.Program, new: typed.Program) -> Iterator[tuple[typed.Rule, str]]:
    """The rules that both programs have, each with the events that it uses and that existed before."""
    known = set(rule_names(old, range(len(old.rules))).values())
    for number, name in rule_names(new, range(len(new.rules))).items():
        if name in known:
            rule = new.rules[number]
            yield from ((rule, atom.event) for atom in atoms(rule.body) if atom.event in old.events)


def _planned_alike(rule: typed.Rule, instant: bool, before: Events, after: Events) -> bool:
    """True if the wider bounds give the same plan; with chosen instances or `instant` events code may still differ."""
    if instant or selects(rule.body):
        return False
    plans = [Planner(events).rule(rewritten_rule(rule, events).rule) for events in (before, after)]
    return plans[0] == plans[1]


def _describe(length: Length, program: typed.Program) -> str:
    low, high = length
    if high is None:
        return "any length of time" if not low else f"{describe_length(low, program)} and more"
    return (
        describe_length(high, program)
        if low == high
        else f"{describe_length(low, program)} to {describe_length(high, program)}"
    )
