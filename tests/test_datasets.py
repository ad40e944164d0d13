"""The data sets that come with the package: their rules pass their tests, and the same events come at every call."""

import hashlib
import json
from collections import Counter

import pyarrow as pa
import pytest

import ensue
from ensue import datasets
from ensue.language.format import format_text
from ensue.program import check_rules
from ensue.testing import ALL_EXECUTIONS, EXECUTIONS, run_tests

FOUND = {
    "orders": {"comp": 76, "overdue": 16, "rep": 16},
    "logins": {"break_in": 1, "spraying": 1, "two_places": 4},
    "machines": {"hot_in_maintenance": 1, "overheated": 3, "seen_coming": 1, "silent": 1},
    "ticks": {"step": 1945, "down": 865, "up": 1080, "turn": 3, "jump": 1, "crowd": 2},
    "pizza": {
        "start_processing": 142,
        "pizza_for_free": 23,
        "not_in_oven": 29,
        "baked_in_maintenance": 1,
        "blame_oven": 22,
    },
    "hospital": {"briefing": 31, "no_fever": 13, "waited": 11, "unseen": 6, "rising": 7},
    "supply_chain": {"delivery": 641, "hop": 471, "arrived": 167, "lost": 5, "missed_scan": 4, "wrong_way": 4},
}

CHECKSUMS = {
    "orders": "e25136d6b137e480",
    "logins": "e831ecdb7c0cedba",
    "machines": "74c6974f669e8dbc",
    "ticks": "9ae8c9de78a6b2c0",
    "pizza": "d03d2e707e7fa326",
    "hospital": "c5052d90fccddc0c",
    "supply_chain": "74039a8131d280ad",
}
"""Digests of each data set's JSON lines, which must be the same on every platform and version of Python."""


def test_every_data_set_has_a_function_of_its_name():
    for name in datasets.names():
        assert getattr(datasets, name)().equals(datasets.events(name))


@pytest.mark.parametrize("name", datasets.names())
def test_the_events_are_the_same_everywhere(name):
    assert hashlib.sha256(datasets.json_lines(name).encode()).hexdigest()[:16] == CHECKSUMS[name]


def test_the_stored_orders_are_the_ones_that_are_handed_over():
    assert datasets.json_lines("orders") == datasets.path("orders.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", datasets.names())
def test_every_event_is_declared_and_in_order(name):
    program = ensue.compile(datasets.rules(name))
    declared = {event: tuple(names) for event, names in program.declared_attributes.items()}
    rows = datasets.dataset(name).rows()
    assert 100 <= len(rows) <= 3000
    for row in rows:
        attributes = tuple(each for each in row if each not in ("type", "time", "start", "end"))
        assert attributes == declared[row["type"]]
    ends = [row.get("time", row.get("end")) for row in rows]
    assert ends == sorted(ends)


@pytest.mark.parametrize("name", datasets.names())
def test_the_rules_find_what_the_page_tells_of(name):
    found, _ = ensue.compile(datasets.rules(name)).detect_tables(datasets.events(name))
    assert {event: table.num_rows for event, table in found.items()} == FOUND[name]
    assert set(datasets.dataset(name).types) <= {event for event, table in found.items() if table.num_rows}


@pytest.mark.parametrize("name", ["pizza", "hospital"])
def test_the_reference_finds_the_same(name):
    program, events = ensue.compile(datasets.rules(name)), datasets.events(name)
    assert program.detect(events, engine="reference").equals(program.detect(events))


@pytest.mark.parametrize("name", datasets.names())
def test_json_lines_and_tables_give_the_same(name, tmp_path):
    rules, events = datasets.save(name, tmp_path / "new")
    found = ensue.compile(rules).detect(str(events))
    assert Counter(found.column("type").to_pylist()) == FOUND[name]


@pytest.mark.parametrize("execution", ALL_EXECUTIONS)
@pytest.mark.parametrize("name", datasets.names())
def test_a_rule_file_passes_its_tests(name, execution):
    outcomes = list(run_tests(ensue.compile(datasets.rules(name)), EXECUTIONS[execution]))
    assert len(outcomes) >= 4
    for outcome in outcomes:
        assert outcome.passed, (outcome.test.title, outcome.error or outcome.differences)


@pytest.mark.parametrize("name", datasets.names())
def test_a_rule_file_is_formatted_and_fine(name):
    text = datasets.rules(name).read_text(encoding="utf-8")
    assert format_text(text) == text
    assert [each.code for each in check_rules(text)] == (["W003"] if name == "orders" else [])


def test_saving_keeps_a_file_that_is_there(tmp_path):
    datasets.save("ticks", tmp_path)
    with pytest.raises(FileExistsError, match=r"ticks\.ensue is there already"):
        datasets.save("ticks", tmp_path)
    assert [json.loads(line)["type"] for line in (tmp_path / "ticks.jsonl").read_text().splitlines()] == ["tick"] * 1950


def test_a_table_has_null_where_a_type_has_no_such_attribute():
    table = datasets.machines()
    failures = table.filter(pa.compute.equal(table["type"], "failure")).to_pylist()
    assert [(row["code"], row["celsius"]) for row in failures] == [("E02 belt", None), ("E31 bearing", None)]
