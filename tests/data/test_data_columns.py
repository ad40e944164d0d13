"""Columns of the time, the type and the sequence."""

import pyarrow as pa
import pytest

from ensue.data import Columns, DataError, attributes_of, read_events


def rows(source, columns=None, schema=None):
    tables = read_events(source, columns or Columns(), schema or {}).tables
    return {name: table.to_pylist() for name, table in tables.items()}


def test_named_columns():
    source = [{"kind": "a", "at": 5, "type": "x", "time": 9}]
    assert rows(source, Columns(time="at", type="kind")) == {
        "a": [{"start": 5, "end": 5, "row": 0, "type": "x", "time": 9}]
    }


def test_start_and_end_come_before_time():
    source = [{"type": "a", "start": 1, "end": 4, "time": 9}]
    assert rows(source) == {"a": [{"start": 1, "end": 4, "row": 0, "time": 9}]}


def test_a_row_with_only_a_time_among_intervals_is_an_instant():
    source = [
        {"type": "a", "start": 1, "end": 4},
        {"type": "b", "time": 9, "x": 1},
        {"type": "b", "start": 1, "time": 2},
    ]
    events = read_events(source, Columns(), {})
    assert events.tables["b"].to_pylist() == [{"start": 9, "end": 9, "row": 1, "x": 1}]
    assert [str(bad) for bad in events.bad] == ["row 2: column 'end' is empty, and an event needs a time"]


def test_only_start_is_named():
    assert rows([{"type": "a", "from": 1, "end": 4}], Columns(start="from")) == {
        "a": [{"start": 1, "end": 4, "row": 0}]
    }


def test_only_end_is_named():
    assert rows([{"type": "a", "start": 1, "to": 4}], Columns(end="to")) == {"a": [{"start": 1, "end": 4, "row": 0}]}


def test_start_and_end_may_be_one_column():
    assert rows([{"type": "a", "t": 1}], Columns(start="t", end="t")) == {"a": [{"start": 1, "end": 1, "row": 0}]}


def test_tables_by_type_may_differ():
    source = {"a": pa.table({"time": [1]}), "b": pa.table({"start": [1], "end": [2]})}
    assert rows(source) == {"a": [{"start": 1, "end": 1, "row": 0}], "b": [{"start": 1, "end": 2, "row": 1}]}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            Columns(time="tmie"),
            "The given table has no column 'tmie', it has 'type', 'time', 'id'. Did you mean 'time'?",
        ),
        (
            Columns(time="TIME"),
            "The given table has no column 'TIME', it has 'type', 'time', 'id'. Did you mean 'time'?",
        ),
        (
            Columns(start="time"),
            "The given table has no column 'end', it has 'type', 'time', 'id'.",
        ),
        (
            Columns(type="typ"),
            "The given table has no column 'typ', it has 'type', 'time', 'id'. Did you mean 'type'?",
        ),
        (Columns(sequence="xyz"), "The given table has no column 'xyz', it has 'type', 'time', 'id'."),
        (Columns(time="time", end="id"), "name the one or the other two, not both."),
    ],
)
def test_a_named_column_that_is_not_there(columns, message):
    with pytest.raises(DataError) as error:
        read_events(pa.table({"type": ["a"], "time": [1], "id": [1]}), columns, {})
    assert str(error.value).endswith(message)


def test_no_time_column():
    with pytest.raises(DataError, match=r"it has 'type', 'at'. Name the one that holds the time with time= \(--time"):
        read_events([{"type": "a", "at": 1}], Columns(), {})


def test_no_type_column():
    with pytest.raises(DataError, match=r'type=, or pass the tables by type: {"order": table} \(order=FILE'):
        read_events([{"kind": "a", "time": 1}], Columns(), {})


def test_no_columns():
    with pytest.raises(DataError, match="it has none"):
        read_events([{}], Columns(), {})


def test_columns_of_a_table_by_type_are_named_with_it():
    with pytest.raises(DataError, match="'order' has no column 'at', it has 'time'"):
        read_events({"order": [{"time": 1}]}, Columns(time="at"), {})


def test_many_columns_are_not_all_listed():
    with pytest.raises(DataError, match="'c19' and 5 more"):
        read_events(pa.table({f"c{number}": [1] for number in range(25)}), Columns(), {})


def test_two_columns_of_one_name():
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array([1]), pa.array([2])], names=["type", "time", "time"])
    with pytest.raises(DataError, match="more than one column 'time'; rename"):
        read_events(table, Columns(), {})


def test_the_sequence_column():
    source = [{"type": "a", "time": 1, "n": 2, "id": 7}, {"type": "b", "time": 1, "n": 1}]
    assert rows(source, Columns(sequence="n"), {"a": {"id": "int"}}) == {
        "a": [{"start": 1, "end": 1, "sequence": 2, "row": 0, "id": 7}],
        "b": [{"start": 1, "end": 1, "sequence": 1, "row": 1}],
    }


def test_the_sequence_has_one_type_over_all_event_types():
    source = {"a": [{"time": 1, "n": 2}], "b": [{"time": 1, "n": 1.5}], "c": [{"time": 1, "n": None}]}
    events = read_events(source, Columns(sequence="n"), {})
    assert {table.schema.field("sequence").type for table in events.tables.values()} == {pa.float64()}


def test_the_sequence_leaves_with_its_bad_row():
    source = [{"type": "a", "time": 1, "n": 1, "id": "x"}, {"type": "a", "time": 1, "n": 2, "id": 7}]
    assert rows(source, Columns(sequence="n"), {"a": {"id": "int"}})["a"] == [
        {"start": 1, "end": 1, "sequence": 2, "row": 1, "id": 7}
    ]


def test_a_sequence_without_values():
    events = read_events([{"type": "a", "time": 1, "n": None}], Columns(sequence="n"), {})
    assert events.tables["a"].schema.field("sequence").type == pa.int64()


def test_a_sequence_outside_64_bits():
    with pytest.raises(DataError, match="'n' holds a number outside 64 bits"):
        read_events([{"type": "a", "time": 1, "n": 2**70}], Columns(sequence="n"), {})


def test_attributes_may_have_the_names_of_our_columns():
    source = [{"type": "seat", "time": 1, "row": 12, "sequence": 3}]
    table = read_events(source, Columns(), {"seat": {"row": "int", "sequence": "int"}}).tables["seat"]
    assert table.column_names == ["start", "end", "row", "row", "sequence"]
    assert {name: column.to_pylist() for name, column in attributes_of(table).items()} == {"row": [12], "sequence": [3]}
