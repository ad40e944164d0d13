"""Attributes that are paths: fields of structs and objects, or columns of such names, in every form."""

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ensue

PROGRAM = ensue.compile(
    "event a(user.id: int, user.home.city: string, flat.x: int).  b(u, c, x) <- a(u, c, x).  n() <- a()."
)
ROWS = [
    {"type": "a", "time": 1, "user": {"id": 1, "home": {"city": "B"}}, "flat.x": 7},
    {"type": "a", "time": 2, "user": {"id": "2", "home": None}, "user.id": 9, "flat.x": "8"},
    {"type": "a", "time": 3, "user": None, "user.id": 3, "user.home": {"city": "C"}},
    {"type": "a", "time": 4},
    {"type": "a", "time": 5, "user": {"id": "x"}},
]
FOUND = [(1, "B", 7), (2, None, 8), (3, "C", None), (None, None, None)]


def found(source, **options):
    bad = []
    rows = PROGRAM.detect(source, emit="b", on_bad_row=bad.append, **options)
    rows = rows if isinstance(rows, list) else rows.to_pylist()
    assert len(bad) == 1 and "attribute 'user.id' is 'x', not an int" in bad[0].reason
    return [(row["u"], row["c"], row["x"]) for row in rows]


def test_dicts():
    assert found(ROWS) == FOUND
    assert found(ROWS, engine="reference") == FOUND


def test_json(tmp_path):
    for name, text in (("e.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)), ("e.json", json.dumps(ROWS))):
        (tmp_path / name).write_text(text)
        assert found(tmp_path / name) == FOUND


def test_json_that_arrow_reads(tmp_path):
    rows = [{"type": "a", "time": n, "user": {"id": n, "other": {"x": 1}}, "flat.x": n} for n in range(50)]
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    program = ensue.compile("event a(user.id: int, flat.x: int).  b(u, x) <- a(u, x).")
    assert program.detect(str(tmp_path / "e.jsonl"))["u"].to_pylist() == list(range(50))


def test_a_session():
    session = PROGRAM.start(emit="b", on_bad_row=lambda row: None)
    rows = [each for row in ROWS for each in session.send(row)] + session.close()
    assert [(row["u"], row["c"], row["x"]) for row in rows] == FOUND


USER = pa.struct([("id", pa.string()), ("home", pa.struct([("city", pa.string())]))])


def tables():
    table = pa.table(
        {
            "type": ["a"] * 5,
            "time": [1, 2, 3, 4, 5],
            "user": pa.array([{"id": "1", "home": {"city": "B"}}, {"id": "2"}, None, None, {"id": "x"}], USER),
            "user.id": pa.array([None, "9", "3", None, None]),
            "user.home": pa.array([None, None, {"city": "C"}, None, None], pa.struct([("city", pa.string())])),
            "flat.x": pa.array([7, 8, None, None, None], pa.int64()),
        }
    )
    yield table
    yield pl.from_arrow(table)
    yield pd.DataFrame(
        {name: pd.Series(table[name].to_pylist(), dtype=object) for name in table.column_names}
        | {"time": table["time"].to_pylist()}
    )


@pytest.mark.parametrize("number", range(3))
def test_tables(number, tmp_path):
    table = list(tables())[number]
    bad = []
    result = PROGRAM.detect(table, emit="b", on_bad_row=bad.append)
    rows = result.to_dict("records") if isinstance(result, pd.DataFrame) else list(pa.table(result).to_pylist())
    shown = [tuple(None if pd.isna(row[n]) else row[n] for n in "ucx") for row in rows]
    assert shown == FOUND and len(bad) == 1
    session = PROGRAM.start(emit="b", on_bad_row=lambda row: None)
    assert len(session.send(table)) + len(session.close()) == 4


def test_parquet(tmp_path):
    pq.write_table(next(tables()), tmp_path / "e.parquet")
    assert found(tmp_path / "e.parquet") == FOUND


def test_maps(tmp_path):
    tags = pa.array([[("id", 1)], [("id", 2), ("x", 3)], None], pa.map_(pa.string(), pa.int64()))
    table = pa.table({"type": ["a"] * 3, "time": [1, 2, 3], "tags": tags})
    program = ensue.compile("event a(tags.id: int).  b(t) <- a(t).")
    assert program.detect(table)["t"].to_pylist() == [1, 2, None]


def test_events_that_are_not_declared():
    program = ensue.compile("b(u) <- a(user.id = u).")
    assert [row["u"] for row in program.detect(ROWS[:1])] == [1]
    session = program.start()
    assert [row["u"] for row in session.send(ROWS[0]) + session.close()] == [1]


def test_detections_can_be_events_again(tmp_path):
    first = ensue.compile("event a(user.id: int).  b(`user.id` = u) <- a(u).")
    out = first.detect(ROWS[:1])
    assert out == [{"type": "b", "start": 1, "end": 1, "user.id": 1}]
    second = ensue.compile("event b(user.id: int).  c(u) <- b(u).")
    assert second.detect(out) == [{"type": "c", "start": 1, "end": 1, "u": 1}]


def test_renamed_columns(tmp_path):
    program = ensue.compile("event a(user: string, city: string).  b(user, city) <- a(user, city).")
    options = {"columns": {"user": "UserName", "city": "home.city", "type": "What"}}
    rows = [{"What": "a", "time": 1, "UserName": "Zoë", "home": {"city": "B"}}]
    assert [(row["user"], row["city"]) for row in program.detect(rows, **options)] == [("Zoë", "B")]
    Path(tmp_path / "e.csv").write_text("What,time,UserName,home.city\na,1,Zoë,B\n")
    assert program.detect(tmp_path / "e.csv", **options)["user"].to_pylist() == ["Zoë"]
    with pytest.raises(ensue.DataError, match=r"has no column 'UserNam'.* Did you mean 'UserName'\?"):
        program.detect(tmp_path / "e.csv", columns={"user": "UserNam", "type": "What"})
