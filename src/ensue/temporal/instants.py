"""Programs whose given events have one time each, and no interval: then the conditions of rules imply more."""

from __future__ import annotations

from dataclasses import replace

from ensue.language import typed
from ensue.temporal.constraints import Events, constrain
from ensue.temporal.lengths import with_lengths


def with_instants(program: typed.Program) -> typed.Program:
    """The program, with given events marked as instants."""
    events = {name: event if event.derived else replace(event, instant=True) for name, event in program.events.items()}
    return with_lengths(replace(program, events=events))


def instantaneous(pattern: typed.Pattern, events: Events) -> bool:
    """True if each instance of a pattern has one time: an instant, a choice of instants, or one without others.

    >>> tick = typed.EventType("tick", {}, True, False, instant=True)
    >>> instantaneous(typed.Either(2, (typed.Atom(1, "tick", ()),)), {"tick": tick})
    True
    """
    match pattern:
        case typed.Atom(event=event):
            return event in events and events[event].instant
        case typed.Either(alternatives=alternatives):
            return all(instantaneous(each, events) for each in alternatives)
        case typed.Lacking(pattern=inner):
            return instantaneous(inner, events)
        case typed.Moment() | typed.Periodic():
            return True
        case _:
            return False


def is_instant(pattern: typed.Pattern, events: Events) -> bool:
    """True if all instances of a pattern start when they end, by the distances between its points."""
    return constrain(typed.Body(pattern), events).longest((pattern.id, False), (pattern.id, True)) == 0


def possible(body: typed.Body, events: Events) -> bool:
    """True if a body can be matched, by its constraints alone."""
    return constrain(body, events).contradiction() is None
