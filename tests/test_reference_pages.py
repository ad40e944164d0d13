"""The pages that hold a part of the program hold it as it is: grammar, options, and results of the papers."""

import re
from pathlib import Path

import pytest

import ensue
from ensue.language.format import format_text
from ensue.testing import ALL_EXECUTIONS, EXECUTIONS, run_tests
from tests import options_page
from tests.test_documents import blocks

ROOT = Path(__file__).parent.parent


def test_the_page_shows_the_grammar_of_the_parser():
    (shown,) = blocks("docs/grammar.md", "text")
    assert shown == (ROOT / "src/ensue/language/grammar.lark").read_text(encoding="utf-8")


def test_the_page_of_options_is_made_from_the_program():
    assert options_page.PAGE.read_text(encoding="utf-8") == options_page.page(), "run python -m tests.options_page"


def test_every_argument_is_explained_and_taken():
    for argument, functions in options_page.taken().items():
        assert argument in options_page.ARGUMENTS
        assert functions, argument


def test_every_option_of_every_command_is_on_the_page():
    text = options_page.PAGE.read_text(encoding="utf-8")
    for name, command in options_page.commands().items():
        section = text.split(f"### ensue {name}\n")[1].split("\n##")[0]
        if "(#options-for-reading-events)" in section:
            section += text.split("## Options for reading events\n")[1].split("\n##")[0]
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                if not parameter.hidden:
                    assert re.search(rf"{re.escape(option)}\b", section), (name, option)


@pytest.mark.parametrize("execution", ALL_EXECUTIONS)
@pytest.mark.parametrize("rules", blocks("docs/papers.md", "ensue"))
def test_results_of_the_papers(rules, execution):
    outcomes = list(run_tests(ensue.compile(rules), EXECUTIONS[execution]))
    assert outcomes
    for outcome in outcomes:
        assert outcome.passed, (outcome.test.title, outcome.error or outcome.differences)
    assert format_text(rules) == rules
