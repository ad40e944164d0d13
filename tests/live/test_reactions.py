"""Calls: functions for detections, and the actions of reactions."""

import logging
from datetime import UTC, datetime

import pyarrow as pa
import pytest

import ensue

RULES = """
event order(id: int, qty: int).
event shipped(id: int).
table vip(id: int). vip(1).
done(id, qty) <- order(id, qty) seq shipped(id).
"""
EVENTS = [
    {"type": "order", "time": 1, "id": 1, "qty": 3},
    {"type": "order", "time": 1, "id": 2, "qty": 9},
    {"type": "shipped", "time": 4, "id": 1},
    {"type": "shipped", "time": 5, "id": 2},
]


def called(reactions, events=EVENTS, **actions):
    """Calls of the actions with their arguments; `actions` says for each how it is recorded."""
    calls = []

    def recording(name, make):
        def action(*arguments, key=None):
            calls.append((name, *arguments) if make == "plain" else (name, *arguments, key))

        return (lambda *arguments: action(*arguments)) if make == "plain" else action

    program = ensue.compile(RULES + reactions)
    session = program.start(actions={name: recording(name, make) for name, make in actions.items()})
    session.send(events)
    session.close()
    assert session.failed == 0
    return calls


def test_a_reaction_is_called_for_given_and_derived_events_in_order():
    reactions = """
        on done(id, q) if vip(id) do notify(id, q * 2, "text").
        on order(id, q) if q > 5 do note(id).
        on shipped(id) do note(id).
        on done(qty = q) do half(q // 2).
    """
    assert called(reactions, notify="plain", note="plain", half="plain") == [
        ("note", 2),
        ("notify", 1, 6, "text"),
        ("half", 1),
        ("note", 1),
        ("half", 4),
        ("note", 2),
    ]  # by end, then by start: what is done began before what shipped it


def test_a_constant_in_the_event_and_a_null_in_the_condition():
    events = [{"type": "order", "time": 1, "id": n, "qty": q} for n, q in [(1, 5), (2, None), (3, 7)]]
    assert called("on order(2, q) do two(q).", events, two="plain") == [("two", None)]
    assert called("on order(n, q) if q < 6 do few(n).", events, few="plain") == [("few", 1)]


def test_times_are_handed_over_as_they_came():
    got = []
    program = ensue.compile("event a(t: timestamp). b(t, s = e.start) <- e: a(t). on b(t, s) do f(t, s).")
    session = program.start(actions={"f": lambda *arguments: got.extend(arguments)})
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    session.send({"type": "a", "time": moment, "t": "2026-01-01T00:00:00Z"})
    session.close()
    assert got == [moment, moment]


def test_keys_tell_events_apart_and_stay_the_same():
    alike = [{"type": "order", "time": 1, "id": 1, "qty": 3}] * 2 + EVENTS[2:3]
    reactions = "on order(id, _) do f(id). on done(id, _) do f(id)."
    first = called(reactions, alike, f="keyed")
    assert len({key for *_, key in first}) == 3  # two alike are two; what they derive alike is one
    assert all(len(key) == 64 for *_, key in first)
    assert called(reactions, alike, f="keyed") == first
    assert called(reactions, pa.Table.from_pylist(alike), f="keyed") == first
    one_by_one = called(reactions, list(reversed(alike)), f="keyed")
    assert one_by_one == first


def test_keys_are_the_same_after_resuming():
    program = ensue.compile(RULES + "on order(id, _) do f(id). on done(id, _) do f(id).")
    keys = []
    session = program.start(actions={"f": lambda id_, key: keys.append(key)})
    states = []
    for event in EVENTS:
        states.append(session.save())
        session.send(event)
    session.close()
    for at, state in enumerate(states):
        again = []
        session = program.resume(state, actions={"f": lambda id_, key, again=again: again.append(key)})
        session.send(EVENTS[at:])
        session.close()
        assert keys[len(keys) - len(again) :] == again
        assert len(again) >= len(EVENTS[at:]) / 2


def test_how_a_function_takes_the_key():
    got = []

    class Callable:
        def __call__(self, first, **more):
            got.append((first, more))

    program = ensue.compile(RULES + "on shipped(id) do f(id).")
    for function in (
        lambda id_, *, key: got.append((id_, key)),
        lambda id_, key=None: got.append((id_, key)),
        Callable(),
    ):
        got.clear()
        session = program.start(actions={"f": function})
        session.send(EVENTS[2:3])
        session.close()
        assert got[0][0] == 1
        assert len(got[0][1] if isinstance(got[0][1], str) else got[0][1]["key"]) == 64
    for function in (lambda key: got.append(key), lambda *all_: got.extend(all_), got.append):
        got.clear()
        session = program.start(actions={"f": function})
        session.send(EVENTS[2:3])
        session.close()
        assert got == [1]


def test_actions_that_are_missing_unknown_or_impossible():
    program = ensue.compile(RULES + "on shipped(id) do notify(id).")
    with pytest.raises(ensue.DataError, match=r"The rules do 'notify', and no action.*Did you mean 'notfy'"):
        program.start(actions={"notfy": print})
    with pytest.raises(ensue.DataError, match="The rules do 'notify', and no action"):
        program.start(actions={})
    with pytest.raises(ensue.DataError, match="No rule does 'other'; what the rules do: 'notify'"):
        program.start(actions={"notify": print, "other": print})
    with pytest.raises(ensue.DataError, match="with 1 argument, which the function given for it does not take"):
        program.start(actions={"notify": lambda a, b: None})
    with pytest.raises(ensue.DataError, match="is a str, not a function"):
        program.start(actions={"notify": "print"})
    state = program.start().save()
    with pytest.raises(ensue.DataError, match="No rule does 'other'"):
        program.resume(state, actions={"notify": print, "other": print})


def test_without_actions_reactions_do_nothing():
    program = ensue.compile(RULES + "on shipped(id) do notify(id).")
    session = program.start(in_order=True)
    session.send(EVENTS)
    assert len(session.close()) == 1


# --- functions for detections


def test_functions_are_called_with_each_detection():
    session = ensue.compile(RULES).start(emit=[])
    first, second = [], []
    session.on("done", first.append)
    session.on("done", second.append)
    session.send(EVENTS)
    session.close()
    assert first == second
    assert [row["id"] for row in first] == [1, 2]
    first[0]["id"] = 5
    assert second[0]["id"] == 1


def test_only_what_is_derived_can_be_asked_for():
    session = ensue.compile(RULES).start()
    with pytest.raises(ensue.DataError, match=r"No rule derives 'dne'; there is 'done'\. Did you mean 'done'"):
        session.on("dne", print)
    with pytest.raises(ensue.DataError, match="No rule derives 'order'"):
        session.on("order", print)


def test_a_type_that_is_given_too_is_called_for_what_is_derived():
    session = ensue.compile("event a(x: int). event b(x: int). b(x) <- a(x).").start(in_order=True)
    found = []
    session.on("b", found.append)
    session.send([{"type": "a", "time": 1, "x": 1}, {"type": "b", "time": 1, "x": 2}])
    assert session.close() == found == [{"type": "b", "start": 1, "end": 1, "x": 1}]


def test_what_fails_is_noted_and_detection_goes_on(caplog):
    session = ensue.compile(RULES + "on shipped(id) do notify(id).").start(
        actions={"notify": lambda id_: {}[id_]}, on_late=lambda event: 1 / 0, on_bad_row=lambda row: 1 / 0
    )
    session.on("done", lambda row: row["no such thing"])
    with caplog.at_level(logging.ERROR, logger="ensue"):
        found = session.send(EVENTS)
        session.send({"type": "order", "time": 0, "id": 1})
        session.send({"type": "order", "time": "x", "id": 1})
        found += session.close()
    assert [row["id"] for row in found] == [1, 2]
    assert session.failed == 6
    assert sorted(failure.name for failure in session.failures) == [
        "do notify", "do notify", "on done", "on done", "on_bad_row", "on_late",
    ]  # fmt: skip
    failure = next(failure for failure in session.failures if failure.name == "do notify")
    assert failure.event == {"type": "shipped", "start": 4, "end": 4, "id": 1}
    assert isinstance(failure.error, KeyError)
    assert "do notify failed for {'type': 'shipped'" in str(failure)
    assert len(caplog.records) == 6
    assert caplog.records[0].exc_info is not None


def test_only_the_last_failures_are_kept(caplog):
    caplog.set_level(logging.CRITICAL, logger="ensue")
    session = ensue.compile(RULES).start()
    session.on("done", lambda row: row["no such thing"])
    events = [{"type": "order", "time": 1, "id": n, "qty": 1} for n in range(1100)]
    session.send([*events, *({"type": "shipped", "time": 2, "id": n} for n in range(1100))])
    session.close()
    assert session.failed == 1100
    assert [failure.event["id"] for failure in session.failures] == list(range(100, 1100))


def test_a_function_may_send_events_itself():
    program = ensue.compile("event a(x: int). b(x) <- a(x).")
    session = program.start(in_order=True)
    seen = []

    def again(row):
        seen.append(row["x"])
        if row["x"] < 5:
            found = session.send({"type": "a", "time": row["end"] + 2, "x": row["x"] + 1})
            assert found == []
            session.advance(row["end"] + 2)

    session.on("b", again)
    session.on("b", lambda row: seen.append(-row["x"]))
    session.send({"type": "a", "time": 1, "x": 1})
    assert [row["x"] for row in session.advance(1)] == [1]
    assert seen == [1, -1, 2, -2, 3, -3, 4, -4, 5, -5]
    assert session.failed == 0


def test_what_stops_python_stops_the_call_and_nothing_else():
    session = ensue.compile(RULES).start()
    seen = []

    def stop(row):
        seen.append(row["id"])
        if len(seen) == 1:
            raise KeyboardInterrupt

    session.on("done", stop)
    with pytest.raises(KeyboardInterrupt):
        session.send(EVENTS)
    session.close()
    assert seen == [1, 2]


@pytest.mark.parametrize("wrong", [5, None, "print"])
def test_what_is_called_must_be_a_function(wrong):
    program = ensue.compile(RULES)
    with pytest.raises(ensue.DataError, match=f"^What to call for 'done' is {wrong!r}, not a function"):
        program.start().on("done", wrong)
    for name in ("on_late", "on_bad_row") if wrong is not None else ():
        with pytest.raises(ensue.DataError, match=f"^`{name}` is {wrong!r}, not a function"):
            program.start(**{name: wrong})


def test_an_interruption_comes_out_and_what_was_left_is_called_later():
    called = []

    def interrupted(found):
        called.append(found["id"])
        if found["id"] == 1:
            raise KeyboardInterrupt

    session = ensue.compile(RULES).start()
    session.on("done", interrupted)
    session.send(EVENTS[:2])
    with pytest.raises(KeyboardInterrupt):
        session.send([{"type": "shipped", "time": 2, "id": id_} for id_ in (1, 2)] + [{"type": "shipped", "time": 3}])
    assert (called, session.failed, session.received) == ([1], 0, 5)
    assert [found["id"] for found in session.send([*EVENTS[3:], {"type": "shipped", "time": 6}])] == [1, 2, 2]
    assert called == [1, 2, 2]
