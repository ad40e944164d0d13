"""The order of rows by their ends is NumPy's, and a table in any order gives the same detections."""

import numpy as np
import pyarrow as pa
import pytest

import ensue
from ensue.engine.reading import order_by

ENDS = {
    "shuffled": lambda rng, n: rng.permutation(n),
    "far apart": lambda rng, n: rng.integers(-(2**61), 2**61, n),
    "many the same": lambda rng, n: rng.integers(-20, 20, n),
    "one": lambda rng, n: np.full(n, -7),
    "falling": lambda rng, n: np.arange(n)[::-1].copy(),
}


@pytest.mark.parametrize("count", [1, 100, 5000])
@pytest.mark.parametrize("kind", ENDS)
def test_rows_are_sorted_as_numpy_sorts_them(kind, count):
    ends = ENDS[kind](np.random.default_rng(3), count)
    by, found = order_by(ends)
    assert np.array_equal(by, np.argsort(ends, kind="stable"))
    assert np.array_equal(found, ends[by])


def test_a_shuffled_table_gives_the_same_detections():
    rng, count = np.random.default_rng(5), 4000
    table = pa.table(
        {
            "type": pa.array(np.array(["a", "b"])[rng.integers(0, 2, count)]),
            "time": rng.integers(0, count // 2, count),
            "k": rng.integers(0, 9, count),
            "s": pa.array([f"text {k}" for k in rng.integers(0, 50, count)]),
        }
    )
    program = ensue.compile(
        "event a(k: int, s: string).\nevent b(k: int, s: string).\nw(k, s, t) <- recent a(k, s) seq b(k, t) within 9."
    )
    ordered = table.take(pa.array(np.argsort(table["time"].to_numpy(), kind="stable")))
    found = program.detect(table)
    assert len(found) > 100
    assert found.to_pylist() == program.detect(ordered).to_pylist()
    assert found.to_pylist() == program.detect(table, compiled=False).to_pylist()
