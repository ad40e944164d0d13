"""Bad rows are counted, placed, and left out; or they are errors."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ensue.data import BadRow, Columns, DataError, read_events

SCHEMA = {"a": {"x": "int", "y": "int"}}


def test_a_row_is_bad_once_for_its_first_reason():
    source = [
        {"type": None, "start": 5, "end": 3, "x": "q", "y": "r"},
        {"type": "a", "start": 1, "end": 1, "x": "q", "y": "r"},
    ]
    events = read_events(source, Columns(), SCHEMA)
    assert events.bad == (
        BadRow("row 0", "it starts at 5, after its end at 3"),
        BadRow("row 1", "attribute 'x' is 'q', not an int"),
    )
    assert events.bad_count == 2


def test_rows_are_placed_by_their_source(tmp_path):
    table = pa.table({"time": ["1", "x"]})
    pq.write_table(table, tmp_path / "events.parquet")
    for source, where in [
        ({"a": table}, "a, row 1"),
        ({"a": table.to_pandas()}, "a, row 1"),
        ({"a": table.to_pylist()}, "a, row 1"),
        ({"a": tmp_path / "events.parquet"}, f"{tmp_path}/events.parquet, row 1"),
        (table.append_column("type", pa.array(["a", "a"])), "row 1"),
    ]:
        assert [row.where for row in read_events(source, Columns(), {}).bad] == [where]


def test_the_index_of_a_frame_does_not_matter():
    frame = pd.DataFrame({"type": "a", "time": ["1", "x"]}, index=[7, 7])
    assert [row.where for row in read_events(frame, Columns(), {}).bad] == ["row 1"]


def test_the_first_thousand_in_the_order_of_the_input():
    """Whatever is wrong with them, and whatever part they are in."""
    rows = []
    for number in range(3000):
        rows.append(
            {
                "type": "a" if number % 5 else None,
                "time": number if number % 3 else "x",
                "x": number if number % 7 else "y",
            }
        )
    events = read_events(rows, Columns(), SCHEMA)
    expected = [number for number in range(3000) if not (number % 5 and number % 3 and number % 7)]
    assert events.bad_count == len(expected)
    assert [row.where for row in events.bad] == [f"row {number}" for number in expected[:1000]]
    by_type = read_events({"a": rows[:1000], "b": rows[1000:]}, Columns(), {"a": {"x": "int"}, "b": {"x": "int"}})
    assert len(by_type.bad) == min(by_type.bad_count, 1000)


def test_strict():
    source = [{"type": "a", "time": 1, "x": 1}, {"type": "a", "time": 2, "x": "q"}, {"type": "a", "time": "x"}]
    with pytest.raises(DataError, match=r"^row 1: attribute 'x' is 'q', not an int$"):
        read_events(source, Columns(), SCHEMA, strict=True)
    assert read_events(source[:1], Columns(), SCHEMA, strict=True).bad_count == 0


def test_bad_rows_do_not_count_for_the_range_of_time():
    source = [{"type": "a", "time": 1, "x": "q"}, {"type": "a", "time": 2}, {"type": None, "time": 9}]
    events = read_events(source, Columns(), SCHEMA)
    assert (events.first_end, events.last_end) == (2, 2)


def test_things_among_the_rows_that_are_no_dicts():
    events = read_events([{"type": "a", "time": 1}, 5, None, "x", {"type": "a", "time": 2}], Columns(), {})
    assert [str(row) for row in events.bad] == [
        "row 1: is 5, not a dict",
        "row 2: is None, not a dict",
        "row 3: is 'x', not a dict",
    ]
    assert events.tables["a"]["row"].to_pylist() == [0, 4]


def test_positions_go_on_over_parts(tmp_path):
    (tmp_path / "a.csv").write_text("type,time\na,1\na\na,x\na,2\n")
    (tmp_path / "b.jsonl").write_text('oops\n{"type": "a", "time": 3}\n')
    events = read_events(tmp_path, Columns(), {})
    assert events.tables["a"]["row"].to_pylist() == [0, 3, 5]
    assert [row.where.rpartition("/")[2] for row in events.bad] == ["a.csv:3", "a.csv:4", "b.jsonl:1"]


def test_long_values_are_cut():
    events = read_events([{"type": "a", "time": 1, "x": "y" * 1000}], Columns(), SCHEMA)
    assert len(str(events.bad[0])) < 120


def test_integers_too_long_to_print():
    events = read_events([{"type": "a", "time": 1, "x": 10**5000}], Columns(), SCHEMA)
    assert str(events.bad[0]) == "row 0: attribute 'x' is a value of type int, outside the 64 bits of an int"
