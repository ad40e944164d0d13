"""Static tables, as rows of Python values."""

from datetime import date, datetime

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ensue.data import DataError, read_table

TYPES = {"a": "string", "b": "int"}
ROWS = [("site3", 4), ("site4", None)]
TABLE = pa.table({"b": [4, None], "other": [1, 2], "a": ["site3", "site4"]})


@pytest.mark.parametrize(
    "source",
    [
        ROWS,
        tuple(ROWS),
        [list(row) for row in ROWS],
        TABLE,
        TABLE.to_batches()[0],
        TABLE.to_reader(),
        TABLE.to_pandas(),
        pl.DataFrame(TABLE),
        pl.DataFrame(TABLE).lazy(),
        TABLE.to_pylist(),
        iter(TABLE.to_pylist()),
    ],
)
def test_forms(source):
    assert read_table(source, TYPES, "linked") == ROWS


def test_files(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a,b\nsite3,4\nsite4,\n")
    (tmp_path / "t.jsonl").write_text('{"a": "site3", "b": 4}\n{"a": "site4"}\n')
    for ending in ("parquet", "csv", "jsonl"):
        assert read_table(tmp_path / f"t.{ending}", TYPES, "linked") == ROWS
    assert read_table([tmp_path / "t.csv", tmp_path / "t.jsonl"], TYPES, "linked") == ROWS * 2
    assert sorted(read_table(str(tmp_path / "*"), TYPES, "linked"), key=str) == sorted(ROWS * 3, key=str)


def test_a_set_of_tuples():
    assert sorted(read_table({("x", 1), ("y", 2)}, TYPES, "linked")) == [("x", 1), ("y", 2)]


def test_every_type():
    types = {"i": "int", "f": "float", "s": "string", "b": "bool", "t": "timestamp"}
    rows = [(1, 2, "x", True, date(2026, 1, 2)), (1.0, 2.5, "y", False, "2026-01-02T01:00:00+01:00")]
    midnight = datetime(2026, 1, 2)
    assert read_table(rows, types, "t") == [(1, 2.0, "x", True, midnight), (1, 2.5, "y", False, midnight)]


@pytest.mark.parametrize("source", [[], (), pa.table({}), TABLE.slice(0, 0), pd.DataFrame()])
def test_nothing(source):
    assert read_table(source, TYPES, "linked") == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([("x", 1), ("y", "z")], "table linked, row 1: attribute 'b' is 'z', not an int"),
        ([("x",)], "table linked, row 0: has 1 values, and the table has 2 columns."),
        ([{"a": "x", "b": 2.5}], "table linked, row 0: attribute 'b' is 2.5, not an int"),
        ([{"a": "x", "bb": 2}], "The table 'linked' has no column 'b', it has 'a', 'bb'. Did you mean 'bb'?"),
        ([{"a": "x", "b": 1}, 5], "table linked, row 1: is 5, not a dict"),
        ({"a": ["x"], "b": [1]}, "The table 'linked' is a dict; pass a table, a path, or a list of rows."),
        (5, "The table 'linked' is 5, which cannot be read as events"),
        ("nothing.csv", "There is no file nothing.csv."),
    ],
)
def test_errors(source, message):
    with pytest.raises(DataError) as error:
        read_table(source, TYPES, "linked")
    assert str(error.value).startswith(message)


def test_errors_in_files(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx,1\ny\nz,q\n")
    with pytest.raises(DataError, match=r"t\.csv:3: has 1 field, the header has 2"):
        read_table(tmp_path / "t.csv", TYPES, "linked")
    (tmp_path / "t.csv").write_text("a,b\nx,1\n\nz,q\n")
    with pytest.raises(DataError, match=r"t\.csv:4: attribute 'b' is 'q', not an int"):
        read_table(tmp_path / "t.csv", TYPES, "linked")


def test_timestamps_that_no_datetime_holds():
    with pytest.raises(DataError, match="outside the years 1 to 9999"):
        read_table([(10**18,)], {"t": "timestamp"}, "t")
