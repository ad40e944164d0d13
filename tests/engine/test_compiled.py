"""Rules compiled by Numba, on long streams: what they find is what the network finds, and that is what the rules mean.

The reference takes far too long on thousands of events, so it judges the network on short streams. Compiling takes
seconds for each rule, for events without nulls and with them, for instants, and for the rules of a session; so not
every program is compiled in every way.
"""

from random import Random

import pytest

import ensue
from ensue.engine.lanes import plan_of
from tests.agreement import EXECUTIONS, as_tables, check, difference, outcome, session
from tests.engine.compiled_programs import PROGRAMS, long_stream, program_text

pytest.importorskip("numba")

KINDS = {
    "plain": {"nulls": False, "odd": False, "instant": False},
    "instants": {"nulls": False, "odd": False, "instant": True},
    "odd": {"nulls": True, "odd": True, "instant": False},
    "far apart": {"nulls": True, "odd": False, "instant": False, "step": 4},
}
WITH_NULLS = ("absence", "gathering", "windows that count", "texts", "floats", "arithmetic")
INSTANTS = ("all triples", "recent and continuous")
SESSIONS = ("all triples", "moving sum over a conjunction", "windows of time", "texts")

COMPILED = (
    "compiled", "compiled, cut", "compiled, one table", "detect compiled, rows", "detect compiled, table in order",
    "detect compiled, tables by type",
)  # fmt: skip
"""The executions that share what is compiled."""


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
@pytest.mark.parametrize("title", PROGRAMS)
def test_compiled_rules_find_what_the_network_finds(title):
    program = ensue.compile(program_text(title))
    agree(program, long_streams("plain"), COMPILED)
    if title in WITH_NULLS:
        agree(program, [with_nulls_later("odd"), *long_streams("odd"), *long_streams("far apart")], COMPILED)
        in_python_first(program)
    if title in INSTANTS:
        agree(program, long_streams("instants"), ["compiled, instants"])


def long_streams(kind):
    return [long_stream(Random(f"{kind} {count}"), count, **KINDS[kind]) for count in (60, 700, 2500)]


def with_nulls_later(kind):
    """A stream that begins without nulls, so that rules are compiled for that, and goes on with them."""
    rng = Random(kind)
    events = long_stream(rng, 800, **{**KINDS[kind], "nulls": False})
    later = events[-1]["end"]
    rest = long_stream(rng, 800, **KINDS[kind])
    return events + [{**e, "start": e["start"] + later, "end": e["end"] + later} for e in rest]


def agree(program, streams, names):
    for number, events in enumerate(streams):
        wanted = outcome(EXECUTIONS["network"], program, events)
        assert wanted or len(events) < 100
        for name in names:
            took_part = check(name, program, events, None, number, wanted)
            assert took_part or "h" in wanted_types(wanted)  # what is given and derived is not read where it lies


def wanted_types(wanted):
    return {each.type for each in wanted}


def in_python_first(program):
    """A lane begins in Python and is compiled once there are enough events; what it knows stays."""
    events = long_stream(Random(3), 2000, **KINDS["odd"])
    wanted = outcome(EXECUTIONS["network"], program, events)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.agreement.FEW", 500)
        check("generated, cut", program, events, None, 3, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("title", SESSIONS)
def test_a_session_is_saved_and_resumed(title):
    program = ensue.compile(program_text(title))
    events = long_stream(Random(4), 600, **KINDS["odd"])
    wanted = outcome(EXECUTIONS["network"], program, events)
    saved = session(True, as_tables, saved=True, late=True)
    assert difference(wanted, outcome(saved, program, events, None, Random(4))) is None
    check("detect compiled, batches", program, events, None, 5, wanted)
