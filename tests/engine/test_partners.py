"""What is stored goes when a partner is missing in another join; it stays as long as one is there, or can come.

[003] 5.2.4 names this as what lifetimes do not see: a tuple stays although what it would be matched with is gone.
"""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.network import stores
from ensue.engine.options import ALL, NONE
from ensue.engine.run import Run
from tests.agreement import check, cut, difference, engine, meaning, swept
from tests.random_programs import RELATIONS, TOLERANT
from tests.random_streams import streams

DECLARATIONS = """
event start(m: int) instant. event alarm(m: int) instant. event confirm(m: int) instant.
event lamp(m: int, k: int) instant.
"""

HOT = "hot(m) <- s: start(m), l: alarm(m), c: confirm(m), s before[..10] c."
"""An alarm may come at any time, so that nothing bounds how long the join with it can need a start."""


@pytest.fixture(scope="module", autouse=True)
def _joins_as_written():
    """Another order of joins would often need no partners."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ensue.rewriting.ordered", lambda *_: None)
        yield


def event(type_, time, m, **more):
    return {"type": type_, "time": time, "m": m, **more}


def at_work(rules, events, time):
    """A session in the network that was sent some events, and knows that it is later."""
    session = ensue.compile(DECLARATIONS + rules).start(compiled=False)
    found = session.send(events)
    return session, [*found, *session.advance(time)]


def kept(session):
    """How many of each are stored, by the node and its side."""
    return {size.node: size.tuples for size in session.sizes() if size.tuples}


def many(type_, first, count=200, **more):
    """One a second, each of its own machine."""
    return [event(type_, first + i, 1000 + i, **more) for i in range(count)]


STARTS, ALARMS, CONFIRMS = (
    "join lefts of start, alarm",
    "join rights of start, alarm",
    "join rights of start, alarm, confirm",
)
SWEPT = 2 * 10 + stores.FEW + 3
"""The most that is kept of one event each second for ten seconds: it goes when there are as many others."""


def test_what_was_not_confirmed_in_time_goes():
    session, _ = at_work(HOT, many("start", 0), 200)
    assert 10 <= kept(session)[STARTS] <= SWEPT


def test_what_was_confirmed_stays_whatever_else_comes():
    session, _ = at_work(HOT, [event("start", 100, 7), event("confirm", 105, 7), *many("start", 106)], 306)
    assert kept(session)[STARTS] <= SWEPT + 1
    assert session.send([event("alarm", 1000, 7)]) + session.close() == [
        {"type": "hot", "start": 100, "end": 1000, "m": 7}
    ]


def test_a_confirmation_without_a_start_goes():
    alarm = event("alarm", 0, 7)
    session, _ = at_work(HOT, [alarm, *many("confirm", 1)], 300)
    assert kept(session)[CONFIRMS] <= stores.FEW + 1
    assert kept(session)[ALARMS] == 1


def test_what_may_come_in_this_very_step_is_waited_for(monkeypatch):
    monkeypatch.setattr(stores, "FEW", -(2**60))
    late = [event("start", 100, 7), event("start", 110, 8), event("alarm", 110, 7), event("confirm", 110, 7)]
    _, found = at_work(HOT, late, 200)
    assert found == [{"type": "hot", "start": 100, "end": 110, "m": 7}]
    assert at_work(HOT, [event("start", 100, 7), *many("start", 101, 10), event("confirm", 111, 7)], 200)[1] == []


def test_a_partner_of_another_key_or_too_late_is_none():
    events = [e for i in range(200) for e in (event("start", 20 * i, 7), event("confirm", 20 * i + 15, 7))]
    session, _ = at_work(HOT, events, 4000)
    assert kept(session).get(STARTS, 0) <= SWEPT
    other_keys = [e for i in range(200) for e in (event("start", 20 * i, i), event("confirm", 20 * i + 5, i + 1))]
    session, _ = at_work(HOT, other_keys, 4000)
    assert kept(session)[STARTS] <= SWEPT


def test_null_is_no_partner():
    session, _ = at_work(HOT, [e for s in many("start", 0) for e in (s, event("confirm", s["time"] + 1, None))], 300)
    assert kept(session)[STARTS] <= SWEPT


FOUR = "hot(m) <- s: start(m), l: alarm(m), c: confirm(m) and p: lamp(m, _), s before[..10] c"


def test_a_partner_may_still_wait_for_others():
    """A confirmation and a lamp are joined first, and no lamp has come yet."""
    session, found = at_work(f"{FOUR}.", [event("start", 100, 7), event("confirm", 105, 7), *many("start", 106)], 306)
    assert kept(session)[STARTS] <= SWEPT + 1
    found += session.send([event("lamp", 400, 7, k=1), *many("start", 500), event("alarm", 800, 7)])
    assert found + session.close() == [{"type": "hot", "start": 100, "end": 800, "m": 7}]


def test_a_partner_may_be_there_as_part_of_more_only():
    """A confirmation goes when its lamp can no longer come; the two together stay."""
    events = [event("start", 100, 7), event("confirm", 105, 7), event("lamp", 106, 7, k=1)]
    later = [e for i in range(50) for e in (event("start", 200 + i, 8), event("confirm", 200 + i, 9))]
    session, found = at_work(f"{FOUR}, c before[..2] p.", [*events, *later, *many("start", 300)], 500)
    assert kept(session)["join rights of start, alarm, confirm, lamp"] == 1
    assert kept(session)[STARTS] <= SWEPT + 1
    found += session.send([event("alarm", 800, 7)])
    assert found + session.close() == [{"type": "hot", "start": 100, "end": 800, "m": 7}]


def test_where_the_key_is_not_known_it_counts_whether_there_is_anything():
    rules = "hot(m) <- s: start(m), l: lamp(m, k), c: confirm(k), s before[..10] c."
    session, _ = at_work(rules, many("start", 0), 300)
    assert kept(session)["join lefts of start, lamp"] <= SWEPT
    lamp = event("lamp", 0, 1, k=5)
    session, _ = at_work(rules, [event("start", 0, 0), lamp, event("confirm", 1, 5), *many("start", 2)], 300)
    assert kept(session)["join lefts of start, lamp"] == 201


@pytest.mark.parametrize(
    "rules",
    [
        # an alarm may still come, and so may a confirmation
        "hot(m) <- s: start(m), l: alarm(m), c: confirm(m).",
        # a start that another one takes the place of is used up, whatever becomes of it
        "hot(m) <- chronicle s: start(m) and chronicle l: alarm(m), c: confirm(m), s before[..10] c.",
        # what lies in parentheses stands for itself
        "hot(m) <- s: start(m), (l: alarm(m) and c: confirm(m)), s before[..10] c.",
    ],
)
def test_nothing_goes_where_no_partner_is_certain_to_be_missing(rules):
    session, _ = at_work(rules, many("start", 0), 300)
    assert [size for node, size in kept(session).items() if "lefts" in node or "select" in node] == [200]


def test_a_state_from_before_is_swept_like_any_other():
    program = ensue.compile(DECLARATIONS + HOT)
    session, _ = at_work(HOT, [event("start", 100, 7), event("confirm", 105, 7), *many("start", 106)], 306)
    resumed = program.resume(session.save())
    assert kept(resumed) == kept(session)
    resumed.send(many("start", 400))
    assert kept(resumed)[STARTS] <= SWEPT + 1
    assert resumed.send([event("alarm", 1000, 7)]) + resumed.close() == [
        {"type": "hot", "start": 100, "end": 1000, "m": 7}
    ]


def test_it_can_be_switched_off():
    found = {}
    for partners in (False, True):
        run = Run(ensue.compile(DECLARATIONS + HOT).typed, compiled=False, options=replace(ALL, partners=partners))
        batch = run.batch()
        batch.rows = [("start", {"m": i}, i, i, None, i) for i in range(300)]
        run.advance(batch, 300, 0)
        found[partners] = sum(size.tuples for size in run.sizes())
    assert found[False] == 300
    assert found[True] <= SWEPT


# --- random rules of three and four events, some of them related


@st.composite
def rules(draw):
    """A rule whose events share variables and are related in time, but not all of them."""
    events = {"a": ["k", "x"], "b": ["k", "y"], "c": ["k", "s"], "i": ["k", "x"], "h": ["k", "x"]}
    names = {"k": ["k", "k", "_", "_", "j"], "x": ["x", "_", "_", "_", "k"], "y": ["_", "_", "y"], "s": ["_", "_", "s"]}
    count = draw(st.integers(3, 4))
    atoms = []
    for number in range(count):
        type_ = draw(st.sampled_from(sorted(events)))
        atoms.append(f"e{number}: {type_}({', '.join(draw(st.sampled_from(names[n])) for n in events[type_])})")
    atoms = [f"({each} without c(k=3))" if draw(st.integers(0, 19)) == 19 else each for each in atoms]
    between = st.sampled_from([",", ",", " and", " and", " seq"])
    text = atoms[0] + "".join(f"{draw(between)} {each}" for each in atoms[1:])
    related = []
    for _ in range(draw(st.integers(1, count - 2))):
        left, right = draw(st.permutations(range(count)))[:2]
        related.append(f"e{left} {draw(relations())} e{right}")
    if draw(st.integers(0, 9)) == 9:
        text = f"{text}, w: extend(e0, {draw(st.integers(0, 4))})"
    if draw(st.integers(0, 9)) == 9:
        text = f"{text}, while e1: not a(k=2)"
    within = f" within {draw(st.integers(4, 12))}" if draw(st.integers(0, 5)) == 5 else ""
    where = " where e0.end <= e2.end" if draw(st.integers(0, 9)) == 9 else ""
    head = f"{draw(st.sampled_from(['d()', 'd(n = e0.end)', 'd(n = e0.end, m = e1.start, o = e2.end)']))}"
    return f"{head} <- {text}, {', '.join(related)}{where}{within}."


@st.composite
def relations(draw):
    word = draw(st.sampled_from(["before"] * 12 + ["after"] * 12 + RELATIONS))
    if word in TOLERANT:
        return f"{word}[{draw(st.integers(0, 3))}]"
    low, high = sorted((draw(st.integers(-1, 3)), draw(st.integers(0, 6))))
    return word + draw(st.sampled_from([f"[{low}..{high}]", f"[..{high}]", f"[{max(low, 0)}..]", ""]))


RANDOM = """
event a(k: int, x: int). event b(k: int, y: float). event c(k: int, s: string).
event i(k: int, x: int) instant. event h(k: int, x: int) instant.
"""

ONLY_PARTNERS = swept(engine(False, cut, options=replace(NONE, partners=True)))


def streams_for(text):
    """Streams of the events of a rule, close together."""
    types = sorted({each for each in "abcih" if f": {each}(" in text})
    found = streams(20, ["plain", "plain", "nulls"], ["dense", "usual", "instants"], types=types)
    return found.map(lambda events: [e | ({"end": e["start"]} if e["type"] == "h" else {}) for e in events])


@settings(max_examples=100)
@given(rules(), st.data())
def test_random_rules_find_what_the_reference_finds(text, data):
    try:
        program = ensue.compile(RANDOM + text)
    except ensue.RuleError:
        assume(False)
    for _ in range(2):
        events = data.draw(streams_for(text))
        number = data.draw(st.integers(0, 99))
        wanted = meaning(program, events, None)
        for name in ("network, swept", "network, swept, one optimisation off", "session, network, swept"):
            check(name, program, events, None, number, wanted)
        found = ONLY_PARTNERS(program, events, None, Random(number))
        assert difference(wanted, found) is None
