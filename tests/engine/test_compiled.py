"""Rules compiled by Numba, on long streams: what they find is what the network finds, and that is what the rules mean.

The reference takes far too long on thousands of events, so it judges the network on a part of each stream.
"""

from random import Random

import pytest

import ensue
from ensue.engine.lanes import plan_of
from tests.agreement import COMPILED, EXECUTIONS, as_tables, check, difference, outcome, session
from tests.engine.compiled_programs import PROGRAMS, long_stream, program_text

pytest.importorskip("numba")

KINDS = {
    "plain": {"nulls": False, "odd": False, "instant": False},
    "instants": {"nulls": False, "odd": False, "instant": True},
    "odd": {"nulls": True, "odd": True, "instant": False},
    "far apart": {"nulls": True, "odd": False, "instant": False, "step": 4},
}


@pytest.fixture(params=PROGRAMS, scope="module")
def program(request):
    return ensue.compile(program_text(request.param))


def test_all_of_it_is_compiled(program):
    derived = [name for name, event in program.typed.events.items() if event.derived]
    for instant in (False, True):
        assert plan_of(program.typed, derived, instant).reasons == ()


@pytest.mark.parametrize("kind", KINDS)
def test_the_network_finds_what_the_rules_mean(program, kind):
    events = long_stream(Random(5), 120, **KINDS[kind])
    for name in ("network", "generated, cut", "checked, cut"):
        check(name, program, events, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_rules_find_what_the_network_finds(program, kind):
    """The streams begin without nulls, so that rules are compiled for that, and some go on with them."""
    for number, count in enumerate((40, 700, 3000)):
        rng = Random(f"{kind} {number}")
        events = long_stream(rng, count, **{**KINDS[kind], "nulls": False})
        rest = long_stream(rng, count // 2, **KINDS[kind])
        last = events[-1]["end"]
        events += [{**e, "start": e["start"] + last, "end": e["end"] + last} for e in rest]
        wanted = outcome(EXECUTIONS["network"], program, events)
        assert wanted
        for name in COMPILED:
            if count < 1000 or name != "detect compiled, batches":  # batches are small, so there are many
                check(name, program, events, None, number, wanted)


@pytest.mark.slow
def test_a_state_goes_from_python_to_compiled_code(program, monkeypatch):
    """A lane begins in Python and is compiled once there are enough events; what it knows stays."""
    events = long_stream(Random(3), 2000, nulls=True, odd=True, instant=False)
    wanted = outcome(EXECUTIONS["network"], program, events)
    monkeypatch.setattr("tests.agreement.FEW", 500)
    check("generated, cut", program, events, None, 3, wanted)


@pytest.mark.slow
def test_a_session_is_saved_and_resumed(program):
    events = long_stream(Random(4), 600, nulls=True, odd=False, instant=False)
    wanted = outcome(EXECUTIONS["network"], program, events)
    saved = session(True, as_tables, saved=True, late=True)
    assert difference(wanted, outcome(saved, program, events, None, Random(4))) is None
