"""A key that half of all events have: its time is cut into slices where that is requested and possible."""

from random import Random

import pyarrow as pa
import pytest

import ensue
from tests.spark.detecting import as_frame, in_order

BOUNDED = """
    event a(k: int, x: int). event b(k: int, x: int).
    near(k, x, y) <- a(k, x) seq b(k, y) within 6.
    quiet(k) <- o: a(k, _), w: extend(o, 9), while w: not b(k, _).
    sums(k, s = sum(x)) <- while last 8s: collect a(k, x).
    unit s.
"""
UNBOUNDED = """
    event a(k: int, x: int). event b(k: int, x: int).
    pair(k, x, y) <- recent a(k, x) seq b(k, y).
    near(k, x) <- a(k, x) seq b(k, x) within 6.
"""


@pytest.fixture(scope="module")
def skewed():
    """A thousand events, half of them of one key."""
    random = Random(7)
    keys = [0 if random.random() < 0.5 else random.randint(1, 40) for _ in range(1000)]
    return pa.table(
        {
            "type": [random.choice("ab") for _ in keys],
            "time": [place // 2 + random.randint(0, 3) for place in range(len(keys))],
            "k": keys,
            "x": [random.randint(0, 5) for _ in keys],
        }
    )


@pytest.mark.parametrize(
    ("rules", "slices"),
    [(BOUNDED, None), (BOUNDED, 1), (BOUNDED, 7), (BOUNDED, 5000), (UNBOUNDED, None), (UNBOUNDED, 7)],
)
def test_skew(spark, skewed, rules, slices):
    program = ensue.compile(rules)
    wanted = in_order(program.detect(skewed))
    assert in_order(program.detect(as_frame(spark, skewed), slices=slices).toArrow()) == wanted
    assert len(wanted) > 300


def test_partitions_that_spark_puts_together(spark, setting, skewed):
    setting("spark.sql.adaptive.enabled", "true")
    setting("spark.sql.shuffle.partitions", "8")
    program = ensue.compile(BOUNDED)
    assert in_order(program.detect(as_frame(spark, skewed)).toArrow()) == in_order(program.detect(skewed))


def test_a_key_in_slices_is_in_several_partitions(spark, skewed):
    program = ensue.compile(BOUNDED)
    one = as_frame(spark, skewed).where("k = 0")

    def parts(found):
        return len([rows for rows in found.rdd.glom().map(len).collect() if rows])

    assert parts(program.detect(one)) == 1
    assert parts(program.detect(one, slices=7)) == 2


def test_times_that_lie_as_far_apart_as_can_be(spark):
    ends = [-(2**61), -5, 0, 2**61]
    table = pa.table({"type": ["a", "b"] * 2, "time": ends, "k": [1, 1, 1, 1], "x": [1, 2, 3, 4]})
    for rules, slices in (("near(x, y) <- a(_, x) seq b(_, y) within 100.", None), (BOUNDED, 3)):
        text = rules if rules is BOUNDED else "event a(k: int, x: int). event b(k: int, x: int). " + rules
        program = ensue.compile(text)
        wanted = in_order(program.detect(table, compiled=False))
        found = program.detect(as_frame(spark, table), slices=slices, compiled=False)
        assert in_order(found.toArrow()) == wanted
