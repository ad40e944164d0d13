"""The pages of data sets are true: commands print the output shown, and rules are those of the rule files."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from ensue import datasets
from ensue.cli.commands import ensue as group
from tests.test_documents import blocks

FOLDER = Path(__file__).parent.parent / "docs" / "datasets"


def test_there_is_a_page_for_each_data_set_and_a_line_in_the_index():
    assert {path.stem for path in FOLDER.glob("*.md")} == {*datasets.names(), "README"}
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\w+)\]\((\w+)\.md\) \| ([\d,]+) \|", index, re.MULTILINE)
    assert rows == [(name, name, f"{datasets.events(name).num_rows:,}") for name in datasets.names()]


@pytest.mark.parametrize("name", datasets.names())
def test_the_commands_of_a_page_print_what_it_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (console,) = blocks(f"docs/datasets/{name}.md", "console")
    commands = re.findall(r"^\$ ensue (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE)
    assert len(commands) >= 2
    for command, shown in commands:
        result = CliRunner().invoke(group, shlex.split(command))
        assert (result.exit_code, result.stdout) == (0, shown)


@pytest.mark.parametrize("name", datasets.names())
def test_the_rules_of_a_page_are_those_of_the_rule_file(name):
    rules = datasets.rules(name).read_text(encoding="utf-8")
    shown = blocks(f"docs/datasets/{name}.md", "ensue")
    assert shown
    for block in shown:
        assert block in rules


@pytest.mark.parametrize("name", datasets.names())
def test_a_page_has_the_number_of_events_and_all_attributes(name):
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    table = datasets.events(name)
    assert f"{table.num_rows:,} events" in page
    for word in {*table.column("type").to_pylist(), *table.column_names} - {"type", "time", "start", "end"}:
        assert f"`{word}`" in page or "the same" in page, word


def test_the_python_of_the_index():
    examples = "\n\n".join(blocks("docs/datasets/README.md", "python"))
    test = doctest.DocTestParser().get_doctest(examples, {}, "docs/datasets/README.md", None, None)
    said = []
    assert doctest.DocTestRunner().run(test, out=said.append).attempted
    assert not said, "".join(said)
