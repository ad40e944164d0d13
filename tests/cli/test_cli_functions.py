"""`--functions FILE`: functions that rules call."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Process

RULES = """\
event order(id: int, product: string, qty: int).
large(id, d = doubled(q)) <- order(id, _, q) where doubled(q) > 3.
test "a large order"
  given order(1, "tea", 2) @ 1
  expect large(1, 4) @ 1.
"""
FUNCTIONS = """\
from math import floor
FACTOR = 2
def doubled(x: int) -> int:
    return _times(x, FACTOR)
def _times(x: int, by: int) -> int:
    return x * by
def without_annotations(x):
    return x
"""


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    (folder / "own.ensue").write_text(RULES)
    (folder / "own.py").write_text(FUNCTIONS)


def test_rules_call_the_functions_of_a_file(ensue: Command) -> None:
    found = ensue("run", "own.ensue", "events.jsonl", "--functions", "own.py")
    assert [json.loads(line) for line in found.stdout.splitlines()] == [
        {"type": "large", "start": 3, "end": 3, "id": 42, "d": 4}
    ]
    assert ensue("check", "own.ensue", "--functions", "own.py").exit_code == 0
    assert ensue("test", "own.ensue", "--engine", "all", "--functions", "own.py").stdout.endswith(
        "3 passed, 0 failed\n"
    )
    assert "computed in Python, once" in ensue("explain", "own.ensue", "--functions", "own.py").stdout


def test_without_them_the_rules_are_wrong(ensue: Command) -> None:
    found = ensue("check", "own.ensue")
    assert found.exit_code == 1
    assert "there is no function or table `doubled`" in found.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "The file of functions own.py cannot be read: No such file or directory."),
        ("def f(x: int) -> int", "The file of functions own.py cannot be run: SyntaxError"),
        ("import no_such_module", "cannot be run: ModuleNotFoundError: No module named 'no_such_module'"),
        ("def f(x: list) -> int: ...", "The parameter `x` of the function 'f' is annotated `list`"),
    ],
)
def test_a_file_that_cannot_be_used(ensue: Command, folder: Path, text: str | None, said: str) -> None:
    if text is None:
        (folder / "own.py").unlink()
    else:
        (folder / "own.py").write_text(text)
    found = ensue("run", "own.ensue", "events.jsonl", "--functions", "own.py")
    assert found.exit_code == 2
    assert said in found.stderr


def test_a_function_that_fails_is_reported_as_a_sentence(process: Process, folder: Path) -> None:
    (folder / "own.py").write_text("def doubled(x: int) -> int:\n    raise ValueError('no')\n")
    ended = process("run", "own.ensue", "events.jsonl", "--functions", "own.py")
    said = ended.stderr
    assert said.startswith("ensue: The function doubled(2) failed, and is null there: ValueError: no."), said
    assert ".py:" not in said
