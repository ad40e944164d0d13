"""The order of rows by their ends is NumPy's, and a table in any order gives the same detections."""

import numpy as np
import pyarrow as pa
import pytest

import ensue
from ensue.engine.reading import order_by, sorted_ties
from tests.agreement import COMPILED, EXECUTIONS, check, reference

ENDS = {
    "shuffled": lambda rng, n: rng.permutation(n),
    "far apart": lambda rng, n: rng.integers(-(2**61), 2**61, n),
    "as far apart as can be": lambda rng, n: rng.choice([-(2**63), -(2**63) + 1, 0, 2**63 - 2, 2**63 - 1], n),
    "close together and far apart": lambda rng, n: rng.integers(-9, 9, n) + 2**62 * rng.integers(-1, 2, n),
    "many the same": lambda rng, n: rng.integers(-20, 20, n),
    "one": lambda rng, n: np.full(n, -7),
    "falling": lambda rng, n: np.arange(n)[::-1].copy(),
}


@pytest.mark.parametrize("count", [0, 1, 100, 5000])
@pytest.mark.parametrize("kind", ENDS)
def test_rows_are_sorted_as_numpy_sorts_them(kind, count):
    ends = ENDS[kind](np.random.default_rng(3), count)
    by, found = order_by(ends)
    assert np.array_equal(by, np.argsort(ends, kind="stable"))
    assert np.array_equal(found, ends[by])


@pytest.mark.parametrize("count", [0, 1, 7, 9, 60, 3_000])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_rows_with_equal_ends_are_sorted_by_their_other_keys(count, width):
    random = np.random.default_rng(count + width)
    for together in (1, 2, 20, 500):
        ends = np.sort(random.integers(0, 1 + count // together, count))
        keys = np.column_stack([ends, *(random.integers(-3, 3, count) for _ in range(width - 1))]).astype(np.int64)
        by, alike = sorted_ties(keys)
        wanted = np.lexsort(keys.T[::-1])
        assert by.tolist() == wanted.tolist(), "a sort that keeps the order of rows that are the same"
        assert alike[1:].tolist() == np.all(keys[wanted[1:]] == keys[wanted[:-1]], axis=1).tolist()


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


MIXED = """event a(k: int).  event i(k: int).  event h(k: int).
d(t = last(k), n = count(e)) <- a(_), while last 3: collect e: h(k).
h(k) <- i(k) where k > 5."""


@pytest.mark.parametrize("execution", [*EXECUTIONS, *COMPILED])
def test_numbers_in_a_sequence_count_among_events_that_are_also_derived(execution):
    program = ensue.compile(MIXED)
    events = [
        {"type": type_, "start": 0, "end": 0, "n": number, "k": k}
        for type_, number, k in [("a", None, 0), ("h", 2, 0), ("i", None, 9), ("h", None, 1), ("h", 1, 3), ("h", 1, 3)]
    ]
    wanted = reference(program, events)
    assert [one.attributes["t"] for one in wanted if one.type == "d"] == [0, 1, 3, 9]
    check(execution, program, events, wanted=wanted)
