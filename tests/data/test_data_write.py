"""Detections as text and files."""

import json
import math
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from ensue.data import Columns, DataError, read_events, write_events
from ensue.data.json_lines import json_lines

AT = datetime(2026, 1, 2, 3, 4, 5)
DETECTIONS = pa.table(
    {
        "type": ["late", "big"],
        "start": pa.array([AT, AT], pa.timestamp("us", "UTC")),
        "end": pa.array([AT, AT.replace(microsecond=250000)], pa.timestamp("us", "UTC")),
        "id": [2**60 + 1, None],
        "who": ['Zoë, "Z"', ""],
        "mean": [0.1, math.nan],
        "ids": [None, [1, 2]],
        "ok": [True, None],
        "since": pa.array([AT, None], pa.timestamp("us")),
    }
)
ENDINGS = ["jsonl", "ndjson", "csv", "parquet", "arrow", "feather", "JSONL"]


def test_json_lines():
    assert list(json_lines(DETECTIONS)) == [
        '{"type": "late", "start": "2026-01-02T03:04:05Z", "end": "2026-01-02T03:04:05Z", "id": 1152921504606846977, '
        '"who": "Zoë, \\"Z\\"", "mean": 0.1, "ids": null, "ok": true, "since": "2026-01-02T03:04:05"}',
        '{"type": "big", "start": "2026-01-02T03:04:05Z", "end": "2026-01-02T03:04:05.250000Z", "id": null, '
        '"who": "", "mean": "NaN", "ids": [1, 2], "ok": null, "since": null}',
    ]


def test_json_lines_with_the_attributes_of_each_type():
    found = DETECTIONS.set_column(1, "start", [[1, 2]]).set_column(2, "end", [[3, 4]])
    assert list(json_lines(found, {"late": ["id"], "big": ["ids", "id"]})) == [
        '{"type": "late", "start": 1, "end": 3, "id": 1152921504606846977}',
        '{"type": "big", "start": 2, "end": 4, "ids": [1, 2], "id": null}',
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.inf, '"Infinity"'),
        (-math.inf, '"-Infinity"'),
        ([math.nan, 1.5], '["NaN", 1.5]'),
        ({"k": [math.inf]}, '{"k": ["Infinity"]}'),
        ([AT], '["2026-01-02T03:04:05"]'),
        (date(2026, 1, 2), '"2026-01-02"'),
        (time(3, 4), '"03:04:00"'),
        (Decimal("1.50"), '"1.50"'),
        ("\u2028", '"\u2028"'),
        ("\n", '"\\n"'),
    ],
)
def test_json_values(value, text):
    [line] = json_lines(pa.table({"x": [value]}))
    assert line == f'{{"x": {text}}}'
    json.loads(line, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        (None, "2026-01-02T03:04:05"),
        ("UTC", "2026-01-02T03:04:05Z"),
        ("+00:00", "2026-01-02T03:04:05Z"),
        ("Europe/Berlin", "2026-01-02T04:04:05+01:00"),
        ("+02:00", "2026-01-02T05:04:05+02:00"),
    ],
)
@pytest.mark.parametrize(("micros", "fraction"), [(0, ""), (1, ".000001"), (250000, ".250000")])
def test_timestamps_as_text(zone, text, micros, fraction):
    column = pa.array([AT.replace(microsecond=micros), None], pa.timestamp("us", zone))
    texts = [json.loads(line)["x"] for line in json_lines(pa.table({"x": column}))]
    assert texts == [
        text.replace(":05", f":05{fraction}", 1) if zone != "+02:00" else f"2026-01-02T05:04:05{fraction}+02:00",
        None,
    ]
    events = read_events({"a": [{"time": texts[0]}]}, Columns(), {})
    assert events.last_end == 1767323045000000 + micros


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_timestamps_outside_of_iso(zone, tmp_path):
    for micros in (10**18, -(10**17), 2**62):
        far = pa.table({"x": pa.array([micros], pa.timestamp("us", zone))})
        with pytest.raises(DataError, match="outside the years 1 to 9999"):
            list(json_lines(far))
        with pytest.raises(DataError, match="outside the years 1 to 9999"):
            write_events(far, tmp_path / "far.csv")
        assert list(tmp_path.iterdir()) == []
        write_events(far, tmp_path / "far.parquet")
        (tmp_path / "far.parquet").unlink()


def test_early_years():
    column = pa.array([datetime(1, 1, 1), datetime(999, 12, 31, 23, 59, 59, 999999)])
    lines = list(json_lines(pa.table({"x": column})))
    assert lines == ['{"x": "0001-01-01T00:00:00"}', '{"x": "0999-12-31T23:59:59.999999"}']


def test_csv(tmp_path):
    write_events(DETECTIONS, tmp_path / "found.csv")
    assert (tmp_path / "found.csv").read_text(encoding="utf-8").splitlines() == [
        "type,start,end,id,who,mean,ids,ok,since",
        'late,2026-01-02T03:04:05Z,2026-01-02T03:04:05Z,1152921504606846977,"Zoë, ""Z""",0.1,,true,2026-01-02T03:04:05',
        'big,2026-01-02T03:04:05Z,2026-01-02T03:04:05.250000Z,,"",NaN,"[1, 2]",,',
    ]


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_can_be_read_again(tmp_path, ending):
    path = tmp_path / f"found.{ending}"
    write_events(DETECTIONS, str(path))
    types = {"id": "int", "who": "string", "mean": "float", "ok": "bool", "since": "timestamp"}
    events = read_events(path, Columns(), {"late": types, "big": types})
    assert (events.bad_count, events.timestamps, events.timezone) == (0, True, "UTC")
    [late], [big] = (events.tables[name].to_pylist() for name in ("late", "big"))
    assert late == {"start": 1767323045000000, "end": 1767323045000000, "row": 0, "id": 2**60 + 1, "who": 'Zoë, "Z"',
                    "mean": 0.1, "ok": True, "since": AT}  # fmt: skip
    assert math.isnan(big.pop("mean"))
    assert big == {
        "start": 1767323045000000,
        "end": 1767323045250000,
        "row": 1,
        "id": None,
        "who": "",
        "ok": None,
        "since": None,
    }


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_written_can_be_read_again(tmp_path, ending):
    path = tmp_path / f"found.{ending}"
    write_events(DETECTIONS.slice(0, 0), path)
    assert read_events(path, Columns(), {}).tables == {}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_replaced_whole(tmp_path, ending):
    path = tmp_path / f"found.{ending}"
    path.write_text("before")
    write_events(DETECTIONS, path)
    assert read_events(path, Columns(), {}).bad_count == 0
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_failure_leaves_what_was_there(tmp_path, ending, monkeypatch):
    path = tmp_path / f"found.{ending}"
    path.write_text("before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DataError, match=r"cannot be written: No space left on device"):
        write_events(DETECTIONS, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_many_rows_in_many_batches(tmp_path):
    count = 25_000
    table = pa.table({"type": ["a"] * count, "start": range(count), "end": range(count), "x": range(count)})
    for ending in ("csv", "jsonl"):
        write_events(table, tmp_path / f"found.{ending}")
        events = read_events(tmp_path / f"found.{ending}", Columns(), {})
        assert events.tables["a"]["x"].to_pylist() == list(range(count))


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(
        DataError, match=r"found\.txt does not end in \.jsonl, \.ndjson, \.csv, \.parquet, \.arrow or \.feather"
    ):
        write_events(DETECTIONS, tmp_path / "found.txt")
    with pytest.raises(DataError, match=r"There is no folder .*/no to write found\.csv to\."):
        write_events(DETECTIONS, tmp_path / "no" / "found.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv cannot be written: "):
        write_events(DETECTIONS, tmp_path / "folder.csv")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder.csv"]


def test_an_attribute_that_no_file_can_hold(tmp_path):
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    with pytest.raises(DataError, match="cannot be written"):
        write_events(pa.table({"x": union}), tmp_path / "found.parquet")
