"""Types of events that are numbers in a Parquet file: read as numbers, with the same detections as from a table."""

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ensue
from ensue.data.write import write_events
from ensue.engine.parquet import PlainParquet

RULES = "event a(k: int).  event b(k: int).  d(k) <- a(k) seq b(k) within 10."

TYPES: dict[str, list[str | None]] = {
    "one row group": ["a", "b"] * 30,
    "other types later": ["a"] * 20 + ["b"] * 20 + ["c", "a"] * 10,
    "none that is used": ["x", "y"] * 30,
    "some without a type": ["a", None, "b"] * 20,
    "some that rules derive": ["a", "d", "b"] * 20,
}


def detected(events: Any) -> Any:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = ensue.compile(RULES).detect(events)
    table = found if isinstance(found, pa.Table) else pa.Table.from_pylist(found)
    return table.to_pylist(), [str(each.message) for each in said]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("numbered", [True, False, ["k"]])
def test_a_file_says_what_a_table_says(tmp_path: Path, name: str, numbered: Any) -> None:
    types = TYPES[name]
    table = pa.table({"type": pa.array(types, pa.string()), "time": range(len(types)), "k": [1, 2] * (len(types) // 2)})
    path = tmp_path / "events.parquet"
    pq.write_table(table, path, row_group_size=20, use_dictionary=numbered)
    found, said = detected(table)
    found_in_file, said_of_file = detected(path)
    assert found_in_file == found
    assert len(said_of_file) == len(said)


def test_types_are_read_as_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[pa.Table] = []
    reading = PlainParquet.read
    monkeypatch.setattr(PlainParquet, "read", lambda self, **how: read.append(reading(self, **how)) or read[-1])
    table = pa.table({"type": ["a", "b"] * 30, "time": range(60), "k": [1, 1] * 30})
    for numbered, expected in ((True, pa.dictionary(pa.int32(), pa.string())), (False, pa.string())):
        pq.write_table(table, tmp_path / "events.parquet", use_dictionary=numbered)
        assert len(detected(tmp_path / "events.parquet")[0]) == 140
        assert read.pop().schema.field("type").type == expected


def test_detections_are_written_with_a_dictionary_of_all_but_times(tmp_path: Path) -> None:
    rows = [{"type": "d", "start": i, "end": i, "k": 1, "tags": ["x"], "of": {"u": "y"}} for i in range(9)]
    write_events(pa.Table.from_pylist(rows), tmp_path / "found.parquet")
    group = pq.read_metadata(tmp_path / "found.parquet").row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    plain = [column.path_in_schema for column in columns if not column.has_dictionary_page]
    assert plain == ["start", "end"]
    assert pq.read_table(tmp_path / "found.parquet").to_pylist() == rows


def test_times_are_written_as_differences(tmp_path: Path) -> None:
    times = pa.array(range(10_000), pa.timestamp("us", "UTC"))
    path = tmp_path / "found.parquet"
    write_events(pa.table({"type": ["a"] * 10_000, "start": times, "end": times, "k": range(10_000)}), path)
    group = pq.read_metadata(path).row_group(0)
    encodings = {group.column(n).path_in_schema: group.column(n).encodings for n in range(4)}
    assert all("DELTA_BINARY_PACKED" in encodings[name] for name in ("start", "end"))
    assert "RLE_DICTIONARY" in encodings["k"]
    assert pq.read_table(path).column("end").to_pylist() == times.to_pylist()


@pytest.mark.parametrize(("codes", "texts"), [([0, 2], ["a"]), ([0, 0], []), ([0, -1], ["a"]), ([None, 0], [])])
def test_a_code_that_is_in_no_dictionary_is_a_damaged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: list[int | None], texts: list[str]
) -> None:
    dictionary = pa.array(texts, pa.string())
    broken = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), dictionary, safe=False)
    pq.write_table(pa.table({"type": ["a", "a"], "time": [1, 2], "k": [1, 1]}), tmp_path / "events.parquet")
    program = ensue.compile("event a(k: int). seen(k) <- a(k).")
    monkeypatch.setattr(
        pq.ParquetFile, "read", lambda self, **how: pa.table({"type": broken, "time": [1, 2], "k": [1, 1]})
    )
    with pytest.raises(ensue.DataError, match="a code that is not in its dictionary"):
        program.detect(tmp_path / "events.parquet")
