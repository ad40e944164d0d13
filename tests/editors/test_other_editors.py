"""The TextMate grammar, the Pygments lexer and notebooks."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import CompletionContext
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from pygments.token import Comment, Keyword, Name, Whitespace

import ensue
from ensue.editors import Kind, tokens
from ensue.editors.kinds import STYLES
from ensue.editors.notebook import MAGIC, _matcher
from ensue.editors.pygments_lexer import EnsueLexer
from ensue.editors.textmate import textmate, written

ROOT = Path(__file__).parent.parent.parent
VSCODE = ROOT / "editors" / "vscode"

RULES = """\
# Orders.
unit s.
param limit: int = 3.
event order(id: int, product: string, qty: int).
table vip(id: int).
rule late "Not shipped": overdue(id, n = count(f)) <-
    o: order(id, product, q), w: extend(o, 6h), while [w]: not shipped(id),
    while last 3m: collect f: failed(id), q > 1.5 and lower(product) like "a%", o.qty before[1m..] w.
on overdue(id) do notify(id).
"""

# --- TextMate


def test_the_grammar_of_the_extension_is_up_to_date() -> None:
    path = VSCODE / "syntaxes" / "ensue.tmLanguage.json"
    if os.environ.get("ENSUE_UPDATE_GOLDEN"):
        path.write_text(written(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == written(), "python -m ensue.editors.textmate writes it"


def test_the_extension_names_its_files() -> None:
    manifest = json.loads((VSCODE / "package.json").read_text())["contributes"]
    assert (VSCODE / manifest["languages"][0]["configuration"]).is_file()
    assert (VSCODE / manifest["grammars"][0]["path"]).is_file()
    assert manifest["grammars"][0]["scopeName"] == textmate()["scopeName"]
    json.loads((VSCODE / "language-configuration.json").read_text())


def scopes(text: str) -> dict[tuple[int, str], str]:
    """The scopes of a text by where they begin: the leftmost match counts, and of several the first pattern."""
    patterns: list[dict[str, Any]] = textmate()["patterns"]
    found: dict[tuple[int, str], str] = {}
    start = 0
    for line in text.splitlines(keepends=True):
        at = 0
        while True:
            tried = [
                (match.start(), number, match)
                for number, each in enumerate(patterns)
                if (match := re.compile(each.get("match") or r'"(\\.|[^"\\])*"').search(line, at)) and match[0]
            ]
            if not tried:
                break
            _, number, match = min(tried, key=lambda each: each[:2])
            captures = patterns[number].get("captures")
            for group in captures or [0]:
                scope = captures[group]["name"] if captures else patterns[number]["name"]
                found[start + match.start(int(group)), match[int(group)]] = scope
            at = match.end()
        start += len(line)
    return found


def test_the_grammar_colours_as_the_parser_does() -> None:
    by_form = scopes(RULES)
    certain = set(Kind) - {Kind.VARIABLE, Kind.ATTRIBUTE, Kind.LABEL, Kind.PARAMETER, Kind.PUNCTUATION, Kind.OPERATOR}
    checked = 0
    for each in tokens(RULES):
        if each.kind in certain:
            assert by_form[each.span.start, each.text] == STYLES[each.kind].scope, each
            checked += 1
    assert checked > 40


# --- Pygments


def test_the_lexer_gives_all_of_the_text() -> None:
    for text in (RULES, "a(x) <- b(x), $ ", "", "\n\n# c"):
        found = list(EnsueLexer().get_tokens_unprocessed(text))
        assert "".join(part for _, _, part in found) == text
    kinds = {part: kind for _, kind, part in EnsueLexer().get_tokens_unprocessed(RULES)}
    assert kinds["# Orders."] is Comment.Single and kinds["unit"] is Keyword and kinds[" "] is Whitespace
    assert kinds["overdue"] is Name.Class and kinds["like"] is Keyword


def test_the_lexer_is_announced() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    module, _, name = settings["project"]["entry-points"]["pygments.lexers"]["ensue"].partition(":")
    assert getattr(importlib.import_module(module), name) is EnsueLexer


# --- notebooks


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InteractiveShell:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance()
    made.history_manager.enabled = False
    made.run_line_magic("load_ext", "ensue")
    return made


def test_a_cell_becomes_a_program(shell: InteractiveShell) -> None:
    result = shell.run_cell(f"{MAGIC} shop\nevent a(x: int).\nbig(x) <- a(x) where x > 3.")
    assert result.success and isinstance(shell.user_ns["shop"], ensue.Program)
    found = shell.run_cell('shop.detect([{"type": "a", "time": 1, "x": 4}])').result
    assert found == [{"type": "big", "start": 1, "end": 1, "x": 4}]
    assert shell.run_cell(f"{MAGIC}\nevent a().\nb() <- a().").success and "program" in shell.user_ns


def test_errors_are_shown_without_the_way_there(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    result = shell.run_cell(f"{MAGIC} shop\nevent a(x: int).\nbig(y) <- a(x).")
    assert not result.success and isinstance(result.error_in_exec, ensue.RuleError)
    shown = capsys.readouterr()
    shown = shown.out + shown.err
    assert "<shop>:2:5: error E105: the variable `y` is never bound" in shown
    assert "Traceback" not in shown and "notebook.py" not in shown


def test_functions_params_and_tests_of_a_cell(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell("def double(x: int) -> int:\n    return 2 * x\nvalues = {'limit': 7}")
    cell = (
        "param limit: int = 1.\nevent a(x: int).\nbig(x) <- a(x) where double(x) > limit.\n"
        'test "t" given a(4) @ 1 expect big(4) @ 1.\n'
    )
    assert shell.run_cell(f"{MAGIC} p --functions double --params values --test\n{cell}").success
    assert "1 passed, 0 failed" in capsys.readouterr().out
    assert shell.user_ns["p"].params == {"limit": 7}
    wrong = cell.replace("expect big(4)", "expect big(5)")
    result = shell.run_cell(f"{MAGIC} q --functions double --test\n{wrong}")
    assert isinstance(result.error_in_exec, UsageError) and "q" not in shell.user_ns
    shown = capsys.readouterr()
    assert "missing:    big(5)" in shown.out + shown.err


@pytest.mark.parametrize("line", ["1x", "p --functions nothing", "p --params nothing"])
def test_wrong_use_of_the_magic(shell: InteractiveShell, line: str) -> None:
    assert isinstance(shell.run_cell(f"{MAGIC} {line}\nevent a().").error_in_exec, UsageError)


def test_completion_in_a_cell() -> None:
    def completed(text: str) -> dict[str, Any]:
        line = text.count("\n")
        last = text.split("\n")[-1]
        context = CompletionContext(last.split()[-1] if last else "", text, len(last), line, None)
        return dict(_matcher(context))

    found = completed(f"{MAGIC} shop\nevent order(id: int).\na(i) <- ord")
    assert [each.text for each in found["completions"]] == ["order"] and found["matched_fragment"] == "ord"
    assert completed("import os\nord") == {"completions": []}


def test_nothing_of_notebooks_is_imported_with_the_package() -> None:
    code = "import ensue, sys; ensue.compile('event a().'); print('IPython' in sys.modules, 'pygments' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "False False\n"
