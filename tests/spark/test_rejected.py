"""Rows that cannot be used: left out, given back, or an error; never passed over."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import ensue
from ensue.data import Columns
from ensue.spark.frames import given_events
from tests.spark.detecting import as_frame, in_order

PROGRAM = ensue.compile(
    "event a(k: int, x: int) instant. event b(k: int, note: string).  ab(k) <- a(k, _) seq b(k, _) within 9.  "
    "late(k, x) <- o: a(k, x), w: extend(o, 3)."
)


def bad_rows():
    """Every second row cannot be used, each for another reason."""
    rows = [
        ("a", 1, 1, 1, 1.0),
        ("a", None, 2, 1, 1.0),
        ("b", 2, 3, 1, None),
        (None, 4, 4, 1, None),
        ("a", 5, 5, 2, None),
        ("a", 6, 4, 2, 3.0),
        ("b", 6, 7, 2, 3.5),
        ("", 9, 9, 2, 1.0),
        ("a", 8, 8, 3, 4.0),
        ("a", 8, 9, 3, 4.0),
        ("b", 9, 9, 3, None),
        ("a", 10, 10, 3, 4.5),
        ("other", 12, 12, 3, 4.5),
        ("other", None, None, 3, 4.5),
        ("a", 12, 12, 9, -0.0),
        ("a", 99, 99, 9, float("nan")),
        ("b", 100, 100, 4, None),
        ("late", 101, 101, 4, None),
    ]
    names = ("type", "start", "end", "k", "x")
    kinds = (pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.float64())
    columns = {n: pa.array([row[i] for row in rows], kinds[i]) for i, n in enumerate(names)}
    return pa.table(columns).append_column("note", pa.array(["-"] * len(rows)))


REASONS = [
    "column 'start' is empty, and an event needs a time",
    "column 'type' is empty, and an event needs a type",
    "it starts at 6, after its end at 4",
    "column 'type' is empty, and an event needs a type",
    "its type is declared as `instant`, but it starts before its end",
    "attribute 'x' is 4.5, not an int",
    "column 'start' is empty, and an event needs a time",
    "attribute 'x' is NaN, not an int",
    "rows of type late are not taken: the rules derive it; declare it with `event late(…).` to give some, too",
]


def test_bad_rows_are_left_out_and_given_back(spark):
    table = bad_rows()
    bad = []
    wanted = PROGRAM.detect(table, on_bad_row=bad.append)
    assert [row.where for row in bad] == [f"row {number}" for number in range(1, 18, 2)]
    frame = as_frame(spark, table)
    found = PROGRAM.detect(frame, rejected=True).toArrow()
    assert found.column_names == [*wanted.column_names, "rejected"]
    rejected = [row for row in found.to_pylist() if row["rejected"] is not None]
    assert all(value is None for row in rejected for name, value in row.items() if name != "rejected")
    rows = [row["rejected"] for row in rejected]
    assert [row["reason"] for row in rows] == REASONS
    given = [{n: "NaN" if v != v else v for n, v in row.items()} for row in table.to_pylist()[1::2]]
    assert [json.loads(row["row"]) for row in rows] == given
    detected = [row for row in found.to_pylist() if row.pop("rejected") is None]
    assert in_order(pa.Table.from_pylist(detected, wanted.schema)) == in_order(wanted) != []
    assert in_order(PROGRAM.detect(frame).toArrow()) == in_order(wanted)


@pytest.mark.parametrize(("row", "reason"), list(zip(range(1, 18, 2), REASONS, strict=True))[:6])
def test_strict(spark, row, reason):
    table = pa.concat_tables([bad_rows().slice(0, 1), bad_rows().slice(row, 1), bad_rows().slice(2, 1)])
    with pytest.raises(ensue.DataError):
        PROGRAM.detect(table, strict=True)
    lazily = PROGRAM.detect(as_frame(spark, table), strict=True, emit="ab")
    with pytest.raises(PySparkException) as caught:
        lazily.toArrow()
    assert f'{reason}: {{"type":' in str(caught.value)


def test_strict_with_nothing_wrong(spark):
    table = bad_rows().take(list(range(0, 18, 2)))
    wanted = PROGRAM.detect(table, strict=True)
    assert in_order(PROGRAM.detect(as_frame(spark, table), strict=True).toArrow()) == in_order(wanted) != []


def test_the_types_of_columns_rule_faults_out(spark):
    frame = spark.createDataFrame([(1, 5)], "time bigint not null, k int")
    events = ensue.compile("event a(k: int) instant.  c(k) <- a(k).").typed.events
    read = {("a", "k")}
    assert given_events({"a": frame}, Columns(), events, read=read).rejected is None
    halves = frame.withColumn("k", frame.k / 2)
    (fault,) = given_events({"a": halves}, Columns(), events, read=read).sources[0].faults
    assert "rint" in fault.right
    assert given_events({"a": halves}, Columns(), events).rejected is None  # no rule reads it


@pytest.mark.parametrize(
    ("kind", "column", "good"),
    [
        ("int", pa.array([Decimal("1.0"), Decimal("1.5"), None], pa.decimal128(25, 2)), [True, False, True]),
        ("int", pa.array([Decimal(10**19), Decimal(7)], pa.decimal128(25, 0)), [False, True]),
        ("int", pa.array([1.0, 1.5, float("inf"), 2.0**63, -(2.0**63), None]), [True, False, False, False, True, True]),
        ("int", pa.array(["1", "x", "2.5", None]), [True, False, False, True]),
        ("int", pa.array([True, None]), [False, True]),
        ("float", pa.array([Decimal("1.5"), None], pa.decimal128(5, 2)), [True, True]),
        ("float", pa.array(["NaN", "Infinity", "1.5", "1,5", None]), [True, True, True, False, True]),
        ("string", pa.array([1, None]), [True, True]),
        ("string", pa.array([1.5, None]), [False, True]),
        ("bool", pa.array([1, 2, None]), [True, False, True]),
        ("timestamp", pa.array([1.0, 1.5, None]), [True, False, True]),
        ("timestamp", pa.array([datetime(2026, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "UTC")), [True, True]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::ensue.BadRowsWarning", "ignore::ensue.EmptyAttributeWarning")
def test_values_of_another_kind(spark, kind, column, good):
    table = pa.table({"time": range(len(column)), "x": column})
    program = ensue.compile(f"event a(x: {kind}).  c(x) <- a(x).")
    wanted = [row["end"] for row in program.detect({"a": table})["c"].to_pylist()]
    assert wanted == [number for number, right in enumerate(good) if right]
    found = program.detect({"a": as_frame(spark, table)}, rejected=True).toArrow().to_pylist()
    assert sorted(row["end"] for row in found if row["rejected"] is None) == wanted
    assert len([row for row in found if row["rejected"] is not None]) == good.count(False)


def test_a_bad_value_of_an_attribute_that_no_rule_uses(spark):
    table = pa.table({"type": ["a", "a"], "time": [1, 2], "k": [1, 2], "x": [0.5, 1.0]})
    program = ensue.compile("event a(k: int, x: int).  c(k) <- a(k, _).")
    wanted = program.detect(table)
    assert program.detect(as_frame(spark, table)).toArrow().to_pylist() == wanted.to_pylist()
    assert len(wanted) == 2


def test_a_column_that_is_called_so_already(spark):
    program = ensue.compile("event a(k: int).  c(rejected = k) <- a(k).")
    with pytest.raises(ensue.DataError, match="The rules derive an attribute 'rejected'"):
        program.detect(as_frame(spark, pa.table({"type": ["a"], "time": [1], "k": [1]})), rejected=True)
