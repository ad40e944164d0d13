"""Programs through Spark Connect find the same as elsewhere, and use nothing that Connect lacks."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def found():
    """Detections of each program of `through_connect`, by name."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.spark.through_connect"],
        env={**os.environ, "PYTHONPATH": paths}, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith('{"name"')]
    assert run.returncode == 0, run.stderr[-3000:]
    return {line["name"]: line["found"] for line in lines}


def test_programs(found):
    """One test, so that one process starts the server."""
    _check_tables(found)
    _check_streams(found)


def _check_tables(found):
    rows = sorted(found["tables"], key=lambda row: (row["end"] or 99, row["type"] or ""))
    assert [(row["type"], row["start"], row["end"], row["x"], row["y"]) for row in rows[:-1]] == [
        ("ab", 1, 2, 5, None),
        ("ab", 3, 4, 6, None),
        ("far", 1, 4, 5, 7),
    ]
    assert rows[-1]["rejected"]["reason"] == "column 'time' is empty, and an event needs a time"
    assert json.loads(rows[-1]["rejected"]["row"]) == {"type": "a", "time": None, "k": 3, "x": 8}


def _check_streams(found):
    rows = sorted(found["streams"], key=lambda row: (row["end"], row["type"]))
    assert [(row["type"], row["start"], row["end"], row["x"], row["y"]) for row in rows] == [
        ("ab", 1, 2, 5, None),
        ("ab", 3, 4, 6, None),
        ("far", 1, 4, 5, 7),
    ]


def test_nothing_asks_for_what_connect_does_not_have():
    for path in sorted((ROOT / "src" / "ensue" / "spark").glob("*.py")):
        assert not re.search(r"\.rdd\b|_jvm|_jdf|sparkContext|_sc\b", path.read_text(encoding="utf-8")), path
