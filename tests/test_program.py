"""The Python API: columns, until, warnings, errors."""

import pydoc
from datetime import date, datetime

import pyarrow as pa
import pytest

import ensue

RULES = """
event order(id: int).
event shipped(id: int).
late(id) <- o: order(id), w: extend(o, 6h), while w: not shipped(id).
"""


def test_an_attribute_that_no_row_has_is_warned_of():
    program = ensue.compile("event a(id: int, note: string). b(id) <- a(id, _).")
    with pytest.warns(ensue.EmptyAttributeWarning, match="No row of 'a' has a value for 'id'"):
        assert program.detect([{"type": "a", "time": 1, "ID": 3}]) == [{"type": "b", "start": 1, "end": 1, "id": None}]
    assert program.detect([{"type": "a", "time": 1, "id": 3}]) == [{"type": "b", "start": 1, "end": 1, "id": 3}]


@pytest.mark.parametrize("until", ["2026-03-01T20:00:00Z", date(2026, 3, 2), datetime(2026, 3, 1, 20)])
def test_until_is_a_moment(until):
    found = ensue.compile(RULES).detect([{"type": "order", "time": "2026-03-01T08:00:00Z", "id": 1}], until=until)
    assert [row["id"] for row in found] == [1]


@pytest.mark.parametrize("until", [7.5, True, float("nan"), [1], "tomorrow", "7h", "5", 1772323200])
@pytest.mark.parametrize("engine", ["embedded", "reference"])
def test_what_is_no_moment_is_refused(until, engine):
    rows = [{"type": "order", "time": "2026-03-01T08:00:00Z", "id": 1}]
    with pytest.raises(ensue.DataError):
        ensue.compile(RULES).detect(rows, until=until, engine=engine)


@pytest.mark.parametrize("time", [5, 4102444800])
def test_a_number_does_not_move_the_time_of_timestamps(time):
    session = ensue.compile(RULES).start()
    session.send({"type": "order", "time": "2026-03-01T08:00:00Z", "id": 1})
    with pytest.raises(ensue.DataError, match="are timestamps; write the time as one"):
        session.advance(time)
    assert len(session.advance("2026-03-01T14:00:00Z")) == 1


def test_lengths_with_units_need_a_unit_on_integers():
    with pytest.raises(ensue.DataError, match="unit s"):
        ensue.compile(RULES).detect([{"type": "order", "time": 8, "id": 1}])


def test_a_stated_unit_does_not_matter_on_timestamps():
    program = ensue.compile("unit s. " + RULES)
    assert len(program.detect([{"type": "order", "time": 0, "id": 1}], until=21600)) == 1
    rows = [{"type": "order", "time": "2026-03-01T08:00:00Z", "id": 1}]
    assert program.detect(rows, until="2026-03-01T13:59:59Z") == []
    assert len(program.detect(rows, until="2026-03-01T14:00:00Z")) == 1


def test_nested_values_of_undeclared_events_are_carried_along():
    program = ensue.compile("d(x) <- e(x = x). pair(x) <- e(x = x) seq e(x = x).")
    rows = [{"type": "e", "time": 1, "x": [1]}, {"type": "e", "time": 1, "x": [1]}, {"type": "e", "time": 2, "x": [2]}]
    assert [row["x"] for row in program.detect(rows, emit="d")] == [[1], [2]]
    assert program.detect(rows, emit="pair") == []


def test_a_periodic_timer_that_occurs_too_often_is_refused():
    rows = [{"type": "a", "time": "2026-01-01T00:00:00Z"}, {"type": "a", "time": "2026-12-31T00:00:00Z"}]
    with pytest.raises(ensue.DetectError, match="occurs 31,449,601 times"):
        ensue.compile("event a(). d() <- every(1s).").detect(rows)


def test_a_derivation_without_end_is_refused():
    with pytest.raises(ensue.DetectError, match="do not come to an end"):
        ensue.compile("event a(x: int). d(x) <- a(x). d(x = y + 1) <- d(y).").detect([{"type": "a", "time": 1, "x": 0}])


def test_a_type_that_no_rule_derives_cannot_be_asked_for():
    with pytest.raises(ensue.DataError, match="No rule derives 'lat'"):
        ensue.compile(RULES).detect([], emit="lat")


# --- errors at once

PAIR = "event a(x: int). event b(x: int). r(x) <- a(x) seq b(x)."
EVENTS = [{"type": "a", "time": 1, "x": 1}, {"type": "b", "time": 2, "x": 1}]
FOUND = [{"type": "r", "start": 1, "end": 2, "x": 1}]


@pytest.mark.parametrize("events", [EVENTS, pa.Table.from_pylist(EVENTS), [pa.Table.from_pylist(EVENTS)]])
@pytest.mark.parametrize("lateness", [-5, "soon", None])
def test_a_lateness_that_makes_no_sense(events, lateness):
    with pytest.raises(ensue.DataError, match=r"^The lateness is -5; it cannot|is not a length of time"):
        ensue.compile(PAIR).detect(events, lateness=lateness)


def test_a_lateness_that_has_no_effect_is_warned_of():
    program = ensue.compile(PAIR)
    with pytest.warns(ensue.NoEffectWarning, match="so it has no effect"):
        assert program.detect(EVENTS[::-1], lateness=5) == FOUND
    reader = program.detect([pa.Table.from_pylist(EVENTS[::-1])], lateness=5)
    assert reader.read_all().to_pylist() == FOUND


@pytest.mark.parametrize("events", [EVENTS, pa.Table.from_pylist(EVENTS)])
@pytest.mark.parametrize("until", [2**70, 2**63, -(2**70), "1" * 30, "1" * 5000])
def test_times_are_64_bits_wide(events, until):
    program = ensue.compile(PAIR)
    with pytest.raises(ensue.DataError, match="is not a time: times are 64 bits wide"):
        program.detect(events, until=until)
    with pytest.raises(ensue.DataError, match="is not a time: times are 64 bits wide"):
        program.start().advance(until)
    assert program.detect(EVENTS, until=2**63 - 1) == FOUND


@pytest.mark.parametrize("compiled", ["yes", 1, 0.5])
def test_compiled_is_yes_or_no(compiled):
    program = ensue.compile(PAIR)
    for call in (lambda: program.detect(EVENTS, compiled=compiled), lambda: program.start(compiled=compiled)):
        with pytest.raises(ensue.DataError, match=r"^`compiled` is .*; it is True, False, or None"):
            call()


def test_what_is_called_with_bad_rows_is_a_function():
    with pytest.raises(ensue.DataError, match="`on_bad_row` is 5, not a function"):
        ensue.compile(PAIR).detect(EVENTS, on_bad_row=5)


# --- events by type


@pytest.mark.parametrize("rows", [[{"time": 1, "x": 1}], pa.table({"time": [1], "x": [1]})])
def test_a_type_that_no_rule_uses_is_warned_of(rows):
    program = ensue.compile("event order(x: int). r(x) <- order(x).")
    with pytest.warns(ensue.UnusedTypeWarning, match="^The rules use no event 'ordr'; did you mean `order`\\?$"):
        program.detect({"ordr": rows})
    with pytest.warns(ensue.UnusedTypeWarning, match="^The rules use no event 'zzz'\\.$"):
        assert len(program.detect({"order": rows, "zzz": rows})["r"]) == 1


def test_other_types_in_a_column_are_nothing_to_warn_of():
    program = ensue.compile(PAIR)
    other = [*EVENTS, {"type": "zzz", "time": 3}]
    assert program.detect(other) == FOUND
    assert program.detect(pa.Table.from_pylist(other)).to_pylist() == FOUND
    assert program.detect({"a": EVENTS[:1], "b": EVENTS[1:], "r": []}) == {"r": [{"start": 1, "end": 2, "x": 1}]}


# --- rows that cannot be read


@pytest.mark.parametrize("until", ["2026-01-02", date(2026, 1, 2)])
def test_where_no_time_can_be_read_the_bad_rows_are_told(until):
    program = ensue.compile(RULES)
    with pytest.warns(ensue.BadRowsWarning, match="column 'time' is '2026-13-01', not a time"):
        assert program.detect([{"type": "order", "time": "2026-13-01", "id": 1}], until=until) == []
    assert program.detect([], until=until) == []


def test_without_events_until_says_what_times_are():
    program = ensue.compile('christmas() <- at("2026-12-25T12:00:00Z").')
    for engine in ("embedded", "reference"):
        (found,) = program.detect([], until="2026-12-31", engine=engine)
        assert found["end"].replace(tzinfo=None) == datetime(2026, 12, 25, 12)


def test_bad_rows_come_first_where_until_is_of_another_kind():
    events = [{"type": "a", "time": time, "x": 1} for time in ("5", "2026-01-01")]
    with pytest.raises(ensue.DataError, match=r"^1 row was left out: row 1: .*, not an integer\. The times of these"):
        ensue.compile(PAIR).detect(events, until="2026-01-02")


# --- the functions of the package


def test_help_shows_what_there_is():
    shown = pydoc.plain(pydoc.render_doc(ensue))
    for name in ensue.__all__:
        assert name in dir(ensue)
        assert name in shown
    assert "class Session(" in shown and "compile(rules: 'str | Path'" in shown
