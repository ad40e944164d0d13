"""JSON lines: exactly their values, read at once or one by one."""

import math
from pathlib import Path

import pyarrow as pa
import pytest

from ensue.data import Columns, Events, read_events


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read_json(*lines: str, schema=None, **options) -> Events:
        Path("events.jsonl").write_text("\n".join(lines), encoding="utf-8")
        return read_events("events.jsonl", Columns(), schema or {}, **options)

    return read_json


def bad(events: Events) -> list[str]:
    return [str(row) for row in events.bad]


# Lines that make Arrow give up, so that the file is read line by line; none of them is an event of type a.
ASIDE = ["", '{"type": "z", "time": 0, "x": [1, "x"]}', "not JSON"]


@pytest.mark.parametrize("aside", ASIDE)
@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("int", "12", 12),
        ("int", "12.0", 12),
        ("int", "1e3", 1000),
        ("int", "null", None),
        ("int", "9007199254740993", 2**53 + 1),
        ("int", "9223372036854775807", 2**63 - 1),
        ("float", "1", 1.0),
        ("float", "0.1", 0.1),
        ("float", '"-Infinity"', -math.inf),
        ("string", '"2026-01-02T03:04:05Z"', "2026-01-02T03:04:05Z"),
        ("string", '"2026-01-02 03:04:05"', "2026-01-02 03:04:05"),
        ("string", '"12"', "12"),
        ("string", '"\\u00e9 \\ud83d\\ude00"', "é 😀"),
        ("string", '""', ""),
        ("bool", "true", True),
        ("bool", "false", False),
    ],
)
def test_declared(read, aside, kind, value, expected):
    line = f'{{"type": "a", "time": 1, "x": {value}}}'
    events = read(line, aside, schema={"a": {"x": kind}})
    assert events.tables["a"]["x"].to_pylist() == [expected]
    assert bad(events) == ["events.jsonl:2: not JSON: expecting value at column 1"] * (aside == "not JSON")


@pytest.mark.parametrize("aside", ASIDE)
@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("int", "1.5", "1.5, not an int"),
        ("int", '"1x"', "'1x', not an int"),
        ("int", "true", "True, not an int"),
        ("int", "9223372036854775808", "9223372036854775808, outside the 64 bits of an int"),
        ("int", "1e300", "1e+300, not an int"),
        ("float", '"1,5"', "'1,5', not a float"),
        ("string", "1.5", "1.5, not a string"),
        ("string", '{"k": 1}', "{'k': 1}, not a string"),
        ("bool", "2", "2, not a bool"),
        ("timestamp", '"x"', "'x', not a timestamp"),
    ],
)
def test_bad_values(read, aside, kind, value, reason):
    line = f'{{"type": "a", "time": 1, "x": {value}}}'
    events = read(aside, line, '{"type": "a", "time": 2}', schema={"a": {"x": kind}})
    assert f"events.jsonl:2: attribute 'x' is {reason}" in bad(events)
    assert events.tables["a"]["start"].to_pylist() == [2]


def test_one_too_large_integer_leaves_the_others_exact(read):
    values = [2**53 + 1, 10**30, 2**63 - 1, 1.0]
    events = read(*(f'{{"type": "a", "time": 1, "x": {value}}}' for value in values), schema={"a": {"x": "int"}})
    assert events.tables["a"]["x"].to_pylist() == [2**53 + 1, 2**63 - 1, 1]
    assert events.bad_count == 1


def test_attributes_of_one_name_and_several_types(read):
    events = read(
        '{"type": "a", "time": 1, "x": 1}',
        '{"type": "b", "time": 2, "x": "s"}',
        '{"type": "c", "time": 3, "x": 2.0}',
        '{"type": "d", "time": 4, "x": true}',
    )
    assert [table["x"].type for table in events.tables.values()] == [pa.int64(), pa.string(), pa.float64(), pa.bool_()]


def test_whole_and_fractional_numbers_of_undeclared_types(read):
    """Arrow would make floats of all of them."""
    events = read(
        '{"type": "a", "time": 1, "x": 1}', '{"type": "b", "time": 2, "x": 2.5}', '{"type": "c", "time": 3, "x": 2.0}'
    )
    assert [table["x"].to_pylist() for table in events.tables.values()] == [[1], [2.5], [2.0]]
    assert [table["x"].type for table in events.tables.values()] == [pa.int64(), pa.float64(), pa.float64()]


def test_whole_and_fractional_numbers_by_type(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"time": 1, "x": 1}\n{"time": 2, "x": 2.0}\n')
    events = read_events({"a": tmp_path / "a.jsonl"}, Columns(), {})
    assert events.tables["a"]["x"].to_pylist() == [1.0, 2.0]


def test_columns_stand_in_the_order_in_which_they_first_occur(read):
    early, late = '{"type": "a", "time": 1, "x": 1, "y": "s"}', '{"type": "a", "time": 1, "v": 1, "w": "2026-01-02"}'
    for lines in ([early, late], [early] * 200 + [late], [early] * 200 + [late, "oops"]):
        assert read(*lines).tables["a"].column_names == ["start", "end", "row", "x", "y", "v", "w"]


def test_text_that_looks_like_time_stays_text(read):
    line = '{"type": "a", "time": 1, "x": "2026-01-02T03:04:05Z"}'
    assert read(line).tables["a"]["x"].to_pylist() == ["2026-01-02T03:04:05Z"]
    late = ['{"type": "a", "time": 1}'] * 200
    assert read(*late, line).tables["a"]["x"].to_pylist() == [None] * 200 + ["2026-01-02T03:04:05Z"]


def test_a_number_long_after_strings(read):
    """Arrow looks at a megabyte at a time, and would take the number for a string."""
    fill = "y" * 1000
    lines = [f'{{"type": "a", "time": 1, "fill": "{fill}"}}'] * 200
    lines += [f'{{"type": "a", "time": 1, "x": "s", "fill": "{fill}"}}'] * 1500
    lines += ['{"type": "b", "time": 1, "x": 5}']
    assert read(*lines).tables["b"]["x"].to_pylist() == [5]


def test_nested_values_are_carried_along(read):
    events = read('{"type": "a", "time": 1, "o": {"k": [1, 2], "at": "2026-01-02"}, "l": ["x"]}')
    assert events.tables["a"].to_pylist()[0]["o"] == {"k": [1, 2], "at": "2026-01-02"}
    assert events.tables["a"].to_pylist()[0]["l"] == ["x"]


def test_odd_numbers(read):
    for line in ('{"type": "a", "time": 1, "x": NaN}', '{"type": "a", "time": 1, "x": "NaN"}'):
        assert math.isnan(read(line, schema={"a": {"x": "float"}}).tables["a"]["x"][0].as_py())
    assert read('{"type": "a", "time": 1, "x": 1e999}').tables["a"]["x"].to_pylist() == [math.inf]


def test_odd_numbers_of_undeclared_types(read):
    events = read('{"type": "a", "time": 1, "x": "NaN"}', '{"type": "a", "time": 1, "x": 2}')
    assert math.isnan(events.tables["a"]["x"][0].as_py()) and events.tables["a"]["x"][1].as_py() == 2.0


def test_bad_lines(read):
    events = read(
        '{"type": "a", "time": 1}',
        "",
        "oops",
        "[1]",
        "null",
        "5",
        '{"type": "a", "time": 2',
        '{"type": "a", "time": 3} {"type": "a", "time": 4}',
        '{"type": "a", "time": 5, "x": "\\ud800"}',
        '{"type": "a", "time": 5, "\\uDC00": 1}',
        "[" * 100_000,
        '{"type": "a", "time": ' + "9" * 5000 + "}",
        '{"type": "a", "time": "x"}',
        '{"type": 5.5, "time": 1}',
        '{"time": 1}',
        "{}",
        '{"type": "a", "time": 6}',
    )
    assert bad(events) == [
        "events.jsonl:3: not JSON: expecting value at column 1",
        "events.jsonl:4: not a JSON object",
        "events.jsonl:5: not a JSON object",
        "events.jsonl:6: not a JSON object",
        "events.jsonl:7: not JSON: expecting ',' delimiter at column 24",
        "events.jsonl:8: not JSON: extra data at column 26",
        "events.jsonl:9: not JSON: half a surrogate pair is no character",
        "events.jsonl:10: not JSON: half a surrogate pair is no character",
        "events.jsonl:11: not JSON: nested too deeply",
        "events.jsonl:12: not JSON: a number of thousands of digits",
        "events.jsonl:13: column 'time' is 'x', not an integer",
        "events.jsonl:14: column 'type' is 5.5, not a string or an integer",
        "events.jsonl:15: column 'type' is empty, and an event needs a type",
        "events.jsonl:16: column 'time' is empty, and an event needs a time",
    ]
    assert events.tables["a"]["row"].to_pylist() == [0, 15]


@pytest.mark.parametrize("line", ["null", "{}"])
def test_an_empty_row_among_good_ones(read, line):
    events = read('{"type": "a", "time": 1}', line)
    assert events.bad_count == 1 and bad(events)[0].startswith("events.jsonl:2: ")


def test_only_bad_lines(read):
    events = read("oops", "[]")
    assert events.bad_count == 2 and events.tables == {}


def test_an_object_over_two_lines(read):
    assert read('{"type": "a",', '"time": 1}').bad_count == 2


def test_blank_lines_and_line_endings(read):
    events = read(
        '{"type": "a", "time": 1}\r', "  \r", "\t", ' {"type": "a", "time": 2}', '{"type": "a", "time": "x"}', ""
    )
    assert events.tables["a"]["row"].to_pylist() == [0, 1]
    assert bad(events) == ["events.jsonl:5: column 'time' is 'x', not an integer"]


def test_a_line_separator_inside_text(read):
    assert read('{"type": "a", "time": 1, "x": "a\u2028b"}').tables["a"]["x"].to_pylist() == ["a\u2028b"]


def test_a_key_twice_has_its_last_value(read):
    assert read('{"type": "a", "time": 1, "x": 1, "x": 2}').tables["a"]["x"].to_pylist() == [2]


def test_a_byte_order_mark(tmp_path):
    (tmp_path / "events.jsonl").write_bytes(b'\xef\xbb\xbf{"type": "a", "time": 1}\n')
    assert read_events(tmp_path, Columns(), {}).last_end == 1
