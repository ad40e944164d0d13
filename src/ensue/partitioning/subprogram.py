"""The program of one stage: its rules alone, with everything else as it is in the whole program."""

from __future__ import annotations

from dataclasses import replace

from ensue.language import typed
from ensue.partitioning.stages import Stage


def stage_program(program: typed.Program, stage: Stage) -> typed.Program:
    """The rules of a stage as a program.

    All event types stay, in their order, which decides between equal events. Events of earlier stages are given here,
    and their types count as declared, so that attributes are read as they are. Tests and reactions belong to the whole.
    """
    places = {rule: place for place, rule in enumerate(stage.rules)}
    strata = tuple(
        replace(stratum, layers=tuple(tuple(places[rule] for rule in layer) for layer in stratum.layers))
        for stratum in program.strata
        if all(rule in places for layer in stratum.layers for rule in layer)
    )
    events = {
        name: replace(event, declared=event.declared or event.derived, derived=False)
        if event.derived and name not in stage.derives
        else event
        for name, event in program.events.items()
    }
    rules = tuple(program.rules[rule] for rule in stage.rules)
    return replace(program, events=events, rules=rules, strata=strata, tests=(), reactions=())
