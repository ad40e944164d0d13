"""`ensue demo --spark`: a stream that is killed in the middle and started again, and whether anything is missing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import unquote, urlparse

import click

from ensue.cli.failures import WRONG_RULES
from ensue.cli.spark.session import check_installed

FILES = 4
"""Number of files into which the events are cut."""
BEFORE = 2
"""Number of files that have arrived before the stream is killed."""
FIRST = 1_772_500_000
"""Modification time of the first file, for Spark."""


def run_demo() -> int:
    """Runs a stream end to end in a new folder."""
    check_installed()
    from ensue import datasets

    folder = Path(tempfile.mkdtemp(prefix="ensue-demo-"))
    rules = datasets.path("orders.ensue")
    arriving = folder / "arriving"
    arriving.mkdir()
    command = [
        sys.executable, "-m", "ensue", "stream", str(rules), "--source", f"json:{arriving}",
        "--sink", f"json:{folder / 'found'}", "--checkpoint", str(folder / "state"), "--lateness", "10m",
        "--buckets", "4", "--option", "maxFilesPerTrigger=1", "--conf", "spark.sql.shuffle.partitions=1",
        "--log", str(folder / "spark.log"),
    ]  # fmt: skip
    files = list(_files(datasets.path("orders.jsonl").read_text(encoding="utf-8").splitlines()))
    try:
        click.secho(f"A stream of a shop's orders, in {folder}", bold=True)
        for number, lines in enumerate(files[:BEFORE]):
            _arrive(arriving, number, lines)
        click.echo(f"{BEFORE} files have arrived. The stream begins:")
        _killed_after_a_find(command, lambda: _arrive(arriving, BEFORE, files[BEFORE]))
        for number, lines in enumerate(files[BEFORE + 1 :], BEFORE + 1):
            _arrive(arriving, number, lines)
        click.echo(f"\nThe other {len(files) - BEFORE - 1} files arrive. The same command goes on from its checkpoint:")
        code = _finished([*command, "--trigger", "available-now"])
        return code or _compared(rules, arriving, folder / "found")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _files(lines: Sequence[str]) -> Iterator[list[str]]:
    """The events in a few files, in the order of time, and a last one with an event three days later."""
    events = sorted(lines, key=lambda line: json.loads(line)["time"])
    length = -(-len(events) // FILES)
    yield from (events[at : at + length] for at in range(0, len(events), length))
    last = datetime.fromisoformat(json.loads(events[-1])["time"]) + timedelta(days=3)
    yield [json.dumps({"type": "nothing_more", "time": last.isoformat().replace("+00:00", "Z")})]


def _arrive(folder: Path, number: int, lines: Sequence[str]) -> None:
    """Puts a file into a folder, whole. Spark takes files in the order of their times, so each has its own."""
    beside = folder.parent / f"{number}.writing"
    beside.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    os.utime(beside, (FIRST + 60 * number,) * 2)
    beside.rename(folder / f"{number}.jsonl")


def _killed_after_a_find(command: Sequence[str], meanwhile: Callable[[], None]) -> None:
    """Runs a stream until it has found something, then kills it in the middle of the next micro-batch."""
    with _started(command) as process:
        for line in _lines(process):
            if " found" in line and " 0 found" not in line:
                break
        if process.poll() is None:
            meanwhile()
            os.killpg(process.pid, signal.SIGKILL)
    click.secho("  killed: SIGKILL, in the middle of its work, Java and all workers", fg="red")


def _finished(command: Sequence[str]) -> int:
    with _started(command) as process:
        for _ in _lines(process):
            pass
    return process.returncode


def _started(command: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True)


def _lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """Lines of a stream on its micro-batches, shown as they come."""
    assert process.stderr is not None
    for line in process.stderr:
        if not line.startswith(("reading", "ensue: The rule for")):
            click.echo(f"  {line.rstrip()}")
        yield line


def _compared(rules: Path, arriving: Path, found: Path) -> int:
    """Compares the content of the sink with the detections in all files at once."""
    from ensue.data.json_lines import json_lines
    from ensue.program import compile

    program = compile(rules)
    tables, _ = program.detect_tables(str(arriving / "*.jsonl"))
    wanted = Counter(
        _event({"type": name, **json.loads(line)}) for name, table in tables.items() for line in json_lines(table)
    )
    got = Counter(
        _event(json.loads(line)) for file in committed(found) for line in file.read_text(encoding="utf-8").splitlines()
    )
    click.echo(f"\nIn the sink: {got.total()} detections. `ensue run` on all files: {wanted.total()}.")
    if got != wanted:
        click.secho(f"{(wanted - got).total()} are missing, {(got - wanted).total()} are too many.", fg="red")
        return WRONG_RULES
    click.secho("Nothing is missing, and nothing is there twice.", fg="green", bold=True)
    return 0


def _event(row: dict[str, object]) -> tuple[tuple[str, str], ...]:
    """An event as it compares: times of one moment may be written in two ways."""
    values = ((name, _moment(value) if name in ("start", "end") else repr(value)) for name, value in row.items())
    return tuple(sorted(values))


def _moment(value: object) -> str:
    return datetime.fromisoformat(str(value)).isoformat()


def committed(folder: Path) -> list[Path]:
    """The files of a sink that belong to complete micro-batches, by Spark's log."""
    paths = set()
    for log in (folder / "_spark_metadata").iterdir():
        if log.name.startswith("."):
            continue
        for line in log.read_text(encoding="utf-8").splitlines()[1:]:
            paths.add(unquote(urlparse(json.loads(line)["path"]).path))
    return sorted(map(Path, paths))
