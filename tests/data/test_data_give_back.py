"""Detections leave in the form in which the events came, and can come in again."""

from datetime import UTC, datetime

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import ensue
from ensue.data import Columns, Form, read_events
from ensue.data.give_back import give_back as as_it_came

ATTRIBUTES = {"late": ["id", "note"], "big": ["total", "ids"], "never": ["id"]}
DETECTIONS = pa.table(
    {
        "type": ["late", "big", "late"],
        "start": [1, 2, 3],
        "end": [4, 5, 6],
        "id": [2**60 + 1, None, 7],
        "note": pa.array([None, None, None], pa.string()),
        "total": [None, 2.5, None],
        "ids": [None, [1, 2], None],
    }
)
AT = datetime(2026, 1, 2, 3, 4, 5, 250000)

SOURCES = {
    "arrow": lambda rows: pa.Table.from_pylist(rows),
    "pandas": lambda rows: pd.DataFrame(rows),
    "polars": lambda rows: pl.DataFrame(rows),
    "rows": lambda rows: rows,
}


def give_back(detections: pa.Table, form: Form, attributes: dict[str, list[str]]) -> object:
    """Of one table of all types, whose attributes are given for each."""
    own = {
        n: detections.filter(pc.equal(detections["type"], n)).select(["start", "end", *a])
        for n, a in attributes.items()
    }
    return as_it_came(own, form)


def form_of(source: object) -> Form:
    return read_events(source, Columns(), {}).form


@pytest.mark.parametrize(
    "source",
    [
        pa.table({"type": ["a"], "time": [1]}),
        pa.record_batch({"type": ["a"], "time": [1]}),
        pa.table({"type": ["a"], "time": [1]}).to_reader(),
    ],
)
def test_arrow(source):
    assert give_back(DETECTIONS, form_of(source), ATTRIBUTES).equals(DETECTIONS)


def test_paths(tmp_path):
    pq.write_table(pa.table({"type": ["a"], "time": [1]}), tmp_path / "a.parquet")
    assert give_back(DETECTIONS, form_of(tmp_path), ATTRIBUTES).equals(DETECTIONS)
    by_type = give_back(DETECTIONS, form_of({"a": tmp_path / "a.parquet"}), ATTRIBUTES)
    assert all(isinstance(table, pa.Table) for table in by_type.values())


def test_pandas():
    frame = give_back(DETECTIONS, form_of(pd.DataFrame({"type": ["a"], "time": [1]})), ATTRIBUTES)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == DETECTIONS.column_names and frame.index.tolist() == [0, 1, 2]
    assert frame["id"].tolist() == [2**60 + 1, pd.NA, 7]  # as floats they would be others
    assert frame.dtypes["start"] == "int64"


@pytest.mark.parametrize("lazy", [False, True])
def test_polars(lazy):
    source = pl.DataFrame({"type": ["a"], "time": [1]})
    frame = give_back(DETECTIONS, form_of(source.lazy() if lazy else source), ATTRIBUTES)
    assert isinstance(frame, pl.DataFrame)
    assert frame.to_dicts() == DETECTIONS.to_pylist()


def test_rows():
    assert give_back(DETECTIONS, form_of([{"type": "a", "time": 1}]), ATTRIBUTES) == [
        {"type": "late", "start": 1, "end": 4, "id": 2**60 + 1, "note": None},
        {"type": "big", "start": 2, "end": 5, "total": 2.5, "ids": [1, 2]},
        {"type": "late", "start": 3, "end": 6, "id": 7, "note": None},
    ]


@pytest.mark.parametrize("kind", SOURCES)
def test_by_type(kind):
    source = {"a": SOURCES[kind]([{"time": 1}]), "b": pa.table({"time": [1]})}
    found = give_back(DETECTIONS, form_of(source), ATTRIBUTES)
    assert list(found) == ["late", "big", "never"]
    rows = {name: [] if len(table) == 0 else rows_of(table) for name, table in found.items()}
    assert rows == {
        "late": [
            {"start": 1, "end": 4, "id": 2**60 + 1, "note": None},
            {"start": 3, "end": 6, "id": 7, "note": None},
        ],
        "big": [{"start": 2, "end": 5, "total": 2.5, "ids": [1, 2]}],
        "never": [],
    }
    if kind != "rows":
        assert list(found["never"].columns if kind != "arrow" else found["never"].column_names) == [
            "start",
            "end",
            "id",
        ]


def rows_of(table: object) -> list[dict[str, object]]:
    match table:
        case pa.Table():
            return table.to_pylist()
        case pl.DataFrame():
            return table.to_dicts()
        case list():
            return table
    rows = table.to_dict("records")
    return [
        {
            key: value.tolist() if key == "ids" else None if value is None or value != value else value
            for key, value in row.items()
        }
        for row in rows
    ]


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("by_type", [False, True])
@pytest.mark.parametrize("zone", ["integers", None, "UTC", "Europe/Berlin"])
def test_what_is_given_back_can_be_handed_in_again(kind, by_type, zone):
    detections = DETECTIONS
    if zone != "integers":
        for index, name in [(1, "start"), (2, "end")]:
            times = pa.array([AT] * 3).cast(pa.timestamp("us", zone))
            detections = detections.set_column(index, name, times)
    events = read_events(give_back(detections, Form(kind, by_type), ATTRIBUTES), Columns(), {})
    assert events.bad_count == 0
    assert events.form == Form(kind, by_type)
    assert events.timestamps == (zone != "integers")
    assert events.timezone == (None if zone == "integers" else zone)
    assert events.tables["late"]["id"].to_pylist() == [2**60 + 1, 7]
    assert events.tables["big"].drop(["start", "end", "row"]).to_pylist() == [{"total": 2.5, "ids": [1, 2]}]
    if zone == "integers":
        assert events.tables["late"]["end"].to_pylist() == [4, 6]
    else:
        assert set(events.tables["late"]["end"].to_pylist()) == {1767323045250000}


def test_truth_values_with_gaps_in_pandas():
    detections = pa.table({"type": ["a", "a"], "start": [1, 1], "end": [1, 1], "ok": [True, None]})
    frame = give_back(detections, Form("pandas"), {"a": ["ok"]})
    assert frame["ok"].dtype == "boolean"
    assert read_events(frame, Columns(), {"a": {"ok": "bool"}}).tables["a"]["ok"].to_pylist() == [True, None]


def test_timestamps_in_rows_are_datetimes():
    detections = pa.table({"type": ["a"], "start": pa.array([AT], pa.timestamp("us", "UTC")), "end": pa.array([AT])})
    [row] = give_back(detections, Form("rows"), {"a": []})
    assert row == {"type": "a", "start": AT.replace(tzinfo=UTC), "end": AT}


def test_timestamps_that_no_datetime_holds():
    far = pa.array([10**18], pa.timestamp("us"))
    [row] = give_back(pa.table({"type": ["a"], "start": far, "end": far}), Form("rows"), {"a": []})
    assert row == {"type": "a", "start": 10**18, "end": 10**18}


@pytest.mark.parametrize("kind", SOURCES)
def test_no_detections(kind):
    found = give_back(DETECTIONS.slice(0, 0), Form(kind), ATTRIBUTES)
    assert len(found) == 0
    assert read_events(found, Columns(), {}).tables == {}


def test_a_far_timestamp_is_the_same_in_every_answer():
    program = ensue.compile("event a(x: timestamp, k: int).  d(y = max(x + k), l = list(x + k)) <- a(x, k){1}.")
    row = {"type": "a", "time": AT, "x": datetime(9999, 12, 31), "k": 10**15}
    far = 253402214400 * 10**6 + 10**15
    session = program.start()
    answers = [session.send(row) + session.close(), program.detect([row]), program.detect([row], engine="reference")]
    assert [(found[0]["y"], found[0]["l"]) for found in answers] == [(far, [far])] * 3
