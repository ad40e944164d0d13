"""A folder with rules and events, and two ways to call the command line: in this process, and in a new one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ensue.cli.commands import ensue as group

SHOP = """\
event order(id: int, product: string, qty: int).
event shipped(id: int, tracking: string).
unit s.

comp(id, product) <- o: order(id, product, q), s: shipped(id, t), o before s.
late(id) <- o: order(id, p, q), w: extend(o, 6h), while [w]: not shipped(id, _).

test "an order that ships is complete"
  given order(42, "muffins", 2) @ 3, shipped(42, "x") @ 7
  expect comp(42, "muffins") @ [3, 7].
"""

EVENTS = [
    {"type": "order", "time": 3, "id": 42, "product": "muffins", "qty": 2},
    {"type": "shipped", "time": 7, "id": 42, "tracking": "x"},
    {"type": "shipped", "time": 9, "id": 42, "tracking": "y"},
]

Command = Callable[..., Result]
Process = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.ensue").write_text(SHOP)
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    return tmp_path


@pytest.fixture
def ensue(folder: Path) -> Command:
    """Calls the command line in this process; a failure that it does not explain fails the test."""

    def call(*arguments: str, **settings: Any) -> Result:
        result = CliRunner().invoke(group, arguments, **settings)
        assert result.exit_code != 70, result.stderr
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return call


@pytest.fixture
def process(folder: Path) -> Process:
    """Calls the command line in a new process, and asserts that it prints no traceback."""

    def call(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ensue", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, **settings)
        assert "Traceback" not in done.stderr
        return done

    return call
