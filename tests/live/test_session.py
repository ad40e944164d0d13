"""A session as its users see it: input, time, output."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ensue
from ensue.live.waiting import Waiting

SHOP = """
event order(id: int, product: string).
event shipped(id: int).
done(id, product) <- order(id, product) seq shipped(id).
overdue(id) <- o: order(id, _), w: extend(o, 6), while w: not shipped(id).
"""


def order(time, id_, product="tea"):
    return {"type": "order", "time": time, "id": id_, "product": product}


def shipped(time, id_):
    return {"type": "shipped", "time": time, "id": id_}


DONE = {"type": "done", "start": 1, "end": 3, "id": 7, "product": "tea"}
OVERDUE = {"type": "overdue", "start": 1, "end": 7, "id": 7}


@pytest.fixture
def program():
    return ensue.compile(SHOP)


# --- time


def test_a_step_is_evaluated_when_it_is_complete(program):
    session = program.start(in_order=True)
    assert session.time is None
    assert session.send(order(1, 7)) == []
    assert session.time == 0
    assert session.send(shipped(3, 7)) == []
    assert (session.time, session.waiting) == (2, 1)
    assert session.send(shipped(3, 8)) == []
    assert session.send(order(4, 9)) == [DONE]
    assert (session.time, session.waiting, session.received) == (3, 1, 4)


def test_time_that_passes_reports_an_absence(program):
    session = program.start()
    session.send(order(1, 7))
    assert session.advance(6) == []
    assert session.advance(7) == [OVERDUE]
    assert session.advance(7) == []
    assert session.advance(100) == []


def test_events_of_any_type_let_time_pass(program):
    session = program.start()
    session.send(order(1, 7))
    assert session.send({"type": "something else", "time": 8}) == [OVERDUE]
    assert session.send({"type": "something else", "time": 2}) == []
    assert (session.late, session.waiting) == (0, 0)


def test_time_does_not_go_back(program):
    session = program.start(in_order=True)
    session.send([order(1, 7), shipped(9, 7)])
    with pytest.raises(ensue.DataError, match="evaluated up to 8, which is after 5"):
        session.advance(5)
    with pytest.raises(ensue.DataError, match="evaluated up to 8, which is after 5"):
        session.close(5)
    assert [row["type"] for row in session.close(20)] == ["done"]


@pytest.mark.parametrize("wrong", [2**63, True, 1.5, "tomorrow", None, "7h"])
def test_what_is_no_time_is_refused(program, wrong):
    session = program.start()
    session.send(order(1, 7))
    with pytest.raises(ensue.DataError):
        session.advance(wrong)
    assert session.close(7) == [OVERDUE]


def test_within_the_lateness_the_order_does_not_matter(program):
    session = program.start(5, in_order=True)
    assert session.send(shipped(3, 7)) == []
    assert session.send(order(6, 8)) == []
    assert session.send(order(1, 7)) == []
    assert session.send(order(9, 8)) == [DONE]
    assert (session.late, session.time) == (0, 3)


def test_an_event_exactly_as_late_as_allowed_is_in_time(program):
    session = program.start(5)
    session.send(order(6, 8))
    session.send(order(1, 7))
    assert session.late == 0
    with pytest.warns(ensue.LateEventsWarning, match="up to 0. Allow a larger `lateness`"):
        session.send(order(0, 7))
    session.send(order(-1, 7))  # warned of once
    assert session.late == 2
    assert session.close(7) == [OVERDUE]


def test_late_events_are_handed_over_as_they_were_sent(program):
    late = []
    session = program.start(on_late=late.append)
    session.send(order(10, 7))
    session.send(order(3, 1))
    session.send([{"type": "order", "time": "4", "id": 2}, order(11, 3)])
    session.send(pa.table({"type": ["shipped"], "time": [5], "id": [4]}))
    assert late == [
        order(3, 1),
        {"type": "order", "time": "4", "id": 2},
        {"type": "shipped", "start": 5, "end": 5, "id": 4},
    ]
    assert (session.late, session.received) == (3, 5)


@pytest.mark.parametrize("lateness", ["1h30m", timedelta(hours=1.5), "1.5h", 90, "5400s"])
def test_lateness_is_a_length_of_time(lateness):
    session = ensue.compile("unit m. event a(x: int). b(x) <- a(x).").start(lateness)
    session.send({"type": "a", "time": 100, "x": 1})
    assert session.time == 9


def test_lateness_on_timestamps():
    session = ensue.compile("event a(x: int). b(x) <- a(x).").start("1s")
    session.send({"type": "a", "time": "2026-01-01T00:00:02Z", "x": 1})
    assert session.time == datetime(2026, 1, 1, 0, 0, 0, 999999, tzinfo=UTC)


def test_lateness_that_makes_no_sense(program):
    for wrong in (-1, timedelta(-1), "1x", True, 1.5, Fraction(1), None):
        with pytest.raises(ensue.DataError):
            program.start(wrong)
    session = program.start("1s")
    with pytest.raises(ensue.DataError, match="write the lateness as one too, or state the unit"):
        session.send(order(1, 7))
    assert session.received == 0


def test_the_ends_of_time():
    session = ensue.compile("event a(x: int). b(x) <- a(x).").start(10, in_order=True)
    first, last = -(2**61), 2**61
    assert session.send({"type": "a", "time": first, "x": 1}) == []
    assert [row["x"] for row in session.send({"type": "a", "time": last, "x": 2})] == [1]
    assert [row["x"] for row in session.close()] == [2]


def test_moments_and_periods_count_from_the_first_event():
    program = ensue.compile("event a(). m() <- at(4). p(n = e.end) <- e: every(5).")
    session = program.start(3)
    assert session.send({"type": "a", "time": 9}) == [{"type": "m", "start": 4, "end": 4}]
    session.send({"type": "unused", "time": 7})
    assert session.send({"type": "a", "time": 21}) == [
        {"type": "p", "start": n, "end": n, "n": n} for n in (10, 15)
    ]  # fmt: skip
    assert program.start().advance(5) == [{"type": "m", "start": 4, "end": 4}]


# --- closing


def test_closing_evaluates_what_waits(program):
    session = program.start(100, in_order=True)
    session.send([order(1, 7), shipped(3, 7)])
    assert session.waiting == 2
    assert session.close() == [DONE]
    assert session.waiting == 0
    assert session.close() == []
    for call in (lambda: session.send(order(1, 7)), lambda: session.advance(9), session.save):
        with pytest.raises(ensue.SessionError, match="is closed"):
            call()


def test_until_is_the_end_of_time(program):
    events = [order(1, 7), shipped(20, 7)]
    for until in (6, 7, 19, 20, 30):
        session = program.start(100, in_order=True)
        session.send(events)
        assert session.close(until) == program.detect(events, until)


def test_a_session_without_events_ends_without_time(program):
    assert program.start().close() == []
    assert program.start().close(7) == []
    with program.start() as session:
        pass
    assert session.time is None


def test_with_closes(program):
    found = []
    with program.start(100, in_order=True) as session:
        session.on("done", found.append)
        session.send([order(1, 7), shipped(3, 7)])
        assert found == []
    assert found == [DONE]
    with pytest.raises(ensue.SessionError):
        session.send(order(1, 7))


def test_after_an_error_with_does_not_evaluate(program):
    found = []
    with pytest.raises(ZeroDivisionError), program.start(100, in_order=True) as session:
        session.on("done", found.append)
        session.send([order(1, 7), shipped(3, 7)])
        raise ZeroDivisionError
    assert found == []
    with pytest.raises(ensue.SessionError):
        session.advance(9)


def test_a_derivation_without_end_ends_the_session():
    program = ensue.compile("event a(x: int). n(x) <- a(x). n(x = x + 1) <- n(x).")
    session = program.start(in_order=True)
    session.send({"type": "a", "time": 1, "x": 1})
    with pytest.raises(ensue.DetectError):
        session.advance(2)
    with pytest.raises(ensue.SessionError, match=r"Detection failed \(DetectError\); resume a saved state"):
        session.send({"type": "a", "time": 3, "x": 1})
    assert "closed" in repr(session)


# --- forms


def frame(kind, rows):
    columns = {name: [row.get(name) for row in rows] for name in ("type", "time", "id", "product")}
    return {"arrow": pa.table, "pandas": pd.DataFrame, "polars": pl.DataFrame}[kind](columns)


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_what_came_in_a_form_goes_out_in_it(program, kind):
    session = program.start()
    rows = [order(1, 7), shipped(3, 7), order(5, 8)]
    found = session.send(frame(kind, rows))
    wanted = program.detect(frame(kind, rows), until=4)
    assert type(found) is type(wanted)
    assert found.equals(wanted)
    assert type(session.send(frame(kind, [order(6, 9)]))) is type(wanted)
    assert type(session.close()) is type(wanted)


def test_record_batches_and_generators(program):
    session = program.start()
    batch = pa.RecordBatch.from_pydict({"type": ["order"], "time": [1], "id": [7], "product": ["tea"]})
    assert session.send(batch).num_rows == 0
    assert session.send(event for event in [shipped(3, 7), order(4, 9)]) == [DONE]


def test_tables_by_type(program):
    session = program.start()
    orders = pa.table({"time": [1, 5], "id": [7, 8], "product": ["tea", "rum"]})
    found = session.send({"order": orders, "shipped": pa.table({"time": [3], "id": [7]})})
    assert {name: table.to_pylist() for name, table in found.items()} == {
        "done": [{"start": 1, "end": 3, "id": 7, "product": "tea"}],
        "overdue": [],
    }
    assert session.send({"order": [{"time": 12, "id": 9}]}) == {
        "done": [],
        "overdue": [{"start": 5, "end": 11, "id": 8}],
    }


def test_an_event_with_lists_is_no_dict_by_type():
    session = ensue.compile("d(x) <- e(x = x).").start(in_order=True)
    session.send({"type": "e", "time": 1, "x": [1, 2]})
    session.send({"type": "e", "time": 1, "x": [3]})
    assert [row["x"] for row in session.close()] == [[1, 2], [3]]


def test_no_events_at_all(program):
    session = program.start()
    assert session.send([]) == []
    assert session.send(pa.table({"type": pa.array([], pa.string()), "time": pa.array([], pa.int64())})).num_rows == 0
    assert session.send({}.values()) == []
    assert session.received == 0


def test_an_empty_dict_is_no_event(program):
    session = program.start(in_order=True)
    assert session.send({}) == []
    session.send(order(1, 7))
    assert session.send({}) == []
    assert session.send({"shipped": pa.table({"time": [3], "id": [7]})})["done"].num_rows == 0
    assert session.send({})["done"].num_rows == 0  # the form stays that of the last events
    assert (session.received, session.waiting) == (2, 1)
    assert session.close()["done"].num_rows == 1


@pytest.mark.parametrize("wrong", [5, None, b"x", [5], "nowhere.csv", object()])
def test_what_holds_no_events_is_refused(program, wrong):
    session = program.start()
    session.send(order(1, 7))
    with pytest.raises(ensue.DataError):
        session.send(wrong)
    assert session.received == 1
    assert session.close(7) == [OVERDUE]


def test_columns_emit_and_tables():
    program = ensue.compile(
        "event a(x: int). table good(x: int). b(x) <- a(x) where good(x). c(x) <- a(x). d(n = e.start) <- e: a(_)."
    )
    session = program.start(
        start="from", end="to", type="kind", tables={"good": [(2,)]}, emit=["b", "d"], in_order=True
    )
    events = [{"kind": "a", "from": x, "to": x + 1, "x": x} for x in (1, 2)]
    assert session.send(events) == [{"type": "d", "start": 1, "end": 2, "n": 1}]
    assert session.close() == [
        {"type": "b", "start": 2, "end": 3, "x": 2},
        {"type": "d", "start": 2, "end": 3, "n": 2},
    ]
    with pytest.raises(ensue.DataError, match="No rule derives 'a'"):
        program.start(emit="a", in_order=True)
    with pytest.raises(ensue.DataError, match="no table 'bad'"):
        program.start(tables={"bad": []}, in_order=True)


def test_sequence_decides_between_events_of_one_time():
    program = ensue.compile("event a(x: int). event b(x: int). p(x, y) <- chronicle a(x) and chronicle b(y).")
    events = [
        {"type": t, "time": 1, "x": x, "n": n} for t, x, n in [("a", 1, 4), ("a", 2, 3), ("b", 3, 1), ("b", 4, 2)]
    ]
    wanted = program.detect(events, sequence="n")
    for piece in ([[event] for event in events], [events], [pa.Table.from_pylist(events)]):
        session = program.start(sequence="n")
        for each in piece:
            session.send(each)
        session.send([])
        assert session.close() == wanted


def test_attributes_that_no_single_table_can_hold(program):
    program = ensue.compile("event a(x: int). b(v = x) <- a(x). c(v = string(x)) <- a(x).")
    session = program.start(in_order=True)
    table = pa.table({"type": ["a"], "time": [1], "x": [1]})
    with pytest.raises(ensue.DataError, match="one table cannot hold both"):
        session.send(table)
    assert session.received == 0
    assert session.send({"a": table})["b"].num_rows == 0


# --- values


VALUES = """
event v(i: int, f: float, s: string, b: bool, t: timestamp).
w(i, f, s, b, t, e = x.start, l = i + 1) <- x: v(i, f, s, b, t).
many(i = list(i), t = list(t), e = list(x.end)) <- while last 2: collect x: v(i, _, _, _, t).
"""
ROWS = [
    {"i": 1, "f": 1.5, "s": "ä", "b": True, "t": datetime(2026, 1, 1, tzinfo=UTC)},
    {"i": 2.0, "f": 2, "s": "", "b": False, "t": "2026-01-01T00:00:01+01:00"},
    {"i": None, "f": float("inf"), "s": None, "b": None, "t": datetime(2026, 1, 1)},
    {},
    {"i": np.int64(4), "f": np.float64(0.5), "s": np.str_("x"), "b": np.bool_(True), "t": 5},
    {"i": 2**63 - 1, "f": 10**30, "s": "\N{GRINNING FACE}", "t": "2026-02-03"},
    {"f": "NaN", "extra": 5},
    {"i": 2**63}, {"i": "1"}, {"i": True}, {"i": 1.5}, {"f": "1.5"}, {"f": False}, {"s": 5}, {"s": "\ud800"}, {"b": 1},
    {"t": "yesterday"}, {"i": [1]}, {"s": {"a": 1}},
]  # fmt: skip
TIMES = [
    lambda n: n,
    lambda n: float(n),
    lambda n: str(n),
    lambda n: datetime(2026, 1, 1, 0, n),
    lambda n: datetime(2026, 1, 1, 0, n, tzinfo=UTC),
    lambda n: f"2026-01-01T00:{n:02}:00+02:00",
]


@pytest.mark.parametrize("time", TIMES)
def test_values_of_every_type_are_read_as_by_detect(time):
    program = ensue.compile(VALUES)
    events = [{"type": "v", "time": time(n), **row} for n, row in enumerate(ROWS)]
    bad = []
    wanted = program.detect(events, on_bad_row=bad.append)
    for pieces in (events, [[event] for event in events], [events[:4], events[4:]]):
        found, wrong = [], []
        session = program.start(on_bad_row=wrong.append, in_order=True)
        for piece in pieces:
            found += session.send(piece)
        found += session.close()
        assert repr(found) == repr(wanted)
        assert wrong == bad


UNDECLARED = [
    {"x": 1, "y": "p", "z": True}, {"x": 2, "y": None, "z": False, "w": 0.5}, {"x": None},
    {"x": 2**62, "y": "ä", "tags": ["a"]}, {"y": "q", "at": datetime(2026, 1, 1)},
    {"x": 5, "deep": {"a": [1, {"b": None}]}},
]  # fmt: skip


@pytest.mark.parametrize("time", TIMES)
def test_attributes_of_undeclared_events_are_what_they_are(time):
    program = ensue.compile("d(x, y, z, w, t, a, e) <- e(x = x, y = y, z = z, w = w, tags = t, at = a, deep = e).")
    events = [{"type": "e", "time": time(n), **row} for n, row in enumerate(UNDECLARED)]
    wanted = program.detect(events)
    for pieces in (events, [[event] for event in events], [events[:2], events[2:]]):
        session = program.start()
        found = [row for piece in pieces for row in session.send(piece)]
        session = program.resume(session.save())
        assert found + session.close() == wanted


BAD_TIMES = [
    {"type": "v", "time": "soon"}, {"type": "v", "time": None}, {"type": "v"}, {"time": 9}, {"type": None, "time": 9},
    {"type": 5.5, "time": 9}, {"type": "", "time": 9}, {"type": "v", "time": 9.5}, {"type": "v", "time": 2**64},
    {"type": "v", "start": 9, "end": 8}, {"type": "v", "start": 9, "end": None}, 5, None, [],
]  # fmt: skip


def test_rows_without_a_time_or_a_type_are_bad_rows():
    program = ensue.compile("event v(i: int). w(i) <- v(i).")
    before, after = {"type": "v", "time": 1, "i": 1}, {"type": "v", "time": 20, "i": 2}
    for wrong in BAD_TIMES:
        bad, told = [], []
        wanted = program.detect([before, wrong, after], on_bad_row=bad.append)
        session = program.start(on_bad_row=told.append)
        found = session.send([before, wrong]) + session.send(after) + session.close()
        assert (repr(found), told) == (repr(wanted), bad)
        session = program.start(on_bad_row=(alone := []).append)
        session.send(before)
        session.send([wrong, {}])
        assert len(alone) == 2
        assert session.received == 3
        assert (alone[0].reason == bad[0].reason) or "start" in wrong


def test_a_row_in_which_nothing_is_right_is_a_bad_row_too(program):
    bad = []
    session = program.start(on_bad_row=bad.append, in_order=True)
    session.send(order(1, 7))
    assert session.send([{5: 6}, shipped(3, 7), {"type": "shipped", "start": 5, "end": "2026-01-01"}]) == []
    assert [row.where for row in bad] == ["row 1", "row 3"]
    assert "has a key 5, and only text" in bad[0].reason
    assert session.close() == [DONE]


def test_bad_rows_are_warned_of_and_nothing_is_lost(program):
    session = program.start(in_order=True)
    session.send(order(1, 7))
    with pytest.raises(ensue.BadRowsWarning):  # warnings are errors here: what came with it has been taken in
        session.send([shipped(3, 7), shipped("x", 7)])
    with pytest.warns(ensue.BadRowsWarning, match="1 row was left out: row 3: column 'time' is 'y', not an integer"):
        session.send(shipped("y", 7))
    assert session.send(order(5, 8)) == [DONE]


@pytest.mark.parametrize("first", [1, "2026-01-01T00:00:00Z"])
def test_the_first_event_decides_what_times_are(first):
    program = ensue.compile("unit s. event a(x: int). b(x) <- a(x) within 5s.")
    other = datetime(2026, 1, 2) if first == 1 else 7
    bad = []
    session = program.start(on_bad_row=bad.append, in_order=True)
    session.send({"type": "a", "time": first, "x": 1})
    session.send({"type": "a", "time": other, "x": 2})
    session.send({"type": "a", "time": str(other), "x": 3})
    session.send([{"type": "a", "time": other, "x": 4}, {"type": "a", "time": first, "x": 5}])
    assert session.send(pa.table({"type": ["a"], "time": [other], "x": [6]})).num_rows == 0
    assert [row.where for row in bad] == ["row 1", "row 2", "row 3", "row 5"]
    assert "not an integer" in bad[0].reason or "not a timestamp" in bad[0].reason
    assert "its time is" in bad[3].reason
    session.send([])
    assert [row["x"] for row in session.close()] == [1, 5]


def test_a_first_event_that_lacks_a_column_may_mean_that_its_name_is_wrong(program):
    session = program.start()
    with pytest.raises(ensue.DataError, match=r"has no column 'time'.*Name the one"):
        session.send({"type": "order", "at": 5, "id": 1})
    with pytest.raises(ensue.DataError, match="has no column 'type'"):
        session.send({"kind": "order", "time": 5, "id": 1})
    assert session.received == 0


def test_lengths_with_units_need_a_unit_on_integers():
    session = ensue.compile("event a(). b() <- o: a(), w: extend(o, 5s).").start()
    with pytest.raises(ensue.DataError, match="unit s"):
        session.send({"type": "a", "time": 1})
    assert len(session.send([{"type": "a", "time": "2026-01-01"}, {"type": "a", "time": "2026-01-02"}])) == 1


def test_the_first_zone_is_that_of_detections():
    session = ensue.compile("event a(x: int). b(x) <- a(x).").start(in_order=True)
    session.send({"type": "a", "time": datetime(2026, 1, 1), "x": 1})
    (found,) = session.advance(datetime(2026, 1, 1))
    assert found["end"] == datetime(2026, 1, 1)
    session.send({"type": "a", "time": "2026-01-02T00:00:00Z", "x": 2})
    (found,) = session.advance("2026-01-02")
    assert found["end"] == datetime(2026, 1, 2, tzinfo=UTC)


def test_an_instant_event_that_lasts_is_a_bad_row():
    bad = []
    session = ensue.compile("event a(x: int) instant. b(x) <- a(x).").start(on_bad_row=bad.append)
    session.send({"type": "a", "start": 1, "end": 1, "x": 1})
    session.send({"type": "a", "start": 1, "end": 2, "x": 1})
    assert "declared as `instant`" in bad[0].reason


# --- provenance


def test_sources_are_positions_in_the_order_of_sending(program):
    session = program.start(5, provenance=True, on_bad_row=lambda row: None)
    session.send(order(2, 1))
    session.send([{"type": "order", "time": "x"}, shipped(3, 7)])
    session.send(pa.table({"type": ["order", "order"], "time": [1, 2], "id": [7, 8], "product": ["tea", "tea"]}))
    session.send([])
    assert [(row["type"], row["id"], row["sources"]) for row in session.close(8)] == [
        ("done", 7, [2, 3]),
        ("overdue", 1, [0]),
        ("overdue", 8, [4]),
    ]


def test_sources_of_detect(program):
    events = [order(1, 7), {"type": "order", "time": "x"}, shipped(3, 7)]
    with pytest.warns(ensue.BadRowsWarning):
        assert program.detect(events, provenance=True) == [{**DONE, "sources": [0, 2]}]
    found = program.detect(frame("arrow", [events[0], events[2]]), provenance=True)
    assert found.schema.field("sources").type == pa.list_(pa.int64())
    assert found["sources"].to_pylist() == [[0, 1]]
    assert program.detect(frame("arrow", []), provenance=True).schema.field("sources").type == pa.list_(pa.int64())


def test_an_attribute_called_sources_is_in_the_way():
    program = ensue.compile("event a(x: int). b(sources = x) <- a(x).")
    with pytest.raises(ensue.DataError, match="'b' has an attribute 'sources'"):
        program.start(provenance=True)
    with pytest.raises(ensue.DataError, match="'b' has an attribute 'sources'"):
        program.detect([{"type": "a", "time": 1, "x": 1}], provenance=True)
    assert len(program.detect([{"type": "a", "time": 1, "x": 1}])) == 1


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("by_type", [True, False])
def test_many_small_tables_that_wait_are_taken_apart(in_order, by_type):
    """To look through one table after the other with each send would take a time that grows with their number."""
    program = ensue.compile("event a(x: int). event b(x: int). both(x) <- a(x) seq b(x) within 5.")
    rows = [{"type": "ab"[i % 2], "time": i // 3, "x": i % 3} for i in range(200)]
    tables, dicts = (program.start(lateness=10**6, in_order=in_order) for _ in range(2))
    found, expected = [], []
    for row in rows:
        table = pa.Table.from_pylist([{"time": row["time"], "x": row["x"]} if by_type else row])
        answer = tables.send({row["type"]: table} if by_type else table)
        found += answer["both"].to_pylist() if by_type else answer.to_pylist()
        expected += dicts.send(row)
        assert sum(map(len, tables.progress.waiting.columns.values())) <= 1
    closed = tables.close()
    found += closed["both"].to_pylist() if by_type else closed.to_pylist()
    expected += dicts.close()
    shown = [(row["start"], row["end"], row["x"]) for row in found]
    assert shown == [(row["start"], row["end"], row["x"]) for row in expected] and len(shown) > 50


def test_tables_that_wait_are_not_looked_through_before_they_are_due():
    class Part:
        looked = 0

        def __len__(self):
            return 100

        @property
        def end(self):
            Part.looked += 1
            return [7, 9]

    waiting = Waiting()
    for _ in range(50):
        waiting.add_columns("a", Part())
    Part.looked = 0
    assert not waiting.has(6) and waiting.has(7) and waiting.earliest() == 7
    assert waiting.take(6, {}) == ([], {})
    assert Part.looked == 0
