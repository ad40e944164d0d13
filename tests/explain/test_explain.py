"""Explanations: golden files of their texts, and that their counts are right.

`ENSUE_UPDATE_GOLDEN=1 pytest tests/explain` rewrites the golden files; read the difference.
"""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.assembly import generate, of_strata
from ensue.engine.capacity import USUAL, using
from ensue.plan.build import Planner
from tests.engine.alike_programs import alike
from tests.random_programs import given_types, programs, streams

HERE = Path(__file__).parent
PROGRAMS = {path.stem: path for path in sorted(HERE.glob("*.ensue"))}
UPDATE = os.environ.get("ENSUE_UPDATE_GOLDEN") == "1"
FORMS = {
    "txt": lambda explanation: explanation.text(),
    "json": lambda explanation: json.dumps(explanation.json(), indent=1),
    "mmd": lambda explanation: explanation.mermaid(),
}


def compare(golden, found):
    if UPDATE:
        golden.write_text(found + "\n", encoding="utf-8", newline="\n")
    assert golden.exists(), f"there is no {golden.name}; write it with ENSUE_UPDATE_GOLDEN=1"
    assert found + "\n" == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PROGRAMS)
def test_text_is_as_in_the_golden_file(name):
    compare(HERE / f"{name}.txt", ensue.compile(PROGRAMS[name]).explain().text())


@pytest.mark.parametrize("form", ["json", "mmd"])
def test_other_forms(form):
    compare(HERE / f"shop.{form}", FORMS[form](ensue.compile(PROGRAMS["shop"]).explain()))


def test_intervals_keep_more():
    compare(HERE / "shop_intervals.txt", ensue.compile(PROGRAMS["shop"]).explain(intervals=True).text())


EVENTS = [
    {"type": "order", "time": 0, "id": 1, "product": "tea", "qty": 2},
    {"type": "shipped", "time": 1, "id": 7, "tracking": "x"},
    {"type": "order", "time": 2, "id": 2, "product": "rum", "qty": 20},
    {"type": "shipped", "time": 3, "id": 1, "tracking": "y"},
    {"type": "shipped", "time": 4, "id": 1, "tracking": "z"},
]
SHOP = "unit h. " + PROGRAMS["shop"].read_text(encoding="utf-8")


def test_with_events_it_says_what_happened():
    explanation = ensue.compile(SHOP).explain(EVENTS, until=12)
    assert explanation.events == 5
    done, overdue = explanation.rules
    seen = {part.title: done.observed[part.key] for part in done.plan.walk()}
    assert (seen["order(id, product)"].rows_in, seen["order(id, product)"].rows_out) == (2, 2)
    assert (seen["shipped(id)"].rows_in, seen["shipped(id)"].rows_out) == (3, 3)
    assert (seen["seq"].rows_in, seen["seq"].rows_out, seen["seq"].most_kept) == (5, 2, 2)
    assert (seen["match"].rows_in, seen["match"].rows_out, seen["match"].most_kept) == (2, 2, 0)
    found = {part.title: overdue.observed[part.key] for part in overdue.plan.walk()}
    order = found["o: order(id, qty=q)"]
    assert (order.rows_in, order.rows_out) == (2, 1), "20 is not less than 10"
    assert (found["match"].rows_out, found["match"].most_kept) == (0, 1)
    assert found["no shipped(id) during w"].most_kept == 1, "the newest of its key decides"
    assert "observed: 5 in, 2 out, at most 2 kept" in str(explanation)
    assert json.dumps(explanation.json())


@pytest.mark.parametrize(
    ("rule", "part", "most"),
    [
        ("d(k) <- a(k) and b(k) within 4", "join", 6),
        ("d(k) <- recent a(k) seq c(k)", "select", 6),
        ("d(k) <- a(k){3}", "run", 6),
        ("d(n = count(k)) <- while last 4: collect a(k)", "window", 4),
        ("d(n = count(k)) <- while last 4s: collect x: a(k)", "window", 2),
        ("d(k) <- a(k) seq b(k) policy restricted", "join", 1),
        ("d(k) <- x: a(k), w: extend(x, 6)", "body", 3),
    ],
)
def test_the_most_that_each_kind_of_part_kept(rule, part, most):
    """Of twelve events, `a` and `b` in turns, of three keys."""
    text = f"unit s. event a(k: int). event b(k: int). event c(k: int). {rule}."
    events = [{"type": "ab"[i % 2], "time": i, "k": i // 2 % 3} for i in range(12)]
    (explained,) = ensue.compile(text).explain(events).rules
    (kept,) = (explained.observed[each.key].most_kept for each in explained.plan.walk() if each.kind == part)
    assert kept == most


def test_code_counts_only_when_someone_watches():
    program = ensue.compile(SHOP).typed
    together = of_strata(program, program.strata, {rule: str(rule) for rule in range(len(program.rules))})
    plain = generate(together, (), Planner(program.events))
    counted = generate(together, (), Planner(program.events), counted=True)
    lines = [line for line in counted.source.splitlines() if "counts" not in line]
    assert lines == plain.source.splitlines()
    assert "counts" not in plain.unit.structures


def test_machine_code_counts_the_same():
    """From some thousands of events on code is compiled; what it counts goes with time, not with how it runs."""
    rules = "event a(k: int). event b(k: int). d(k) <- a(k) seq b(k) within 10."
    events = [{"type": "ab"[i % 2], "time": i, "k": i // 2 % 3} for i in range(3000)]
    few, many = (ensue.compile(rules).explain(each).rules[0] for each in (events[:600], events))
    for part in few.plan.walk():
        one, five = few.observed[part.key], many.observed[part.key]
        assert five.most_kept == one.most_kept
        assert abs(five.rows_out - 5 * one.rows_out) <= 20


def test_a_suppressed_side_is_not_even_looked_at():
    """Nothing of another key waits, so it is not paired."""
    rules = "event a(k: int). event b(k: int). event c(k: int). d(k) <- a(k) seq (b(k) seq c(k))."
    events = [("a", 1), ("b", 1), ("b", 2), ("c", 2), ("c", 1)]
    rows = [{"type": type_, "time": time, "k": key} for time, (type_, key) in enumerate(events)]
    (rule,) = ensue.compile(rules).explain(rows).rules
    seen = {part.title: rule.observed[part.key] for part in rule.plan.walk()}
    assert [(seen[title].rows_in, seen[title].rows_out) for title in ("b(k)", "c(k)")] == [(2, 1), (2, 1)]


def test_what_python_is_asked_is_said_of_a_rule():
    rules = """
        event a(k: int, s: string).
        child(1, 2).
        d(k) <- a(k, s) where lpad(s, k, "x") = "A" and upper(s) = "A" and child(k, _) and k > 0.
        e(k, c) <- a(k, _), child(k, c).
        """
    one, other = ensue.compile(rules).explain().rules
    assert one.in_python == ('lpad(s, k, "x")', "child(k, _)")
    assert other.in_python == ()
    assert "rows of child(k, c)" in {part.title for part in other.plan.walk()}


def test_rules_that_run_as_one_say_which_constants_differ():
    found = ensue.compile(PROGRAMS["alike"]).explain().json()
    assert [rule["family"] for rule in found["rules"]] == [0, 0, 0, 1, 1, 1, None, 2, 2, 2, 2, 2, 2]
    assert found["families"][0] == {
        "rules": [0, 1, 2],
        "where": ["reading.kind = $1", "v < $2"],
        "constants": [
            {"type": "string", "values": ["cold", "warm", "hot"], "use": "index"},
            {"type": "float", "values": [-5.0, 20.5, 100.0], "use": "order"},
        ],
    }


@settings(max_examples=40)
@given(alike(most_shapes=1))
def describe_test_whatever_differs_can_be(text):
    try:
        program = ensue.compile(text)
    except ensue.RuleError:
        assume(False)
    with using(replace(USUAL, family=2)):
        explanation = program.explain()
    for family in explanation.families:
        said = " ".join(family.where)
        assert all(f"${number}" in said for number in range(1, len(family.constants) + 1))
        assert not re.search(r"[#@]|\bn\d|\bc\d", said.replace(".end", "").replace(".start", ""))
    for form in FORMS.values():
        assert form(explanation)


def test_types_that_are_not_wanted_need_no_stage():
    program = ensue.compile(PROGRAMS["paper"])
    assert {name for stage in program.explain(emit="comp").stages for name in stage.derives} == {"comp"}


@settings(max_examples=20)
@given(programs(), st.data())
def test_whatever_runs_is_described_and_counted(text, data):
    """Each operator of a plan has its place in the description, and the next ones take the rows that it passes on."""
    try:
        program = ensue.compile(text)
    except ensue.RuleError:
        assume(False)
    events = data.draw(streams(8, types=given_types(program)))
    try:
        explanation = program.explain([dict(event) for event in events])
    except ensue.DetectError:
        assume(False)
    for rule in explanation.rules:
        described = list(rule.plan.walk())
        keys = [part.key for part in described]
        assert len(keys) == len(set(keys))
        assert set(rule.observed) <= set(keys)
        by_output = {id(part.output): part for part in described}
        for part in described:
            takes = [by_output[id(each)].key for each in part.inputs if id(each) in by_output]
            if part.key in rule.observed and part.event is None and len(takes) == len(part.inputs):
                assert rule.observed[part.key].rows_in == sum(rule.observed[key].rows_out for key in takes)
    for form in FORMS.values():
        assert form(explanation)


def test_the_page_on_explain_shows_what_is_printed():
    page = (HERE.parents[1] / "docs" / "explain.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (rules,) = re.findall(r"^```ensue\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert shown == ensue.compile(rules).explain().text() + "\n"


def test_lengths_and_texts_are_as_in_rules():
    rules = r"""
        event a(k: int, s: string).  event b(k: int).
        d(k) <- a(k, "tab\tand \"quotes\"") before[1h..90m] b(k).
        m(n = count(x)) <- while last 3h: collect x: a(_, _).
        e(k) <- every(15m) and b(k) within 1d.
        """
    said = ensue.compile(rules).explain().text()
    for words in ("before[1h..1h30m]", "of the last 3h", "every(15m)", r'a(k, s="tab\tand \"quotes\"")'):
        assert words in said


def test_without_rules_there_is_nothing_to_explain():
    assert ensue.compile("event a(k: int).").explain().text() == "There are no rules for events."
