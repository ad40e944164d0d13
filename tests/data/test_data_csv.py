"""CSV: text to types, quoting, and lines counted as an editor does."""

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from ensue.data import Columns, DataError, Events, read_events


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read_csv(text: str | bytes, schema=None, **options) -> Events:
        Path("events.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_events("events.csv", Columns(), schema or {}, **options)

    return read_csv


def bad(events: Events) -> list[str]:
    return [str(row) for row in events.bad]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("int", "12", 12),
        ("int", " -12 ", -12),
        ("int", "+12", 12),
        ("int", "007", 7),
        ("int", "12.0", 12),
        ("int", "9223372036854775807", 2**63 - 1),
        ("int", "", None),
        ("int", '""', None),
        ("int", '" "', None),
        ("float", "1", 1.0),
        ("float", " 1.5", 1.5),
        ("float", "+.5", 0.5),
        ("float", "1.", 1.0),
        ("float", "1e-3", 0.001),
        ("float", "-Infinity", float("-inf")),
        ("float", "inf", float("inf")),
        ("float", "1e999", float("inf")),
        ("string", "12", "12"),
        ("string", " a ", " a "),
        ("string", "true", "true"),
        ("string", "NULL", "NULL"),
        ("string", "", None),
        ("string", '""', ""),
        ("string", '"a ""b"", c"', 'a "b", c'),
        ("string", '"a\nb"', "a\nb"),
        ("string", '5" pipe', '5" pipe'),
        ("bool", "TRUE", True),
        ("bool", " false", False),
        ("bool", "1", True),
        ("bool", "0", False),
        ("timestamp", "2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5)),
        ("timestamp", "1000000", datetime(1970, 1, 1, 0, 0, 1)),
    ],
)
def test_declared(read, kind, text, expected):
    for malformed in ("", "b\n"):  # with one, the file is read the other way
        events = read(f"type,time,x\n{malformed}a,1,{text}\n", {"a": {"x": kind}})
        assert events.tables["a"]["x"].to_pylist() == [expected]
        assert events.bad_count == len(malformed) / 2


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("int", "abc", "not an int"),
        ("int", "1.5", "not an int"),
        ("int", "0x10", "not an int"),
        ("int", "1e3", "not an int"),
        ("int", "1_000", "not an int"),
        ("int", "9223372036854775808", "outside the 64 bits of an int"),
        ("float", "1,5", "not a float"),
        ("float", "0x1p3", "not a float"),
        ("bool", "yes", "not a bool"),
        ("timestamp", "soon", "not a timestamp"),
    ],
)
def test_bad_values(read, kind, text, reason):
    events = read(f'type,time,x\na,1,"{text}"\nb,2,"{text}"\n', {"a": {"x": kind}})
    assert bad(events) == [f"events.csv:2: attribute 'x' is '{text}', {reason}"]
    assert list(events.tables) == ["b"]


@pytest.mark.parametrize(
    ("texts", "arrow_type", "expected"),
    [
        (["1", "-2", ""], pa.int64(), [1, -2, None]),
        (["1", '""', "2"], pa.int64(), [1, None, 2]),
        (["1", "2.5"], pa.float64(), [1.0, 2.5]),
        (["1.0"], pa.float64(), [1.0]),
        (["Infinity", "2"], pa.float64(), [float("inf"), 2.0]),
        (["true", "False"], pa.bool_(), [True, False]),
        (["1", "0", "true"], pa.string(), ["1", "0", "true"]),
        (["2026-01-02", "2026-01-02T01:00:00+01:00"], pa.timestamp("us"), [datetime(2026, 1, 2)] * 2),
        (["2026-01-02", "5"], pa.string(), ["2026-01-02", "5"]),
        (["2026-02-30"], pa.string(), ["2026-02-30"]),
        (["a", '""', ""], pa.string(), ["a", "", None]),
        (['""'], pa.string(), [""]),
        (["12345678901234567890"], pa.string(), ["12345678901234567890"]),
        (["12345678901234567890", "0.5"], pa.string(), ["12345678901234567890", "0.5"]),
    ],
)
def test_undeclared(read, texts, arrow_type, expected):
    column = read("type,time,x\n" + "".join(f"a,1,{text}\n" for text in texts)).tables["a"]["x"]
    assert (column.type, column.to_pylist()) == (arrow_type, expected)


def test_a_bad_value_leaves_other_columns_as_they_are(read):
    text = 'type,time,a,b,c,d\ne,1, 7,1.50,true,x\ne,2,x,2,TRUE,y\ne,3,+9,,0,""\n'
    events = read(text, {"e": {"a": "int", "b": "float", "c": "bool", "d": "string"}}, known={"e"})
    rows = events.tables["e"].select(["a", "b", "c", "d"]).to_pylist()
    assert rows == [{"a": 7, "b": 1.5, "c": True, "d": "x"}, {"a": 9, "b": None, "c": False, "d": ""}]
    assert bad(events) == ["events.csv:3: attribute 'a' is 'x', not an int"]


def test_undeclared_types_are_inferred_each_for_itself(read):
    events = read("type,time,x,y\na,1,5,\nb,2,word,\n")
    assert events.tables["a"].to_pylist() == [{"start": 1, "end": 1, "row": 0, "x": 5}]
    assert events.tables["b"].to_pylist() == [{"start": 2, "end": 2, "row": 1, "x": "word"}]


def test_lines_are_counted_as_they_are(read):
    events = read(
        'type,time,"x\ny",note\n'  # the header takes lines 1 and 2
        'a,1,1,"one\ntwo\nthree"\n'
        "\n"
        "a,oops,1,\n"  # line 7
        "a,2,1\n"
        'a,3,1,"\n",4\n'
        "\r\n"
        'a,4,1,""\n'
        'a,x,1,"\n"\n'  # line 13
        "a,5,1,"
    )
    assert bad(events) == [
        "events.csv:7: column 'time' is 'oops', not an integer",
        "events.csv:8: has 3 fields, the header has 4",
        "events.csv:9: has 5 fields, the header has 4",
        "events.csv:13: column 'time' is 'x', not an integer",
    ]
    assert events.tables["a"]["row"].to_pylist() == [0, 4, 6]
    assert events.tables["a"].column_names[3:] == ["x\ny", "note"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_endings(read, newline):
    events = read(newline.join(["type,time", "a,1", "a,x", "a,2", ""]))
    assert events.tables["a"]["start"].to_pylist() == [1, 2]
    assert bad(events) == ["events.csv:3: column 'time' is 'x', not an integer"]


def test_a_byte_order_mark(read):
    assert read(b"\xef\xbb\xbftype,time\na,1\n").last_end == 1
    assert read(b'\xef\xbb\xbf"type","time"\na,1\n').last_end == 1


def test_spaces_in_the_header_and_around_types(read):
    assert read("time, type, x\n1, a, 5\n").tables["a"].to_pylist() == [{"start": 1, "end": 1, "row": 0, "x": 5}]


def test_missing_times_and_types(read):
    events = read('type,time\na,""\n"",2\n ,3\na,\n')
    assert bad(events) == [
        "events.csv:2: column 'time' is empty, and an event needs a time",
        "events.csv:3: column 'type' is empty, and an event needs a type",
        "events.csv:4: column 'type' is empty, and an event needs a type",
        "events.csv:5: column 'time' is empty, and an event needs a time",
    ]


def test_instants_among_intervals(read):
    events = read('type,time,start,end\na,1,,\na,2,"",""\na,,3,4\na,,5,\n')
    assert events.tables["a"]["end"].to_pylist() == [1, 2, 4]


def test_columns_without_a_name_are_no_attributes(read):
    assert read(",type,time,\n0,a,1,x\n").tables["a"].column_names == ["start", "end", "row"]


def test_two_columns_of_one_name(read):
    with pytest.raises(DataError, match=r"events.csv has more than one column 'x'; rename one of them\."):
        read("type,time,x,x\n")


def test_an_empty_file(read):
    for text in ("", "\n\n", b"\xef\xbb\xbf"):
        assert (read(text).rows, read(text).tables) == (0, {})


def test_invalid_utf8(read):
    with pytest.raises(DataError, match=r"^events.csv:3 is not UTF-8 text; save the file as UTF-8\.$"):
        read(b"type,time\na,1\n\xff,2\n")


def test_long_fields(read):
    """Longer than Arrow's block and than what Python's reader takes."""
    long = "x" * 3_000_000
    events = read(f"type,time,note\na,1,{long}\na,x,y\n")
    assert events.tables["a"]["note"].to_pylist() == [long]
    assert bad(events) == ["events.csv:3: column 'time' is 'x', not an integer"]


@pytest.mark.parametrize("rows", [10, 60_000])
@pytest.mark.parametrize(("quoted", "rest"), [('"tea', ",1"), ("tea", ',"1')])
def test_lines_lost_to_a_quote_that_is_never_closed_are_counted(read, rows, quoted, rest):
    lines = [f"a,{n},tea,1\n" if n != 5 else f"a,{n},{quoted}{rest}\n" for n in range(rows)]
    events = read("type,time,note,x\n" + "".join(lines))
    assert events.tables["a"].num_rows == 5
    assert bad(events) == [
        f"events.csv:7: has a quote that is never closed, so the {rows - 5:,} lines from there to the end of the file "
        "are lost"
    ]


def test_a_long_header(read):
    with pytest.raises(DataError, match=r"events\.csv has no header that can be read"):
        read("x" * 200_000 + ",time\n")


def test_a_header_without_a_name(read):
    with pytest.raises(DataError, match=r"events\.csv has a header in which no column has a name"):
        read('"",\n1,2\n')


def test_a_quote_that_never_closes(read):
    events = read('type,time,x\na,1,1\na,2,"abc\na,3,3\n', {"a": {"x": "int"}})
    assert events.tables["a"]["start"].to_pylist() == [1]
    assert events.bad_count == 1 and bad(events)[0].startswith("events.csv:3: ")


def test_many_blocks(read):
    """Malformed rows far into a file are placed right."""
    lines = [f"a,{number},{number}" for number in range(200_000)]
    lines[150_000] = "a,1,2,3"
    lines[199_999] = "a,?,3"
    events = read("type,time,x\n" + "\n".join(lines))
    assert [row.where for row in events.bad] == ["events.csv:150002", "events.csv:200001"]
    assert events.tables["a"]["row"].to_pylist() == [n for n in range(200_000) if n not in (150_000, 199_999)]
    assert events.tables["a"]["row"].equals(events.tables["a"]["x"])


@pytest.mark.parametrize("kind", ["int", "string"])
def test_a_quote_that_is_never_closed_is_a_bad_row(read, kind):
    schema = {"a": {"k": kind, "note": "string"}}
    events = read('type,time,k,note\na,1,1,x\na,2\na,3,1,"5 inch\na,4,1,\na,5,1,y\n', schema)
    assert bad(events) == [
        "events.csv:3: has 2 fields, the header has 4",
        "events.csv:4: has a quote that is never closed, so the 3 lines from there to the end of the file are lost",
    ]
    assert events.tables["a"].num_rows == 1
    assert bad(read('type,time,k,note\na,1,1,"x', schema)) == ["events.csv:2: has a quote that is never closed"]
    fine = read('type,time,k,note\na,1,1,5" pipe\na,2,1,"a ""b"" c"\n', schema)
    assert fine.tables["a"]["note"].to_pylist() == ['5" pipe', 'a "b" c'] and not fine.bad


@pytest.mark.parametrize("time", [str(2**63 - 1), str(2**70), f"-{2**62}"])
def test_a_time_that_is_too_far_away(read, time):
    (bad,) = read(f"type,time\na,{time}\na,1\n").bad
    assert bad.reason == f"column 'time' is '{time}', and times lie within 2,305,843,009,213,693,952 of 0"


@pytest.mark.parametrize("header", ["a,1,1", "a,1.5,1.5", "a,2026-01-01,2026-01-01"])
def test_a_first_line_of_values(read, header):
    with pytest.raises(DataError, match=r"The first line must name the columns, .* values: add such a line\.$"):
        read(f"{header}\na,2,3\n")
