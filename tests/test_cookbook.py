"""The cookbook is true: its rule files pass their tests on every execution, and its page shows them as they are."""

import re
from pathlib import Path

import pytest

import ensue
from ensue.language.format import format_text
from ensue.program import check_rules
from ensue.testing import ALL_EXECUTIONS, EXECUTIONS, run_tests

COOKBOOK = Path(__file__).parent.parent / "docs" / "cookbook"
FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(COOKBOOK.glob("*.ensue"))}
PAGE = (COOKBOOK / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("execution", ALL_EXECUTIONS)
@pytest.mark.parametrize("name", FILES)
def test_a_rule_file_passes_its_tests(name, execution):
    outcomes = list(run_tests(ensue.compile(FILES[name]), EXECUTIONS[execution]))
    assert outcomes, "no tests"
    for outcome in outcomes:
        assert outcome.passed, (outcome.test.title, outcome.error or outcome.differences)


@pytest.mark.parametrize("name", FILES)
def test_the_checker_has_nothing_to_say(name):
    assert not check_rules(FILES[name])


@pytest.mark.parametrize("name", FILES)
def test_a_rule_file_is_formatted(name):
    assert format_text(FILES[name]) == FILES[name]


def test_the_page_shows_each_file_as_it_is():
    sections = re.findall(r"\(\[([^\]]+)\]\(\1\)\)\n\n```ensue\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert dict(sections) == FILES
    assert len(sections) == PAGE.count("\n```ensue\n") == 12


def test_the_list_of_contents_names_each_section():
    headings = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    links = re.findall(r"\[([^\]]+)\]\(#([^)]+)\)", PAGE)
    assert links == [(title, re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")) for title in headings]
