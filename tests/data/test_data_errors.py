"""Inputs that make no sense are errors of a sentence or two."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from ensue.data import Columns, DataError, read_events

ENDINGS = ".parquet, .csv, .tsv, .json, .jsonl, .ndjson, .arrow or .feather, packed or not (.gz, .zst, .bz2, .xz, .lz4)"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "wrong.parquet").write_text("type,time\na,1\n" * 10)
    (tmp_path / "wrong.arrow").write_text("type,time\na,1\n" * 10)
    for ending in ("parquet", "arrow", "feather"):
        (tmp_path / f"empty.{ending}").touch()


def fails() -> object:
    yield {"type": "a", "time": 1}
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nothing.csv", "There is no file nothing.csv."),
        (Path("no/folder.csv"), "There is no file no/folder.csv."),
        (["nothing.csv"], "There is no file nothing.csv."),
        ("*.csv", "No file matches *.csv."),
        (
            "*.txt",
            f"No file that matches *.txt ends in {ENDINGS}.",
        ),
        (
            "folder",
            f"The folder folder holds no file of events ({ENDINGS}).",
        ),
        (
            "notes.txt",
            f"notes.txt does not end in {ENDINGS}, so Ensue cannot tell",
        ),
        (
            "note.txt",
            "There is no file note.txt.",
        ),
        ("", "The path is empty."),
        ("x" * 5000, "is not a path that can be read: File name too long."),
        ("**x**/*.csv", "**x**/*.csv"),
        ("a\0b.csv", "There is no file"),
        ("wrong.parquet", "wrong.parquet is not a Parquet file that can be read: "),
        ("wrong.arrow", "wrong.arrow is not an Arrow file that can be read: "),
        ("empty.parquet", "empty.parquet is empty, without even a schema."),
        ("empty.arrow", "empty.arrow is empty, without even a schema."),
        ("empty.feather", "empty.feather is empty, without even a schema."),
        (
            5,
            "The given table is 5, which cannot be read as events; pass a table (Arrow, pandas, Polars), a path",
        ),
        (None, "The given table is None, which cannot be read as events"),
        ({"type": "a", "time": 1, "x": 1}, "{'type': 'a', 'time': 1, 'x': 1} is one event, a dict; put it in a list."),
        ({"type": "a", "time": "2026-01-01"}, "is one event, a dict; put it in a list."),
        ({"type": "a", "start": 1, "end": 2}, "is one event, a dict; put it in a list."),
        ({"kind": "a.csv", "at": 1}, "'at' is 1, which cannot be read as events; pass a table"),
        ({"at": 1, "kind": "a"}, "by event type. If the dict is one event, put it in a list."),
        ({"type": "a.csv", "time": "b.csv"}, "There is no file a.csv."),
        (b"x", "The given table is b'x', which cannot be read as events"),
        (pa.Table, "which cannot be read as events"),
        ([5], "The given table is a list of 5 and the like; pass"),
        ([None], "The given table is a list of None and the like"),
        (np.zeros(3), "The given table is a ndarray of "),
        (["empty.arrow", 5], "empty.arrow is empty"),
        ([Path("folder"), 5], "The folder folder holds no file"),
        (io.StringIO("type,time"), "The given table is an open file; pass its path instead."),
        (pl.Series([1, 2]), "The given table is a polars.series.series.Series that gives no Arrow table"),
        (pl.LazyFrame({"a": [1]}).select("b"), "that gives no Arrow table"),
        ({5: []}, "Tables are passed by event type, and 5 is not the name of one."),
        ({"a": 5}, "'a' is 5, which cannot be read as events"),
        (
            {"a": {"time": [1]}},
            "'a' is a dict; a dict by event type holds a table (Arrow, pandas, Polars), a path or several",
        ),
        ([{"type": "a", "time": 1, 5: 1}], "has a key 5, and only text can be the name of an attribute."),
        ([{"type": "a", "time": 1, "\ud800": 1}], "only text can be the name of an attribute."),
    ],
)
def test_no_source(source, message):
    with pytest.raises(DataError) as error:
        read_events(source, Columns(), {})
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert isinstance(error.value, ValueError)


def test_something_else_in_a_list_of_paths():
    pq.write_table(pa.table({"type": ["a"], "time": [1]}), "good.parquet")
    with pytest.raises(DataError, match="is a list of paths, but 5 in it is not one"):
        read_events(["good.parquet", 5], Columns(), {})


def test_a_file_that_may_not_be_read(monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    Path("events.csv").write_text("type,time\n")
    with pytest.raises(DataError, match=r"events\.csv cannot be read: Permission denied"):
        read_events("events.csv", Columns(), {})


def test_damaged_files():
    table = pa.table({"type": ["a"] * 1000, "time": range(1000), "x": [str(n) for n in range(1000)]})
    pq.write_table(table, "damaged.parquet")
    with pyarrow.ipc.new_file("damaged.arrow", table.schema) as writer:
        writer.write_table(table)
    for name in ("damaged.parquet", "damaged.arrow"):
        data = bytearray(Path(name).read_bytes())
        data[400:4000] = b"\xff" * 3600
        Path(name).write_bytes(data)
        with pytest.raises(DataError, match=name):
            read_events(name, Columns(), {})


def test_text_in_parquet_that_is_not_utf8():
    text = pa.array([b"\xff"]).view(pa.string())
    pq.write_table(pa.table({"type": text, "time": [1]}), "odd.parquet")
    with pytest.raises(DataError, match=r"odd\.parquet"):
        read_events("odd.parquet", Columns(), {})


def test_an_error_of_the_callers_own_stays_theirs():
    with pytest.raises(ZeroDivisionError):
        read_events(fails(), Columns(), {})


def test_arrow_never_speaks_for_itself(monkeypatch):
    def fail(*_):
        raise pa.ArrowNotImplementedError("no kernel\nfor this")

    monkeypatch.setattr("ensue.data.normalise.split", fail)
    with pytest.raises(DataError, match=r"^The events could not be read: no kernel$"):
        read_events([{"type": "a", "time": 1}], Columns(), {})
