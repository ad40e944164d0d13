"""Files written while detections are still found: the same as those written at once, or none."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ensue.data import combined, write_early, write_events
from ensue.data import write as writing
from ensue.data.write_early import EarlyFile


def part(first: int, rows: int, more: int = 0) -> dict[str, pa.Table]:
    times = pa.array(range(first, first + rows), pa.int64())
    late = pa.table({"start": times, "end": times, "id": times})
    return {"late": late, "sold": late.slice(0, more)}


PARTS = [part(0, 3, 1), part(10, 0), part(20, 5, 5), part(30, 1), part(40, 4, 2)]
WHOLE = {name: pa.concat_tables([each[name] for each in PARTS]) for name in PARTS[0]}


def write(path: Path, parts: list[dict[str, pa.Table]], whole: dict[str, pa.Table]) -> bool:
    with EarlyFile(path, combined) as early:
        early.begin()
        for each in parts:
            early.take(each)
        early.end(whole)
        return early.finish(whole)


@pytest.mark.parametrize("rows", [1, 3, 4, 20, 100])
def test_row_groups_are_those_of_a_file_written_at_once(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "ROW_GROUP", rows)
    assert write(tmp_path / "early.parquet", PARTS, WHOLE)
    write_events(combined(WHOLE), tmp_path / "whole.parquet")
    early, whole = (pq.ParquetFile(tmp_path / f"{name}.parquet") for name in ("early", "whole"))
    assert early.read().equals(whole.read(), check_metadata=True)
    groups = [[file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)] for file in (early, whole)]
    assert groups[0] == groups[1] and set(groups[0][:-1]) <= {rows}
    assert len(list(tmp_path.iterdir())) == 2


def test_arrow(tmp_path):
    assert write(tmp_path / "early.arrow", PARTS, WHOLE)
    assert pa.ipc.open_file(tmp_path / "early.arrow").read_all().equals(combined(WHOLE))


def test_what_came_before_a_new_beginning_is_forgotten(tmp_path):
    with EarlyFile(tmp_path / "early.parquet", combined) as early:
        early.begin()
        early.take(part(7, 7))
        early.begin()
        for each in PARTS:
            early.take(each)
        early.end(WHOLE)
        assert early.finish(WHOLE)
    assert pq.read_table(tmp_path / "early.parquet").equals(combined(WHOLE))
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_file_as_it_was(error, tmp_path):
    path = tmp_path / "early.parquet"
    path.write_text("before")
    with pytest.raises(error), EarlyFile(path, combined) as early:
        early.begin()
        early.take(PARTS[0])
        raise error
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_while_the_end_is_awaited_leaves_nothing(tmp_path, monkeypatch):
    with pytest.raises(KeyboardInterrupt), EarlyFile(tmp_path / "early.parquet", combined) as early:
        early.take(PARTS[0])
        early.end(WHOLE)
        monkeypatch.setattr(write_early._Writing, "finished", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        early.finish(WHOLE)
    assert not list(tmp_path.iterdir())


def test_what_is_not_whole_gets_no_name(tmp_path):
    with EarlyFile(tmp_path / "early.parquet", combined) as early:
        early.take(PARTS[0])
        assert not early.finish(WHOLE)
        early.end(PARTS[0])
        assert not early.finish(dict(PARTS[0]))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "parts",
    [
        [PARTS[0], {name: table.drop(["id"]) for name, table in PARTS[2].items()}],
        [{**PARTS[0], "sold": pa.table({"start": [1], "end": [1], "id": ["x"]})}],
    ],
    ids=["another schema", "types that do not fit"],
)
def test_what_cannot_be_written_is_left_to_whoever_writes_it_whole(parts, tmp_path):
    assert not write(tmp_path / "early.parquet", parts, parts[-1])
    assert not list(tmp_path.iterdir())


def test_no_room_is_left_to_whoever_writes_it_whole(tmp_path):
    assert not write(tmp_path / "nowhere" / "early.parquet", PARTS, WHOLE)


def test_nothing_found_is_no_early_file(tmp_path):
    empty = {name: table.slice(0, 0) for name, table in WHOLE.items()}
    assert not write(tmp_path / "early.parquet", [empty, empty], empty)
    assert not list(tmp_path.iterdir())
