"""The pages that teach are true: rules pass their tests, Python and commands give the output shown, SQL runs."""

import doctest
import re
import sqlite3
from pathlib import Path

import pytest

import ensue
from ensue.language.format import format_text
from ensue.program import check_rules
from ensue.testing import EXECUTIONS, run_tests

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted([*(DOCS / "coming-from").glob("*.md"), *(DOCS / "how-to").glob("*.md")])
TABLES = """
CREATE TABLE orders (id INTEGER, at INTEGER);
CREATE TABLE shipments (id INTEGER, at INTEGER);
CREATE TABLE logins (user TEXT, ok INTEGER, at INTEGER);
CREATE TABLE readings (machine TEXT, value REAL, at INTEGER);
CREATE TABLE clicks (user TEXT, at INTEGER);
CREATE TABLE jobs (machine TEXT, job INTEGER, "start" INTEGER, "end" INTEGER);
"""
# Languages that are shown and not run: those of other systems, and commands whose output is not shown.
SHOWN = {"sql", "java", "epl", "siddhi", "drl", "prolog", "eql", "yaml", "sh", "text"}


def fences(page):
    """The fenced blocks of a page: language and text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def name(page):
    return page.relative_to(DOCS).as_posix()


RULES = [
    pytest.param(text, id=f"{name(page)}-{number}")
    for page in PAGES
    for number, (language, text) in enumerate(fences(page), 1)
    if language == "ensue"
]


@pytest.mark.parametrize("execution", ["embedded", "reference"])
@pytest.mark.parametrize("rules", RULES)
def test_rules_pass_their_tests(rules, execution):
    outcomes = list(run_tests(ensue.compile(rules), EXECUTIONS[execution]))
    assert outcomes, "no tests"
    for outcome in outcomes:
        assert outcome.passed, (outcome.test.title, outcome.error or outcome.differences)


@pytest.mark.parametrize("rules", RULES)
def test_the_checker_has_nothing_to_say_and_rules_are_formatted(rules):
    assert not check_rules(rules)
    assert format_text(rules) == rules


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_of_a_page_that_teaches_is_run_or_only_shown(page):
    assert {language for language, _ in fences(page)} <= SHOWN | {"ensue", "python"}


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=name)
def test_every_block_has_a_language(page):
    assert "" not in {language for language, _ in fences(page)}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_gives_what_is_shown(page):
    examples = "\n\n".join(text for language, text in fences(page) if language == "python")
    test = doctest.DocTestParser().get_doctest(examples, {}, name(page), None, None)
    assert len(test.examples) > 0 or not examples.strip(), "Python without prompts is not run"
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)


def test_the_queries_of_the_page_on_sql_run():
    database = sqlite3.connect(":memory:")
    database.executescript(TABLES)
    queries = [text for language, text in fences(DOCS / "coming-from" / "sql.md") if language == "sql"]
    assert len(queries) >= 4
    for query in queries:
        database.execute(query)
    database.close()


@pytest.mark.parametrize("page", sorted((DOCS / "coming-from").glob("[!R]*.md")), ids=name)
def test_a_page_for_newcomers_has_patterns_a_table_and_both_gaps(page):
    text = page.read_text(encoding="utf-8")
    assert 4 <= sum(language == "ensue" for language, _ in fences(page)) <= 8
    for heading in ("## What maps to what", "## What has no counterpart in Ensue", "## What Ensue adds"):
        assert heading in text


def test_the_rules_of_the_first_page_are_fine():
    (rules,) = [text for language, text in fences(DOCS / "index.md") if language == "ensue"]
    assert not check_rules(rules)
    assert format_text(rules) == rules
