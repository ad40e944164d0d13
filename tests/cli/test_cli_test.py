"""`ensue test`."""

from pathlib import Path
from typing import NoReturn

import pytest

from ensue.errors import DetectError
from ensue.testing import ALL_EXECUTIONS, EXECUTIONS
from tests.cli.conftest import Command

FAILING = """\
event a(x: int).
b(x) <- a(x) where x > 1.
test "none" given a(1) @ 1, a(2) @ 2 expect no b.
test "both"
  given a(1) @ 1, a(2) @ 2
  expect b(1) @ 1, b(2) @ 2.
test "right" given a(2) @ 2 expect b(2) @ 2.
"""


def test_tests_that_pass(ensue: Command) -> None:
    result = ensue("test", "shop.ensue")
    assert result.exit_code == 0
    assert result.stdout == "passed  shop.ensue:8  an order that ships is complete\n1 passed, 0 failed\n"


def test_what_is_missing_and_unexpected_is_shown(ensue: Command, folder: Path) -> None:
    (folder / "failing.ensue").write_text(FAILING)
    result = ensue("test", "failing.ensue", "shop.ensue")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "failed  failing.ensue:3  none",
        "          unexpected: b(2) @ 2",
        "failed  failing.ensue:4  both",
        "          missing:    b(1) @ 1",
        "passed  failing.ensue:7  right",
        "passed  shop.ensue:8  an order that ships is complete",
        "2 passed, 2 failed",
    ]


@pytest.mark.parametrize("unit", ["", "unit s."])
def test_times_are_shown_as_they_are_written(ensue: Command, folder: Path, unit: str) -> None:
    (folder / "lengths.ensue").write_text(
        f"{unit} event a(). event b(). c() <- a() seq b(). d(at = w.end) <- x: b(), w: shift(x, 8s)."
        'test "seconds" given a() @ 2s, b() @ 302s until 400s expect no c, no d.'
        'test "hours" given a() @ 0h, b() @ 5m30s until 1h expect no c, no d.'
        'test "text" given a() @ "2026-01-01T01:00+01:00", b() @ "2026-01-01T00:00:01Z" expect no c.'
    )
    shown = [line.strip() for line in ensue("test", "lengths.ensue").stdout.splitlines() if "unexpected" in line]
    assert shown == [
        "unexpected: c() @ [2s, 302s]",
        "unexpected: d(310s) @ [302s, 310s]",
        "unexpected: c() @ [0h, 5m30s]",
        "unexpected: d(5m38s) @ [5m30s, 5m38s]",
        'unexpected: c() @ ["2026-01-01T01:00+01:00", "2026-01-01T00:00:01Z"]',
    ]


def test_a_file_without_tests_says_so(ensue: Command, folder: Path) -> None:
    (folder / "empty.ensue").touch()
    result = ensue("test", "empty.ensue")
    assert (result.exit_code, result.stdout) == (0, "empty.ensue has no tests\n0 passed, 0 failed\n")


def test_wrong_rules_fail_and_the_others_run(ensue: Command, folder: Path) -> None:
    (folder / "wrong.ensue").write_text("a(x) <- nothing(x).\n")
    result = ensue("test", "wrong.ensue", "shop.ensue")
    assert result.exit_code == 1
    assert result.stdout.endswith("1 passed, 0 failed\n")
    assert result.stderr.endswith("1 error in 1 file\n")


def test_a_missing_file_is_wrong_use_and_the_others_run(ensue: Command) -> None:
    result = ensue("test", "missing.ensue", "shop.ensue")
    assert result.exit_code == 2
    assert result.stdout.endswith("1 passed, 0 failed\n")


def test_a_test_that_cannot_be_evaluated_has_failed(ensue: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> NoReturn:
        raise DetectError("the rules for comp do not come to an end")

    for name in ("detect_tables", "detect_mixed"):
        monkeypatch.setattr(f"ensue.engine.tables.{name}", endless)
    result = ensue("test", "shop.ensue")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1:] == [
        "          the rules for comp do not come to an end",
        "0 passed, 1 failed",
    ]


@pytest.mark.parametrize("name", EXECUTIONS)
def test_each_engine_can_be_asked_for(ensue: Command, name: str) -> None:
    result = ensue("test", "shop.ensue", "--engine", name)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "1 passed, 0 failed")


def test_an_engine_that_is_not_there(ensue: Command) -> None:
    result = ensue("test", "shop.ensue", "--engine", "steam")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("ensue: There is no engine 'steam' here; there is embedded")


def test_each_engine_is_named_where_there_are_several(ensue: Command) -> None:
    result = ensue("test", "shop.ensue", "--engine", "all")
    assert "passed  shop.ensue:8  an order that ships is complete (reference)\n" in result.stdout
    assert result.stdout.endswith(f"\n{len(ALL_EXECUTIONS)} passed, 0 failed\n")
