"""Properties of the reference on random programs: it never fails, and means the same however events arrive."""

import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.request import Request
from tests.random_programs import programs, streams

ALLOWED = {
    "E004",
    "E104",
    "E105",
    "E106",
    "E202",
    "E207",
    "E301",
    "E302",
    "E303",
    "E304",
    "E305",
    "E401",
    "E402",
    "E403",
    "E409",
    "E501",
    "E601",
}
"""Errors for which the checker may refuse a random program."""


def compiled(text):
    try:
        return ensue.compile(text)
    except ensue.RuleError as error:
        codes = {d.code for d in error.diagnostics if d.severity is ensue.Severity.ERROR}
        assert codes <= ALLOWED, f"{error}\n{text}"
        assume(False)


def detected(program, events, until=None):
    """The derived events as text, in one order."""
    tables, _ = program.detect_tables(events, Request(until))
    return sorted((row["end"], f"{name}{row}") for name, table in tables.items() for row in table.to_pylist())


@given(programs(), streams(), st.randoms(use_true_random=False))
@settings(max_examples=90)
def test_the_order_of_rows_does_not_matter(text, events, rng):
    program = compiled(text)
    shuffled = list(events)
    rng.shuffle(shuffled)
    assert detected(program, events) == detected(program, shuffled)


@given(programs(), streams(), st.integers(0, 16))
@settings(max_examples=90)
def test_what_comes_later_changes_nothing(text, events, until):
    """Detections up to a time depend only on events that had ended by then."""
    program = compiled(text)
    assume(any(event["end"] <= until for event in events))
    everything = detected(program, events, until=20)
    assert detected(program, events, until) == [row for row in everything if row[0] <= until]


@pytest.mark.parametrize("seed", range(3))
def test_a_long_stream(seed):
    rng = random.Random(seed)
    events = [{"type": rng.choice("ai"), "time": t, "k": rng.randrange(3), "x": rng.randrange(4)} for t in range(300)]
    program = ensue.compile(
        "event a(k: int, x: int). event i(k: int, x: int) instant. pair(k) <- recent a(k, _) seq i(k, _) within 5."
    )
    found = program.detect(events)
    assert all(row["end"] - row["start"] <= 5 for row in found)
    assert len(found) == sum(1 for _ in _recent_pairs(events))


def _recent_pairs(events):
    """The same by hand: the newest `a` of the key is taken by the next `i`, if it is near enough."""
    newest = {}
    for event in events:
        if event["type"] == "a":
            newest.setdefault(event["k"], []).append(event["time"])
        else:
            near = [t for t in newest.get(event["k"], []) if event["time"] - t <= 5]
            if near:
                newest[event["k"]] = []
                yield near[-1], event["time"]
