"""Answers to questions: each case is a rule file with events (a test of it), questions, and the answers as text.

A line ``# why overdue id=42`` is a question, as on the command line. The answers are beside it, in a file of text.
"""

import os
import re
import shlex
from pathlib import Path

import pytest

import ensue
from ensue.testing import run_tests

CASES = sorted((Path(__file__).parent / "cases").glob("*.ensue"))
UPDATE = os.environ.get("ENSUE_UPDATE_GOLDEN")
OPTIONS = ("at", "until", "lateness")


def questions(text):
    return re.findall(r"^# why (.+)$", text, re.MULTILINE)


def events(test):
    return [{"type": e.event, "start": e.start, "end": e.end, **e.attributes} for e in test.given]


def asked(program, question, test):
    type_, *terms = shlex.split(question)
    given = dict(term.split("=", 1) for term in terms)
    options = {name: given.pop(name) for name in OPTIONS if name in given}
    if "lateness" in options:
        options["lateness"] = int(options["lateness"])
    until = options.pop("until", test.until)
    return ensue.why(program, events(test), type=type_, key=given, until=until, **options)


def answers(path):
    text = path.read_text(encoding="utf-8")
    program = ensue.compile(text, path.name)
    (test,) = program.typed.tests
    return "\n".join(f"? {question}\n{asked(program, question, test)}\n" for question in questions(text))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case(path):
    found, beside = answers(path), path.with_suffix(".txt")
    if UPDATE:
        beside.write_text(found, encoding="utf-8")
    assert found == beside.read_text(encoding="utf-8")
    assert max(map(len, found.splitlines())) <= 110


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_its_events_derive_what_it_says(path):
    outcomes = list(run_tests(ensue.compile(path.read_text(encoding="utf-8"))))
    assert [outcome for outcome in outcomes if not outcome.passed] == []
