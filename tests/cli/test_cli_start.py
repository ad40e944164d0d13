"""Imports of a run on a few events: starting takes longer than detecting."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

RULES = "event a(k: int).  event b(k: int).  d(k) <- a(k) seq b(k) within 10.\n"

NEEDLESS = (
    "lark",
    "llvmlite",
    "pandas",
    "pyarrow.compute",
    "pyarrow.dataset",
    "rich.console",
    "concurrent.futures",
    "zoneinfo",
    "ensue.backtesting",
    "ensue.cli.demo",
    "ensue.cli.spark.stream",
    "ensue.engine.operators.choose",
    "ensue.engine.operators.window",
    "ensue.engine.provenance",
    "ensue.explain",
    "ensue.live",
    "ensue.partitioning",
    "ensue.reference",
    "ensue.spark",
)


def imported_by(folder: Path, *arguments: str) -> set[str]:
    """The modules that a command has imported when it is done."""
    code = """
import atexit, sys
from ensue.cli import main
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
main()
"""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


def test_a_run_on_a_few_events_imports_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "rules.ensue").write_text(RULES, encoding="utf-8")
    events = pa.table({"type": ["a", "b"] * 5, "time": range(10), "k": [1] * 10})
    pq.write_table(events, tmp_path / "events.parquet")
    imported = imported_by(tmp_path, "run", "rules.ensue", "events.parquet", "-o", "found.parquet")
    assert {"pyarrow.parquet", "ensue.engine.operators.join"} <= imported
    assert sorted(imported.intersection(NEEDLESS)) == []
    assert pq.read_table(tmp_path / "found.parquet").num_rows == 15


def test_a_command_does_not_import_the_others(tmp_path: Path) -> None:
    (tmp_path / "rules.ensue").write_text(RULES, encoding="utf-8")
    imported = imported_by(tmp_path, "check", "rules.ensue")
    assert {name for name in imported if name.startswith("ensue.cli.")} >= {"ensue.cli.check"}
    assert not imported & {"ensue.cli.run", "ensue.cli.demo", "ensue.cli.backtest", "ensue.engine.run"}
