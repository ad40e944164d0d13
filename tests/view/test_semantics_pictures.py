"""The pictures of docs/semantics.md are timelines of its rules on the events of their tests.

They are text, so a test compares each with the one that is drawn now; `ENSUE_PICTURES=1` rewrites them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import ensue
from ensue.language.check.patterns import POLICIES
from ensue.language.format import format_text
from ensue.testing import ALL_EXECUTIONS, EXECUTIONS, given_tables, run_tests

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "semantics.md").read_text(encoding="utf-8")
FIGURE = re.compile(r"^```ensue\n((?:(?!```).*\n)*)```\n\n!\[([^\[\]]+)\]\(semantics/([\w-]+)\.svg\)$", re.MULTILINE)
FIGURES = {name: (rules, text) for rules, text, name in FIGURE.findall(PAGE)}
CONTEXTS = ("recent", "chronicle", "continuous", "cumulative")
RELATIONS = (
    *("before", "after", "meets", "met_by", "overlaps", "overlapped_by", "starts", "started_by", "during", "contains"),
    *("finishes", "finished_by", "equals", "seq", "par"),
)
WIDTH = 420
"""Of a picture: text stays readable where a phone shrinks it a little."""


def picture(name: str) -> str:
    """The timeline of a figure: one lane for each pair of events if rules have pairs, else one for each type."""
    rules, text = FIGURES[name]
    program = ensue.compile(rules)
    (test,) = program.typed.tests
    lanes = "pair" if "(pair: string)" in rules else "type"
    timeline = ensue.timeline(program, given_tables(program, test), test.until, title=text, lanes=lanes)
    return timeline.svg(WIDTH)


def test_every_block_has_a_picture():
    assert len(FIGURES) == PAGE.count("```ensue\n") == PAGE.count("](semantics/")
    assert {path.stem for path in (DOCS / "semantics").iterdir()} == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_shows_what_the_rules_find(name):
    path = DOCS / "semantics" / f"{name}.svg"
    drawn = picture(name)
    if os.environ.get("ENSUE_PICTURES"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(drawn, encoding="utf-8", newline="\n")
    assert path.read_text(encoding="utf-8") == drawn, "draw it anew with ENSUE_PICTURES=1"


@pytest.mark.parametrize("execution", ALL_EXECUTIONS)
@pytest.mark.parametrize("name", FIGURES)
def test_the_rules_of_a_picture_pass_their_test(name, execution):
    rules, _ = FIGURES[name]
    (outcome,) = run_tests(ensue.compile(rules), EXECUTIONS[execution])
    assert outcome.passed, outcome.error or outcome.differences
    assert format_text(rules) == rules


def test_every_relation_context_and_policy_is_drawn():
    rules = "\n".join(text for text, _ in FIGURES.values())
    for word in (*RELATIONS, *CONTEXTS, *POLICIES):
        assert re.search(rf"\b{word}\b", rules), word
