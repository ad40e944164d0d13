"""Programs run as units of generated code, for tests: as plain Python or as machine code."""

from ensue.engine.lanes import known_program
from ensue.engine.network.node import Clock

from ensue.engine.batch import Batch
from ensue.engine.generate.program import generate
from ensue.engine.generated import GeneratedLane
from ensue.engine.knowledge import Knowledge
from ensue.engine.options import ALL
from ensue.engine.run import places_of
from ensue.engine.structures.values import Dictionary
from ensue.engine.tables import derived_tables
from ensue.engine.units import units_of
from ensue.live.detections import derived
from ensue.plan.build import Planner
from tests.agreement import SEQUENCE, Detection, alike, attributes_of, cut, from_tables, horizon_of


def planned(program, emit=None, apart=False, decided=None, options=ALL, instant=False):
    """The program as it is run, and its units."""
    known = known_program(program.typed, instant, options)
    wanted = [name for name, event in known.events.items() if event.derived] if emit is None else emit
    return known, units_of(known, wanted, apart, decided, options)


def generated(known, units, provenance=False, options=ALL):
    """The code of units."""
    planner = Planner(known.events, options.lifetimes, options.streaming, options.ending)
    return [generate(unit, unit.emit, planner, provenance) for unit in units]


def in_units(compiled, cuts=cut, *, provenance=False, apart=False, options=ALL, emit=None):
    """An execution, see `tests.agreement`: the units of a program one after the other."""

    def run(program, events, until, rng):
        horizon = horizon_of(events, until)
        if horizon is None:
            return []
        known, units = planned(program, emit, apart, options=options)
        clock, knowledge, values = Clock(), Knowledge(program.typed, {}), Dictionary()
        lanes = [
            GeneratedLane(known, code, knowledge, clock, compiled, values)
            for code in generated(known, units, provenance, options)
        ]
        wanted = [name for name, event in known.events.items() if event.derived]
        found, before, places = [], None, alike(events)
        for time in cuts([*sorted(e["end"] for e in events if e["end"] <= horizon), horizon], rng):
            batch = Batch(places_of(known), known.events, provenance=provenance)
            batch.rows = [
                (e["type"], attributes_of(e), e["start"], e["end"], e.get(SEQUENCE), position)
                for position, e in enumerate(events)
                if e["end"] <= time and (before is None or e["end"] > before) and e["type"] in known.events
            ]
            if clock.first_end is None:
                clock.first_end = min((e["end"] for e in events if e["end"] <= time), default=None)
            clock.now = before = time
            for lane in lanes:
                lane.run(batch, time)
            if provenance:
                found += [
                    Detection(e.type, e.start, e.end, e.attributes, tuple(sorted(places[s] for s in e.sources)))
                    for e in derived(batch, wanted)
                ]
            else:
                found += from_tables(derived_tables(batch, program.typed, wanted, False, None))
        return found

    return run
