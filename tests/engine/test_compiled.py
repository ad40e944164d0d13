"""Rules that are compiled find what they mean.

Generated code is judged by the reference on short streams, run by Python. A few programs are compiled by Numba, and
judged by the network on longer ones, for which the reference takes too long. A program is compiled anew for events with
nulls, for instants and for a session, so not every one is compiled in every way, and each in one test only.
"""

from random import Random

import pytest

import ensue
from ensue.engine.lanes import plan_of
from tests.agreement import EXECUTIONS, as_tables, check, difference, meaning, outcome, session
from tests.engine.compiled_programs import PROGRAMS, TO_COMPILE, program_text, stream

KINDS = {
    "plain": {"nulls": False, "odd": False, "instant": False},
    "instants": {"nulls": False, "odd": False, "instant": True},
    "odd": {"nulls": True, "odd": True, "instant": False},
    "far apart": {"nulls": True, "odd": False, "instant": False, "step": 4},
}

WITH_NULLS = ("repetition", "values")
OF_INSTANTS = ("recursion",)

DETECT = ("detect compiled, rows", "detect compiled, table in order", "detect compiled, tables by type")
COMPILED = {
    "plain": ("compiled, cut", "compiled, one table", *DETECT),
    "instants": ("compiled, instants", *DETECT),
}
"""Executions that share what is compiled, by the kind of events."""


@pytest.fixture(params=PROGRAMS, scope="module")
def program(request):
    return ensue.compile(program_text(request.param))


def derived_types(program):
    return {name for name, event in program.typed.events.items() if event.derived}


def events_for(program, seed, count, kind):
    """A stream of the events that a program takes."""
    types = [name for name, event in program.typed.events.items() if event.declared]
    return stream(Random(seed), types, count, **KINDS[kind])


# --- by Python


def test_all_of_it_can_be_compiled(program):
    for instant in (False, True):
        assert plan_of(program.typed, derived_types(program), instant).reasons == ()


def test_generated_code_finds_what_the_rules_mean(program):
    found = set()
    for kind in KINDS:
        events = events_for(program, 5, 70, kind)
        wanted = meaning(program, events)
        for name in ("network", "generated, cut", "checked, cut"):
            assert check(name, program, events, None, 5, wanted)
        found |= {each.type for each in wanted}
    assert found == derived_types(program)  # to agree on nothing says nothing


# --- by Numba


@pytest.fixture
def numba():
    pytest.importorskip("numba")


@pytest.mark.slow
@pytest.mark.usefixtures("numba")
@pytest.mark.parametrize("title", TO_COMPILE)
def test_compiled_rules_find_what_the_network_finds(title):
    program = ensue.compile(program_text(title))
    kind = "instants" if title in OF_INSTANTS else "plain"
    compiled_as_the_network(program, events_for(program, 1, 1000, kind), COMPILED[kind])
    if title in WITH_NULLS:
        later = with_nulls_later(program)
        compiled_as_the_network(program, later, COMPILED[kind])
        with pytest.MonkeyPatch.context() as patch:  # run by Python at first, and compiled after so many events
            patch.setattr("tests.agreement.FEW", 400)
            compiled_as_the_network(program, later, ["generated, cut"])


def compiled_as_the_network(program, events, names):
    wanted = outcome(EXECUTIONS["network"], program, events)
    assert {each.type for each in wanted} == derived_types(program)
    for name in names:
        assert check(name, program, events, None, 1, wanted)


def with_nulls_later(program):
    """A stream that begins without nulls, so that the code that runs at first has no place for them."""
    without = [e for e in events_for(program, 2, 600, "odd") if None not in e.values()]
    later = without[-1]["end"]
    rest = events_for(program, 3, 600, "odd")
    return without + [{**e, "start": e["start"] + later, "end": e["end"] + later} for e in rest]


@pytest.mark.slow
@pytest.mark.usefixtures("numba")
def test_compiled_in_a_session_that_is_saved_and_resumed():
    program = ensue.compile(program_text("contexts"))
    events = events_for(program, 4, 500, "plain")
    compiled_as_the_network(program, events, ["detect compiled, batches"])
    saved = session(True, as_tables, saved=True, late=True)
    wanted = outcome(EXECUTIONS["network"], program, events)
    assert difference(wanted, outcome(saved, program, events, None, Random(4))) is None
