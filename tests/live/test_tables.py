"""Facts that change while a session runs."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensue
from ensue.language import limits
from ensue.reference import detect

RULES = """
event a(x: int).
event b(x: int).
table vip(x: int).  vip(1).
seen(x) <- b(x) where vip(x).
"""


def event(type_, time, x=1):
    return {"type": type_, "time": time, "x": x}


def ends(found):
    return [(row["type"], row["start"], row["end"]) for row in found]


def test_rows_are_added_replaced_and_removed():
    session = ensue.compile(RULES).start(tables={"vip": [(2,)]})
    vip = session.tables["vip"]
    assert list(vip) == [(1,), (2,)]
    assert vip.add([(2,), (3,), (4,)]) == 2
    assert vip.add((5,)) == 1
    assert vip.remove([(1,), (9,)]) == 1
    assert vip.remove({"x": 5}) == 1
    assert (list(vip), len(vip), (3,) in vip, (1,) in vip, "no row" in vip) == (
        [(2,), (3,), (4,)],
        3,
        True,
        False,
        False,
    )
    vip.replace([(7,)])
    assert list(vip) == [(7,)]
    assert (vip.columns, repr(vip)) == (("x",), "<ensue table vip(x): 1 rows>")
    assert (list(session.tables), len(session.tables), "vip" in session.tables) == (["vip"], 1, True)
    assert repr(session.tables) == "<ensue tables vip>"


def test_what_was_derived_stays_and_what_comes_later_is_derived_with_other_facts():
    session = ensue.compile(RULES + "again(x) <- seen(x) seq b(x).").start(in_order=True)
    assert ends(session.send([event("b", 1), event("b", 2)])) == [("seen", 1, 1)]
    session.tables["vip"].remove([(1,)])
    assert ends(session.send(event("b", 3))) == [("again", 1, 2)]
    session.tables["vip"].add([(1,)])
    assert ends(session.close()) == [("again", 1, 3), ("seen", 3, 3)]


def test_events_that_wait_see_the_change():
    session = ensue.compile(RULES).start(lateness=10, in_order=True)
    session.send([event("b", 1, 2), event("b", 20, 2)])
    assert session.time == 9
    session.send(event("b", 12, 2))
    session.tables["vip"].add([(2,)])
    assert ends(session.close()) == [("seen", 12, 12), ("seen", 20, 20)]


def test_a_change_at_a_certain_time():
    session = ensue.compile(RULES).start(in_order=True)
    session.send([event("b", 1), event("b", 5)])
    found = session.advance(5)
    session.tables["vip"].replace([])
    assert ends(found) == [("seen", 5, 5)]
    assert session.advance(9) == []


@pytest.mark.parametrize("compiled", [False, True])
def test_a_match_is_decided_when_it_is_complete(compiled):
    program = ensue.compile(RULES + "both(x) <- a(x) seq b(x) where vip(x).")
    session = program.start(emit="both", compiled=compiled, in_order=True)
    session.tables["vip"].replace([])
    session.send([event("a", 1), event("a", 2, 2)])
    session.tables["vip"].replace([(1,)])
    session.send([event("b", 3), event("b", 3, 2)])
    assert ends(session.advance(3)) == [("both", 1, 3)]
    session.tables["vip"].replace([(2,)])
    session.send([event("b", 4), event("b", 4, 2)])
    assert ends(session.advance(4)) == [("both", 2, 4)]


def test_reactions_ask_for_facts_as_they_are():
    called = []
    program = ensue.compile(RULES + "on b(x) if vip(x) do f(x).")
    session = program.start(actions={"f": called.append})
    session.send([event("b", 1), event("b", 2, 2)])
    session.tables["vip"].replace([(2,)])
    session.send([event("b", 3), event("b", 4)])
    assert called == [1, 2]


def test_changed_facts_are_saved():
    program = ensue.compile(RULES)
    session = program.start(in_order=True)
    session.tables["vip"].replace([(2,)])
    session.send(event("b", 1, 2))
    session = program.resume(session.save())
    assert list(session.tables["vip"]) == [(2,)]
    session.send([event("b", 1, 1), event("b", 2, 2)])
    session.tables["vip"].add([(3,)])
    session = program.resume(session.save())
    session.send(event("b", 2, 3))
    assert [(row["end"], row["x"]) for row in session.close()] == [(2, 2), (2, 3)]


def test_rules_and_facts_change_together():
    program = ensue.compile(RULES)
    session = program.start(in_order=True)
    session.send([event("a", 1), event("a", 2)])
    session.tables["vip"].replace([(2,)])
    session.add("rule more: more(x) <- a(x) seq b(x) where vip(x). vip(1). vip(5).")
    assert list(session.tables["vip"]) == [(2,), (5,)]  # that 1 is one was stated before, and replaced
    session.tables["vip"].add([(1,)])
    session = ensue.compile(session.rules).resume(session.save())
    assert ends(session.send([event("b", 3), event("b", 4)])) == [("more", 2, 3), ("seen", 3, 3)]
    session.remove("more")
    session.tables["vip"].remove([(1,)])
    assert session.close() == []


def test_a_table_that_is_added_can_change():
    session = ensue.compile("event a(x: int).").start(in_order=True)
    session.add("table good(x: int). ok(x) <- a(x) where good(x).")
    session.tables["good"].add([(3,)])
    session.send([event("a", 1, 3), event("a", 1, 4)])
    assert [row["x"] for row in session.close()] == [3]


def test_timestamps_are_datetimes():
    program = ensue.compile(
        "event a(x: int). table due(x: int, at: timestamp). late(x) <- e: a(x), due(x, t) where e.start > t."
    )
    session = program.start(in_order=True)
    moment = datetime(2024, 5, 1, tzinfo=UTC)
    session.tables["due"].add([(1, moment), (2, "2024-05-03")])
    assert list(session.tables["due"]) == [(1, moment), (2, datetime(2024, 5, 3, tzinfo=UTC))]
    assert (1, moment) in session.tables["due"]
    session.send([{"type": "a", "time": datetime(2024, 5, 2, tzinfo=UTC), "x": x} for x in (1, 2)])
    assert [row["x"] for row in session.close()] == [1]


def test_what_is_wrong_changes_nothing():
    session = ensue.compile(RULES + "other(9). also(x) <- b(x) where other(x).").start()
    with pytest.raises(ensue.DataError, match=r"declare no table 'vipp'; declared are: vip\. Did you mean 'vip'"):
        session.tables["vipp"]
    with pytest.raises(ensue.DataError, match="declare no table 'other'"):
        session.tables["other"]
    with pytest.raises(ensue.DataError):
        session.tables["vip"].add([("x",)])
    with pytest.raises(ensue.DataError):
        session.tables["vip"].replace([(1, 2)])
    assert list(session.tables["vip"]) == [(1,)]
    vip = session.tables["vip"]
    session.close()
    with pytest.raises(ensue.SessionError, match="closed"):
        vip.add([(2,)])


def test_rules_that_compute_follow_and_must_come_to_an_end(monkeypatch):
    monkeypatch.setattr(limits, "MOST_ROWS", 50)
    rules = "event a(x: int). table limit(m: int). n(0). n(x + 1) :- n(x), limit(m), x < m. d(x) <- a(x) where n(x)."
    session = ensue.compile(rules).start(tables={"limit": [(3,)]})
    assert [row["x"] for row in session.send([event("a", 1, 3), event("a", 1, 7)])] == [3]
    session.advance(1)
    session.tables["limit"].replace([(9,)])
    assert [row["x"] for row in session.send(event("a", 2, 7))] == [7]
    session.tables["limit"].replace([(99,)])
    with pytest.raises(ensue.DetectError, match="The static rules for n derive row after row"):
        session.send(event("a", 3, 7))
    with pytest.raises(ensue.SessionError, match="Detection failed"):
        session.send(event("a", 3, 7))


DECLARED = """
event a(k: int, x: int).
event b(k: int, x: int).
event c(k: int, x: int).
table vip(k: int).  vip(1).
table near(p: int, q: int).  near(0, 1).
reach(p, q) :- near(p, q).
reach(p, r) :- near(p, q), reach(q, r).
plain(k) :- near(k, _), not vip(k).
"""
SHAPES = [
    "d(k, x) <- a(k, x) where vip(k).",
    "d(k, x, y) <- a(k, x) seq b(k, y) where vip(k).",
    "d(k, x, y) <- a(k, x) seq b(_, y) where vip(k) and not vip(x) within 6.",
    "d(k, p) <- a(k, p) seq b(_, q) where reach(p, q).",
    "d(k, q) <- a(k, p) seq b(k, _), near(p, q).",
    "d(k, q, y) <- a(k, p) and b(k, y), reach(p, q) where plain(q) or y > 1.",
    "d(k, x) <- (a(k, x) or c(k, x)) seq b(k, _) where vip(x).",
    "d(k, x) <- a(k, x) seq b(k, _) without c(k, _) where vip(k).",
    "d(k, v = if_else(vip(x), 1, 0)) <- recent a(k, x) seq b(k, _).",
    "d(k, x) <- recent a(k, x) seq b(k, _) where vip(x).",
    "d(k, x) <- e: a(k, x), w: extend(e, 3), while w: not b(k, _) where vip(k).",
    "d(k, n = count(o)) <- while last 3: collect o: a(k, _) where vip(k).",
    "d(q, n = count(o)) <- while last 3: collect o: a(_, _), near(1, q).",
    "d(q, n = sum(x)) <- while last 3: collect a(q, x), near(_, q) where vip(q).",
    "d(k, p, q, n = count(o)) <- while last 4: collect o: a(k, _), near(p, q) where vip(k) or vip(q).",
    "d(q, n = sum(x * q)) <- while last 2: collect a(_, x), near(1, q).",
    "d(k, n = count(o)) <- e: a(k, _), w: extend(e, 4), while w: collect o: b(k, _) where vip(k) or count(o) > 1.",
    "d(k, x, z) <- a(k, x), b(k, y), c(k, z) where vip(x) and reach(y, z).",
    "d(k) <- a(k, _) seq b(k, _) where vip(k) policy restricted.",
    "d1(k) <- a(k, x) seq b(k, _) where x > 0 and vip(k). d2(k) <- a(k, x) seq b(k, _) where x > 1 and vip(k). "
    "d3(k) <- a(k, x) seq b(k, _) where x > 2 and vip(k).",
]
NUMBERS = st.integers(0, 3)
ROWS = {"vip": st.tuples(NUMBERS), "near": st.tuples(NUMBERS, NUMBERS)}


@settings(max_examples=150)
@given(st.sampled_from(SHAPES), st.booleans(), st.data())
def test_each_step_has_the_detections_of_the_facts_in_force(rules, compiled, data):
    program = ensue.compile(DECLARED + rules)
    draw = data.draw
    session = program.start(compiled=compiled)
    facts = {"vip": {(1,)}, "near": {(0, 1)}}
    without = ensue.compile(DECLARED.replace("vip(1).", "").replace("near(0, 1).", "") + rules).typed
    given_, wanted, found = [], [], []
    for time in range(1, draw(st.integers(2, 9))):
        for name in draw(st.lists(st.sampled_from(["vip", "near"]), max_size=2)):
            rows = draw(st.lists(ROWS[name], max_size=4))
            how = draw(st.sampled_from(["add", "remove", "replace"]))
            getattr(session.tables[name], how)(rows)
            facts[name] = {"add": facts[name].union, "remove": facts[name].difference, "replace": set}[how](rows)
        if draw(st.integers(0, 4)) == 0:
            session = program.resume(session.save())
        new = draw(st.lists(st.tuples(st.sampled_from("abc"), NUMBERS, NUMBERS, st.integers(0, 2)), max_size=3))
        for type_, k, x, length in new:
            given_.append((type_, {"k": k, "x": x}, time - length, time, None))
        found += session.send(
            [
                {"type": t, **attributes, "start": s, "end": e}
                for t, attributes, s, e, _ in given_[len(given_) - len(new) :]
            ]
        )
        found += session.advance(time)
        now = detect(without, given_, time, {name: sorted(rows) for name, rows in facts.items()}) if given_ else []
        wanted += [(e.type, e.start, e.end, dict(e.attributes)) for e in now if e.end == time]
    as_rows = [{"type": type_, "start": start, "end": end, **values} for type_, start, end, values in wanted]
    assert sorted(map(str, found)) == sorted(map(str, as_rows))
