"""Columns that are given other names: ones that do not exist, and names that the rules do not use."""

import json
from pathlib import Path

import pytest

import ensue

PROGRAM = ensue.compile("event a(id: int).  b(id) <- a(id).")
ROWS = [{"type": "a", "time": 1, "id": 7, "no": 8}, {"type": "a", "time": 2, "id": 9}]


def lines(path, rows):
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return Path(path)


@pytest.mark.parametrize("engine", ["embedded", "reference"])
@pytest.mark.parametrize("form", ["dicts", "lines", "json", "types"])
def test_a_column_that_no_row_has_is_refused(tmp_path, form, engine):
    events = {
        "dicts": ROWS,
        "lines": lines(tmp_path / "e.jsonl", ROWS),
        "json": lines(tmp_path / "e.json", [ROWS]),
        "types": {"a": ROWS},
    }[form]
    with pytest.raises(ensue.DataError, match=r"has no column 'nope', it has .*'id', 'no'. Did you mean 'no'?"):
        PROGRAM.detect(events, columns={"id": "nope"}, engine=engine)


@pytest.mark.parametrize("engine", ["embedded", "reference"])
def test_a_row_without_the_column_has_null(tmp_path, engine):
    options = {"columns": {"id": "no"}, "engine": engine}
    assert [row["id"] for row in PROGRAM.detect(ROWS, **options)] == [8, None]
    both = [lines(tmp_path / f"{row['time']}.jsonl", [row]) for row in ROWS]
    assert PROGRAM.detect(both, **options)["id"].to_pylist() == [8, None]
    assert PROGRAM.detect([], **options) == []


@pytest.mark.parametrize("each", [True, False])
def test_a_session_reads_null_where_the_column_is_missing(each):
    session = PROGRAM.start(columns={"id": "no"})
    rows = [*ROWS, {"type": "a", "time": 3, "id": 5}, {"type": "a", "time": "4", "no": "4"}]
    found = [found for row in rows for found in session.send(row)] if each else session.send(rows)
    assert [row["id"] for row in [*found, *session.close()]] == [8, None, None, 4]


def test_two_columns_may_change_names():
    program = ensue.compile("event a(x: int, y: int).  b(x, y) <- a(x, y).")
    rows = [{"type": "a", "time": 1, "x": 1, "y": 2}]
    (row,) = program.detect(rows, columns={"x": "y", "y": "x"})
    assert (row["x"], row["y"]) == (2, 1)
    session = program.start(columns={"x": "y", "y": "x"})
    assert [(row["x"], row["y"]) for row in session.send(rows)] == [(2, 1)]


def test_a_name_that_no_rule_uses():
    with pytest.warns(ensue.NoEffectWarning, match=r"use no attribute 'idd'.* the column 'no'. Did you mean 'id'?"):
        PROGRAM.detect(ROWS, columns={"idd": "no"})
    with pytest.warns(ensue.NoEffectWarning, match="use no attribute 'idd'"):
        PROGRAM.start(columns={"idd": "no"})


def test_parts_of_paths_and_of_times_are_used(recwarn):
    program = ensue.compile("event a(user.id: int).  b(u) <- a(user.id = u).")
    rows = [{"type": "a", "d": "2026-01-01", "t": "12:00", "who": {"id": 7}}]
    (row,) = program.detect(rows, columns={"user": "who", "Date": "d"}, time="Date+t")
    assert row["u"] == 7
    assert not recwarn.list
