"""Every execution agrees with the reference, on random programs and streams.

`python -m tests.fuzz` does the same for as long as you like.
"""

import zlib

import pytest
from hypothesis import assume, given, seed, settings
from hypothesis import strategies as st

import ensue
from tests.agreement import EXECUTIONS, check, meaning
from tests.random_programs import compiled, given_types, programs, streams

FAMILIES = ("plain", "small", "detect", "session")
"""Families of executions by the first word of their names: how rules run, and which function is called."""

FLAVOURS = {
    "plain": {"values": ["plain"]},
    "nulls": {"values": ["nulls"]},
    "odd numbers": {"values": ["odd"]},
    "sequence": {"values": ["plain", "nulls"], "sequence": True, "times": ["dense", "instants"]},
}


def executions(family):
    """Those of a family; a session is a family of its own."""
    return [name for name in EXECUTIONS if name.startswith(family)]


def program_of(text, data):
    try:
        return compiled(data.draw, text)
    except ensue.RuleError:
        assume(False)


@st.composite
def ends_of_time(draw, events):
    """None for the last end among the events, or a time after it."""
    more = draw(st.sampled_from([None, None, 0, 3, 40]))
    return None if more is None else more + max((event["end"] for event in events), default=0)


def differently(what):
    """Decorator with a seed for each test, so that they draw different programs where draws are the same every time."""
    return seed(zlib.crc32(what.encode())) if settings().derandomize else lambda function: function


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("family", FAMILIES)
def test_random_programs_on_random_streams(family, flavour):
    @differently(f"{family} {flavour}")
    @settings(max_examples=28)
    @given(programs(), st.data())
    def agrees(text, data):
        program = program_of(text, data)
        for _ in range(2):
            events = data.draw(streams(20, types=given_types(program), **FLAVOURS[flavour]))
            until = data.draw(ends_of_time(events))
            number = data.draw(st.integers(0, 99))
            wanted = meaning(program, events, until)
            for name in executions(family):
                check(name, program, events, until, number, wanted)

    agrees()


def test_every_execution_is_in_a_family():
    assert sorted(name for family in FAMILIES for name in executions(family)) == sorted(EXECUTIONS)


@settings(max_examples=100)
@given(programs(most_rules=2), st.data())
def test_the_end_of_time_may_lie_before_the_last_event(text, data):
    program = program_of(text, data)
    events = data.draw(streams(16, types=given_types(program)))
    until = data.draw(st.integers(-3, 16))
    wanted = meaning(program, events, until)
    for name in ("plain, cut", "small", "small, one table", *executions("detect")):
        check(name, program, events, until, 7, wanted)
