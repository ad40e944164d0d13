"""Golden files of every message of the checker: its text, and the positions of its carets.

`tests/messages/<code>_<what>.ensue` is a small rule file with that one mistake (`many_<what>` has several), and
`<code>_<what>.txt` beside it is everything that is printed for it. After a change of a message,
`ENSUE_UPDATE_GOLDEN=1 pytest tests/language/test_messages.py` rewrites the golden files; read the difference.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType

import pytest

import ensue
from ensue.language.build import Rejected
from ensue.language.diagnostics import Diagnostic, Report

ROOT = Path(__file__).parents[2]
MESSAGES = ROOT / "tests" / "messages"
DOCUMENT = ROOT / "docs" / "messages.md"
PACKAGE = Path(ensue.__path__[0])
SOURCES = [path for folder in ("language", "temporal", "plan") for path in (PACKAGE / folder).rglob("*.py")]
"""The folders that make messages of rules."""

FILES = {path.stem: path for path in sorted(MESSAGES.glob("*.ensue"))}


def distance(x: float, y: float) -> float:
    """How far two numbers are apart."""
    return abs(x - y)


FUNCTIONS = {"distance": distance}
"""Functions that rule files can call."""

UPDATE = os.environ.get("ENSUE_UPDATE_GOLDEN") == "1"


@cache
def found_in(name: str) -> tuple[Diagnostic, ...]:
    return ensue.check_rules(FILES[name], FILES[name].name, functions=FUNCTIONS)


@pytest.mark.parametrize("name", FILES)
def test_message_is_as_in_the_golden_file(name: str) -> None:
    golden = MESSAGES / f"{name}.txt"
    found = "\n\n".join(map(str, found_in(name))) + "\n"
    if UPDATE:
        golden.write_text(found, encoding="utf-8", newline="\n")
    assert golden.exists(), f"there is no {golden.name}; write it with ENSUE_UPDATE_GOLDEN=1"
    assert found == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_one_mistake_gives_messages_of_one_code(name: str) -> None:
    codes = {found.code for found in found_in(name)}
    if name.startswith("many_"):
        assert len(codes) > 1
    else:
        assert codes == {name.split("_")[0]}


def test_every_golden_text_has_its_rule_file() -> None:
    assert {path.stem for path in MESSAGES.glob("*.txt")} == set(FILES)


def codes_in_use() -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in SOURCES)
    return {code for text in texts for code in re.findall(r"\b[EW]\d{3}\b", text)}


def test_every_code_has_a_golden_file() -> None:
    assert codes_in_use() == {name.split("_")[0] for name in FILES if not name.startswith("many_")}


def test_every_code_is_explained() -> None:
    explained = re.findall(r"^#+ `?([EW]\d{3})\b", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(explained) == len(set(explained))
    assert set(explained) == codes_in_use()


# --- every place that reports something -------------------------------------------------------------------------------

REPORTING = {"error", "warning", "note", "_wrong", "_wrong_type", "Rejected"}


def reporting_calls() -> Iterator[tuple[str, range]]:
    """The lines of each call in the checker that makes a message."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in REPORTING and node.args:
                    yield str(path), range(node.lineno, (node.end_lineno or node.lineno) + 1)


def callers(frame: FrameType | None) -> Iterator[tuple[str, int]]:
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back


def test_every_message_has_a_golden_file(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: set[tuple[str, int]] = set()
    for owner, method in ((Report, "error"), (Report, "warning"), (Report, "note"), (Rejected, "__init__")):
        original = getattr(owner, method)

        def recorded(*arguments: object, original: object = original, **named: object) -> object:
            reached.update(callers(sys._getframe(1)))
            return original(*arguments, **named)  # type: ignore[operator]

        monkeypatch.setattr(owner, method, recorded)
    for path in FILES.values():
        ensue.check_rules(path, functions=FUNCTIONS)
    missing = [
        f"{Path(file).relative_to(PACKAGE)}:{lines.start}"
        for file, lines in reporting_calls()
        if not any((file, line) in reached for line in lines)
    ]
    assert not missing, "no golden file has the messages made here"


# --- the document -----------------------------------------------------------------------------------------------------

SECTIONS = re.findall(
    r"^### ([EW]\d{3}): .*?\n```ensue\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
DECLARATIONS = re.search(r"```ensue\n(event .*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(("code", "example"), SECTIONS, ids=[code for code, _ in SECTIONS])
def test_example_in_the_document_is_wrong_as_it_says(code: str, example: str) -> None:
    assert DECLARATIONS is not None
    assert {found.code for found in ensue.check_rules(DECLARATIONS[1] + example)} == {code}
