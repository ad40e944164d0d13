"""A stream that is killed in the middle of micro-batches, and started again: nothing is lost, and nothing is twice."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from time import monotonic, sleep

import pyarrow as pa
import pytest

import ensue
from tests.spark.detecting import in_order
from tests.spark.killed import RULES
from tests.spark.streaming import put

ROOT = Path(__file__).parents[2]
KILLS = 2
FILES = 6
END = 2000


@pytest.mark.slow
def test_killed_again_and_again(spark, tmp_path):
    rng = Random(7)
    events = []
    for number in range(FILES):
        begin = number * 100
        rows = [
            (rng.choice("ab"), begin + rng.randint(-3, 99), rng.randint(0, 9), rng.randint(0, 5)) for _ in range(40)
        ]
        events += rows
        put(_table(rows), tmp_path / "in", number)
    put(_table([("z", END, 0, 0)]), tmp_path / "in", FILES)
    killed = 0
    while killed < KILLS:
        process = _started(tmp_path)
        try:
            ended = _in_the_middle(tmp_path / "checkpoint", process)
            assert not ended, "it was done before it could be killed often enough"
            sleep(rng.uniform(0, 1.5))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        killed += 1
    process = _started(tmp_path)
    assert process.wait(timeout=300) == 0, (tmp_path / "log").read_text()[-3000:]
    found = in_order(spark.read.parquet(str(tmp_path / "out")).toArrow())
    program = ensue.compile(RULES)
    # What came later than it may takes no part: rows reach back by three at most, which is the lateness.
    wanted = in_order(program.detect(_table(events), END - 4, engine="reference"))
    assert found == wanted
    assert {row["type"] for row in wanted} == {"pair", "alone", "again"}


def _table(rows):
    columns = list(zip(*rows, strict=True))
    kinds = {"type": pa.string(), "time": pa.int64(), "k": pa.int64(), "x": pa.int64()}
    return pa.table({n: pa.array(c, k) for (n, k), c in zip(kinds.items(), columns, strict=True)})


def _started(folder):
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.spark.killed", str(folder)],
            env={**os.environ, "PYTHONPATH": paths}, cwd=ROOT, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def _in_the_middle(checkpoint, process):
    """Waits until another micro-batch has begun and is not done; whether the process has ended before."""
    before = _largest(checkpoint / "commits")
    begun = monotonic()
    while process.poll() is None:
        offsets, commits = _largest(checkpoint / "offsets"), _largest(checkpoint / "commits")
        if offsets > commits and commits > before:
            return False
        assert monotonic() - begun < 300, "it does not get on"
        sleep(0.02)
    return True


def _largest(folder):
    names = [int(path.name) for path in folder.glob("*") if path.name.isdigit()] if folder.is_dir() else []
    return max(names, default=-1)
