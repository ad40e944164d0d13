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


@pytest.mark.parametrize("columns", ["80", "120"])
def test_the_demo_fits(ensue: Command, columns: str) -> None:
    *shown, _save, _run, _view = ensue("demo", env={"COLUMNS": columns}).stdout.splitlines()
    assert max(len(line) for line in shown) <= int(columns)
    assert not any("…" in line and not line.startswith("… and") for line in shown)


def test_a_narrow_terminal_is_no_failure(ensue: Command) -> None:
    assert ensue("demo", env={"COLUMNS": "30"}).exit_code == 0


def test_the_demo_is_plain_text_where_it_is_no_terminal(process: Process) -> None:
    done = process("demo")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout


def test_what_the_demo_says_to_try_works(ensue: Command) -> None:
    save, run, view = (line.split()[1:] for line in ensue("demo").stdout.splitlines()[-3:])
    assert ensue(*save).stdout == "wrote orders.ensue\nwrote orders.jsonl\n"
    assert view == ["view", "orders.ensue", "orders.jsonl", "--open"]
    result = ensue(*run)
    assert (result.exit_code, result.stderr) == (0, "")
    types = [json.loads(line)["type"] for line in result.stdout.splitlines()]
    assert {name: types.count(name) for name in types} == {"comp": 76, "overdue": 16, "rep": 16}


@pytest.mark.parametrize("name", datasets.names())
def test_each_data_set_has_a_demo(ensue: Command, name: str) -> None:
    result = ensue("demo", name, env={"COLUMNS": "80"})
    assert (result.exit_code, result.stderr) == (0, "")
    shown = result.stdout.splitlines()
    if name != "orders":
        assert shown[1:3] == [datasets.dataset(name).title, shown[2]]
        assert all(f"Found: 0 {type_}" not in shown for type_ in datasets.dataset(name).types)
    assert max(len(line) for line in shown[:-3]) <= 80
    assert not any("…" in line and not line.startswith("… and") for line in shown)


def test_the_data_sets_are_listed(ensue: Command) -> None:
    lines = ensue("demo", "--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(datasets.names())


def test_a_data_set_is_saved_and_run(ensue: Command, tmp_path: Path) -> None:
    rules, events = tmp_path / "new" / "logins.ensue", tmp_path / "new" / "logins.jsonl"
    result = ensue("demo", "logins", "--save", str(tmp_path / "new"))
    assert result.stdout == f"wrote {rules}\nwrote {events}\n"
    found = [json.loads(line) for line in ensue("run", str(rules), str(events)).stdout.splitlines()]
    assert found[0] == {
        "type": "break_in",
        "start": "2026-03-03T02:23:09Z",
        "end": "2026-03-03T02:23:09Z",
        "user": "otto",
        "ip": "203.0.113.66",
        "n": 41,
    }
    again = ensue("demo", "logins", "--save", str(tmp_path / "new"))
    assert again.exit_code == 2
    assert again.stderr == f"ensue: {rules} is there already; move it away, or name another folder.\n"


@pytest.mark.parametrize("arguments", [("pasta",), ("pizza", "--spark"), ("--spark", "--save", "x")])
def test_a_demo_that_is_none(ensue: Command, arguments: tuple[str, ...]) -> None:
    result = ensue("demo", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("ensue: ")


def test_the_rules_that_come_with_it_are_fine(ensue: Command) -> None:
    rules = str(datasets.path("orders.ensue"))
    assert ensue("check", rules).stdout == "1 file, 4 rules: fine\n"
    assert ensue("test", rules).stdout.endswith("\n6 passed, 0 failed\n")
    assert ensue("fmt", "--check", rules).exit_code == 0
