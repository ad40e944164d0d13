"""Random values: every form of the same events gives the same Events, and written values come back."""

import json
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from ensue.data import Columns, Events, Form, combined, read_events, write_events
from ensue.data.convert import convert, ints_of_text
from ensue.data.give_back import give_back, in_kind
from ensue.data.iso import micros_of_column, micros_of_text
from ensue.data.json_lines import json_lines
from ensue.data.python_values import as_int_text

INT64 = st.integers(-(2**63), 2**63 - 1)
MOMENTS = st.datetimes()
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = {
    "i": ("int", INT64, pa.int64()),
    "f": ("float", st.floats(allow_nan=False), pa.float64()),
    "s": ("string", TEXT, pa.string()),
    "b": ("bool", st.booleans(), pa.bool_()),
    "t": ("timestamp", MOMENTS, pa.timestamp("us")),
}
ATTRIBUTES = {name: kind for name, (kind, _, _) in VALUES.items()}
SCHEMA = {"a": ATTRIBUTES, "b": {"i": "int", "s": "string"}}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Events in a table: integers or timestamps as times, types of which some are undeclared."""
    count = draw(st.integers(0, 8))

    def column(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=count, max_size=count))

    if draw(st.booleans()):
        time_type = pa.timestamp("us", draw(st.sampled_from([None, "UTC"])))
        starts = column(st.datetimes(max_value=datetime(9000, 1, 1)))
        ends = [start + timedelta(microseconds=draw(st.integers(0, 10**12))) for start in starts]
    else:
        time_type = pa.int64()
        starts = column(st.integers(-(2**60), 2**60))
        ends = [start + draw(st.integers(0, 2**60)) for start in starts]
    data = {"type": pa.array(column(st.sampled_from("ab")), pa.string())}
    data |= {"start": pa.array(starts, time_type), "end": pa.array(ends, time_type)}
    for name, (_, values, arrow_type) in VALUES.items():
        data[name] = pa.array(column(st.none() | values), arrow_type)
    return pa.table(data)


def forms(table: pa.Table, folder: Path) -> dict[str, object]:
    for ending in ("csv", "jsonl", "parquet", "arrow"):
        write_events(table, folder / f"events.{ending}")
    by_type = {name: table.filter(pa.compute.equal(table["type"], name)).drop("type") for name in ("a", "b")}
    return {
        "arrow": table,
        "chunks": pa.concat_tables([table.slice(0, 1), table.slice(1)]),
        "pandas": in_kind(table, "pandas"),
        "polars": pl.DataFrame(table),
        "lazy": pl.DataFrame(table).lazy(),
        "rows": table.to_pylist(),
        "csv": folder / "events.csv",
        "jsonl": folder / "events.jsonl",
        "parquet": str(folder / "events.parquet"),
        "ipc": [folder / "events.arrow"],
        "by type": by_type,
        "lists by type": {name: own.to_pylist() for name, own in by_type.items()},
    }


def check_same(expected: Events, events: Events, form: str) -> None:
    assert events.bad == ()
    assert events.first_end == expected.first_end and events.last_end == expected.last_end
    assert set(events.tables) == set(expected.tables)
    for name, table in events.tables.items():
        if "by type" in form:  # the rows are then counted in another order
            assert table.drop("row").equals(expected.tables[name].drop("row")), form
        else:
            assert table.equals(expected.tables[name]), form
    if events.tables:
        assert (events.timestamps, events.timezone) == (expected.timestamps, expected.timezone), form


@settings(deadline=None, max_examples=150)
@given(tables())
def test_every_form_gives_the_same_events(table):
    with tempfile.TemporaryDirectory() as folder:
        expected = read_events(table, Columns(), SCHEMA)
        assert sum(own.num_rows for own in expected.tables.values()) == table.num_rows
        for form, source in forms(table, Path(folder)).items():
            check_same(expected, read_events(source, Columns(), SCHEMA), form)


@settings(deadline=None, max_examples=100)
@given(tables(), st.sampled_from(["arrow", "pandas", "polars", "rows"]), st.booleans())
def test_what_is_given_back_is_the_same_again(table, kind, by_type):
    table = table.sort_by([("end", "ascending"), ("start", "ascending"), ("type", "ascending")])
    own = {n: table.filter(pc.equal(table["type"], n)).select(["start", "end", *ATTRIBUTES]) for n in ("a", "b")}
    expected = read_events(combined(own), Columns(), {"a": ATTRIBUTES, "b": ATTRIBUTES})
    given_back = give_back(own, Form(kind, by_type))
    events = read_events(given_back, Columns(), {"a": ATTRIBUTES, "b": ATTRIBUTES})
    check_same(expected, events, "by type" if by_type else kind)


@settings(deadline=None, max_examples=100)
@given(tables())
def test_undeclared_types_of_rows_and_of_json_lines_agree(table):
    """Timestamps are left out: JSON has strings, integers, truth values and floats."""
    table = table.drop("t")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        path.write_text("".join(f"{line}\n" for line in json_lines(table)), encoding="utf-8")
        rows = [json.loads(line) for line in json_lines(table)]
        expected, events = read_events(rows, Columns(), {}), read_events(path, Columns(), {})
        assert set(events.tables) == set(expected.tables)
        for name, own in events.tables.items():
            assert own.equals(expected.tables[name])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.datetimes().map(datetime.isoformat),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
ANY_ROW = st.fixed_dictionaries(
    {},
    optional={"type": st.sampled_from("abc") | JSON, "time": st.integers(0, 9) | JSON, "i": JSON, "f": JSON, "s": JSON},
)


@settings(deadline=None, max_examples=300)
@given(st.lists(ANY_ROW | JSON, max_size=6))
def test_any_json_is_read_as_the_same_rows_are(rows):
    """At once or line by line, from the file or from memory: the same good rows, and as many bad ones."""
    rows = [{"type": "b", "time": 0}, *rows]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        expected, events = read_events(rows, Columns(), SCHEMA), read_events(path, Columns(), SCHEMA)
        assert (events.bad_count, events.last_end) == (expected.bad_count, expected.last_end)
        assert events.bad_count + sum(own.num_rows for own in events.tables.values()) == len(rows)
        for name, own in events.tables.items():
            assert str(own.to_pylist()) == str(expected.tables[name].to_pylist())  # NaN is not itself


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.lists(st.sampled_from(["a", "1", "", '"', '"x\ny"', "\n", ",", " ", "é"]), max_size=4).map("".join),
        max_size=6,
    )
)
def test_any_csv_is_read_and_every_row_accounted_for(lines):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.csv"
        path.write_text("\n".join(["type,time,x", *lines]), encoding="utf-8")
        events = read_events(path, Columns(), {"a": {"x": "int"}})
        rows = sorted(row for own in events.tables.values() for row in own["row"].to_pylist())
        assert len(set(rows)) == len(rows)
        assert len(events.bad) == events.bad_count
        assert all(row < len(rows) + events.bad_count for row in rows)


TIME_TEXT = st.from_regex(
    r"\A[0-2][0-9]{3}-[01][0-9]-[0-3][0-9]"
    r"([T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,9})?)?(Z|[+-][0-2][0-9](:?[0-6][0-9])?)?)?\Z"
)


@settings(deadline=None, max_examples=300)
@given(st.lists(TIME_TEXT | TEXT, min_size=1, max_size=5))
def test_a_column_of_iso_texts_is_read_as_one_text_is(texts):
    alone = [micros_of_column(pa.chunked_array([[text]])).to_pylist()[0] for text in texts]
    assert alone == [micros_of_text(text) for text in texts]
    assert micros_of_column(pa.chunked_array([texts])).to_pylist() == alone


@settings(deadline=None, max_examples=300)
@given(st.lists(st.from_regex(r"\A\s?[+-]?[0-9]{0,22}(\.0{0,2})?\Z") | TEXT, min_size=1, max_size=5))
def test_a_column_of_integer_texts_is_read_as_one_text_is(texts):
    assert ints_of_text(pa.chunked_array([texts])).to_pylist() == [as_int_text(text) for text in texts]


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.none() | st.integers(-(2**63), 2**64 - 1) | st.floats(), min_size=1, max_size=5),
    st.sampled_from(["int", "float"]),
)
def test_numbers_in_a_column_are_read_as_one_by_one(values, kind):
    together = convert(values, kind, text=False).to_pylist()
    alone = [value for number in values for value in convert(_column(number), kind, text=False).to_pylist()]
    assert str(together) == str(alone)


def _column(number: object) -> pa.ChunkedArray:
    wide = isinstance(number, int) and number >= 2**63
    return pa.chunked_array([pa.array([number], pa.uint64() if wide else None)])


def test_parquet_written_by_others_is_read(tmp_path):
    """With types that no table of ours has."""
    table = pa.table(
        {"type": pa.array(["a"]).dictionary_encode(), "time": pa.array([1], pa.uint8()), "i": pa.array([1], pa.int8())}
    )
    pq.write_table(table, tmp_path / "events.parquet")
    assert read_events(tmp_path, Columns(), SCHEMA).tables["a"]["i"].to_pylist() == [1]
