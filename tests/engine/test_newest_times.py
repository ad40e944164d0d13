"""Absences that the newest instant decides: all executions agree, whatever ends in one step."""

from hypothesis import given, settings
from hypothesis import strategies as st

import ensue
from tests.agreement import check, meaning

DECLARATIONS = "event a(k: int, x: int) instant.  event b(k: int, x: int) instant.  event c(k: int, x: int).\n"

RULES = [
    "d(k) <- o: a(k, _), w: extend(o, 3), while w: not b(k, _).",
    "d(k) <- o: a(k, _), w: extend(o, 3), while [w]: not b(k, _).",
    "d(k) <- o: c(k, _), w: extend(o, 2), while w: not (a(k, _) or b(k, _)).",
    "d(k) <- o: a(k, _), w: extend(o, 4), while w: not b(_, _).",
    "keep 2.  d(k) <- o: a(k, _), w: extend(o, 4), while w: not b(k, _).",
    "d(k) <- c(k, _) without b(k, _).",
    "d(k) <- (a(k, _) seq c(k, _)) without b(k, _) within 6.",
    "d(k) <- not b(k, _) in [c(k, _), a(k, _)].",
    "d(k) <- not b(k, _) in [c(k, _), a(k, _)] within 5.",
    "d(k) <- o: c(k, _), while o: not b(k, _).",
    "d(k) <- o: c(k, _), n: a(_, _), o before n, while o: not b(k, _) within 9.",
    "e(k) <- o: a(k, _), w: extend(o, 2), while w: not b(k, _).  d(k) <- e(k) seq (c(k, _) without b(k, _)) within 9.",
]
PLAIN = ["plain, cut", "plain, instants", "plain, one optimisation off", "small, cut", "small, step by step, instants",
         "session, small, saved", "session, changed", "detect, on cores"]  # fmt: skip
MACHINE = ["machine, cut", "machine, small, cut", "session machine, small, saved"]


def streams():
    def event(type_, k, time, length):
        return {"type": type_, "k": k, "x": 0, "start": time - (length if type_ == "c" else 0), "end": time}

    keys = st.sampled_from([0, 0, 1, None])
    one = st.builds(event, st.sampled_from("abbc"), keys, st.integers(0, 14), st.sampled_from([0, 2, 5]))
    return st.lists(one, min_size=3, max_size=24).map(lambda events: sorted(events, key=lambda e: e["end"]))


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(RULES), streams(), st.integers(0, 99))
def test_all_executions_agree(rules, events, seed):
    program = ensue.compile(DECLARATIONS + rules)
    wanted = meaning(program, events)
    for execution in PLAIN:
        check(execution, program, events, seed=seed, wanted=wanted)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(RULES), streams(), st.integers(0, 99))
def test_machine_code_agrees(rules, events, seed):
    program = ensue.compile(DECLARATIONS + rules)
    wanted = meaning(program, events)
    for execution in MACHINE:
        check(execution, program, events, seed=seed, wanted=wanted)
