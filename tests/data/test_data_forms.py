"""Every form of the same events gives the same Events."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from ensue.data import Columns, DataError, Events, Form, read_events

SCHEMA = {"order": {"id": "int", "product": "string", "qty": "int"}, "shipped": {"id": "int", "tracking": "string"}}

ROWS = [
    {"type": "order", "time": 3, "id": 42, "product": "muffins", "qty": 2, "tracking": None},
    {"type": "shipped", "time": 7, "id": 42, "product": None, "qty": None, "tracking": "x"},
    {"type": "order", "time": 8, "id": 43, "product": "tea", "qty": None, "tracking": None},
    {"type": "shipped", "time": 9, "id": 42, "product": None, "qty": None, "tracking": "y"},
]
TABLE = pa.Table.from_pylist(ROWS)

ORDERS = [
    {"start": 3, "end": 3, "row": 0, "id": 42, "product": "muffins", "qty": 2},
    {"start": 8, "end": 8, "row": 2, "id": 43, "product": "tea", "qty": None},
]
SHIPPED = [
    {"start": 7, "end": 7, "row": 1, "id": 42, "tracking": "x"},
    {"start": 9, "end": 9, "row": 3, "id": 42, "tracking": "y"},
]


class Stream:
    """Somebody else's table that speaks Arrow's C interface."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class Batch:
    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return TABLE.to_batches()[0].__arrow_c_array__(requested_schema)


def read(source: object) -> Events:
    return read_events(source, Columns(), SCHEMA)


def check(events: Events, form: Form) -> None:
    assert {name: table.to_pylist() for name, table in events.tables.items()} == {"order": ORDERS, "shipped": SHIPPED}
    assert events.tables["order"].schema.types == [*[pa.int64()] * 4, pa.string(), pa.int64()]
    assert (events.first_end, events.last_end) == (3, 9)
    assert (events.timestamps, events.timezone) == (False, None)
    assert (events.bad, events.bad_count) == ((), 0)
    assert events.form == form


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (lambda: TABLE, "arrow"),
        (lambda: pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]), "arrow"),
        (lambda: TABLE.combine_chunks().to_batches()[0], "arrow"),
        (lambda: TABLE.to_reader(max_chunksize=1), "arrow"),
        (lambda: Stream(TABLE), "arrow"),
        (lambda: Batch(), "arrow"),
        (lambda: TABLE.to_pandas(), "pandas"),
        (lambda: pd.DataFrame(ROWS), "pandas"),
        (lambda: pd.DataFrame(ROWS, dtype=object), "pandas"),
        (lambda: pd.DataFrame(ROWS).convert_dtypes(), "pandas"),
        (lambda: pd.DataFrame(ROWS).astype({"type": "category"}), "pandas"),
        (lambda: pd.DataFrame(ROWS).set_index("time"), "pandas"),
        (lambda: pd.DataFrame(ROWS).set_index(["time", "type"]), "pandas"),
        (lambda: pd.DataFrame(ROWS).set_index(["time", "id"], drop=False).drop(columns="time"), "pandas"),
        (lambda: pl.DataFrame(ROWS), "polars"),
        (lambda: pl.DataFrame(ROWS).lazy(), "polars"),
        (lambda: pl.DataFrame(ROWS).with_columns(pl.col("type").cast(pl.Categorical)), "polars"),
        (lambda: ROWS, "rows"),
        (lambda: tuple(ROWS), "rows"),
        (lambda: (row for row in ROWS), "rows"),
        (lambda: [{key: value for key, value in row.items() if value is not None} for row in ROWS], "rows"),
    ],
)
def test_in_memory(source, kind):
    check(read(source()), Form(kind))


def write_csv(table: pa.Table, path: Path) -> None:
    table.to_pandas().to_csv(path, index=False)


def write_indexed_csv(table: pa.Table, path: Path) -> None:
    table.to_pandas().to_csv(path)


def write_json(table: pa.Table, path: Path) -> None:
    pl.DataFrame(table).write_ndjson(path)


def write_stream(table: pa.Table, path: Path) -> None:
    with pyarrow.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def write_arrow(table: pa.Table, path: Path) -> None:
    with pyarrow.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


FILES = [
    ("events.parquet", pq.write_table),
    ("events.csv", write_csv),
    ("indexed.csv", write_indexed_csv),
    ("EVENTS.CSV", write_csv),
    ("events.jsonl", write_json),
    ("events.ndjson", write_json),
    ("events.arrow", write_arrow),
    ("events.feather", write_arrow),
    ("stream.arrow", write_stream),
]


@pytest.mark.parametrize(("name", "write"), FILES)
def test_files(tmp_path, name, write):
    write(TABLE, tmp_path / name)
    for path in (tmp_path / name, str(tmp_path / name), [tmp_path / name], iter([str(tmp_path / name)])):
        check(read(path), Form("arrow"))


@pytest.mark.parametrize(("name", "write"), FILES)
def test_several_files(tmp_path, name, write):
    suffix = Path(name).suffix
    write(TABLE.slice(0, 1), tmp_path / f"a{suffix}")
    write(TABLE.slice(1), tmp_path / f"b{suffix}")
    (tmp_path / "README.md").write_text("not events")
    (tmp_path / ".hidden.csv").write_text("not events either")
    (tmp_path / "folder.csv").mkdir()
    for source in (tmp_path, str(tmp_path / "*"), tmp_path / f"?{suffix}", [tmp_path / f"{n}{suffix}" for n in "ab"]):
        check(read(source), Form("arrow"))


def test_the_home_folder_and_relative_globs(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    pq.write_table(TABLE, tmp_path / "deep" / "er" / "events.parquet")
    for path in ("~/deep/er/events.parquet", "deep/**/*.parquet", "./deep/er/e*.parquet"):
        check(read(path), Form("arrow"))


def test_a_name_that_only_looks_like_a_glob(tmp_path):
    pq.write_table(TABLE, tmp_path / "events[1].parquet")
    check(read(tmp_path / "events[1].parquet"), Form("arrow"))


@pytest.mark.parametrize(
    ("convert", "kind"),
    [
        (lambda table: table, "arrow"),
        (lambda table: table.to_pandas(), "pandas"),
        (lambda table: pl.DataFrame(table).lazy(), "polars"),
        (lambda table: table.to_pylist(), "rows"),
        (lambda table: iter(table.to_pylist()), "rows"),
    ],
)
def test_by_type(convert, kind):
    orders = pa.table({"time": [3, 8], "id": [42, 43], "product": ["muffins", "tea"], "qty": [2, None]})
    shipped = pa.table({"time": [7, 9], "id": [42, 42], "tracking": ["x", "y"], "type": ["ignored", "too"]})
    events = read({"order": convert(orders), "shipped": convert(shipped)})
    assert events.tables["order"].drop("row").to_pylist() == pa.Table.from_pylist(ORDERS).drop("row").to_pylist()
    assert events.tables["order"]["row"].to_pylist() == [0, 1]
    assert events.tables["shipped"]["row"].to_pylist() == [2, 3]
    assert events.form == Form(kind, by_type=True)


def test_by_type_from_files_and_kinds_mixed(tmp_path):
    for index, row in enumerate(ROWS[::2]):
        pq.write_table(pa.Table.from_pylist([row]).drop("type"), tmp_path / f"order{index}.parquet")
    events = read({"order": tmp_path / "order*.parquet", "shipped": pd.DataFrame(ROWS[1::2]).drop(columns="type")})
    assert events.tables["order"]["id"].to_pylist() == [42, 43]
    assert events.tables["shipped"]["tracking"].to_pylist() == ["x", "y"]
    assert events.form == Form("arrow", by_type=True)


def test_an_undeclared_type_by_type_ignores_the_type_column():
    table = pa.table({"time": [1], "type": ["x"], "kind": ["y"], "id": [1]})
    assert read_events({"a": table}, Columns(type="kind"), {}).tables["a"].column_names == ["start", "end", "row", "id"]


@pytest.mark.parametrize(
    ("source", "form"),
    [
        ([], Form("rows")),
        (iter([]), Form("rows")),
        ({}, Form("arrow", by_type=True)),
        ({"order": []}, Form("rows", by_type=True)),
        (pa.table({}), Form("arrow")),
        (TABLE.slice(0, 0), Form("arrow")),
        (pd.DataFrame(), Form("pandas")),
        (pl.DataFrame(), Form("polars")),
    ],
)
def test_no_events(source, form):
    events = read(source)
    assert events == Events({}, False, None, None, None, (), 0, form)


def test_no_events_in_a_table_of_timestamps():
    assert read(pa.table({"type": pa.array([], "string"), "time": pa.array([], pa.timestamp("s", "UTC"))})).timestamps


def test_no_events_in_a_file(tmp_path):
    (tmp_path / "header.csv").write_text("type,time,id\n")
    (tmp_path / "no_newline.csv").write_text("type,time,id")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "blank.jsonl").write_text("\n \n")
    pq.write_table(TABLE.slice(0, 0), tmp_path / "empty.parquet")
    for path in tmp_path.iterdir():
        assert read(path) == Events({}, False, None, None, None, (), 0, Form("arrow"))


def test_a_spark_dataframe_is_refused():
    spark = type("DataFrame", (Stream,), {"__module__": "pyspark.sql.connect.dataframe"})
    with pytest.raises(DataError, match="Spark execution"):
        read(spark(TABLE))
    with pytest.raises(DataError, match="Spark execution"):
        read({"order": spark(TABLE)})


def test_many_types_and_many_rows():
    """More rows than one slice, more types than rows in some slices, types in the order of their first row."""
    count = 2**18 + 1000
    types = [f"t{number % 997}" for number in range(count - 1)] + ["last"]
    table = pa.table({"type": types, "time": range(count), "note": pa.array(["n"] * count, pa.large_string())})
    events = read_events(table, Columns(), {"t5": {"note": "string"}})
    assert list(events.tables)[:2] == ["t0", "t1"] and list(events.tables)[-1] == "last"
    assert events.tables["t5"]["row"].to_pylist() == list(range(5, count - 1, 997))
    assert events.tables["t5"]["start"].equals(events.tables["t5"]["row"])
    assert events.tables["last"].to_pylist() == [{"start": count - 1, "end": count - 1, "row": count - 1, "note": "n"}]


def test_pandas_and_polars_are_not_imported():
    code = (
        "import sys, ensue.data as d; d.read_events([], d.Columns(), {}); print({'pandas', 'polars'} & {*sys.modules})"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
