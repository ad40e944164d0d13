"""Values of parameters, and descriptions of rules, on the command line; and a file for each type."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Command

RULES = """\
unit s.
param patience: duration = 6h.
param least: int.
param word: string = "tea".
event order(id: int, product: string, qty: int).
event shipped(id: int, tracking: string).
rule late "Not shipped" [severity = "high", tags = ("shop", "sla")]:
  late(id) <- o: order(id, p, q), w: extend(o, patience), while w: not shipped(id, _).
many(id, least) <- order(id, p, q) where q >= least.
test "two hours" with patience = 2h, least = 1 given order(1, "tea", 1) @ 0h until 3h expect late(1) @ [0h, 2h].
"""


@pytest.fixture
def rules(folder: Path) -> str:
    (folder / "late.ensue").write_text(RULES)
    return "late.ensue"


def found(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_values_of_parameters(ensue: Command, rules: str, folder: Path) -> None:
    missing = ensue("run", rules, "events.jsonl")
    assert missing.exit_code == 2
    assert "need a value for the parameter 'least' (int)" in missing.stderr
    run = ensue("run", rules, "events.jsonl", "--param", "patience=3s", "--param", "least=2")
    assert found(run.stdout) == [
        {"type": "many", "start": 3, "end": 3, "id": 42, "least": 2},
        {"type": "late", "start": 3, "end": 6, "id": 42},
    ]
    (folder / "values.json").write_text('{"least": 3, "patience": "1s"}')
    assert found(ensue("run", rules, "events.jsonl", "--params", "values.json").stdout) == [
        {"type": "late", "start": 3, "end": 4, "id": 42}
    ]
    (folder / "values.toml").write_text('least = 3\npatience = "1s"\n')
    both = ensue("run", rules, "events.jsonl", "--params", "values.toml", "--param", "least=1", "--emit", "many")
    assert found(both.stdout) == [{"type": "many", "start": 3, "end": 3, "id": 42, "least": 1}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--param", "lest=2"), "no parameter 'lest'; there is 'patience', 'least', 'word'. Did you mean 'least'?"),
        (("--param", "least=two"), "'least' is declared as int, and 'two' is none: write it as in 3."),
        (("--param", "least"), "gives no value; write --param limit=80."),
        (("--param", "patience=-2"), "The parameter 'patience' cannot be '-2': with a negative length"),
        (("--params", "half.json"), "The parameter 'word' is '\\ud800', which is no text"),
        (("--params", "none.json"), "The file of parameters none.json cannot be read"),
        (("--params", "events.jsonl"), "The file of parameters events.jsonl is neither JSON nor TOML"),
    ],
)
def test_values_that_do_not_fit(ensue: Command, rules: str, options: tuple[str, str], message: str) -> None:
    Path("half.json").write_text('{"word": "\\ud800"}')
    result = ensue("run", rules, "events.jsonl", *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_other_commands_take_them(ensue: Command, rules: str) -> None:
    assert ensue("check", rules).exit_code == 0
    assert "1 passed, 0 failed" in ensue("test", rules).stdout
    assert "q >= 7" in ensue("explain", rules, "--param", "least=7").stdout


def test_what_is_said_about_rules(ensue: Command, rules: str) -> None:
    given = ("--param", "patience=3s", "--param", "least=2")
    run = ensue("run", rules, "events.jsonl", *given, "--about", "severity", "--about", "tags", "--about", "rule")
    assert found(run.stdout) == [
        {"type": "many", "start": 3, "end": 3, "id": 42, "least": 2, "severity": None, "tags": None, "rule": None},
        {"type": "late", "start": 3, "end": 6, "id": 42, "severity": "high", "tags": ["shop", "sla"], "rule": "late"},
    ]
    assert ensue("run", rules, "events.jsonl", *given, "--about", "tags", "-o", "found.csv").exit_code == 0
    assert '"shop, sla"' in Path("found.csv").read_text()
    assert ensue("run", rules, "events.jsonl", *given, "--about", "tags", "-o", "found/").exit_code == 0
    assert found(Path("found/late.jsonl").read_text())[0]["tags"] == ["shop", "sla"]
    unknown = ensue("run", rules, "events.jsonl", *given, "--about", "severty")
    assert "No rule has a value for 'severty'" in unknown.stderr
    assert "Did you mean 'severity'?" in unknown.stderr


def test_a_file_for_each_type(ensue: Command, folder: Path) -> None:
    (folder / "day.ensue").write_text((folder / "shop.ensue").read_text().replace("6h", "2s"))
    run = ensue("run", "day.ensue", "events.jsonl", "-o", "found/")
    assert run.exit_code == 0
    assert "found 2 comp, 1 late; written to found/" in run.stderr
    assert [row["end"] for row in found((folder / "found" / "comp.jsonl").read_text())] == [7, 9]
    assert found((folder / "found" / "late.jsonl").read_text()) == [{"type": "late", "start": 3, "end": 5, "id": 42}]
    assert ensue("run", "day.ensue", "events.jsonl", "-o", "found", "--output-format", "parquet").exit_code == 0
    assert pq.read_table(folder / "found" / "late.parquet").column_names == ["type", "start", "end", "id"]
    assert ensue("run", "day.ensue", "events.jsonl", "-o", "found/", "--output-format", "csv").exit_code == 0
    with (folder / "found" / "comp.csv").open() as file:
        assert [row["end"] for row in csv.DictReader(file)] == ["7", "9"]
    wrong = ensue("run", "day.ensue", "events.jsonl", "-o", "found/", "--output-format", "xml")
    assert "none of jsonl, csv, parquet, arrow" in wrong.stderr
    no_folder = ensue("run", "day.ensue", "events.jsonl", "-o", "x.csv", "--output-format", "csv")
    assert "--output-format is for a folder" in no_folder.stderr
