"""`ensue play`: it prints an address, answers there, and ends with Ctrl+C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from ensue.cli.commands import ensue as group
from tests.play.conftest import EVENTS, RULES, text_of


def listening() -> None:
    """Listen to Ctrl+C, even if these tests run in the background, where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl+C is sent as a signal")
def test_it_serves_until_it_is_ended(tmp_path: Path) -> None:
    (tmp_path / "shop.ensue").write_text(RULES)
    (tmp_path / "events.jsonl").write_text(text_of(EVENTS))
    process = subprocess.Popen(
        [sys.executable, "-m", "ensue", "play", "shop.ensue", "events.jsonl", "--no-browser", "--param", "x=1"],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=listening,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", process.stdout.readline())
        assert found is not None
        asked = urllib.request.Request(
            f"http://127.0.0.1:{found[1]}/api/start", b"{}", {"X-Ensue-Token": found[2]}, method="POST"
        )
        with urllib.request.urlopen(asked, timeout=20) as response:
            start = json.load(response)
        assert start["rules"] == RULES and start["events"] == text_of(EVENTS)
        assert start["names"] == {"rules": "shop.ensue", "events": "events.jsonl"} and start["params"] == {"x": "1"}
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/?token=wrong", timeout=20)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()
            process.communicate()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-"], "standard input"),
        (["rules.txt"], "There is no rule file rules.txt"),
        (["new.ensue", "missing.jsonl"], "There is no file missing.jsonl"),
        (["--memory", "much"], "much"),
        (["--param", "limit"], "gives no value"),
    ],
)
def test_wrong_use_is_a_sentence(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(group, ["play", "--no-browser", *arguments])
    assert result.exit_code == 2
    assert said in result.stderr
