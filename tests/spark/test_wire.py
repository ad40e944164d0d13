"""Events on their way between Spark and the engine."""

import pyarrow as pa

from ensue.spark import wire
from ensue.spark.wire import Column, Wire, together, with_types


def batches(*sizes):
    return [pa.record_batch({"x": pa.array(range(size), pa.int64())}) for size in sizes]


def test_batches_are_put_together_until_they_are_enough():
    assert [table.num_rows for table in together(batches(2, 0, 1, 4, 1), 3)] == [3, 4, 1]


def test_large_rows_are_enough_sooner(monkeypatch):
    monkeypatch.setattr(wire, "LARGE", 16)
    assert [table.num_rows for table in together(batches(1, 1, 1, 5), 1000)] == [2, 6]


def test_numbers_stand_for_types():
    rows = pa.table({"type": pa.chunked_array([[1, 0], [1]], pa.int32()), "time": [1, 2, 3], "c0": [7, 8, 9]})
    found = with_types(rows, ("order", "shipped"))
    assert found.column("type").to_pylist() == ["shipped", "order", "shipped"]
    columns = (Column("c0", "id", "bigint", ("order",)), Column("c0", "id", "bigint", ("shipped",)))
    by_type = Wire(columns, instants=True, sequence=False).by_type(found)
    assert {name: table.to_pydict() for name, table in by_type.items()} == {
        "shipped": {"time": [1, 3], "id": [7, 9]},
        "order": {"time": [2], "id": [8]},
    }
