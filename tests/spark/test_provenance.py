"""The rows that detections come from, on Spark tables; and `ensue.why`, which fetches the rows of a key."""

import pyarrow as pa
import pytest

import ensue
from tests.spark.detecting import as_frame

PROGRAM = ensue.compile(
    """
    unit s.
    event a(k: int, x: int).
    event b(k: int, x: int).
    ab(k) <- a(k, _) seq b(k, _).
    near(x) <- a(_, x) seq b(_, x) within 3.
    pair(n = count(k)) <- while last 2: collect ab(k).
    late(k) <- o: a(k, _), w: extend(o, 4), while [w]: not b(k, _).
    """
)
ROWS = [
    {"type": "a", "time": 1, "k": 1, "x": 5, "id": "r0"},
    {"type": "a", "time": 1, "k": 1, "x": 7, "id": "r1"},
    {"type": "b", "time": 3, "k": 1, "x": 5, "id": "r2"},
    {"type": "a", "time": 4, "k": 2, "x": 1, "id": "r3"},
    {"type": "b", "time": 6, "k": 2, "x": 1, "id": "r4"},
    {"type": "a", "time": 7, "k": 3, "x": 1, "id": "r5"},
    {"type": "b", "time": 13, "k": 3, "x": 2, "id": "r6"},
]
TABLE = pa.Table.from_pylist(ROWS)


def sources(rows, name=lambda number: number):
    return sorted((row["type"], row["start"], row["end"], tuple(sorted(map(name, row["sources"])))) for row in rows)


@pytest.mark.filterwarnings("ignore::ensue.OnePartitionWarning")
def test_sources_are_those_of_one_machine(spark):
    wanted = sources(PROGRAM.detect(ROWS, provenance=True), lambda number: f"r{number}")
    found = PROGRAM.detect(as_frame(spark, TABLE), provenance="id").toArrow().to_pylist()
    assert sources(found) == wanted
    assert {row["type"] for row in found} == {"ab", "near", "pair", "late"}


def test_numbers_that_spark_gives(spark):
    frame = as_frame(spark, TABLE).coalesce(1)
    found = PROGRAM.detect(frame, provenance=True, emit="ab").toArrow().to_pylist()
    assert sources(found) == sources(PROGRAM.detect(ROWS, provenance=True, emit="ab"))
    with pytest.raises(ensue.DataError, match="no numbers in common"):
        PROGRAM.detect({"a": frame, "b": frame}, provenance=True)


def test_why_fetches_the_rows_of_a_key(spark):
    frame = as_frame(spark, TABLE)
    for key in ({"k": 3}, {"k": 2}, {"k": 9}):
        here, there = (ensue.why(PROGRAM, events, type="late", **key) for events in (ROWS, frame))
        assert here.detected == there.detected
        assert str(there).replace("among the 2 a", "among the 4 a") == str(here) or key == {"k": 9}
    by_type = {name: frame.where(f"type = '{name}'").drop("type") for name in "ab"}
    (found,) = ensue.why(PROGRAM, by_type, PROGRAM.detect(ROWS, emit="ab")[0]).found
    assert found.event.text == "ab(k=1)"
