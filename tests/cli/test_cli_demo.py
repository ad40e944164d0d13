"""`ensue demo`, and the data sets that it shows."""

import json
from pathlib import Path

import pytest

from ensue import datasets
from tests.cli.conftest import Command, Process


def test_the_demo_shows_events_rules_and_what_was_found(ensue: Command) -> None:
    result = ensue("demo", env={"COLUMNS": "80"})
    assert (result.exit_code, result.stderr) == (0, "")
    shown = result.stdout
    headings = ["The events: 157 ", "The rules", "76 completed orders", "16 overdue orders", "16 reports", "Now you:"]
    places = [shown.index(heading) for heading in headings]
    assert places == sorted(places)
    assert "comp(id, product) <- o: order(id, product, q), s: shipped(id, t), o before s." in shown
    assert "test " not in shown
    *_, word, rules, events = shown.splitlines()[-1].split()
    assert word == "run"
    assert [Path(rules).absolute(), Path(events).absolute()] == [
        datasets.path("orders.ensue"),
        datasets.path("orders.jsonl"),
    ]


@pytest.mark.parametrize("columns", ["80", "120"])
def test_the_demo_fits(ensue: Command, columns: str) -> None:
    *shown, _command = ensue("demo", env={"COLUMNS": columns}).stdout.splitlines()
    assert max(len(line) for line in shown) <= int(columns)
    assert not any("…" in line and not line.startswith("… and") for line in shown)


def test_a_narrow_terminal_is_no_failure(ensue: Command) -> None:
    assert ensue("demo", env={"COLUMNS": "30"}).exit_code == 0


def test_the_demo_is_plain_text_where_it_is_no_terminal(process: Process) -> None:
    done = process("demo")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout


def test_what_the_demo_says_to_try_works(ensue: Command) -> None:
    _, *arguments = ensue("demo").stdout.splitlines()[-1].split()
    result = ensue(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    types = [json.loads(line)["type"] for line in result.stdout.splitlines()]
    assert {name: types.count(name) for name in types} == {"comp": 76, "overdue": 16, "rep": 16}


def test_the_rules_that_come_with_it_are_fine(ensue: Command) -> None:
    rules = str(datasets.path("orders.ensue"))
    assert ensue("check", rules).stdout == "1 file, 4 rules: fine\n"
    assert ensue("test", rules).stdout.endswith("\n6 passed, 0 failed\n")
    assert ensue("fmt", "--check", rules).exit_code == 0
