"""Backtests: counts by time and key, comparisons, and the forms of the result."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import ensue
from ensue.backtesting import run_backtest
from ensue.backtesting.buckets import buckets
from ensue.cli.commands import ensue as group
from ensue.request import Request

RULES = """\
event order(id: int, product: string, qty: int).
event shipped(id: int).
rule small: late(id, product) <- o: order(id, product, q), w: following(o, 3), while [w]: not shipped(id), q < 5.
rule large "Large and late": late(id, product) <- o: order(id, product, q), w: following(o, 6), while [w]: not shipped(id), q >= 4.
done(id) <- order(id, _, _) seq shipped(id).
"""  # noqa: E501
EVENTS = [
    {"type": "order", "time": 0, "id": 1, "product": "tea", "qty": 1},
    {"type": "order", "time": 10, "id": 2, "product": "tea", "qty": 9},
    {"type": "order", "time": 20, "id": 3, "product": "mug", "qty": 4},
    {"type": "order", "time": 30, "id": 4, "product": "mug", "qty": 1},
    {"type": "shipped", "time": 31, "id": 4},
    {"type": "order", "time": 40, "id": 5, "product": "tea", "qty": 1},
    {"type": "shipped", "time": 60, "id": 9},
]


def test_rules_of_one_type_are_told_apart() -> None:
    found = ensue.backtest(RULES, EVENTS, by=10)
    small, large, done = found.rules
    assert (small.name, small.event, small.line, small.found) == ("small", "late", 3, 3)
    assert (large.name, large.title, large.found) == ("large", "Large and late", 2)
    assert done.found == 1 and found.found == 6 and found.events == 7
    assert small.counts == (1, 0, 1, 0, 1, 0, 0)  # at 3, 23 and 43
    assert large.counts == (0, 1, 1, 0, 0, 0, 0)  # at 16 and 26
    assert small.samples[0] == {"type": "late", "start": 0, "end": 3, "id": 1, "product": "tea"}
    assert [sample["id"] for sample in small.samples] == [1, 3, 5]


def test_keys_are_those_that_repeat() -> None:
    small, _, done = ensue.backtest(RULES, EVENTS).rules
    assert small.keys is not None and done.keys is not None
    assert (small.keys.attribute, small.keys.most, small.keys.different) == ("product", (("tea", 2), ("mug", 1)), 2)
    assert (done.keys.attribute, done.keys.most) == ("id", (("4", 1),))
    by_id = ensue.backtest(RULES, EVENTS, key="id").rules[0].keys
    assert by_id is not None and by_id.attribute == "id"
    with pytest.raises(ensue.DataError, match="No rule derives an attribute 'colour'"):
        ensue.backtest(RULES, EVENTS, key="colour")


def test_times_are_taken_from_the_clock_that_is_handed_in() -> None:
    ticks = iter(range(1000))
    found, _ = run_backtest(ensue.compile(RULES), EVENTS, Request(), clock=lambda: float(next(ticks)))
    assert [rule.seconds for rule in found.rules] == [1.0, 1.0, 1.0] and found.seconds == 1.0
    assert all(rule.kept for rule in found.rules)
    unmeasured = ensue.backtest(RULES, EVENTS, measure=False)
    assert [(rule.seconds, rule.kept) for rule in unmeasured.rules] == [(None, None)] * 3
    assert [rule.found for rule in unmeasured.rules] == [3, 2, 1]


def test_what_is_found_instead() -> None:
    other = RULES.replace("q < 5", "q < 2").replace("following(o, 6)", "following(o, 5)")
    late, done = ensue.backtest(RULES, EVENTS, against=other).changes
    assert (late.event, late.same, late.new, late.gone, late.moved) == ("late", 2, 3, 2, 2)
    assert [sample["end"] for sample in late.new_samples] == [16, 23, 26]
    assert [sample["end"] for sample in late.gone_samples] == [15, 25]
    assert (done.event, done.same, done.new, done.gone) == ("done", 1, 0, 0)


def test_types_and_attributes_that_only_one_has() -> None:
    other = RULES.replace("done(id)", "finished(id)").replace("late(id, product)", "late(id)")
    late, done, finished = ensue.backtest(RULES, EVENTS, against=other).changes
    assert (late.same, late.new, late.gone, late.ignored) == (5, 0, 0, ("product",))
    assert (done.event, done.new, done.gone) == ("done", 1, 0)
    assert (finished.event, finished.new, finished.gone) == ("finished", 0, 1)


def test_params_count_for_both_where_they_have_them() -> None:
    rules = "param limit: int = 3.\nevent a(x: int).\nhigh(x) <- a(x) where x > limit."
    events = [{"type": "a", "time": t, "x": t} for t in range(10)]
    found = ensue.backtest(rules, events, params={"limit": 7}, against=rules.replace("limit", "most"))
    assert found.rules[0].found == 2 and found.changes[0].gone == 4


def test_suppressed_and_derived_from_derived() -> None:
    rules = (
        "event a(k: int).\nrule one: b(k) <- a(k) once per k in 10.\nrule two: b(k) <- a(k), k = 3.\n"
        "c(k) <- b(k) seq b(k)."
    )
    events = [{"type": "a", "time": t, "k": t % 2 * 3} for t in range(8)]
    one, two, c = ensue.backtest(rules, events).rules
    assert (one.found, one.suppressed, two.found, two.suppressed) == (2, 6, 4, None)
    assert c.found == len(ensue.compile(rules).detect(events, emit="c"))


# --- spans of time

MARCH = datetime(2026, 3, 1, tzinfo=UTC)


def spans(length: timedelta, by: str | None = None, zone: str | None = None) -> tuple[str, int]:
    first = int(MARCH.timestamp()) * 10**6
    made = buckets(first, first + length // timedelta(microseconds=1), by, True, None, zone)
    return made.by, len(made)


def test_spans_are_chosen_by_the_time() -> None:
    assert spans(timedelta(seconds=50)) == ("second", 51)
    assert spans(timedelta(minutes=90)) == ("minute", 91)
    assert spans(timedelta(days=3)) == ("hour", 73)
    assert spans(timedelta(days=60)) == ("day", 61)
    assert spans(timedelta(days=700)) == ("week", 101)
    assert spans(timedelta(days=3), "6h") == ("6h", 13)


def test_days_follow_the_clock_of_a_zone() -> None:
    first = int(datetime(2026, 3, 28, 12, tzinfo=UTC).timestamp()) * 10**6
    made = buckets(first, first + 2 * 86_400 * 10**6, "day", True, None, "Europe/Berlin")
    assert made.starts == ("2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z")
    assert spans(timedelta(days=400), "week", "Europe/Berlin")[1] == 59


def test_spans_of_plain_numbers() -> None:
    assert buckets(0, 99, None, False, None, None).by == "1"
    assert buckets(0, 10_000, None, False, None, None).by == "100"
    assert buckets(0, 7_200, None, False, "s", None).by == "minute"
    assert buckets(0, 7_200, "30m", False, "s", None).edges == (0, 1800, 3600, 5400, 7200, 9000)
    assert buckets(0, 25, "10", False, None, None).edges == (0, 10, 20, 30)
    assert len(buckets(None, None, None, True, None, None)) == 0


@pytest.mark.parametrize(
    ("by", "said"), [("0", "more than 0"), ("often", "not a length of time"), ("1", "more than 10,000 spans")]
)
def test_spans_that_make_no_sense(by: str, said: str) -> None:
    with pytest.raises(ensue.DataError, match=said):
        buckets(0, 10**6, by, False, None, None)


# --- forms


def test_text_shows_bars_keys_and_samples() -> None:
    shown = str(ensue.backtest(RULES, EVENTS, by=10, against=RULES.replace("q < 5", "q < 2")))
    assert "7 events from 0 to 60, 7 spans of 10" in shown
    assert "large: late (line 4), Large and late\n  2 found, took " in shown
    assert "  │█ █ █  │ up to 1 in a span of 10\n  most by product: tea (2), mug (1)\n" in shown
    assert "late: 4 as before, 1 new, 0 no longer\n    + │  █    │\n" in shown


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_everything_on_a_page_is_escaped() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    events = [{**event, "product": hostile} if "product" in event else event for event in EVENTS]
    rules = RULES.replace("Large and late", "<script>alert(1)</script>")
    found = ensue.backtest(ensue.compile(rules, "<b>.ensue"), events, against=ensue.compile(RULES, "<i>.ensue"))
    page = Tags()
    page.feed(found.html())
    assert page.tags.isdisjoint({"img", "script", "b", "i", "link"})
    assert hostile in page.text and "<script>alert(1)</script>" in page.text and "<i>.ensue" in page.text
    assert "http" not in found.html() and found._repr_html_() in found.html()


def test_no_events_and_no_rules() -> None:
    found = ensue.backtest(RULES, [])
    assert [rule.found for rule in found.rules] == [0, 0, 0] and found.json()["spans"] == []
    assert "0 events" in str(found) and found.html()
    assert "There are no rules" in str(ensue.backtest("event a().", [{"type": "a", "time": 1}]))


# --- the command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.ensue").write_text(RULES)
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    return tmp_path


def call(*arguments: str, **settings: Any) -> Result:
    return CliRunner().invoke(group, ["backtest", *arguments], **settings)


def test_the_command_prints_text_json_or_a_page(folder: Path) -> None:
    shown = call("shop.ensue", "events.jsonl", "--by", "10")
    assert shown.exit_code == 0 and "small: late (line 3)" in shown.stdout and shown.stderr == ""
    made = json.loads(call("shop.ensue", "events.jsonl", "--json", "--by", "10", "--no-measure").stdout)
    assert made["by"] == "10" and made["spans"] == [0, 10, 20, 30, 40, 50, 60]
    assert [rule["found"] for rule in made["found"]] == [3, 2, 1] and made["found"][0]["seconds"] is None
    assert made["found"][0]["keys"]["most"][0] == {"value": "tea", "count": 2}
    written = call("shop.ensue", "events.jsonl", "-o", "page.html")
    assert written.exit_code == 0 and "6 detections; written to page.html" in written.stderr
    assert (folder / "page.html").read_text().startswith("<!doctype html>")


def test_options_of_reading_and_params(folder: Path) -> None:
    (folder / "a.csv").write_text("when;x\n1700000000;5\n1700003600;9\n1700007200;oops\n")
    (folder / "a.ensue").write_text("param limit: int = 3.\nevent a(x: int).\nhigh(x) <- a(x) where x > limit.\n")
    shown = call(
        "a.ensue", "a=a.csv", "--time", "when", "--time-unit", "s", "--separator", ";", "--param", "limit=7", "--json"
    )
    made = json.loads(shown.stdout)
    assert made["found"][0]["found"] == 1 and made["first"] == "2023-11-14T22:13:20Z"
    assert "1 row left out" in shown.stderr


def test_an_earlier_version_from_git(folder: Path) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *arguments], check=True, capture_output=True)

    git("init", "-q")
    git("add", "shop.ensue")
    git("commit", "-qm", "first")
    (folder / "shop.ensue").write_text(RULES.replace("q < 5", "q < 2"))
    for version in ("HEAD:shop.ensue", "HEAD:"):
        made = json.loads(call("shop.ensue", "events.jsonl", "--against", version, "--json").stdout)
        assert made["against"] == version
        assert [(c["event"], c["new"], c["gone"]) for c in made["changes"]] == [("late", 0, 1), ("done", 0, 0)]
    wrong = call("shop.ensue", "events.jsonl", "--against", "HEAD~7:shop.ensue")
    assert wrong.exit_code == 2 and wrong.stderr.startswith("ensue: There is no rule file HEAD~7:shop.ensue; git says")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["shop.ensue", "events.jsonl", "-o", "page.pdf"], "does not end in .html"),
        (["shop.ensue", "events.jsonl", "-o", "page.html", "--json"], "leave it out"),
        (["-", "-"], "cannot both come from standard input"),
        (["shop.ensue", "events.jsonl", "--against", "--upload-pack=x:shop.ensue"], "names no version"),
        (["shop.ensue", "events.jsonl", "--by", "often"], "not a length of time"),
        (["shop.ensue", "nothing.jsonl"], "nothing.jsonl"),
    ],
)
def test_wrong_use(folder: Path, arguments: list[str], said: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2 and re.search(said, result.stderr), result.stderr
