"""Progress of long runs, and reports on slow rules; the tests pass their own clocks."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path
from typing import Any

import pytest

import ensue as package
from ensue.cli import progress, slow
from ensue.cli.progress import Progress, detecting
from ensue.cli.slow import Slowness
from ensue.engine import watching
from ensue.program import Program
from ensue.testing import EXECUTIONS, run_tests
from tests.cli.conftest import Command

CASES = sorted((Path(__file__).parent.parent / "cases").rglob("*.ensue"))[::6]

RULES = """\
event a(k: int, t: string).
event b(k: int, t: string).
table near(x: int, y: int).
reach(x, y) :- near(x, y).
reach(x, z) :- near(x, y), reach(y, z).
rule cross: ab(x, y) <- a(x, _) seq b(y, _).
rule text: hit(t) <- a(_, t) where lpad(t, 9) = "x".
rule path: on_way(x) <- a(x, _), reach(x, 3).
rule plain: same(k) <- a(k, _) seq b(k, _) within 10.
"""


def said(work: Any, names: tuple[str, ...], *seconds: float, on: str | None = None) -> list[str]:
    told: list[str] = []
    slowness = Slowness(package.compile(RULES), told.append)
    for each in seconds:
        slowness.spent(work, names, each, on)
    return told


def test_what_is_slow_is_said_once() -> None:
    assert said("asking", ("text",), 1.9, on="lpad(t, 9)") == []
    (sentence,) = said("asking", ("text",), 1.5, 0.6, 9.0, on="lpad(t, 9)")
    assert sentence.startswith("text (line 7): `lpad(t, 9)` is computed in Python, which has taken 2.1 s so far. ")


def test_each_cause_has_its_sentence() -> None:
    (compiled,) = said("compiling", ("cross", "text", "path", "plain"), 3.0)
    assert compiled.startswith("Compiling cross (line 6), text (line 7), path (line 8) and 1 other took 3.0 s. ")
    (static,) = said("asking", ("path",), 2.0, on="reach")
    assert static.startswith("path (line 8): static rules prove `reach`")
    (pairs,) = said("running", ("plain", "cross"), 5.0)
    assert pairs.startswith("cross (line 6) looks at very many pairs (for each b: every a), and has taken 5.0 s so far")
    assert said("running", ("plain",), 50.0) == []  # it is much data, and nothing is wrong with the rule


@pytest.fixture
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which each look takes half a second."""
    ticks = count()
    monkeypatch.setattr(progress, "Progress", lambda what: Progress(what, lambda: next(ticks) / 2))


def events(number: int) -> list[dict[str, Any]]:
    return [{"type": "ab"[t % 2], "time": t, "k": t % 7, "t": f"t{t}"} for t in range(number)]


def test_detection_tells_which_rule_asks_what(
    slow_clock: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = package.compile(RULES)
    with detecting("Detecting…", program):
        program.detect(events(60), tables={"near": [{"x": 1, "y": 2}, {"x": 2, "y": 3}]}, compiled=False)
    shown = capsys.readouterr().err
    assert shown.count("text (line 7): `lpad(t, 9)` is computed in Python") == 1
    assert shown.count("path (line 8): static rules prove `reach`") == 1
    with detecting("Detecting…", program, quiet=True):
        program.detect(events(60), tables={"near": []}, compiled=False)
    assert capsys.readouterr().err == ""


def test_run_says_it_unless_it_is_quiet(slow_clock: None, ensue: Command, folder: Path) -> None:
    (folder / "slow.ensue").write_text(
        'event order(id: int, product: string).\nh(p) <- order(_, p) where lpad(p, 9) = "x".'
    )
    lines = (f'{{"type": "order", "time": {t}, "id": {t}, "product": "{t}"}}\n' for t in range(50))
    (folder / "many.jsonl").write_text("".join(lines))
    assert "h (line 2): `lpad(p, 9)` is computed in Python" in ensue("run", "slow.ensue", "many.jsonl").stderr
    assert ensue("run", "slow.ensue", "many.jsonl", "-q").stderr == ""


class Watching(Progress):
    """Keeps all reports."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.told: list[tuple[int, int | None, int]] = []

    def count(self, done: int, total: int | None, found: int) -> None:
        self.told.append((done, total, found))


@pytest.mark.parametrize("given", ["table", "dicts"])
def test_who_watches_is_told_how_far_it_has_come(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    import pyarrow as pa

    monkeypatch.setattr(watching, "STEP", 10)
    program = package.compile(RULES)
    rows = events(35)
    source: Any = pa.Table.from_pylist(rows) if given == "table" else rows
    expected = program.detect(source, emit=["same", "hit"], tables={"near": []})
    watcher = Watching("Detecting…")
    with watching.watching(watcher):
        found = program.detect(source, emit=["same", "hit"], tables={"near": []})
    assert found == expected
    number = found.num_rows if given == "table" else len(found)
    assert [done for done, _, _ in watcher.told] == [10, 20, 30, 35]
    assert watcher.told[-1] == (35, 35, number)
    finds = [found for _, _, found in watcher.told]
    assert finds == sorted(finds)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_steps_make_no_difference(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "STEP", 2)

    def in_steps(program: Program, *asked: Any) -> Any:
        with watching.watching(Watching("")):
            return EXECUTIONS["python"](program, *asked)

    for outcome in run_tests(package.compile(path), in_steps):
        assert outcome.passed, (outcome.test.title, outcome.differences, outcome.error)


def test_a_sentence_for_each_state() -> None:
    times = chain([0.0, 0.0, 4.0, 4.0, 8.0], count(8))
    work = Progress("Reading…", lambda: next(times))
    assert work.sentence() == "Reading…"
    work.say("Detecting…")
    work.count(20_000, None, 3)
    assert work.sentence() == "Detecting… 20k events, 5,000/s, 3 found"
    work.count(30_000, 60_000, 4)
    assert work.sentence() == "Detecting… ━━━━━─────  50%  30k of 60k events, 7,500/s, 4 found, 4 s left"


def test_patience_is_that_of_people() -> None:
    assert progress.PATIENCE == 1.0 and slow.PATIENCE == 2.0
