"""Single events as dicts: the short way through a session gives what the long way does; machine code comes to it."""

import gc
import os
import threading
from datetime import UTC, datetime
from random import Random

import pytest

import ensue
from ensue.data import Columns
from ensue.engine.machine import background
from ensue.language import typed
from ensue.live.plain_rows import plain_reader

RULES = """
event a(id: int, x: float, name: string, ok: bool).
event b(id: int, x: float).
event unused(id: int).
pair(id, name, sum = x + y) <- recent a(id, x, name, _) seq b(id, y) within 20.
twice(id, n = name) <- pair(id, name, _) seq pair(id, _, _) within 40.
alone(id) <- p: a(id, _, _, true), w: extend(p, 15), while w: not b(id, _).
counted(n = count(x)) <- while last 10: collect b(_, x).
all_of(names = list(name)) <- while last 5: collect a(_, _, name, _).
"""


def stream(count=400, seed=1):
    choose = Random(seed)
    time, events = 0, []
    for _ in range(count):
        time += choose.choice((0, 1, 1, 2, 30))
        event = {"type": choose.choice(("a", "b", "b", "unused", "other")), "time": time, "id": choose.randrange(4)}
        if event["type"] in "ab":
            event["x"] = choose.choice((1.5, 2, None, -0.0))
        if event["type"] == "a":
            event |= {"name": choose.choice(("tea", "ü", None)), "ok": choose.choice((True, False, None))}
        events.append(event)
    return events


def sent(session, events):
    found = [row for event in events for row in session.send(event)]
    return found + session.close()


def in_order(rows):
    return sorted(rows, key=lambda row: (row["end"], row["start"], row["type"], repr(row)))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("settings", [{}, {"lateness": 7}, {"in_order": True}], ids=str)
def test_one_by_one_or_all_at_once(compiled, settings):
    program, events = ensue.compile(RULES), stream()
    wanted = in_order(program.detect(events))
    assert {row["type"] for row in wanted} == {"pair", "twice", "alone", "counted", "all_of"}
    assert in_order(sent(program.start(compiled=compiled, **settings), events)) == wanted


@pytest.mark.parametrize("compiled", [True, False])
def test_a_state_between_any_two_events(compiled):
    program, events = ensue.compile(RULES), stream(120, seed=2)
    session, found = program.start(compiled=compiled, lateness=3), []
    for number, event in enumerate(events):
        found += session.send(event)
        if number % 7 == 0:
            session = program.resume(session.save())
    assert in_order(found + session.close()) == in_order(program.detect(events))


def test_single_events_between_tables_and_lists():
    program, events = ensue.compile(RULES), stream(300, seed=3)
    session, found, choose = program.start(compiled=True), [], Random(3)
    while events:
        count = choose.choice((1, 1, 1, 2, 70))
        some, events = events[:count], events[count:]
        found += session.send(some[0] if len(some) == 1 else some)
    assert in_order(found + session.close()) == in_order(program.detect(stream(300, seed=3)))


def test_reactions_to_given_events_come_for_single_ones_too():
    called = []
    program = ensue.compile("event a(x: int). b(x) <- a(x) where x > 5.  on a(x) do note(x).")
    session = program.start(actions={"note": called.append}, compiled=True)
    for time in range(10):
        session.send({"type": "a", "time": time, "x": time})
    session.close()
    assert called == list(range(10))


def test_rules_that_are_not_concerned_still_notice_that_time_passes():
    program = ensue.compile("""
        event a(x: int). event b(x: int). event c(x: int).
        late(x) <- p: a(x), w: extend(p, 5), while w: not b(x).
        seen(x) <- c(x) where x > 100.
    """)
    session = program.start(compiled=True, in_order=True)
    found = [row for time in range(4) for row in session.send({"type": "a", "time": time, "x": time})]
    for time in range(4, 12):
        found += session.send({"type": "c", "time": time, "x": time})
    assert [(row["type"], row["end"]) for row in found] == [("late", end) for end in (5, 6, 7, 8)]


def test_a_limit_is_reached_by_a_single_event():
    program = ensue.compile("event a(x: int). pairs(x, y) <- a(x) seq a(y). one(x) <- a(x).")
    session = program.start(compiled=True, in_order=True, max_matches=20)
    with pytest.raises(ensue.LimitError, match="pairs"):
        for time in range(100):
            session.send({"type": "a", "time": time, "x": time})
    assert session.send({"type": "a", "time": 200, "x": 1})
    assert session.time == 199


# --- reading

EVENTS = {
    "e": typed.EventType("e", {"i": "int", "f": "float", "s": "string", "b": "bool", "t": "timestamp"}, True, False)
}


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ({"i": 1, "f": 2, "s": "ü", "b": False, "t": "1970-01-01T00:00:01Z"}, (1, 2.0, "ü", False, 1_000_000)),
        ({"t": datetime(1970, 1, 1, tzinfo=UTC)}, (None, None, None, None, 0)),
        ({}, (None,) * 5),
        ({"i": True}, None),
        ({"i": 2**63}, None),
        ({"i": 1.0}, None),
        ({"f": "1"}, None),
        ({"f": True}, None),
        ({"f": 2**70}, None),
        ({"s": 5}, None),
        ({"s": "\ud800"}, None),
        ({"b": 1}, None),
        ({"t": 5}, None),
    ],
)
def test_values_are_plain_or_go_the_long_way(value, read):
    row = plain_reader(EVENTS, Columns(), timestamps=False, zoned=False)({"type": "e", "time": 3, **value}, 0)
    assert (None if row is None else tuple(row[1].values())) == read


@pytest.mark.parametrize(
    ("columns", "times", "read"),
    [
        (Columns(), {"time": 3}, (3, 3)),
        (Columns(), {"start": 1, "end": 3}, (1, 3)),
        (Columns(), {"start": 4, "end": 3}, None),
        (Columns(), {"start": 1}, None),
        (Columns(), {"time": None}, None),
        (Columns(), {"time": True}, None),
        (Columns(), {"time": 2**62}, None),
        (Columns(time="at the time's"), {"at the time's": 3, "start": 1, "end": 2}, (3, 3)),
        (Columns(start="from", end="to"), {"from": 1, "to": 2}, (1, 2)),
        (Columns(start="from", end="to"), {"from": 1, "time": 2}, None),
    ],
)
def test_times_are_plain_or_go_the_long_way(columns, times, read):
    row = plain_reader(EVENTS, columns, timestamps=False, zoned=False)({"type": "e", **times}, 0)
    assert (None if row is None else row[2:4]) == read


# --- machine code in the background


def wait_for_code():
    thread = background._thread
    if thread is not None:
        thread.join()


def lanes(session):
    return session.progress.run.lanes


def test_machine_code_is_made_from_the_first_event_on():
    program = ensue.compile("event a(n: int). first_b(n) <- a(n) where n % 2 = 0.")
    session = program.start()
    session.send({"type": "a", "time": 0, "n": 0})
    session.send({"type": "a", "time": 1, "n": 1})
    assert not any(lane._fast for lane in lanes(session))
    wait_for_code()
    found = [row["n"] for time in range(2, 60) for row in session.send({"type": "a", "time": time, "n": time})]
    assert all(lane._fast for lane in lanes(session))
    assert found == list(range(2, 60, 2))


def test_no_code_is_made_where_none_is_wanted():
    program = ensue.compile("event a(n: int). second_b(n) <- a(n) where n % 3 = 0.")
    plain = program.start(compiled=False)
    assert len(sent(plain, [{"type": "a", "time": time, "n": time} for time in range(50)])) == 17
    wait_for_code()
    assert not any(lane._fast or lane.code.compiled for lane in lanes(plain))


@pytest.mark.parametrize("over", ["closed", "gone"])
def test_no_code_is_made_for_a_session_that_is_over_at_once(over, monkeypatch):
    monkeypatch.setattr(background, "MOMENT", 60)
    monkeypatch.setattr(background, "_ending", threading.Event())
    wait_for_code()
    session = ensue.compile(f"event a(n: int). {over}_b(n) <- a(n) where n % 11 = 0.").start()
    session.send({"type": "a", "time": 1, "n": 1})
    session.send({"type": "a", "time": 2, "n": 1})
    (code,) = [lane.code for lane in lanes(session)]
    assert background._thread is not None
    if over == "closed":
        session.close()
    else:
        del session
        gc.collect()
    for job in list(background._jobs):
        job()
    background._ending.set()
    wait_for_code()
    assert not code.compiled


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_forks_meanwhile_can_go_on():
    program = ensue.compile("event a(n: int). third_b(n) <- a(n) where n % 5 = 0.")
    session = program.start()
    session.send({"type": "a", "time": 0, "n": 0})
    session.send({"type": "a", "time": 1, "n": 0})
    child = os.fork()
    if not child:
        try:
            again = program.start(compiled=True)
            found = [row for time in range(9) for row in again.send({"type": "a", "time": time, "n": time})]
            os._exit(0 if [row["n"] for row in found] == [0, 5] else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    wait_for_code()


def test_threads_send_while_code_is_made():
    program = ensue.compile("event a(n: int). fourth_b(n) <- a(n) where n % 7 = 0.")
    session, found = program.start(lateness=10_000), []

    def send(first):
        for n in range(first, 2000, 4):
            found.extend(session.send({"type": "a", "time": n, "n": n}))

    threads = [threading.Thread(target=send, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found += session.close()
    assert sorted(row["n"] for row in found) == list(range(0, 2000, 7))
