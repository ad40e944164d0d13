"""Recursion derives each event of a step once: rows of a step are compared while they are few, and hashed beyond."""

from hypothesis import given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.operators.derive import FEW_ROWS
from tests.agreement import check, meaning

RULES = """
event edge(x: int, y: float).  event path(x: int, y: float).
path(x, y) <- edge(x, y).
path(x, z) <- path(x, y) and edge(v, z) where round(y) = v within 2.
"""

EXECUTIONS = ["plain, cut", "small, cut", "session, small, saved", "machine, cut",
              "machine, small, cut"]  # fmt: skip


def edges():
    node = st.integers(0, 3)
    one = st.builds(lambda x, y, time: {"type": "edge", "x": x, "y": y, "start": time, "end": time},
                    st.one_of(st.none(), node), st.one_of(st.none(), node.map(float), st.just(-0.0)),
                    st.integers(0, 3))  # fmt: skip
    given = st.builds(lambda event: event | {"type": "path"}, one)
    return st.lists(st.one_of(one, one, given), max_size=14).map(lambda events: sorted(events, key=lambda e: e["end"]))


@settings(max_examples=40, deadline=None)
@given(edges(), st.integers(0, 99))
def test_all_executions_agree(events, seed):
    program = ensue.compile(RULES)
    wanted = meaning(program, events)
    for execution in EXECUTIONS:
        check(execution, program, events, seed=seed, wanted=wanted)


def test_a_step_of_more_than_a_few_events():
    events = [{"type": "edge", "x": i, "y": float((i + 1) % 12), "start": 0, "end": 0} for i in range(12)]
    program = ensue.compile(RULES)
    wanted = meaning(program, events)
    assert len(wanted) == 12 * 12 > FEW_ROWS
    for execution in EXECUTIONS:
        assert check(execution, program, events, wanted=wanted)
