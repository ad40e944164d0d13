"""Plain lengths of time in rules whose events have timestamps: they count microseconds, and a warning says so."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import ensue
from ensue.cli.commands import ensue as group

DECLARED = "event a(x: int). event b(x: int). "
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = [{"type": "a", "time": NOW, "x": 1}]
TEN = [
    ("c(x) <- a(x) seq b(x) within 10.", "within 10"),
    ("c(x) <- a(x) before[..10] b(x).", "before[..10]"),
    ("c(x) <- a(x) before[-10..0] b(x).", "before[-10..0]"),
    ("c(x) <- l: a(x), w: following(l, 10), while [w]: not b(x).", "following(l, 10)"),
    ("c(x) <- l: a(x), w: extend(l, 10), while w: not b(x).", "extend(l, 10)"),
    ("c(n = count(*)) <- while each 10: collect a(_).", "while each 10"),
    ("c(x, n = count(*)) <- while gap 10: collect a(x).", "while gap 10"),
    ("c(x) <- a(x) once per x in 10.", "once per x in 10"),
    ("c(x) <- a(x) at most 2 per x in 10.", "at most 2 per x in 10"),
    ("keep 10. c(x) <- a(x).", "keep 10"),
    ("param p: duration = 10. c(x) <- a(x) seq b(x) within p.", "param p: duration = 10"),
]
OTHERS = [
    "c(x) <- a(x) seq b(x) within 10s.",
    "c(x) <- a(x) seq b(x) where x > 10.",
    "c(x, n = count(*)) <- while last 10: collect a(x).",
    "c(x) <- a(x) before[0..10s] b(x).",
    "c(x) <- a(x) at most 10 per x in 1h.",
    "unit us. c(x) <- a(x) seq b(x) within 10.",
    "keep 10s. c(x) <- a(x).",
    "param p: duration = 10s. param n: int = 10. c(x) <- a(x) seq b(x) within p where x > n.",
    'c(x) <- a(x). test "t" given a(1) @ 10 expect c(1) @ 10.',
]


@pytest.mark.parametrize(("rule", "written"), TEN)
def test_a_plain_length_on_timestamps_is_a_warning(rule: str, written: str) -> None:
    program = ensue.compile(DECLARED + rule)
    message = f"`{written}` means 10 microseconds here, because the times are timestamps; write a unit, as in `10s`."
    with pytest.warns(ensue.PlainLengthWarning) as caught:
        program.detect(ROWS)
    assert [str(each.message) for each in caught] == [message]
    assert caught[0].filename == __file__
    with pytest.warns(ensue.PlainLengthWarning) as caught:
        session = program.start()
        for row in ROWS * 2:
            session.send(row)
        session.close()
    assert [str(each.message) for each in caught] == [message]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("rule", "written"), TEN)
def test_it_is_none_on_integers(rule: str, written: str) -> None:
    program = ensue.compile(DECLARED + rule)
    program.detect([{"type": "a", "time": 1, "x": 1}])
    program.start().send({"type": "a", "time": 1, "x": 1})


@pytest.mark.parametrize("rule", OTHERS)
def test_other_numbers_are_no_plain_lengths(rule: str) -> None:
    program = ensue.compile(DECLARED + rule)
    program.detect(ROWS)
    program.start().send(ROWS[0])


def test_tables_are_like_rows() -> None:
    program = ensue.compile(DECLARED + TEN[0][0])
    with pytest.warns(ensue.PlainLengthWarning, match="`within 10`") as caught:
        program.detect(pa.Table.from_pylist(ROWS))
    assert len(caught) == 1


def test_the_first_time_may_come_with_advance_and_a_state_is_told_once() -> None:
    program = ensue.compile(DECLARED + TEN[0][0])
    session = program.start()
    with pytest.warns(ensue.PlainLengthWarning, match="`within 10`") as caught:
        session.advance(NOW)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    program.resume(session.save()).send({"type": "a", "time": datetime(2026, 1, 2, tzinfo=UTC), "x": 1})


def test_commands_say_it(tmp_path: Path) -> None:
    rules, events = tmp_path / "rules.ensue", tmp_path / "events.csv"
    rules.write_text(DECLARED + TEN[0][0])
    events.write_text("type,time,x\na,2026-01-01T00:00:00Z,1\n")
    result = CliRunner().invoke(group, ["run", str(rules), str(events)])
    assert result.exit_code == 0
    assert result.stderr.count("`within 10` means 10 microseconds here") == 1
