"""Machine code that is called without Numba: the same answers, and Numba where it does not fit."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ensue.cache import keep, kept
from ensue.engine.compiled import kernels, native
from ensue.engine.compiled.code import KERNELS, kernel

PROGRAM = """
import sys
import pyarrow as pa
import ensue

program = ensue.compile("event a(k: int, x: float).  two(k, x, y) <- a(k, x) seq b: a(k, y) within 9.")
rows = 3000
table = pa.table({"type": ["a"] * rows, "time": range(rows), "k": [i % 7 for i in range(rows)], "x": [0.5] * rows})
found = program.detect(table, compiled=True)
assert found.equals(program.detect(table, compiled=False)), found
print("numba" in sys.modules)
"""


def run(folder):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "ENSUE_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip() == "True"


def test_a_second_process_needs_no_numba(tmp_path):
    assert run(tmp_path)
    assert not run(tmp_path)
    for path in tmp_path.glob("*.run.*.object"):
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert run(tmp_path)  # what is damaged is not used


@pytest.fixture
def rows():
    return np.arange(64, dtype=np.int64).reshape(16, 4)


def test_the_kernels_that_python_calls_are_native():
    for name in KERNELS:
        assert isinstance(kernel(name), native.Native)


def test_arrays_that_are_given_back(rows):
    for _ in range(3):
        assert np.array_equal(kernel("bigger_ring")(rows, 3, 17)[3:17], kernels.bigger_ring(rows, 3, 17)[3:17])
    heads = np.array([-1, 5, 9], np.int64)
    rows[:, 0] = -1
    mine, plain = heads.copy(), heads.copy()
    new, count = kernel("compact")(rows, mine, 0, 16)
    expected, expected_count = kernels.compact(rows, plain, 0, 16)
    assert count == expected_count == 2
    assert np.array_equal(new[:2], expected[:2])
    assert np.array_equal(mine, plain)


@pytest.mark.parametrize("times", [[], [1], [1, 2, 3], [1, 2, 2], [2, 1]])
@pytest.mark.parametrize("type_", [np.int64, np.int32, np.float64])
def test_other_types_are_left_to_numba(times, type_):
    array = np.array(times, type_)
    assert kernel("in_order")(array, array) == kernels.in_order(array, array)
    apart = np.repeat(array, 2)[::2]
    assert kernel("in_order")(apart, array) == kernels.in_order(array, array)


def test_what_is_kept_comes_back_whole_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr("ensue.cache.usual_folder", lambda: tmp_path / "new")
    assert kept("it") is None
    keep("it", b"some bytes")
    assert kept("it") == b"some bytes"
    (tmp_path / "new" / "it").write_bytes(b"other bytes")
    assert kept("it") is None
    monkeypatch.setattr("ensue.cache.usual_folder", lambda: tmp_path / "new" / "it")
    keep("it", b"some bytes")  # there is no such folder and cannot be
    assert kept("it") is None
