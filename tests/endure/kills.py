"""Sessions and Spark streams killed (SIGKILL) at random moments: nothing is lost, nothing is twice."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import ensue
from tests.endure import killed_session

ROOT = Path(__file__).parents[2]
SPARK_RULES = """
event a(k: int, x: int).
event b(k: int, x: int).
pair(k, x) <- a(k, x) seq b(k, _) within 40.
alone(k) <- o: a(k, _), w: extend(o, 30), while w: not b(k, _).
again(k) <- pair(k, _) seq alone(k) within 100.
"""


class KilledSessions:
    """A session killed some times in one stream. Each is a process forked from one that has all modules loaded."""

    def __init__(self, kills: int = 10) -> None:
        self.kills = kills
        self.processes = multiprocessing.get_context("forkserver")
        self.processes.set_forkserver_preload(["tests.endure.killed_session"])

    def __call__(self, random: Random) -> int:
        """Kill one session again and again; return how often it was killed while at work."""
        seed, compiled, killed = random.randrange(2**32), random.random() < 0.3, 0
        with tempfile.TemporaryDirectory(prefix="ensue-killed-") as folder:
            while killed < self.kills and not (Path(folder) / "done").exists():
                process = self._started(folder, seed, compiled)
                process.join(random.uniform(0, 0.4))
                if process.is_alive():
                    os.kill(process.pid or 0, signal.SIGKILL)
                    killed += 1
                process.join()
            if not (Path(folder) / "done").exists():
                process = self._started(folder, seed, compiled)
                process.join()
                assert process.exitcode == 0, f"it ended with {process.exitcode}"
            found = (Path(folder) / "out").read_text().splitlines()
        wanted = killed_session.uninterrupted(seed, compiled)
        assert found == wanted, f"{set(wanted) - set(found)} lost, {len(found) - len(wanted)} more than wanted"
        assert {json.loads(line)["type"] for line in wanted} >= {"pair", "alone", "busy", "seen"}
        return killed

    def _started(self, folder: str, seed: int, compiled: bool) -> Any:
        process = self.processes.Process(target=killed_session.go_on, args=(folder, seed, compiled))
        process.start()
        return process


class KilledStreams:
    """A Spark stream in a separate process, killed in the middle of micro-batches and while it starts."""

    def __init__(self, kills: int = 10, files: int = 60) -> None:
        self.kills, self.files = kills, files

    def __call__(self, random: Random) -> int:
        """Kill one stream again and again; return how often it was killed before it was done."""
        with tempfile.TemporaryDirectory(prefix="ensue-killed-") as name:
            folder = Path(name)
            (folder / "in").mkdir()
            events = self._put(folder / "in", random)
            killed, ended = 0, False
            while killed < self.kills and not ended:
                process = self._started(folder)
                ended = self._wait(folder / "checkpoint", process, random)
                killed += not ended
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if not ended:
                assert self._started(folder).wait(timeout=900) == 0, (folder / "log").read_text()[-3000:]
            found = sorted(map(_key, _written(folder / "out")))
        # What came later than it may takes no part: rows reach back by three at most, which is the lateness.
        wanted = ensue.compile(SPARK_RULES).detect(_table(events), self._end() - 4, engine="reference").to_pylist()
        assert found == sorted(map(_key, wanted)), f"{len(found)} found, {len(wanted)} wanted"
        assert {row["type"] for row in wanted} == {"pair", "alone", "again"}
        return killed

    def _end(self) -> int:
        return 100 * self.files + 1000

    def _put(self, folder: Path, random: Random) -> list[tuple[Any, ...]]:
        events: list[tuple[Any, ...]] = []
        for number in range(self.files):
            begin = number * 100
            rows = [
                (random.choice("ab"), begin + random.randint(-3, 99), random.randint(0, 9), random.randint(0, 5))
                for _ in range(40)
            ]
            events += rows
            self._file(folder, number, rows)
        self._file(folder, self.files, [("z", self._end(), 0, 0)])
        return events

    def _file(self, folder: Path, number: int, rows: list[tuple[Any, ...]]) -> None:
        path = folder / f"{number:04}.parquet"
        pq.write_table(_table(rows), path)
        os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))  # files are read in the order of their times

    def _started(self, folder: Path) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        with (folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "tests.spark.killed", str(folder)],
                env={**os.environ, "PYTHONPATH": paths}, cwd=ROOT, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def _wait(self, checkpoint: Path, process: subprocess.Popen[bytes], random: Random) -> bool:
        """Wait for a random moment: in a micro-batch, or any time after the start. True if the process ended before."""
        before, began = _largest(checkpoint / "commits"), monotonic()
        last = random.uniform(2, 20) if random.random() < 0.3 else 300
        while process.poll() is None and monotonic() - began < last:
            offsets, commits = _largest(checkpoint / "offsets"), _largest(checkpoint / "commits")
            if last == 300 and offsets > commits > before:
                sleep(random.uniform(0, 1.5))
                break
            sleep(0.02)
        assert monotonic() - began < 300, "it does not get on"
        return process.poll() is not None


def _table(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    kinds = {"type": pa.string(), "time": pa.int64(), "k": pa.int64(), "x": pa.int64()}
    return pa.table({n: pa.array(c, k) for (n, k), c in zip(kinds.items(), columns, strict=True)})


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["type"], row["start"], row["end"], row["k"], -1 if row.get("x") is None else row["x"]


def _largest(folder: Path) -> int:
    names = [int(path.name) for path in folder.glob("*") if path.name.isdigit()] if folder.is_dir() else []
    return max(names, default=-1)


def _written(out: Path) -> Iterator[dict[str, Any]]:
    """Rows of the files that Spark's log of a sink says are complete; others were left behind by a kill."""
    logs = {int(path.name.removesuffix(".compact")): path for path in (out / "_spark_metadata").glob("[0-9]*")}
    compact = max((number for number, path in logs.items() if path.suffix == ".compact"), default=-1)
    for number in sorted(number for number in logs if number >= compact):
        for line in logs[number].read_text().splitlines()[1:]:
            yield from pq.read_table(out / Path(json.loads(line)["path"]).name).to_pylist()
