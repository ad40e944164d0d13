"""Given events that have one time each, and no interval: then the conditions of rules say more."""

from __future__ import annotations

from dataclasses import replace

from ensue.language import typed


def with_instants(program: typed.Program) -> typed.Program:
    """The program where given events are known to have one time each, and no interval."""
    events = {name: event if event.derived else replace(event, instant=True) for name, event in program.events.items()}
    return replace(program, events=events)
