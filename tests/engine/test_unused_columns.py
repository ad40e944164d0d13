"""Columns of a Parquet file that no rule uses: they are read only where they decide the order of events."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ensue
from ensue.data.columns import Columns
from ensue.engine.capacity import USUAL, using
from ensue.engine.parquet import plain_parquet

RULES = """
event a(n: int, v: int).
d(f = first(v), l = last(v)) <- while last 3: collect a(_, v).
"""


@pytest.fixture
def columns_read(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The columns of each reading of a file."""
    found: list[list[str]] = []
    read = pq.ParquetFile.read

    def noted(self: pq.ParquetFile, columns: list[str]) -> pa.Table:
        found.append(columns)
        return read(self, columns=columns)

    monkeypatch.setattr(pq.ParquetFile, "read", noted)
    return found


def file_of(folder: Path, times: list[int]) -> tuple[Path, pa.Table]:
    count = len(times)
    table = pa.table({"type": ["a"] * count, "time": times, "n": range(count, 0, -1), "v": range(count)})
    pq.write_table(table, folder / "events.parquet")
    return folder / "events.parquet", table


def test_they_are_not_read(tmp_path: Path, columns_read: list[list[str]]) -> None:
    file, table = file_of(tmp_path, [1, 2, 3, 4])
    program = ensue.compile(RULES)
    assert program.detect(file) == program.detect(table)
    assert columns_read == [["time", "v", "type"]]


def test_they_are_read_where_events_end_at_one_time(tmp_path: Path, columns_read: list[list[str]]) -> None:
    file, table = file_of(tmp_path, [1, 2, 2, 2])
    program = ensue.compile(RULES)
    found = program.detect(file)
    assert found == program.detect(table)
    assert found["l"].to_pylist()[-1] == 1  # the largest `n` comes last
    assert columns_read == [["time", "v", "type"], ["time", "n", "v", "type"]]


def test_a_time_that_is_an_attribute_is_always_read(tmp_path: Path) -> None:
    file, _ = file_of(tmp_path, [1, 2])
    program = ensue.compile("event a(n: int, v: int).\nd(v) <- a(_, v).")
    found = plain_parquet(file, Columns(time="n"), program.typed.events, {("a", "v")})
    assert found is not None
    assert found.used == ["n", "v", "type"]


def test_row_groups_are_read_by_threads(tmp_path: Path, columns_read: list[list[str]]) -> None:
    file, table = file_of(tmp_path, [1, 2, 3, 4, 5, 6, 7, 7])
    program = ensue.compile(RULES)
    wanted = program.detect(table)
    pq.write_table(table, file, row_group_size=3)
    with using(replace(USUAL, thread=4)):
        assert program.detect(file, threads=2) == wanted
    assert columns_read == []  # by row group instead
    assert program.detect(file, threads=1) == wanted
    assert columns_read == [["time", "v", "type"], ["time", "n", "v", "type"]]


@pytest.mark.parametrize(
    "body",
    [
        "q: a(x, _) where q.f > 1.",
        "a(x, _), while last 5: collect q: a(x, _), max(q.f) > 1.0.",
        "q: a(x, _), y = q.f, y > 1.0.",
    ],
)
def test_attributes_of_a_named_event_are_read(body, tmp_path):
    table = pa.table({"type": ["a"] * 3, "time": [0, 1, 2], "x": [1, 2, 3], "f": [2.25] * 3})
    pq.write_table(table, tmp_path / "a.parquet")
    program = ensue.compile(f"event a(x: int, f: float).\nd(x) <- {body}")
    assert program.detect(tmp_path / "a.parquet").to_pylist() == program.detect(table).to_pylist() != []
