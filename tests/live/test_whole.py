"""A session stays whole: saved in a callback, interrupted anywhere, used by several threads."""

import signal
import threading

import pyarrow as pa
import pytest

import ensue

RULES = """
event a(x: int).
event b(x: int).
both(x) <- a(x) seq b(x).
on both(x) do note(x).
"""


@pytest.fixture
def interrupts():
    """Interrupts as in a terminal: a process in the background may ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def events(*xs):
    return [{"type": "a", "time": 1, "x": x} for x in xs] + [{"type": "b", "time": 2, "x": x} for x in xs]


def started(actions=None, **settings):
    return ensue.compile(RULES).start(actions={"note": actions.append} if actions is not None else None, **settings)


def test_a_state_saved_in_a_callback_has_the_calls_still_to_come():
    called, noted, states = [], [], []
    session = started(noted)

    def save(found):
        called.append(found["x"])
        if found["x"] == 1:
            states.append(session.save())

    session.on("both", save)
    assert [row["x"] for row in session.send(events(0, 1, 2, 3))] == [0, 1, 2, 3]
    assert (called, noted) == ([0, 1, 2, 3], [0, 1, 2, 3])

    called.clear()
    noted.clear()
    resumed = ensue.compile(RULES).resume(states[0], actions={"note": noted.append})
    resumed.on("both", lambda found: called.append(found["x"]))
    assert [row["x"] for row in resumed.send({})] == [0, 1, 2, 3]  # had not been given back
    assert (called, noted) == ([2, 3], [1, 2, 3])
    assert resumed.close() == []
    assert called == [2, 3]


def test_calls_of_functions_that_are_not_handed_over_again_are_left_out():
    states = []
    session = started([])
    session.on("both", lambda found: states.append(session.save()))
    session.send(events(1, 2))
    resumed = ensue.compile(RULES).resume(states[0])
    assert len(resumed.close()) == 2


def test_timestamps_and_lists_of_calls_still_to_come():
    rules = "event a(x: int, at: timestamp). c(n = list(x), m = max(at)) <- while last 2: collect a(x, at)."
    found, states = [], []
    session = ensue.compile(rules).start()

    def take(row):
        found.append(row)
        states.append(session.save())

    session.on("c", take)
    at = "2026-01-01T00:00:00Z"
    session.send([{"type": "a", "time": at, "x": x, "at": at} for x in range(3)])
    session.advance(at)
    again = []
    resumed = ensue.compile(rules).resume(states[0])
    resumed.on("c", again.append)
    resumed.close()
    assert len(found) == 3 and again == found[1:]


@pytest.mark.parametrize("form", ["rows", "table"])
def test_an_interrupted_callback_loses_nothing(form):
    called = []
    session = started()

    def interrupt(found):
        called.append(found["x"])
        if found["x"] == 1:
            raise KeyboardInterrupt

    session.on("both", interrupt)
    rows = events(0, 1, 2)
    with pytest.raises(KeyboardInterrupt):
        session.send(rows if form == "rows" else pa.Table.from_pylist(rows))
    state = session.save()
    more = [{"type": "b", "time": 3, "x": 2}]
    answer = session.send(more if form == "rows" else pa.Table.from_pylist(more))
    rows_given = answer if form == "rows" else answer.to_pylist()
    assert [(row["x"], row["end"]) for row in rows_given] == [(0, 2), (1, 2), (2, 2), (2, 3)]
    assert called == [0, 1, 2, 2]
    assert len(session.close()) == 0

    later = []
    resumed = ensue.compile(RULES).resume(state)
    resumed.on("both", lambda found: later.append(found["x"]))
    assert len(resumed.advance(4)) == 3
    assert later == [2]


def test_an_interrupt_while_rules_run_waits_until_the_batch_counts(interrupts):
    asked = []

    def slow(x: int) -> bool:
        asked.append(x)
        if x == 2:
            signal.raise_signal(signal.SIGINT)
        return True

    session = ensue.compile("event a(x: int). seen(x) <- a(x) where slow(x).", functions={"slow": slow}).start()
    with pytest.raises(KeyboardInterrupt):
        session.send([{"type": "a", "time": x, "x": x} for x in range(5)])
    assert asked == [0, 1, 2, 3, 4]
    assert [row["x"] for row in session.send({"type": "a", "time": 9, "x": 9})] == [0, 1, 2, 3, 4, 9]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_does_not_wait(interrupts):
    def stuck(x: int) -> bool:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return True

    session = ensue.compile("event a(x: int). seen(x) <- a(x) where stuck(x).", functions={"stuck": stuck}).start()
    with pytest.raises(KeyboardInterrupt):
        session.send({"type": "a", "time": 1, "x": 1})
    with pytest.raises(ensue.SessionError, match="resume a saved state"):
        session.send({"type": "a", "time": 2, "x": 1})
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_while_events_are_read_leaves_the_session_as_it_was(interrupts):
    def broken():
        yield {"type": "a", "time": 1, "x": 1}
        raise KeyboardInterrupt

    session = started()
    with pytest.raises(KeyboardInterrupt):
        session.send(broken())
    assert session.received == 0
    assert len(session.send(events(1)) + session.close()) == 1


def test_threads_wait_for_each_other():
    session = ensue.compile("event a(x: int). c(x, n = count(o)) <- while last 100000: collect o: a(x).").start(
        lateness=10**6, compiled=False
    )
    failed = []

    def send(x):
        try:
            for time in range(200):
                session.send({"type": "a", "time": time, "x": x})
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=send, args=(x,)) for x in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    found = session.close()
    assert session.received == 800 and len(found) == 800
    assert sorted(row["n"] for row in found if row["x"] == 3) == list(range(1, 201))


def test_a_callback_may_use_its_session():
    session = started()
    session.on("both", lambda found: found["x"] and session.send({"type": "b", "time": 2 + found["end"], "x": 0}))
    assert [row["x"] for row in session.send(events(0, 1))] == [0, 1]
    assert session.received == 5


@pytest.mark.parametrize("call", ["send", "send_table", "advance", "add", "close", "save"])
def test_a_session_is_not_used_in_the_middle_of_its_own_call(call, interrupts):
    refused = []

    def asked(x: int) -> bool:
        for used in (calls[call], lambda: None):
            try:
                used()
            except ensue.SessionError as error:
                refused.append(str(error))
        return True

    rules = "event a(x: int). table vip(x: int). seen(x) <- a(x) where asked(x). rule also: b(x) <- a(x)."
    session = ensue.compile(rules, functions={"asked": asked}).start(compiled=False)
    another = {"type": "a", "time": 7, "x": 7}
    calls = {
        "send": lambda: session.send(another),
        "send_table": lambda: session.send(pa.Table.from_pylist([another])),
        "advance": lambda: session.advance(8),
        "add": lambda: session.add("c(x) <- a(x)."),
        "close": session.close,
        "save": session.save,
    }
    found = session.send([{"type": "a", "time": time, "x": time} for time in (1, 2)])
    assert len(refused) == 2 and all("in the middle of a call" in said for said in refused)
    assert [row["x"] for row in found if row["type"] == "seen"] == [1, 2]
    assert session.received == 2 and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    calls["send"]()
    assert session.received == 3


def test_a_handler_of_a_signal_cannot_save_half_a_step(interrupts):
    states = []

    def save(number, frame):
        try:
            states.append(session.save())
        except ensue.SessionError:
            states.append(None)

    def asked(x: int) -> bool:
        signal.raise_signal(signal.SIGTERM)
        return True

    before = signal.signal(signal.SIGTERM, save)
    try:
        session = ensue.compile("event a(x: int). seen(x) <- a(x) where asked(x).", functions={"asked": asked}).start()
        assert len(session.send({"type": "a", "time": 1, "x": 1})) == 1
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert states[0] is None and states[1] is not None


def test_changed_facts_and_rules_give_the_handler_of_interrupts_back(interrupts):
    session = ensue.compile("event a(x: int). table vip(x: int). seen(x) <- a(x) where vip(x).").start()
    session.send({"type": "a", "time": 1, "x": 1})
    session.tables["vip"].add([(2,)])
    session.add("rule also: b(x) <- a(x).")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    session.tables["vip"].add([(3,)])
    session.remove("also")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert [row["x"] for row in session.send({"type": "a", "time": 2, "x": 3}) + session.close()] == [3]


def test_an_interrupt_is_not_lost_where_a_rule_exceeds_its_limit(interrupts):
    def slow(x: int) -> bool:
        signal.raise_signal(signal.SIGINT)
        return True

    rules = "event a(x: int). many(x, y) <- a(x) and a(y) where slow(x)."
    session = ensue.compile(rules, functions={"slow": slow}).start(max_matches=3)
    rows = [{"type": "a", "time": 1, "x": 1}, {"type": "a", "time": 1, "x": 2}]
    with pytest.raises(KeyboardInterrupt):
        session.send([*rows, {"type": "b", "time": 2}])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_events_whose_reading_uses_the_session_are_not_taken_in():
    def more():
        yield {"type": "a", "time": 1, "x": 1}
        session.send({"type": "a", "time": 1, "x": 2})
        yield {"type": "b", "time": 2, "x": 1}

    def closing():
        session.close()
        yield {"type": "a", "time": 1, "x": 1}

    session = started()
    with pytest.raises(ensue.SessionError, match="Read them first"):
        session.send(more())
    assert session.received == 1
    assert [row["x"] for row in session.send({"type": "b", "time": 2, "x": 2})] == [2]
    with pytest.raises(ensue.SessionError, match="closed"):
        session.send(closing())
