"""One wrong clock: events further ahead of now than allowed are bad rows, and do not move time."""

import warnings
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import ensue

RULES = "event a(x: int). event b(x: int). both(x) <- a(x) seq b(x)."
NOW = datetime.now(UTC)
FAR = datetime(2099, 1, 1, tzinfo=UTC)


def event(type_, time, x=1):
    return {"type": type_, "time": time, "x": x}


def minutes(count):
    return NOW + timedelta(minutes=count)


def as_form(form, rows):
    if form == "table":
        return pa.Table.from_pylist(rows)
    if form == "by type":
        return {"a": pa.Table.from_pylist([{"time": row["time"], "x": row["x"]} for row in rows])}
    return rows if form == "rows" else rows[0]


@pytest.mark.parametrize("form", ["row", "rows", "table", "by type"])
def test_an_event_of_a_wrong_clock_does_not_move_time(form):
    bad = []
    session = ensue.compile(RULES).start(max_ahead="1h", on_bad_row=bad.append)
    session.send([event("a", minutes(-3))])
    wrong = [event("a", FAR)] if form == "row" else [event("a", minutes(-2), 2), event("a", FAR)]
    session.send(as_form(form, wrong))
    assert session.ahead == 1 and session.late == 0
    assert [row.reason.split(" (")[0] for row in bad] == ["it ends more than 1h ahead of the clock"]
    assert bad[0].where == f"row {len(wrong)}"
    assert [row["x"] for row in session.send([event("b", minutes(-1)), event("b", minutes(-1), 2)])] in ([1], [1, 2])
    assert session.received == 3 + len(wrong)


def test_the_first_event_and_those_that_rules_do_not_use():
    session = ensue.compile(RULES).start(max_ahead="1h", on_bad_row=lambda row: None)
    session.send(event("a", FAR))
    session.send([{"type": "other", "time": FAR}, event("a", minutes(-2))])
    assert len(session.send(event("b", minutes(-1)))) == 1
    assert session.ahead == 1 and session.late == 0


def test_it_is_not_on_unless_it_is_asked_for():
    session = ensue.compile(RULES).start()
    session.send([event("a", FAR), event("a", minutes(0))])
    with pytest.warns(ensue.LateEventsWarning, match="an event of a wrong clock has moved it, use `max_ahead`"):
        session.send([event("b", FAR + timedelta(days=1)), event("b", minutes(1))])
        session.send(event("b", minutes(1)))


def test_history_is_not_concerned():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = ensue.compile(RULES).start(max_ahead="0s")
        assert len(session.send([event("a", "1999-01-01T00:00:00Z"), event("b", "2001-01-01T00:00:00Z")])) == 1


def test_integers_count_from_1970_if_their_unit_is_stated():
    now = int(NOW.timestamp())
    session = ensue.compile("unit s. " + RULES).start(max_ahead="1h", on_bad_row=lambda row: None)
    session.send([event("a", now - 5), event("a", now + 400_000)])
    assert len(session.send(event("b", now))) == 1
    assert session.ahead == 1
    with pytest.raises(ensue.DataError, match="`max_ahead` compares times with the clock"):
        ensue.compile(RULES).start(max_ahead=100).send(event("a", 1))


def test_a_resumed_session_has_it_still():
    session = ensue.compile(RULES).start(max_ahead="1h", on_bad_row=lambda row: None)
    session.send([event("a", minutes(-3)), event("a", FAR)])
    resumed = ensue.compile(RULES).resume(session.save(), on_bad_row=lambda row: None)
    resumed.send(event("a", FAR))
    assert resumed.ahead == 2


def test_tables_have_no_clock():
    with pytest.raises(ensue.DataError, match="`max_ahead` is for events that are still to come"):
        ensue.compile(RULES).detect([event("a", NOW)], max_ahead="1h")


@pytest.mark.parametrize("wrong", ["abc", "-5s", -1, True, 2**70])
def test_a_wrong_length_is_refused_at_once(wrong):
    for option in ("max_ahead", "lateness"):
        with pytest.raises(ensue.DataError, match=r"is not a length|be negative|that far apart"):
            ensue.compile(RULES).start(**{option: wrong})
