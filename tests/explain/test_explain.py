"""Explanations: golden files of what they say, and that what they say happened did happen.

`ENSUE_UPDATE_GOLDEN=1 pytest tests/explain` writes the golden files anew; read the difference.
"""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.network.stratum import Stratum
from ensue.engine.run import Run
from ensue.engine.sharing import groups
from ensue.temporal.plan import plan_of_rule
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
    assert (seen["shipped(id)"].rows_in, seen["shipped(id)"].rows_out) == (3, 2), "nothing waits for one of them"
    assert (seen["seq"].rows_in, seen["seq"].rows_out, seen["seq"].most_kept) == (4, 2, 2)
    assert (seen["match"].rows_in, seen["match"].rows_out) == (2, 2)
    found = {part.title: overdue.observed[part.key] for part in overdue.plan.walk()}
    assert found["match"].rows_out == 0
    assert found["match"].most_kept == 2
    assert all(each.seconds >= 0 for rule in explanation.rules for each in rule.observed.values())
    said = re.sub(r"[\d.]+ ms", "… ms", str(explanation))
    assert "observed: 4 in, 2 out, at most 2 kept, … ms" in said
    assert json.dumps(explanation.json())


def test_a_suppressed_side_is_not_even_looked_at():
    """No order waits, so no shipment is."""
    explanation = ensue.compile(SHOP).explain([e for e in EVENTS if e["type"] == "shipped"])
    done = explanation.rules[0]
    (shipped,) = (done.observed[part.key] for part in done.plan.walk() if part.title == "shipped(id)")
    assert shipped.rows_in == 0


def test_what_several_rules_keep_is_shared():
    rules = "event a(k: int). event b(k: int). d(k) <- a(k) seq b(k) within 5. d(k) <- a(k) seq b(k) within 9."
    (shared,) = ensue.compile(rules).explain().shared
    assert (shared.what, shared.key, shared.rules) == ("a", ("k",), (0, 1))


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
def test_whatever_differs_can_be_said(text):
    try:
        program = ensue.compile(text)
    except ensue.RuleError:
        assume(False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "FEWEST", 2)
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


@settings(max_examples=40)
@given(programs(), st.data())
def test_the_plan_has_a_part_for_each_node_of_the_network(text, data):
    """And an explanation with events finds that out, whatever the rules and the events are."""
    try:
        program = ensue.compile(text)
    except ensue.RuleError:
        assume(False)
    run = Run(program.typed, compiled=False)
    for lane in run.lanes:
        assert isinstance(lane, Stratum)
        for number, rule in lane.rules.items():
            parts = {part.key for part in plan_of_rule(run.known.rules[number], run.known.events).walk()}
            nodes = {node.about for node in rule.body.walk() if node.about is not None}
            assert nodes <= parts
    events = data.draw(streams(8, types=given_types(program)))
    try:
        explanation = program.explain([dict(event) for event in events])
    except ensue.DetectError:
        assume(False)
    for form in FORMS.values():
        assert form(explanation)


def test_the_page_on_explain_shows_what_is_printed():
    page = (HERE.parents[1] / "docs" / "explain.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (rules, _) = re.findall(r"^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
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
