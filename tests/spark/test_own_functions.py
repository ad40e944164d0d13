"""User-defined functions on Spark: tables and streams."""

import pyarrow as pa
import pytest

import ensue
from ensue.cli.functions import functions_of
from tests.spark.detecting import as_frame, in_order
from tests.spark.streaming import all_found, put, stream_of

OFFSET = 10


def shifted(x: int) -> int:
    return x + OFFSET


RULES = """
event a(x: int, y: int). event b(x: int, y: int).
both(x, v = shifted(y)) <- a(x, y) seq b(x, _) where shifted(x) > 11.
"""


def events(*rows):
    types, times, keys = zip(*rows, strict=True)
    return pa.table({"type": types, "time": times, "x": keys, "y": keys})


GIVEN = [("a", 1, 1), ("a", 2, 2), ("b", 3, 1), ("b", 4, 2), ("a", 5, 3), ("b", 500, 3)]


def test_on_tables(spark):
    def within(x: int) -> int:
        return shifted(x)

    for function in (shifted, within):
        program = ensue.compile(RULES, functions={"shifted": function})
        given = events(*GIVEN)
        found = program.detect(as_frame(spark, given)).toArrow()
        assert in_order(found) == in_order(program.detect(given))
        assert [row["v"] for row in in_order(found)] == [12, 13]


def test_functions_of_a_file(spark, tmp_path):
    (tmp_path / "own.py").write_text("by = 10\ndef shifted(x: int) -> int:\n    return x + by\n")
    program = ensue.compile(RULES, functions=functions_of(str(tmp_path / "own.py")))
    found = program.detect(as_frame(spark, events(*GIVEN))).toArrow()
    assert [row["v"] for row in in_order(found)] == [12, 13]


def test_a_function_that_cannot_be_sent(spark):
    lock = pa.default_memory_pool()

    def held(x: int) -> int:
        return x if lock else 0

    program = ensue.compile(RULES, functions={"shifted": held})
    with pytest.raises(ensue.DataError, match="'shifted' cannot be sent to the workers of Spark: TypeError"):
        program.detect(as_frame(spark, events(*GIVEN)))


def test_on_a_stream_that_is_started_again(spark, tmp_path):
    rows = []
    for number, piece in enumerate([GIVEN[:3], [*GIVEN[3:], ("z", 10_000, 0)]]):
        put(events(*piece), tmp_path / "in", number)
        program = ensue.compile(RULES, functions={"shifted": shifted})
        stream = program.detect(stream_of(spark, tmp_path / "in"), buckets=2)
        rows += all_found(stream, tmp_path / "checkpoint")[0].to_pylist()
    assert sorted((row["x"], row["v"]) for row in rows) == [(2, 12), (3, 13)]
