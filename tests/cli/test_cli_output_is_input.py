"""Output never replaces input."""

from pathlib import Path

from tests.cli.conftest import Command

RULES = "event a(x: int). b(x) <- a(x)."
ROWS = '{"type": "a", "time": 1, "x": 2}\n'


def test_the_output_is_not_one_of_the_inputs(ensue: Command, tmp_path: Path) -> None:
    rules, events = tmp_path / "r.ensue", tmp_path / "e.jsonl"
    rules.write_text(RULES)
    events.write_text(ROWS)
    for argument in (str(events), f"a={events}", str(tmp_path / "*.jsonl"), str(tmp_path)):
        result = ensue("run", str(rules), argument, "-o", str(events))
        assert result.exit_code == 2
        assert "is one of the files that are read" in result.stderr
        assert events.read_text() == ROWS
