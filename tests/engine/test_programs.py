"""Rules of every kind agree with the reference, as plain code and as machine code.

The reference judges short streams. Longer ones, for which it takes too long, are judged by plain code: machine code
must find the same, however events are cut and whatever is saved and resumed on the way.
"""

from random import Random

import pytest

import ensue
from tests.agreement import COMPILED, EXECUTIONS, check, meaning, outcome
from tests.engine.programs import PROGRAMS, program_text, stream

KINDS = {
    "plain": {"nulls": False, "odd": False, "instant": False},
    "instants": {"nulls": False, "odd": False, "instant": True},
    "odd": {"nulls": True, "odd": True, "instant": False},
    "far apart": {"nulls": True, "odd": False, "instant": False, "step": 4},
}


@pytest.fixture(params=PROGRAMS, scope="module")
def program(request):
    return ensue.compile(program_text(request.param))


def derived_types(program):
    return {name for name, event in program.typed.events.items() if event.derived}


def events_for(program, seed, count, kind):
    """A stream of the events that a program takes."""
    types = [name for name, event in program.typed.events.items() if event.declared]
    return stream(Random(seed), types, count, **KINDS[kind])


def test_generated_code_finds_what_the_rules_mean(program):
    found = set()
    for kind in KINDS:
        events = events_for(program, 5, 70, kind)
        wanted = meaning(program, events)
        for name in ("plain", "small, cut", "machine, cut"):
            assert check(name, program, events, None, 5, wanted)
        found |= {each.type for each in wanted}
    assert found == derived_types(program)  # an agreement on no events would prove nothing


@pytest.mark.slow
def test_machine_code_finds_what_plain_code_finds(program):
    for kind in ("instants", "odd"):
        events = events_for(program, 1, 120, kind)
        wanted = outcome(EXECUTIONS["plain"], program, events)
        names = [name for name in COMPILED if "sources" not in name and "session" not in name]
        took_part = [check(name, program, events, None, 1, wanted) for name in names]
        assert sum(took_part) > 4


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "name", ["given", "slot", "take", "layer", "drain", "after", "number", "run", "join", "rarely", "on"]
)
def test_an_event_may_have_the_name_of_a_function_of_generated_code(name, compiled):
    program = ensue.compile(
        f"event `{name}`(x: int). event b(x: int).\n"
        f"d(x) <- `{name}`(x) seq b(x).\n"
        f"e(x, n) <- while last 3: collect q: `{name}`(x), n = count(q).\n"
        f"f(x) <- c: b(x), w: extend(c, 2), while w: not `{name}`(x)."
    )
    types = [name, "b", name, name, "b", name]
    events = [{"type": kind, "time": time, "x": time % 2} for time, kind in enumerate(types)]
    wanted = program.detect(events, until=20, engine="reference")
    assert wanted
    assert program.detect(events, until=20, compiled=compiled) == wanted
