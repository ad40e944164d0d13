"""What people call from Python: columns, until, what is warned of."""

from datetime import date, datetime

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


@pytest.mark.parametrize("until", [7.5, True, float("nan"), [1], "tomorrow", "7h", "5"])
def test_what_is_no_moment_is_refused(until):
    with pytest.raises(ensue.DataError):
        ensue.compile(RULES).detect([{"type": "order", "time": "2026-03-01T08:00:00Z", "id": 1}], until=until)


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
