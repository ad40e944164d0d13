"""Certain detections come in the send that completes them; in all, they are those of the reference."""

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.capacity import USUAL, using
from ensue.language.walk import asks_predicates
from ensue.live.ahead import Ahead
from ensue.plan.certain import certain_types, waiting_rules
from tests.live.test_live_meaning import arrow, compiled, cuts, expected, rows, shuffled, types_added, without_nulls
from tests.random_programs import programs, streams


def counted(detections):
    """Detections in no order; in tables integers may have become floats."""

    def shown(value):
        return f"{value:.12g}" if type(value) in (int, float) else repr(value)

    return Counter(str(sorted((name, shown(row[name])) for name in row)) for row in without_nulls(detections))


def certain_so_far(program, events):
    """Detections of certain types that the reference finds in the events that have come."""
    types = certain_types(program.typed)
    return counted(row for row in expected(program, events) if row["type"] in types)


def check(program, pieces, lateness, send, between=lambda session: session):
    """Sends pieces; after each, all that is certain must have come, and in the end all there is, each once."""
    wanted = expected(program, [event for piece in pieces for event in piece])
    types = certain_types(program.typed)
    session = program.start(lateness)
    found, sent = [], []
    for piece in pieces:
        session = between(session)
        found += send(session, piece)
        sent += piece
        assert counted(row for row in found if row["type"] in types) == certain_so_far(program, sent)
    session = between(session)
    session.send([])
    found += session.close()
    assert counted(found) == counted(wanted)
    assert (session.received, session.late, session.waiting) == (len(sent), 0, 0)


@settings(max_examples=60)
@given(programs(), streams(), st.data())
def test_every_send_brings_what_it_makes_certain(rules, events, data):
    program = compiled(rules)
    lateness = data.draw(st.integers(0, 6))
    pieces = cuts(data.draw, shuffled(data.draw, events, lateness))
    check(program, pieces, lateness, lambda session, piece: session.send(piece))


@settings(max_examples=60)
@given(programs(), streams(), st.data())
def test_one_dict_at_a_time(rules, events, data):
    program = compiled(rules)
    lateness = data.draw(st.sampled_from([0, 0, 2, 5]))
    pieces = [[event] for event in shuffled(data.draw, events, lateness)]
    check(program, pieces, lateness, lambda session, piece: session.send(piece[0]))


@settings(max_examples=60)
@given(programs(), streams(), st.data())
def test_saved_and_resumed_in_between(rules, events, data):
    program = compiled(rules)
    lateness = data.draw(st.integers(0, 4))
    pieces = cuts(data.draw, shuffled(data.draw, events, lateness))

    def resumed(session):
        return program.resume(session.save()) if data.draw(st.booleans()) else session

    check(program, pieces, lateness, lambda session, piece: session.send(piece), resumed)


@settings(max_examples=40)
@given(programs(), streams(), st.data())
def test_tables_and_dicts(rules, events, data):
    program = compiled(rules)
    try:
        program.detect(arrow([]))
    except ensue.DataError:  # attributes of one name and several types: no table holds them
        assume(False)
    lateness = data.draw(st.integers(0, 4))

    def send(session, piece):
        return rows(session.send(arrow(piece))) if data.draw(st.booleans()) else session.send(piece)

    check(program, cuts(data.draw, shuffled(data.draw, events, lateness)), lateness, send)


@settings(max_examples=40)
@given(programs(), programs(most_rules=1, alone=True), streams(), st.data())
def test_rules_come_and_go(rules, more, events, data):
    program = compiled(rules)
    added = more.splitlines()[-1].replace("d0(", "z0(")
    extra = [statement.strip() + "." for statement in added.split(". ") if statement.strip(" .")]
    extra = [f"rule extra{number}: {statement.rstrip('.')}." for number, statement in enumerate(extra)]
    more_types = types_added(program, extra)
    lateness = data.draw(st.integers(0, 4))
    wanted = expected(program, events)
    session, found, there = program.start(lateness), [], False
    for piece in cuts(data.draw, shuffled(data.draw, events, lateness)):
        if data.draw(st.integers(0, 3)) == 0:
            try:
                if there:
                    for number in range(len(extra)):
                        session.remove(f"extra{number}")
                else:
                    session.add("\n".join(extra))
            except ensue.DataError:  # a derived event that may last longer than others have counted on
                assume(False)
            there = not there
        found += session.send(piece)
    found += session.close()
    assert counted(row for row in found if row["type"] not in more_types) == counted(wanted)


# --- cases

SHOP = """
    event order(id: int) instant.  event shipped(id: int) instant.  event paid(id: int) instant.
    rule done: done(id) <- order(id) seq shipped(id).
    closed(id) <- done(id) seq paid(id).
    overdue(id) <- o: order(id), w: extend(o, 6), while w: not shipped(id).
    so_far(n = count(d)) <- while last 10: collect d: done(_).
"""


def at(time, type_, id_=1):
    return {"type": type_, "time": time, "id": id_}


def found(type_, start, end, id_=1):
    return {"type": type_, "start": start, "end": end, "id": id_}


def test_a_match_comes_with_the_event_that_completes_it():
    session = ensue.compile(SHOP).start()
    assert session.send(at(1, "order")) == []
    assert session.send(at(3, "shipped")) == [found("done", 1, 3)]
    assert session.send(at(4, "paid")) == [
        {"type": "so_far", "start": 1, "end": 3, "n": 1},
        found("closed", 1, 4),
    ]
    assert (session.time, session.waiting) == (3, 1)
    assert session.close() == []


def test_in_order_it_waits_for_its_step():
    session = ensue.compile(SHOP).start(in_order=True)
    assert session.send([at(1, "order"), at(3, "shipped")]) == []
    assert session.send(at(4, "paid"))[0] == found("done", 1, 3)


def test_an_event_out_of_order_completes_matches_too():
    session = ensue.compile(SHOP).start(lateness=10)
    assert session.send([at(5, "shipped"), at(9, "paid")]) == []
    assert session.send(at(2, "order")) == [found("done", 2, 5), found("closed", 2, 9)]
    assert session.send(at(1, "order")) == [found("done", 1, 5), found("closed", 1, 9)]
    assert session.send(at(7, "shipped")) == [found("done", 1, 7), found("done", 2, 7)]
    assert session.send(at(9, "paid")) == []
    assert counted(session.close()) == counted([{"type": "so_far", "start": 1, "end": end, "n": n} for end, n in
                                                ((5, 1), (5, 2), (7, 3), (7, 4))])  # fmt: skip


def test_what_is_alike_comes_once_however_often_it_is_sent():
    program = ensue.compile(SHOP)
    session = program.start(lateness=3)
    session.send(at(1, "order"))
    assert session.send(at(3, "shipped")) == [found("done", 1, 3)]
    assert session.send(at(3, "shipped")) == []
    session = program.resume(session.save())
    assert session.send(at(3, "shipped")) == []
    assert session.send(at(2, "paid")) == []
    assert [row["type"] for row in session.close()] == ["so_far"]


@pytest.mark.parametrize("lateness", [0, 4])
def test_a_saved_state_knows_what_was_handed_out(lateness):
    program = ensue.compile(SHOP)
    session = program.start(lateness)
    session.send([at(1, "order"), at(1, "order", 2)])
    assert session.send(at(3, "shipped")) == [found("done", 1, 3)]
    resumed = program.resume(session.save())
    again = program.resume(resumed.save())
    for each in (session, resumed, again):
        assert each.send(at(3, "shipped", 2)) == [found("done", 1, 3, 2)]
        assert each.send(at(4, "paid", 2))[-1:] == [found("closed", 1, 4, 2)]
        assert [row for row in each.close() if row["type"] != "so_far"] == []


@pytest.mark.parametrize("lateness", [0, 4])
def test_a_type_that_has_to_wait_after_a_change_comes_once(lateness):
    session = ensue.compile(SHOP).start(lateness)
    session.send(at(1, "order"))
    assert session.send(at(3, "shipped")) == [found("done", 1, 3)]
    session.add("rule paid: done(id) <- p: paid(id), w: extend(p, 1), while w: not shipped(id).")
    assert session.send(at(3, "shipped")) == []
    session.send(at(3, "paid", 5))
    rows = session.send([at(20, "order", 9), at(21, "order", 9)])
    assert [row for row in rows if row["type"] == "done"] == [found("done", 3, 4, 5)]
    session.remove("paid")
    assert session.send(at(22, "shipped", 9)) == [found("done", 20, 22, 9), found("done", 21, 22, 9)]


@pytest.mark.parametrize("lateness", [0, 4])
def test_a_new_rule_takes_what_waits(lateness):
    session = ensue.compile(SHOP).start(lateness)
    assert session.send([at(5, "shipped"), at(5, "order")]) == []
    session.add("rule new: new(id) <- order(id) and shipped(id).")
    assert session.send([]) == [found("new", 5, 5)]
    with pytest.raises(ensue.RuleError):
        session.add("new(id) <- nothing at all")
    assert session.send(at(5, "order")) == []
    assert [row for row in session.send(at(6, "shipped")) if row["type"] == "done"] == [found("done", 5, 6)]


def test_sources_are_known_when_a_step_is_complete():
    session = ensue.compile(SHOP).start(provenance=True)
    assert session.send([at(1, "order"), at(3, "shipped")]) == []
    assert session.send(at(3, "shipped")) == []
    assert session.send(at(4, "paid"))[0] == {**found("done", 1, 3), "sources": [0, 1, 2]}


def test_functions_are_called_at_once():
    program = ensue.compile(SHOP + "on done(id) do tell(id).  on order(id) do take(id).")
    called = []
    session = program.start(actions={"tell": lambda id: called.append(("do", id)), "take": called.append})
    session.on("done", lambda row: called.append(("on", row["id"])))
    session.send(at(1, "order", 7))
    assert called == []  # a given event is reacted to when its step is complete
    session.send(at(3, "shipped", 7))
    assert called == [7, ("on", 7), ("do", 7)]
    session.close()
    assert called == [7, ("on", 7), ("do", 7)]


@pytest.mark.parametrize("lateness", [0, 5])
def test_a_match_with_a_timer_comes_when_that_has_ended(lateness):
    program = ensue.compile("event a(x: int). event b(x: int).  d(x) <- o: a(x), w: extend(o, 5), s: b(x), s during w.")
    session = program.start(lateness)
    row = {"type": "d", "start": 1, "end": 6, "x": 1}
    assert session.send([{"type": "a", "time": 1, "x": 1}, {"type": "b", "time": 3, "x": 1}]) == []
    assert session.send({"type": "b", "time": 5, "x": 2}) == []
    session = program.resume(session.save())
    assert session.advance(6) == [row] if lateness else session.send({"type": "c", "time": 6}) == [row]
    assert session.close(until=20) == []


def test_tables_in_and_out():
    session = ensue.compile(SHOP).start(emit="done")
    types = pa.schema({"type": pa.string(), "time": pa.int64(), "id": pa.int64()})

    def table(*events):
        return pa.Table.from_pylist(list(events), schema=types)

    assert session.send(table(at(1, "order"), at(2, "order", 2))).num_rows == 0
    assert session.send(table(at(3, "shipped"))).to_pylist() == [found("done", 1, 3)]
    assert session.send(table(at(3, "shipped"), at(3, "shipped", 2))).to_pylist() == [found("done", 2, 3, 2)]
    assert session.send(at(3, "shipped", 2)) == []
    assert session.send(table(at(5, "order"))).num_rows == 0
    assert session.close().num_rows == 0


def test_events_of_one_time_in_several_sends_stay_apart():
    program = ensue.compile(
        "event a(k: int, q: int).  event b(k: int).  event c(k: int).  d(q = o.q) <- o: a(k=k), b(k) or c(k)."
    )
    session = program.start()
    for q in (1, 2, 3):
        session.send({"type": "a", "time": 1, "k": 0, "q": q})
    assert [row["q"] for row in session.send({"type": "c", "time": 2, "k": 0})] == [1, 2, 3]


@pytest.mark.parametrize("lateness", [0, 4])
def test_values_of_several_types(lateness):
    program = ensue.compile("d(v) <- a(v=v) seq b(v=v).")
    session = program.start(lateness)
    for value in ("x", 1, 2.5, True):
        session.send({"type": "a", "time": 1, "v": value})
    values = []
    for value in ("x", 1, 2.5, True, "x"):
        session = program.resume(session.save())
        values += [row["v"] for row in session.send({"type": "b", "time": 2, "v": value})]
    assert [repr(value) for value in values] == ["'x'", "1", "2.5", "True"]


@pytest.mark.parametrize("lateness", [0, 4])
def test_facts_that_change_count_for_what_waits(lateness):
    session = ensue.compile("event a(x: int).  table t(x: int).  t(1).  d(x) <- a(x) where t(x).").start(lateness)
    assert session.send([{"type": "a", "time": 1, "x": x} for x in (1, 2)]) == [
        {"type": "d", "start": 1, "end": 1, "x": 1}
    ]
    session.tables["t"].replace([(2,)])
    assert session.send([]) == [{"type": "d", "start": 1, "end": 1, "x": 2}]
    assert session.close() == []


@pytest.mark.parametrize(
    "rule",
    [
        "d(x) <- a(x) where t(x).",
        "d(x) <- a(x), t(x).",
        "d(x) <- (a(x) where t(x)) seq b(x).",
        "d(x) <- a(x) and b(x) on t(x).",
        "d(x, y = t(x)) <- a(x).",
    ],
)
def test_rules_that_ask_for_facts_are_known(rule):
    program = ensue.compile(f"event a(x: int). event b(x: int). table t(x: int).\n{rule}")
    assert asks_predicates(program.typed.rules[0])
    assert not asks_predicates(ensue.compile("event a(x: int).  d(x) <- a(x) where x > 1.").typed.rules[0])


def test_what_is_late_takes_no_part():
    session = ensue.compile(SHOP).start(lateness=2, on_late=lambda event: None)
    session.send([at(10, "shipped"), at(10, "order", 2)])
    assert session.send(at(7, "order")) == []
    assert session.send(at(8, "order")) == [found("done", 8, 10)]
    assert session.late == 1


def test_many_events_behind_the_last():
    """Copies follow in large steps; what they know when they are needed is the same."""
    program = ensue.compile("event a(x: int) instant. event b(x: int) instant.  d(x) <- a(x) seq b(x) within 50.")
    session, rows = program.start(lateness=3), []
    for time in range(2500):
        rows += session.send({"type": "a" if time % 3 else "b", "time": time, "x": time % 2})
        if time % 100 == 50:
            rows += session.send({"type": "b", "time": time - 3, "x": 0})
    session.close()
    events = [{"type": "a" if time % 3 else "b", "time": time, "x": time % 2} for time in range(2500)]
    events += [{"type": "b", "time": time - 3, "x": 0} for time in range(50, 2500, 100)]
    assert counted(rows) == counted(program.detect(events))


@pytest.mark.parametrize("lateness", [0, 1, 10])
def test_tables_by_type_of_which_nothing_comes_after_the_rest(lateness):
    session = ensue.compile("event a(x: int).  d(x) <- a(x).").start(lateness, on_late=lambda event: None)

    def table(*times):
        return {"a": pa.table({"time": pa.array(times, pa.int64()), "x": pa.array([1] * len(times), pa.int64())})}

    ends = [session.send(table(*times))["d"]["end"].to_pylist() for times in ((0,), (0, 10), (0, 10), (11,))]
    assert ends == [[0], [10], [], [11]]
    assert session.close()["d"].num_rows == 0


# --- which rules these are


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("d(x) <- a(x) seq b(x) within 5.", None),
        ("d(x) <- (a(x) or b(x)), near(x) where x > 1.", None),
        ("d(x) <- o: a(x), w: extend(o, 5), s: b(x), s during w.", None),
        ("d(x) <- n: (a(x) seq b(x)) seq c(x).", None),
        ("d(x) <- a(x).  d(x) <- d(x) seq b(x).", None),
        ("d(x) <- a(x) without b(x).", "it has an absence"),
        ("d(x) <- c(x) seq (a(x) without b(x)).", "it has an absence"),
        ("d(x) <- not b(x) in [a(x), c(x)].", "it has an absence"),
        ("d(n = count(e)) <- o: a(_), w: extend(o, 5), while w: collect e: b(_).", "it collects events"),
        ("d(x) <- a(x) seq b(x)+ seq c(x).", "it collects events"),
        ("d(x) <- a(x){3}.", "it has a repetition"),
        ("d(n = count(e)) <- while last 3: collect e: a(_).", "it has a window"),
        ("d(x) <- recent a(x) seq b(x).", "it has a context"),
        ("d(x) <- a(x) seq b(x) policy restricted.", "it has a policy"),
        ("d(x) <- a(x) seq every(5).", "it has a timer of absolute time"),
        ("e(x) <- a(x) without b(x).  d(x) <- e(x) seq c(x).", "it uses e, which waits"),
        ("d(x) <- a(x) without b(x).  d(x) <- c(x).", "another rule for d waits"),
    ],
)
def test_why_a_rule_waits(rule, why):
    program = ensue.compile(f"event a(x: int). event b(x: int). event c(x: int). table near(x: int).\n{rule}")
    rules = [each.event for each in program.typed.rules]
    last = len(rules) - 1 - rules[::-1].index("d")
    assert waiting_rules(program.typed)[last] == why
    assert ("d" in certain_types(program.typed)) == (why is None)
    said = "returned at once" if why is None else f"waits for its step, because {why}"
    assert f"in a session: {said}" in program.explain().text()


@settings(max_examples=60)
@given(programs(), streams(), st.integers(0, 12), st.data())
def test_events_out_of_order_may_wait_and_are_found_in_the_end(rules, events, lateness, data):
    program = compiled(rules)
    wanted = expected(program, events)
    found = []
    with using(replace(USUAL, again=data.draw(st.sampled_from([0, 260, 300])))):
        session = program.start(lateness)
        for piece in cuts(data.draw, shuffled(data.draw, events, lateness)):
            found += session.send(piece)
        found += session.close()
    assert counted(found) == counted(wanted)


def test_many_events_out_of_order_are_processed_again_a_bounded_number_of_times():
    program = ensue.compile("event a(k: int). event b(k: int). w(k) <- a(k) seq b(k) within 9.")
    session = program.start(lateness=1_000_000)
    backs = 0
    go_back = Ahead.go_back

    def counting(ahead, waiting):
        nonlocal backs
        backs += 1
        go_back(ahead, waiting)

    events = [{"type": "ab"[time % 2], "time": time ^ 1, "k": 1} for time in range(4000)]
    with patch.object(Ahead, "go_back", counting):
        found = [row for event in events for row in session.send([event])]
    assert 10 < backs < 200, "each of 2,000 events is out of order"
    assert len(found) > 1000
    found += session.close()
    assert counted(found) == counted(program.detect(events))
