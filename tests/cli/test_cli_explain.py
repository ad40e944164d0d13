"""`ensue explain`."""

import json
from pathlib import Path

from tests.cli.conftest import Command


def test_the_plan_as_text(ensue: Command) -> None:
    result = ensue("explain", "shop.ensue")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "comp (line 5)\n" in result.stdout
    assert "streams shipped" in result.stdout
    assert "observed" not in result.stdout


def test_the_plan_as_json_and_as_a_picture(ensue: Command) -> None:
    found = json.loads(ensue("explain", "shop.ensue", "--format", "json").stdout)
    assert [rule["event"] for rule in found["rules"]] == ["comp", "late"]
    assert ensue("explain", "shop.ensue", "--format", "mermaid").stdout.startswith("flowchart TD\n")


def test_what_happened(ensue: Command) -> None:
    result = ensue("explain", "shop.ensue", "--events", "events.jsonl", "--until", "12h")
    assert result.exit_code == 0
    assert result.stdout.startswith("3 events, observed\n")
    found = json.loads(ensue("explain", "shop.ensue", "--events", "events.jsonl", "--format", "json").stdout)
    assert found["rules"][0]["plan"]["observed"]["out"] == 2


def test_intervals(ensue: Command) -> None:
    assert "one time each" in ensue("explain", "shop.ensue").stdout
    assert "one time each" not in ensue("explain", "shop.ensue", "--intervals").stdout


def test_wrong_rules_and_files_that_are_not_there(ensue: Command, folder: Path) -> None:
    (folder / "wrong.ensue").write_text("a(x) <- b(x.\n")
    assert ensue("explain", "wrong.ensue").exit_code == 1
    assert ensue("explain", "nowhere.ensue").exit_code == 2
    assert ensue("explain", "shop.ensue", "--events", "nowhere.jsonl").exit_code == 2


def test_rules_and_events_from_standard_input_at_once(ensue: Command) -> None:
    result = ensue("explain", "-", "--events", "-")
    assert result.exit_code == 2
    assert "cannot both come from standard input" in result.stderr


def test_events_are_run_within_limits(ensue: Command, folder: Path) -> None:
    (folder / "many.ensue").write_text("many(a = x, b = y) <- e(x = x), e(x = y).\n")
    rows = [json.dumps({"type": "e", "time": time, "x": time}) for time in range(60)]
    (folder / "e.jsonl").write_text("\n".join(rows))
    explained = ensue("explain", "many.ensue", "--events", "e.jsonl", "--max-matches", "4000")
    assert explained.exit_code == 0, explained.stderr
    refused = ensue("explain", "many.ensue", "--events", "e.jsonl", "--max-matches", "1000")
    assert refused.exit_code == 2
    assert "derives more than 1,000" in refused.stderr
