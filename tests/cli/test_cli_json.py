"""`--json`: the output of commands for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command


def read(ensue: Command, *arguments: str, code: int = 0) -> Any:
    result = ensue(*arguments, "--json")
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)


def test_check(ensue: Command, folder: Path) -> None:
    (folder / "wrong.ensue").write_text("event a(x: int).\nb(y) <- a(x).\n")
    found = read(ensue, "check", "wrong.ensue", "shop.ensue", code=1)
    assert (found["files"], found["rules"]) == (2, 2)
    first = found["diagnostics"][0]
    assert (first["file"], first["line"], first["column"], first["end_column"]) == ("wrong.ensue", 2, 3, 4)
    assert (first["severity"], first["code"], first["message"]) == ("error", "E105", "the variable `y` is never bound")


def test_test(ensue: Command, folder: Path) -> None:
    (folder / "more.ensue").write_text('event a(x: int).\nb(x) <- a(x).\ntest "t" given a(1) @ 1 expect b(2) @ 1.\n')
    found = read(ensue, "test", "shop.ensue", "more.ensue", code=1)
    assert (found["passed"], found["failed"]) == (1, 1)
    assert found["tests"][1] == {
        "file": "more.ensue", "line": 3, "title": "t", "engine": "embedded", "passed": False, "error": None,
        "differences": [{"event": "b", "missing": ["b(2) @ 1"], "unexpected": ["b(1) @ 1"]}],
    }  # fmt: skip


def test_explain_and_peek(ensue: Command) -> None:
    assert [rule["event"] for rule in read(ensue, "explain", "shop.ensue")["rules"]] == ["comp", "late"]
    (found,) = read(ensue, "peek", "events.jsonl")
    assert found["rows"] == 3 and found["type"] == "type" and found["paths"] == ["events.jsonl"]
    assert {"name": "shipped", "count": 2, "attributes": {"id": "int", "tracking": "string"}} in found["events"]


def test_fmt(ensue: Command, folder: Path) -> None:
    (folder / "a.ensue").write_text("b(x)<-a(x).\n")
    found = read(ensue, "fmt", "--check", "a.ensue", code=1)
    assert found == {"written": False, "files": [{"file": "a.ensue", "changed": True}]}
    assert (folder / "a.ensue").read_text() == "b(x)<-a(x).\n"
    assert read(ensue, "fmt", "a.ensue")["written"] is True
    assert (folder / "a.ensue").read_text() == "b(x) <- a(x).\n"


@pytest.mark.parametrize("arguments", [["--diff", "shop.ensue"], ["-"]])
def test_what_fmt_cannot_say_as_json(ensue: Command, arguments: list[str]) -> None:
    result = ensue("fmt", *arguments, "--json")
    assert result.exit_code == 2 and "--json says which files changed" in result.stderr
