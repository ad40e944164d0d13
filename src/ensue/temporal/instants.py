"""Given events that have one time each, and no interval: then the conditions of rules say more."""

from __future__ import annotations

from dataclasses import replace

from ensue.language import typed
from ensue.temporal.constraints import constrain


def with_instants(program: typed.Program) -> typed.Program:
    """The program where given events are known to have one time each, and no interval."""
    events = {name: event if event.derived else replace(event, instant=True) for name, event in program.events.items()}
    return replace(program, events=events)


def possible_as_instants(body: typed.Body, program: typed.Program) -> bool:
    """Whether a body can be matched by given events that have one time each; nothing lies inside an instant, say."""
    return constrain(body, with_instants(program).events).contradiction() is None
