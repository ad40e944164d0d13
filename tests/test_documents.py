"""The examples in the documents are true: Python runs, rules parse, and rule files pass their tests."""

import doctest
import json
import re
from pathlib import Path

import pytest

import ensue
from ensue.data.json_lines import json_lines_by_type
from ensue.language.diagnostics import Report
from ensue.language.parse import parse
from ensue.language.source import Source
from ensue.testing import run_tests

ROOT = Path(__file__).parent.parent


def blocks(document, language):
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for name, block in found if name == language]


def test_the_first_example_of_the_readme(capsys):
    exec(blocks("README.md", "python")[0], {})
    shown = capsys.readouterr().out
    assert shown.startswith("[{'type': 'overdue', 'start': datetime.datetime(2026, 3, 1, 8, 0")
    assert "'end': datetime.datetime(2026, 3, 1, 14, 0" in shown
    assert shown.endswith("'id': 1, 'product': 'tea'}]\n")


def test_the_live_example_of_the_readme(capsys):
    names = {}
    first, live = blocks("README.md", "python")
    exec(first, names)
    capsys.readouterr()
    exec(live, names)
    assert capsys.readouterr().out.startswith("late: {'type': 'overdue', 'start': datetime.datetime(2026, 3, 1, 8, 0")
    assert names["program"].resume(names["state"]).time == names["session"].time


def test_the_rule_file_of_the_readme():
    (rules,) = (block for block in blocks("README.md", "") if block.startswith("# shop.ensue"))
    outcomes = list(run_tests(ensue.compile(rules)))
    assert outcomes
    assert all(outcome.passed for outcome in outcomes)


def test_the_events_of_the_readme():
    (rules,) = (block for block in blocks("README.md", "") if block.startswith("# shop.ensue"))
    events, found = ([json.loads(line) for line in block.splitlines()] for block in blocks("README.md", "json"))
    tables, _ = ensue.compile(rules).detect_tables(events)
    assert [json.loads(line) for line in json_lines_by_type(tables)] == found


@pytest.mark.parametrize("rules", blocks("docs/language.md", "ensue"))
def test_the_rules_in_the_reference_parse(rules):
    source = Source(rules)
    report = Report(source)
    assert parse(source, report).statements
    assert not report.found


@pytest.mark.parametrize(
    "document", ["docs/language.md", "docs/data.md", "docs/editors.md", "docs/backtest.md", "docs/why.md"]
)
def test_the_python_of_a_page(document):
    examples = "\n\n".join(blocks(document, "python"))
    test = doctest.DocTestParser().get_doctest(examples, {}, document, None, None)
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=said.append).attempted, "no example"
    assert not said, "".join(said)
