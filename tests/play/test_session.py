"""Requests of the page: problems, detections, plans and tests, and rules that take too much."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ensue import datasets
from ensue.play import answers
from ensue.play.session import Session
from tests.play.conftest import EVENTS, RULES, exploding, text_of


def evaluated(session: Session, name: str, rules: str = RULES, events: Any = EVENTS, **more: Any) -> dict[str, Any]:
    text = events if isinstance(events, str) else text_of(events)
    taken = session.answer("events", {"text": text})
    assert taken is not None
    answer = session.answer(name, {"rules": rules, "version": taken["version"], **more})
    assert answer is not None
    return answer


def test_a_mistake_has_a_place_and_a_hint(session: Session) -> None:
    found = session.answer("check", {"rules": RULES.replace("shipped(id, t)", "shiped(id, t)")})
    assert found is not None
    (problem,) = [each for each in found["problems"] if each["severity"] == "error"]
    assert (problem["line"], problem["column"], problem["end_column"]) == (5, 51, 57)
    assert "shipped" in problem["hint"]
    assert [5, "event"] in [[end - start, kind] for start, end, kind in found["tokens"]]


def test_detections_are_lines_with_exact_numbers(session: Session) -> None:
    found = evaluated(session, "run")
    assert found["counts"] == {"comp": 2, "late": 1}
    assert [json.loads(line)["id"] for line in found["lines"]] == [42, 9007199254740993, 9007199254740993]
    assert '"id": 9007199254740993' in found["lines"][1]
    assert found["events"] == 4
    assert found["notices"] == [] and found["bad"] == []


def test_until_and_parameters_count(session: Session) -> None:
    rules = "param least: int = 1.\nevent a(x: int).\nb(x) <- e: a(x), w: extend(e, 5), x >= least.\n"
    events = [{"type": "a", "time": 1, "x": 1}, {"type": "a", "time": 2, "x": 2}]
    assert evaluated(session, "run", rules, events)["counts"] == {"b": 0}
    assert evaluated(session, "run", rules, events, until="10")["counts"] == {"b": 2}
    assert evaluated(session, "run", rules, events, until="10", params={"least": "2"})["counts"] == {"b": 1}
    assert "no parameter 'most'" in evaluated(session, "run", rules, events, params={"most": "2"})["failure"]


def test_bad_rows_are_said_with_their_lines(session: Session) -> None:
    events = text_of(EVENTS[:1]) + "nonsense\n" + '{"type": "order", "time": "soon", "id": 1}\n'
    found = evaluated(session, "run", events=events)
    assert [row["line"] for row in found["bad"]] == [2, 3]
    assert found["notices"]


def test_wrong_rules_are_no_failure(session: Session) -> None:
    assert evaluated(session, "run", "late(id) <- order(id).")["wrong"] == 1


def test_plan_has_a_tree_with_counts(session: Session) -> None:
    plan = evaluated(session, "plan")["plan"]
    assert [rule["name"] for rule in plan["rules"]] == ["comp", "late"]
    assert not plan["rules"][0]["bounded"] and plan["rules"][1]["bounded"]
    assert "4 in, 2 out" in plan["rules"][0]["tree"]["parts"][0]["observed"]


def test_tests_say_what_is_missing(session: Session) -> None:
    assert [test["passed"] for test in evaluated(session, "test")["tests"]] == [True]
    (failed,) = evaluated(session, "test", RULES.replace("@ [3, 7]", "@ [3, 8]"))["tests"]
    assert failed["missing"] == ['comp(42, "muffins") @ [3, 8]']
    assert failed["unexpected"] == ['comp(42, "muffins") @ [3, 7]']
    assert failed["line"] == 8


def test_events_of_a_test_find_what_it_expects(session: Session) -> None:
    given = evaluated(session, "given", test="an order that ships is complete")
    found = evaluated(session, "run", events=given["events"], until=given["until"], params=given["params"])
    assert [json.loads(line)["product"] for line in found["lines"]] == ["muffins"]


def test_every_example_can_be_run_and_its_tests_pass(session: Session) -> None:
    start = session.answer("start", {})
    assert start is not None
    names = [each["name"] for each in start["examples"]]
    assert tuple(names[: len(datasets.names())]) == datasets.names() and "brute_force" in names
    for name in names:
        example = session.answer("example", {"name": name})
        assert example is not None and "failure" not in example, name
        found = evaluated(
            session, "run", example["rules"], example["events"], until=example["until"], params=example["params"]
        )
        assert found.get("failure") is None and sum(found["counts"].values()), (name, found)


def test_completions_and_hover(session: Session) -> None:
    found = session.answer("complete", {"rules": "event order(id: i", "line": 1, "column": 18})
    assert found is not None
    assert [each["text"] for each in found["completions"]] == ["int"]
    about = session.answer("hover", {"rules": RULES, "line": 5, "column": 26})
    assert about is not None
    assert about["hover"]["code"].startswith("event order(id: int")


def test_half_a_surrogate_pair_is_no_text(session: Session) -> None:
    assert evaluated(session, "run", events='{"type": "order", "time": 1, "product": "\ud800"}\n')["events"] == 1


def test_a_rule_that_explodes_gives_a_message_and_the_next_one_an_answer(session: Session) -> None:
    events = [{"type": "order", "time": n, "id": n, "product": "tea", "qty": n} for n in range(200)]
    failure = evaluated(session, "run", exploding(), events)["failure"]
    assert "Stopped after 3 seconds" in failure or "derives more than" in failure
    assert evaluated(session, "run")["counts"] == {"comp": 2, "late": 1}


def test_a_rule_that_pairs_everything_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_MATCHES", 100)
    events = [{"type": "order", "time": n, "id": n, "product": "tea", "qty": n} for n in range(20)]
    message = {"kind": "run", "rules": exploding(2), "events": text_of(events)}
    failure = answers.Answers(10**9).answer(message)["failure"]
    assert "derives more than 100 events" in failure and failure.endswith("`ensue run`, which allows more.")


def test_the_newest_request_ends_the_one_before(session: Session) -> None:
    events = [{"type": "order", "time": n, "id": n, "product": "tea", "qty": n} for n in range(200)]
    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(evaluated, session, "run", exploding(), events)
        while session.evaluation._running is None:
            pass
        assert evaluated(session, "run")["counts"] == {"comp": 2, "late": 1}
        assert slow.result().get("superseded") or "derives more" in slow.result()["failure"]


def test_a_process_that_is_gone_is_replaced(session: Session) -> None:
    child = session.evaluation._child
    assert child is not None
    child.process.kill()
    child.process.wait()
    assert evaluated(session, "run")["counts"] == {"comp": 2, "late": 1}


def test_memory_is_limited() -> None:
    pytest.importorskip("resource")
    code = "from ensue.play.child import limit_memory; limit_memory(300_000_000); bytearray(1_000_000_000)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "MemoryError" in done.stderr


def test_requests_nobody_makes_are_refused(session: Session) -> None:
    assert session.answer("open", {}) is None
    assert "failure" in (session.answer("check", {"rules": 7}) or {})
    assert "failure" in (session.answer("check", {"rules": "x" * 500_001}) or {})
    assert session.answer("run", {"rules": "", "version": "unknown"}) == {"unknown": True}


def test_why_follows_a_detection_and_tells_what_stopped_another(session: Session) -> None:
    line = next(line for line in evaluated(session, "run")["lines"] if '"late"' in line)
    why = evaluated(session, "why", detection=line)["why"]
    assert why["detected"] and "order(id=9007199254740993" in json.dumps(why["found"])
    assert why["found"][0]["event"]["attributes"]["id"] == "9007199254740993"  # as text, or a browser rounds it
    missing = evaluated(session, "why", type="late", key={"id": "42"})["why"]
    assert (
        not missing["detected"] and "shipped(id=42" in missing["missing"]["rules"][0]["attempts"][0]["stops"][0]["text"]
    )
    assert "No rule derives 'order'" in evaluated(session, "why", type="order")["failure"]


def test_a_timeline_of_many_events_does_without_sources(session: Session) -> None:
    events = [{"type": "order", "time": n, "id": n, "product": "tea", "qty": n} for n in range(5_001)]
    rules = "event order(id: int, product: string, qty: int).\nbig(id) <- order(id, p, q), q > 5000.\n"
    answer = evaluated(session, "timeline", rules, events)
    assert "failure" not in answer and "more than 5,000 events" in answer["note"]
    page = session.shown(answer["shown"])
    assert page is not None and page.startswith("<!doctype html>")
