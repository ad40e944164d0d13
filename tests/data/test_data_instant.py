"""A type that is declared as instantaneous: a row whose start is not its end is a bad row."""

from ensue.data import Columns, read_events

SCHEMA = {"tick": {"price": "float"}, "span": {"price": "float"}}
ROWS = [
    {"type": "tick", "start": 1, "end": 1, "price": 2.0},
    {"type": "tick", "start": 1, "end": 2, "price": 3.0},
    {"type": "span", "start": 1, "end": 2, "price": 4.0},
]


def test_a_row_that_lasts_is_left_out():
    events = read_events(ROWS, Columns(), SCHEMA, instant={"tick"})
    assert events.tables["tick"]["price"].to_pylist() == [2.0]
    assert events.tables["span"]["price"].to_pylist() == [4.0]
    assert [str(row) for row in events.bad] == [
        "row 1: its type is declared as `instant`, but it starts before its end"
    ]


def test_without_the_declaration_it_stays():
    assert read_events(ROWS, Columns(), SCHEMA).bad_count == 0
