"""Rules whose events all have one key, in every order of types: rows that are looked up, shared and ended.

Programs drawn from the whole language seldom have a key in all of their atoms; here each rule has.
"""

import zlib

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import ensue
from tests.agreement import check, meaning
from tests.random_programs import streams

DECLARATIONS = "unit s. event a(k: int, x: int). event b(k: int, y: float). event c(k: int, s: string). "

BODIES = {
    "pair": "{0}(k, v) seq {1}(k, _) within {n}",
    "triple": "{0}(k, v) seq {1}(k, _) seq {2}(k, _) within {n}",
    "both": "{0}(k, v) and {1}(k, _) within {n}",
    "unbounded": "{0}(k, v) seq {1}(k, _)",
    "recent": "recent {0}(k, v) seq {1}(k, _)",
    "chronicle": "chronicle {0}(k, v) seq continuous {1}(k, _) within {n}",
    "between": "not {0}(k, _) in [{1}(k, v), {2}(k, _)]",
    "between, bounded": "not {0}(k, _) in [{1}(k, v), {2}(k, _)] within {n}",
    "between two": "not {0}(k, _) in [{1}(k, v), {2}(k, _)], not {1}(k, _) in [{0}(k, _), {2}(k, _)]",
    "adjacent": "not {0}(k, _) in [{1}(k, v), {0}(k, w)] where v < w",
    "quiet": "e: {0}(k, v), w: extend(e, {n}), while w: not {1}(k, _)",
    "gathered": "e: {0}(k, v), w: extend_backward(e, {n}), while w: collect {1}(k, _)",
    "of the rule before": "d{before}(k, v) seq {0}(k, _) within {n}",
    "not of the rule before": "not d{before}(k, _) in [{0}(k, v), {1}(k, _)]",
    "after the rule before": "not {0}(k, _) in [d{before}(k, v), {0}(k, _)]",
}


@st.composite
def correlated(draw):
    """A program of one to three rules."""
    rules = []
    for number in range(draw(st.integers(1, 3))):
        names = [name for name in BODIES if number or "before" not in BODIES[name]]
        body = BODIES[draw(st.sampled_from(names))]
        types = draw(st.permutations("abc")) if draw(st.booleans()) else ["a"] * 3
        if "{0}(k, w)" in body:
            types = ["a"] * 3  # values are compared
        before = draw(st.integers(0, max(0, number - 1)))
        rules.append(f"d{number}(k, v) <- {body.format(*types, n=draw(st.integers(2, 12)), before=before)}.")
    return DECLARATIONS + " ".join(rules)


@pytest.mark.parametrize(
    "execution",
    ["plain", "plain, cut", "plain, instants", "small, cut", "small, step by step, instants"],
)
def test_every_order_of_types(execution):
    @seed(zlib.crc32(execution.encode()))
    @settings(max_examples=120)
    @given(correlated(), st.data())
    def agrees(text, data):
        program = ensue.compile(text)
        times = ["instants"] if "instants" in execution or data.draw(st.booleans()) else ["usual"]
        events = data.draw(streams(24, values=["plain"], times=times, types=["a", "b", "c"]))
        until = max((event["end"] for event in events), default=0) + data.draw(st.sampled_from([0, 5]))
        check(execution, program, events, until, data.draw(st.integers(0, 99)), meaning(program, events, until))

    agrees()
