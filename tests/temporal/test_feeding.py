"""Rules that only feed a suppressed side: when they need not run, and that they miss nothing when they do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.options import NONE
from ensue.engine.run import Run
from ensue.temporal.feeding import awaited_rules
from tests.agreement import attributes_of, meaning

DECLARATIONS = """
event login(u: int, x: int).  event fail(u: int, x: int).  event other(u: int, x: int).
"""
BURST = "burst(u) <- fail(u, _) seq fail(u, _)."
ALARM = "alarm(u) <- login(u, _) seq burst(u) within 10."


def awaited(rules, emit=("alarm",)):
    """For each rule that waits: the event that it waits for, how long after it, and by which variables."""
    found = awaited_rules(ensue.compile(DECLARATIONS + rules).typed, emit)
    return {number: [(a.after.event, a.reach, a.keys) for a in each] for number, each in found.items()}


def test_a_rule_waits_for_what_must_come_before_all_that_it_derives():
    assert awaited(BURST + ALARM) == {0: [("login", 10, (("u", "u"),))]}


def test_any_rule_that_reads_it_is_enough():
    more = "alarm(u) <- other(u, _) seq b: burst(_)."
    assert awaited(BURST + ALARM + more) == {0: [("login", 10, (("u", "u"),)), ("other", None, ())]}


def test_names_differ_between_rules():
    rules = "burst(w, n = 1) <- fail(w, _) seq fail(w, _).  alarm(k) <- login(k, _) seq burst(k, 1)."
    assert awaited(rules) == {0: [("login", None, (("k", "w"),))]}


@pytest.mark.parametrize(
    "rules",
    [
        BURST + "alarm(u) <- login(u, _) and burst(u) within 10.",
        BURST + "alarm(u) <- l: login(u, _), b: burst(u), l overlaps b.",
        BURST + "alarm(u) <- burst(u) seq login(u, _).",
        BURST + "alarm(u) <- login(u, _) or burst(u).",
        BURST + "alarm(u) <- recent login(u, _) seq burst(u).",
        BURST + "alarm(u) <- not burst(u) in [login(u, _), other(u, _)].",
        BURST + "alarm(count(b)) <- while last 10: collect b: burst(_).",
        "burst(u) <- recent fail(u, _) seq fail(u, _)." + ALARM,
        "burst(u) <- not other(u, _) in [fail(u, _), fail(u, _)]." + ALARM,
        "burst(u) <- while last 5: collect f: fail(u, _), count(f) > 2." + ALARM,
        "burst(u) <- f: fail(u, _), w: extend(f, 3)." + ALARM,
        "burst(u) <- fail(u, _).  burst(u) <- burst(u) seq fail(u, _)." + ALARM,
        BURST + "middle(u) <- other(u, _).  alarm(u) <- middle(u) seq burst(u).",
    ],
)
def test_a_rule_runs_where_what_it_derives_may_be_of_use_earlier(rules):
    try:
        found = awaited(rules)
    except ensue.RuleError as error:
        pytest.fail(str(error))
    assert 0 not in found


def test_a_rule_runs_where_its_events_are_asked_for():
    assert awaited(BURST + ALARM, ("alarm", "burst")) == {}


def evaluated(rules, events, emit=("alarm",), options=None):
    """What is found, and how many tuples are kept in the end."""
    program = ensue.compile(DECLARATIONS + rules).typed
    more = {} if options is None else {"options": options}
    run = Run(program, compiled=False, emit=emit, **more)
    batch = run.batch()
    batch.rows = [(e["type"], attributes_of(e), e["start"], e["end"], None, place) for place, e in enumerate(events)]
    run.advance(batch, max(e["end"] for e in events), min(e["end"] for e in events))
    found = batch.events(frozenset(["alarm"]))
    return [(e.start, e.end, e.attributes) for e in found], sum(size.tuples for size in run.sizes())


def event(type_, time, u):
    return {"type": type_, "start": time, "end": time, "u": u, "x": 0}


def test_nothing_is_kept_before_what_is_awaited_has_come():
    events = [event("fail", time, time % 7) for time in range(50)]
    assert evaluated(BURST + ALARM, events) == ([], 0)
    assert evaluated(BURST + ALARM, events, options=NONE)[1] >= 50


def test_only_the_key_that_waits_is_looked_at():
    events = [event("login", 0, 3), *(event("fail", time, time % 7) for time in range(1, 9))]
    found, kept = evaluated(BURST + ALARM, events)
    assert found == [] and kept == 2  # a login, and the one failure of its user
    events.append(event("fail", 10, 3))
    assert [(start, end) for start, end, _ in evaluated(BURST + ALARM, events)[0]] == [(0, 10)]


def test_what_began_before_a_later_one_is_of_use_to_an_earlier_one():
    lasting = {**event("fail", 1, 3), "end": 3}
    found, _ = evaluated(BURST + ALARM, [event("login", 0, 3), event("login", 2, 3), lasting, event("fail", 4, 3)])
    assert [(start, end) for start, end, _ in found] == [(0, 4)]


def test_what_is_awaited_is_forgotten_when_it_is_over():
    events = [event("login", time, time) for time in range(400)]
    program = ensue.compile(DECLARATIONS + BURST + ALARM).typed
    run = Run(program, compiled=False, emit=["alarm"])
    batch = run.batch()
    batch.rows = [(e["type"], attributes_of(e), e["start"], e["end"], None, 0) for e in events]
    run.advance(batch, 400, 0)
    (gate,) = (gate for lane in run.lanes for gate in lane.gates)
    assert len(gate.ends) < 100


def test_a_gate_is_part_of_the_state():
    program = ensue.compile(DECLARATIONS + BURST + ALARM).typed
    events = [event("login", 0, 3), event("fail", 1, 3), event("fail", 2, 3)]
    run = Run(program, compiled=False, emit=["alarm"])
    found = []
    for e in events:
        state, run = run.saved(), Run(program, compiled=False, emit=["alarm"])
        run.restore(state)
        batch = run.batch()
        batch.rows = [(e["type"], attributes_of(e), e["start"], e["end"], None, 0)]
        run.advance(batch, e["end"], e["end"])
        found += batch.events(frozenset(["alarm"]))
    assert len(found) == 1


EVENTS = st.lists(
    st.builds(
        lambda type_, start, length, u, x: {"type": type_, "start": start, "end": start + length, "u": u, "x": x},
        st.sampled_from(["login", "fail", "fail", "other"]),
        st.integers(0, 14),
        st.sampled_from([0, 0, 1, 2, 3]),
        st.sampled_from([0, 1, 2, None]),
        st.sampled_from([0, 1, 2]),
    ),
    min_size=1,
    max_size=24,
)
FIRST = [
    "burst(u) <- fail(u, _) seq fail(u, _).",
    "burst(u) <- fail(u, x) and fail(u, y) within 4.",
    "burst(y) <- fail(u, y) seq other(u, _).",
    "burst(u) <- fail(u, _) or other(u, _).",
    "burst(x) <- fail(_, x).  burst(u) <- other(u, _) seq fail(u, _).",
    "burst(x / 2) <- fail(_, x).",
]
SECOND = [
    "alarm(u) <- login(u, _) seq burst(u) within 6.",
    "alarm(u) <- login(u, _) seq burst(u).",
    "alarm(u) <- l: login(u, _), b: burst(u), l before[0..3] b.",
    "alarm(u, v) <- login(u, _) seq burst(v) within 5.",
    "alarm(u) <- login(u, _) seq other(u, _) seq burst(u) within 8.",
    "alarm(u) <- (login(u, _) and other(u, _)) seq burst(u).",
    "alarm(u) <- login(u, 1) seq burst(u).  alarm(u) <- other(u, _) seq burst(u) within 3.",
    "alarm(u) <- burst(u) seq burst(u).",
    "alarm(u) <- login(u, _) seq burst(u) seq burst(u) within 9.",
]


@settings(max_examples=150)
@given(st.sampled_from(FIRST), st.sampled_from(SECOND), st.data())
def test_the_same_is_found_as_the_rules_mean(first, second, data):
    program = ensue.compile(DECLARATIONS + first + second)
    events = data.draw(EVENTS)
    until = max(e["end"] for e in events)
    wanted = sorted((d.start, d.end, repr(d.attributes)) for d in meaning(program, events, until) if d.type == "alarm")
    found, _ = evaluated(first + second, sorted(events, key=lambda e: e["end"]))
    assert sorted((start, end, repr(attributes)) for start, end, attributes in found) == wanted
