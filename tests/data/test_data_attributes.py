"""Attributes: declared ones become exactly their type, undeclared ones the type that their values have."""

import math
import tempfile
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from ensue.data import Columns, DataError, Events, read_events, write_events

NAN = float("nan")
MICROS = 1767323045250000
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 250000)
ARROW = {
    "int": pa.int64(),
    "float": pa.float64(),
    "string": pa.string(),
    "bool": pa.bool_(),
    "timestamp": pa.timestamp("us"),
}


def attribute(events: Events) -> list[object]:
    return events.tables["a"]["x"].to_pylist() if "a" in events.tables else []


def read_column(column: object, kind: str) -> Events:
    events = read_events({"a": pa.table({"time": [0] * len(column), "x": column})}, Columns(), {"a": {"x": kind}})
    if "a" in events.tables:
        assert events.tables["a"].schema.field("x").type == ARROW[kind]
    return events


def read_values(values: list[object], kind: str) -> Events:
    return read_events({"a": [{"time": 0, "x": value} for value in values]}, Columns(), {"a": {"x": kind}})


@pytest.mark.parametrize(
    ("kind", "column", "expected"),
    [
        *(
            ("int", pa.array([1, None], getattr(pa, f"{s}int{b}")()), [1, None])
            for s in ("", "u")
            for b in (8, 16, 32, 64)
        ),
        ("int", pa.array([1.0, -2.0], pa.float32()), [1, -2]),
        ("int", pa.array([1.0], pa.float16()), [1]),
        ("int", pa.array([Decimal("3.00"), None]), [3, None]),
        ("int", pa.array([1, 1, 2]).dictionary_encode(), [1, 1, 2]),
        ("int", pa.array([1, 1, 2]).cast(pa.int32()), [1, 1, 2]),
        ("int", pa.nulls(2), [None, None]),
        ("float", pa.array([1, 2**60 + 1]), [1.0, float(2**60 + 1)]),
        ("float", pa.array([2**64 - 1], pa.uint64()), [float(2**64 - 1)]),
        ("float", pa.array([0.5, math.inf], pa.float32()), [0.5, math.inf]),
        ("float", pa.array([0.5], pa.float16()), [0.5]),
        ("float", pa.array([Decimal("0.25"), Decimal("51.41")]), [0.25, 51.41]),
        ("float", pa.array(["Infinity", "-Infinity"]), [math.inf, -math.inf]),
        ("string", pa.array(["a", "", None]), ["a", "", None]),
        ("string", pa.array(["a"], pa.large_string()), ["a"]),
        ("string", pa.array(["a"], pa.string_view()), ["a"]),
        ("string", pa.array(["a", "a"]).dictionary_encode(), ["a", "a"]),
        ("string", pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["a"], pa.large_string())), ["a"]),
        ("string", pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"]), ["a", "a", "b"]),
        ("bool", pa.array([True, False, None]), [True, False, None]),
        ("timestamp", pa.array([MOMENT]), [MOMENT]),
        ("timestamp", pa.array([MOMENT.replace(tzinfo=UTC)]).cast(pa.timestamp("ns", "Europe/Berlin")), [MOMENT]),
        ("timestamp", pa.array([date(2026, 1, 2)]), [datetime(2026, 1, 2)]),
        ("timestamp", pa.array([date(2026, 1, 2)], pa.date64()), [datetime(2026, 1, 2)]),
        ("timestamp", pa.array(["2026-01-02T04:04:05.25+01:00"]), [MOMENT]),
        ("timestamp", pa.array([MICROS]), [MOMENT]),
        ("timestamp", pa.array([float(MICROS), None]), [MOMENT, None]),
    ],
)
def test_columns_that_are_read(kind, column, expected):
    events = read_column(column, kind)
    assert attribute(events) == expected and events.bad_count == 0


@pytest.mark.parametrize(
    ("kind", "column", "value", "reason"),
    [
        ("int", pa.array([1.5]), "1.5", "not an int"),
        ("int", pa.array([NAN]), "nan", "not an int"),
        ("int", pa.array([1e19]), "1e+19", "not an int"),
        ("int", pa.array([2**63], pa.uint64()), "9223372036854775808", "outside the 64 bits of an int"),
        ("int", pa.array([Decimal("1.5")]), "Decimal('1.5')", "not an int"),
        ("int", pa.array([True]), "True", "not an int"),
        ("int", pa.array(["abc"]), "'abc'", "not an int"),
        ("float", pa.array([True]), "True", "not a float"),
        ("float", pa.array(["1,5"]), "'1,5'", "not a float"),
        ("string", pa.array([1.5]), "1.5", "not a string"),
        ("string", pa.array([b"a"]), "b'a'", "not a string"),
        ("string", pa.array([["a"]]), "['a']", "not a string"),
        ("bool", pa.array([2]), "2", "not a bool"),
        ("bool", pa.array([0.5]), "0.5", "not a bool"),
        ("bool", pa.array(["yes"]), "'yes'", "not a bool"),
        ("timestamp", pa.array(["5"]), "'5'", "not a timestamp"),
        ("timestamp", pa.array([True]), "True", "not a timestamp"),
        ("timestamp", pa.array([1.5]), "1.5", "not a timestamp"),
        ("timestamp", pa.array([time(3)]), "datetime.time(3, 0)", "not a timestamp"),
        ("timestamp", pa.array([2**31 - 1], pa.int32()).cast(pa.date32()), "2147483647", "not a timestamp"),
    ],
)
def test_columns_that_are_not(kind, column, value, reason):
    events = read_column(column, kind)
    assert [str(bad) for bad in events.bad] == [f"a, row 0: attribute 'x' is {value}, {reason}"]
    assert events.tables == {} and events.first_end is None


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("int", [1, 2.0, Decimal(3), None, -(2**63)], [1, 2, 3, None, -(2**63)]),
        ("int", [1, "443", " 7 ", "8.0"], [1, 443, 7, 8]),
        ("int", [True, "1.5", "x", 1.5, Decimal("1.5"), 2**63, NAN, math.inf, Decimal("1e1000000"), [1]], []),
        ("float", [1, 2.5, Decimal("0.5"), "Infinity", None], [1.0, 2.5, 0.5, math.inf, None]),
        ("float", [1, "2.5", "1e3"], [1.0, 2.5, 1000.0]),
        ("float", [True, "1,5", 10**400, "x", {}], []),
        ("string", ["a", "", None], ["a", "", None]),
        ("string", ["a", 443, True], ["a", "443", "true"]),
        ("string", ["\ud800", 2**63, 1.5, b"a", NAN, MOMENT], []),
        ("bool", [True, False, None], [True, False, None]),
        ("bool", [1, 0, "true", None, "False", 1.0, "0"], [True, False, True, None, False, True, False]),
        ("bool", [2, -1, "yes", "", 0.5, NAN], []),
        (
            "timestamp",
            [MOMENT, MOMENT.replace(tzinfo=UTC), date(2026, 1, 2), "2026-01-02", MICROS, float(MICROS), None],
            [MOMENT, MOMENT, datetime(2026, 1, 2), datetime(2026, 1, 2), MOMENT, MOMENT, None],
        ),
        ("timestamp", [True, "5", 1.5, "x", time(3)], []),
    ],
)
def test_python_values(kind, values, expected):
    events = read_values(values, kind)
    assert attribute(events) == expected
    assert events.bad_count == len(values) - len(expected)
    for value in values:  # on its own, where it may have an Arrow column
        alone = attribute(read_values([value], kind))
        assert alone == ([] if value is not None and not expected else alone)


@pytest.mark.parametrize(
    ("kind", "column", "expected"),
    [
        ("int", pa.array(["443", " 7", None]), [443, 7, None]),
        ("float", pa.array(["1.5", "2"]), [1.5, 2.0]),
        ("string", pa.array([443, None]), ["443", None]),
        ("string", pa.array([True, False]), ["true", "false"]),
        ("bool", pa.array([1, 0, None]), [True, False, None]),
        ("bool", pa.array([1.0, 0.0]), [True, False]),
        ("bool", pa.array(["true", "0"]), [True, False]),
    ],
)
def test_columns_that_convert_without_loss(kind, column, expected):
    assert attribute(read_column(column, kind)) == expected
    assert attribute(read_values(column.to_pylist(), kind)) == expected


def test_what_does_not_fit_is_bad_only_where_a_rule_reads_it():
    rows = [{"type": "a", "time": 1, "x": "abc", "y": "abc"}, {"type": "a", "time": 2, "x": 1, "y": 2}]
    events = read_events(rows, Columns(), {"a": {"x": "int", "y": "int"}}, used={("a", "y")})
    assert [(row["x"], row["y"]) for row in events.tables["a"].to_pylist()] == [(1, 2)]
    assert [str(bad) for bad in events.bad] == ["row 0: attribute 'y' is 'abc', not an int"]
    events = read_events(rows, Columns(), {"a": {"x": "int", "y": "int"}}, used=set())
    assert [(row["x"], row["y"]) for row in events.tables["a"].to_pylist()] == [(None, None), (1, 2)]
    assert not events.bad_count


@pytest.mark.parametrize("types", [[4624, 4625], [4624.0, 4625.0], [4624, "4625"]])
def test_types_of_events_may_be_integers(types):
    events = read_events([{"type": type_, "time": 1} for type_ in types], Columns(), {"4624": {}, "4625": {}})
    assert list(events.tables) == ["4624", "4625"] and not events.bad_count


def test_nan_is_a_float_and_no_null():
    assert math.isnan(attribute(read_column(pa.array([NAN]), "float"))[0])
    assert math.isnan(attribute(read_values([NAN], "float"))[0])
    assert math.isnan(attribute(read_values(["NaN"], "float"))[0])
    assert math.isnan(attribute(read_events(pl.DataFrame({"type": ["a"], "time": [0], "x": [NAN]}), Columns(), {}))[0])


def test_what_pandas_calls_missing_is_null():
    for values in ([NAN, 1.5], [None, 1.5], pd.array([None, 1.5], "Float64"), pd.Series([NAN, 1.5], dtype=object)):
        frame = pd.DataFrame({"type": "a", "time": 0, "x": values})
        assert attribute(read_events(frame, Columns(), {"a": {"x": "float"}})) == [None, 1.5]
    frame = pd.DataFrame({"type": "a", "time": 0, "x": pd.Series([NAN, "s", None, pd.NA, pd.NaT], dtype=object)})
    assert attribute(read_events(frame, Columns(), {"a": {"x": "string"}})) == [None, "s", None, None, None]


def test_numpy_scalars_in_dicts():
    numbers = pd.Series([1, 2]).to_numpy()
    assert attribute(read_values(list(numbers), "int")) == [1, 2]
    assert attribute(read_values([numbers[0], 2.0], "int")) == [1, 2]
    assert attribute(read_values([pd.NA, pd.NaT, numbers[1]], "int")) == [None, None, 2]
    assert attribute(read_values([pd.Timestamp(MOMENT), "2026-01-02"], "timestamp")) == [MOMENT, datetime(2026, 1, 2)]


def test_subclasses_of_plain_types_in_dicts():
    class Text(str):
        __slots__ = ()

    assert attribute(read_values([Text("a"), "b"], "string")) == ["a", "b"]


def test_a_missing_column_is_null_and_others_are_left_out():
    events = read_events([{"type": "a", "time": 1, "other": 1}], Columns(), {"a": {"x": "float", "y": "timestamp"}})
    assert events.tables["a"].schema.names == ["start", "end", "row", "x", "y"]
    assert events.tables["a"].schema.types[3:] == [pa.float64(), pa.timestamp("us")]
    assert events.tables["a"].to_pylist() == [{"start": 1, "end": 1, "row": 0, "x": None, "y": None}]


def test_a_time_column_may_be_an_attribute_too():
    events = read_events([{"type": "a", "time": 1}], Columns(), {"a": {"time": "int"}})
    assert events.tables["a"]["time"].to_pylist() == [1]


def test_a_bad_value_of_one_type_leaves_others_alone():
    source = [
        {"type": "a", "time": 1, "x": "text"},
        {"type": "b", "time": 2, "x": 5},
        {"type": "b", "time": 9, "x": "text"},
    ]
    events = read_events(source, Columns(), {"a": {"x": "string"}, "b": {"x": "int"}})
    assert events.tables["a"]["x"].to_pylist() == ["text"]
    assert events.tables["b"]["x"].to_pylist() == [5]
    assert [str(bad) for bad in events.bad] == ["row 2: attribute 'x' is 'text', not an int"]
    assert events.last_end == 2


def test_an_unknown_attribute_type():
    for source in ({"a": [{"time": 1, "x": 1}]}, {"a": [{"time": 1}]}):
        with pytest.raises(DataError, match="no attribute type 'list'; there are int, float, string, bool, timestamp"):
            read_events(source, Columns(), {"a": {"x": "list"}})


def undeclared(column: object) -> pa.ChunkedArray:
    events = read_events({"a": pa.table({"time": [0] * len(column), "x": column})}, Columns(), {})
    assert events.bad_count == 0
    return events.tables["a"]["x"]


@pytest.mark.parametrize(
    ("column", "arrow_type"),
    [
        *((pa.array([1], getattr(pa, f"{s}int{b}")()), pa.int64()) for s in ("", "u") for b in (8, 16, 32, 64)),
        (pa.array([1.5], pa.float16()), pa.float64()),
        (pa.array([1.5], pa.float32()), pa.float64()),
        (pa.array([1.0]), pa.float64()),
        (pa.array([Decimal("1.5")]), pa.float64()),
        (pa.array(["a"], pa.large_string()), pa.string()),
        (pa.array(["a"]).dictionary_encode(), pa.string()),
        (pa.array(["2026-01-02"]), pa.string()),
        (pa.array([True]), pa.bool_()),
        (pa.array([date(2026, 1, 2)]), pa.timestamp("us")),
        (pa.array([MOMENT], pa.timestamp("ns", "UTC")), pa.timestamp("us")),
        (pa.array([[1, 2]]), pa.list_(pa.int64())),
        (pa.array([{"k": 1}]), pa.struct([("k", pa.int64())])),
        (pa.array([b"x"]), pa.binary()),
        (pa.array([time(3)]), pa.time64("us")),
    ],
)
def test_undeclared_columns(column, arrow_type):
    assert undeclared(column).type == arrow_type


def test_undeclared_integers_outside_64_bits_are_bad():
    events = read_events([{"type": "a", "time": 1, "x": 2**63}, {"type": "a", "time": 2, "x": 3}], Columns(), {})
    assert events.tables["a"]["x"].to_pylist() == [3]
    assert "outside the 64 bits" in str(events.bad[0])


def test_an_undeclared_type_has_the_columns_that_hold_a_value_for_it():
    source = [{"type": "a", "time": 1, "x": 1, "z": None}, {"type": "b", "time": 2, "y": "s"}]
    events = read_events(source, Columns(), {})
    assert events.tables["a"].column_names == ["start", "end", "row", "x"]
    assert events.tables["b"].column_names == ["start", "end", "row", "y"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2.5], [1.0, 2.5]),
        ([1, "NaN"], None),
        ([1, "x"], ["1", "x"]),
        ([True, 1], ["true", "1"]),
        ([MOMENT, "x"], ["2026-01-02T03:04:05.250000", "x"]),
        ([MOMENT, date(2026, 1, 2)], [MOMENT, datetime(2026, 1, 2)]),
        ([[1], [2.5]], [[1.0], [2.5]]),
        ([[1], ["x"]], ["[1]", '["x"]']),
        ([{"k": 1}, {"l": 2}], [{"k": 1, "l": None}, {"k": None, "l": 2}]),
        ([(1, 2), None], [[1, 2], None]),
        ([[None, None], []], [[None, None], []]),
    ],
)
def test_undeclared_values_of_several_types(values, expected):
    events = read_events([{"type": "a", "time": 0, "x": value} for value in values], Columns(), {})
    if expected is None:
        assert attribute(events)[0] == 1.0 and math.isnan(attribute(events)[1])
    else:
        assert attribute(events) == expected


def test_undeclared_values_without_an_arrow_type():
    events = read_events(
        [{"type": "a", "time": 0, "x": {1, 2}}, {"type": "a", "time": 0, "x": "\ud800"}], Columns(), {}
    )
    assert attribute(events) == ["[1, 2]"] and events.bad_count == 1


def test_an_undeclared_type_over_several_tables(tmp_path):
    one, two, three = (tmp_path / f"{name}.csv" for name in ("one", "two", "three"))
    one.write_text("type,time,x,y\na,1,01,1\n")
    two.write_text("type,time,x,z\na,2,word,1.5\n")
    three.write_text("type,time,y\na,3,2.5\n")
    events = read_events([one, two, three], Columns(), {})
    assert events.tables["a"].to_pylist() == [
        {"start": 1, "end": 1, "row": 0, "x": "01", "y": 1.0, "z": None},
        {"start": 2, "end": 2, "row": 1, "x": "word", "y": None, "z": 1.5},
        {"start": 3, "end": 3, "row": 2, "x": None, "y": 2.5, "z": None},
    ]


@pytest.mark.parametrize(
    ("typed", "text", "expected"),
    [
        ([1], "2", [1, 2]),
        ([1], "2.5", [1.0, 2.5]),
        (["a"], "2", ["a", "2"]),
        ([True], "1", [True, True]),
        ([True], "x", ["true", "x"]),
        ([MOMENT], "2026-01-02", [MOMENT, datetime(2026, 1, 2)]),
        ([[1]], "x", ["[1]", "x"]),
    ],
)
def test_an_undeclared_type_from_csv_and_another_form(tmp_path, typed, text, expected):
    (tmp_path / "events.csv").write_text(f"type,time,x\na,1,{text}\n")
    pa.parquet.write_table(pa.table({"type": ["a"], "time": [0], "x": typed}), tmp_path / "before.parquet")
    assert attribute(read_events(tmp_path, Columns(), {})) == expected


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ([[None, None]], [[1]], [[None, None], [1]]),
        ([[1]], [[2.5]], [[1.0], [2.5]]),
        ([{"k": 1}], [{"l": 2}], [{"k": 1, "l": None}, {"k": None, "l": 2}]),
        ([{"k": [None, None], "l": 1}], [{"k": [None], "l": 2.5}], None),
        ([[1]], [["x"]], ["[1]", '["x"]']),
        ([b"x"], [[1]], ["b'x'", "[1]"]),
    ],
)
def test_nested_values_over_several_tables(one, two, expected):
    source = {"a": pa.table({"time": [0], "x": one})}
    events = read_events(source, Columns(), {})
    assert attribute(events) == one
    pieces = [pa.table({"type": ["a"], "time": [0], "x": values}) for values in (one, two)]
    with tempfile.TemporaryDirectory() as folder:
        for index, piece in enumerate(pieces):
            write_events(piece, Path(folder) / f"{index}.arrow")
        events = read_events(folder, Columns(), {})
    assert events.bad_count == 0
    assert expected is None or attribute(events) == expected


def test_known_types_only():
    source = [
        {"type": "a", "time": 5, "x": 1},
        {"type": "b", "time": 1, "x": "bad"},
        {"type": "c", "time": 9, "x": []},
        {"type": "c", "time": None},
    ]
    events = read_events(source, Columns(), {"a": {"x": "int"}, "b": {"x": "int"}}, known={"a"})
    assert list(events.tables) == ["a"]
    assert (events.first_end, events.last_end, events.bad_count) == (1, 9, 1)
    assert read_events(source, Columns(), {}, known=[]).tables == {}
