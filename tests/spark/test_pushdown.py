"""Reads of Spark: only the columns, types and events that can matter, and still everything that does."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ensue
from ensue.spark.pushdown import conditions
from tests.spark.detecting import in_order

DECLARED = "event a(k: int, x: int, y: float, s: string). event b(k: int, x: int, y: float, s: string). "


def ways(rules):
    """The conditions on events by type, written as text."""
    found = conditions(ensue.compile(DECLARED + rules).typed)
    return {
        event: {" and ".join(sorted(f"{a} {o} {v}" for a, o, v in way)) for way in each}
        for event, each in found.items()
    }


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ("c(k) <- a(k, 3, _, _) seq b(k, x, _, _).", {"a": {"x = 3"}, "b": set()}),
        ('c(k) <- a(k, x, _, s), x > 3, "p" <= s.', {"a": {"s >= p and x > 3"}}),
        ("c(k) <- o: a(k = k), b(k = k, x = x) where o.x < 2 and x != 0.", {"a": {"x < 2"}, "b": {"x != 0"}}),
        # One use of a type without a condition, and all its events can matter.
        ("c(k) <- a(k, 3, _, _).  d(k) <- a(k, _, _, _).", {"a": set()}),
        ("c(k) <- a(k, 3, _, _).  d(k) <- a(k, 4, _, _).", {"a": {"x = 3", "x = 4"}}),
        # What is absent has conditions of its own, and none of what is around it.
        ("c(k) <- o: a(k, x, _, _), w: extend(o, 5), while w: not b(k, x, _, _), x > 3.", {"a": {"x > 3"}, "b": set()}),
        ("c(k) <- o: a(k = k), w: extend(o, 5), while w: not b(k = k, x = 7).", {"a": set(), "b": {"x = 7"}}),
        # With a context `where` comes after the choice; an atom's own constant before it.
        ("c(k) <- recent a(k, x, _, _) seq b(k, 1, _, _) where x > 3.", {"a": set(), "b": {"x = 1"}}),
        ("c(n = count(x)) <- while last 3: collect a(k, x, _, _) where count(x) > 2.", {"a": set()}),
        ("c(k) <- (a(k, x, _, _) or b(k, x, _, _)) where x > 3.", {"a": set(), "b": set()}),
        ("c(k) <- a(k, x, _, _) seq b(k, z, _, _) where x > 3 or z > 3.", {"a": set(), "b": set()}),
        ("c(k) <- a(k, x, _, _) seq b(k, z, _, _) where x > z.", {"a": set(), "b": set()}),
        ("c(k) <- (a(k, x, _, _) where x > 3) seq b(k, _, _, _).", {"a": {"x > 3"}, "b": set()}),
    ],
)
def test_conditions(rules, wanted):
    assert ways(rules) == wanted


@pytest.fixture
def parquet(spark, tmp_path):
    """Events in a Parquet file, as a frame and as a table."""
    nan = float("nan")
    table = pa.table(
        {
            "type": ["a", "b", "a", "b", "other", "a", "b"],
            "time": [1, 2, 3, 4, 5, 6, 7],
            "k": [1, 1, 1, None, 1, 1, 1],
            "x": [5, 1, 2, 7, 9, None, 1],
            "y": [nan, 0.5, -0.0, 2.5, nan, None, 0.0],
            "s": ["p", "q", None, "é", "p", "p", "Z"],
            "unused": ["-"] * 7,
        }
    )
    pq.write_table(table, tmp_path / "events.parquet")
    return spark.read.parquet(str(tmp_path / "events.parquet")), table


def plan(frame, capsys):
    capsys.readouterr()
    frame.explain("formatted")
    return capsys.readouterr().out


def test_the_scan_reads_what_can_matter(parquet, capsys):
    frame, table = parquet
    program = ensue.compile(DECLARED + "c(k) <- a(k, x, _, _) seq b(k, 1, _, _) where x > 3.")
    found = program.detect(frame)
    said = plan(found, capsys)
    assert "ReadSchema: struct<type:string,time:bigint,k:bigint,x:bigint>" in said
    (pushed,) = (line for line in said.splitlines() if line.startswith("PushedFilters"))
    for part in ("EqualTo(type,a)", "GreaterThan(x,3)", "EqualTo(type,b)", "EqualTo(x,1)", "IsNotNull(time)"):
        assert part in pushed
    assert in_order(found.toArrow()) == in_order(program.detect(table)) != []


def test_until_reaches_the_scan(parquet, capsys):
    frame, table = parquet
    program = ensue.compile(DECLARED + "c(k) <- a(k, _, _, _) seq b(k, _, _, _).")
    found = program.detect(frame, until=3)
    assert "LessThanOrEqual(time,3)" in plan(found, capsys)
    assert in_order(found.toArrow()) == in_order(program.detect(table, until=3)) != []


@pytest.mark.parametrize(
    "condition",
    ["y > 0.1", "y >= -1", "y < 1", "y != 0.5", "y = 0.0", 's < "a"', 's >= "é"', 's != "p"', "x <= 2", "5 > x"],
)
def test_spark_lets_through_what_the_rules_do(parquet, condition):
    frame, table = parquet
    program = ensue.compile(DECLARED + f"c(x, y, s) <- a(_, x, y, s) where {condition}.")
    found, wanted = program.detect(frame).toArrow(), program.detect(table)
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, wanted.to_pylist()))


def test_the_end_of_time_is_that_of_all_events(parquet):
    frame, table = parquet
    rules = "late(k) <- o: a(k, 2, _, _), w: extend(o, 4), while w: not b(k, 1, _, _).  tick() <- every(2)."
    program = ensue.compile(DECLARED + rules)
    assert in_order(program.detect(frame).toArrow()) == in_order(program.detect(table)) != []
