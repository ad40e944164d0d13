"""Answers to the page's requests: each kind of request is a function of the rules and the events."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from ensue.data.columns import Columns
from ensue.data.errors import DataError
from ensue.data.files import JsonLines
from ensue.errors import DetectError, LimitError
from ensue.language.diagnostics import RuleError
from ensue.play.detections import detections
from ensue.play.given import events_of_test
from ensue.play.plan import plan_of
from ensue.program import Program, compile
from ensue.records import dataclass
from ensue.request import Request

MOST_MATCHES = 200_000
"""Largest number of events of a type that rules may derive here."""

MOST_DRAWN = 100_000
"""Events and detections on a timeline."""

MOST_TRACED = 5_000
"""Largest number of events with which a timeline shows the events that detections came from."""

MOST_EXPLAINED = 5
"""Detections that are explained at once."""

LARGEST_EXACT = 2**53
"""Browsers round larger integers."""

MOST_OBSERVED = 300_000
"""Largest number of bytes of events with which a plan has counts: counting takes much longer than running."""


@dataclass(frozen=True)
class Question:
    """A request whose rules are right: the program, and the events as JSON lines."""

    program: Program
    events: JsonLines
    request: Request
    more: Mapping[str, Any]
    """Further values that the page sent."""


@dataclass
class Answers:
    """Answers requests one by one; the last program and the last events are kept for the next."""

    memory: int
    _events: JsonLines = field(default_factory=lambda: JsonLines(b"", "events"))
    _program: tuple[str, Program] | None = None

    def prepare(self) -> None:
        """Imports and warms up all that the first request would wait for."""
        program = compile("event a(x: int).\nb(x) <- a(x).\n")
        program.detect([{"type": "a", "time": 1, "x": 1}])

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a message; `failure` says why there is none."""
        started = time.perf_counter()
        try:
            found = self._answer(message)
        except RuleError as error:
            found = {"wrong": len(error.diagnostics)}
        except LimitError as error:
            found = {
                "failure": re.sub(r"[;,] or allow more with .*", "; or use `ensue run`, which allows more.", str(error))
            }
        except (DataError, DetectError) as error:
            text = str(error)
            found = {"failure": text[:1].upper() + text[1:]}
        except (MemoryError, RecursionError) as error:
            found = {"failure": _too_large(error)}
        except Exception as error:
            found = {"failure": f"This is a bug in ensue, please report it ({type(error).__name__}: {error})."}
        return {**found, "milliseconds": round(1000 * (time.perf_counter() - started), 1)}

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        if "events" in message:
            self._events = JsonLines(message["events"].encode("utf-8", "replace"), "events")
        kind = message["kind"]
        if kind not in PROGRAM_ANSWERS:
            from ensue.play.assist import ANSWERS  # by the process that answers the editor

            return ANSWERS[kind](message)
        columns = message.get("columns")
        request = Request(
            message.get("until") or None,
            Columns() if columns is None else Columns.restored(columns),
            message.get("tables"),
            max_matches=MOST_MATCHES,
            max_state=self.memory // 2,
        )
        program = self._compiled(message["rules"]).with_params(message.get("params") or {}, texts=True)
        return PROGRAM_ANSWERS[kind](Question(program, self._events, request, message))

    def _compiled(self, rules: str) -> Program:
        if self._program is None or self._program[0] != rules:
            # A text that ends with a line end cannot be taken for a path.
            self._program = rules, compile(f"{rules}\n", "rules")
        return self._program[1]


def _too_large(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return (
            "There is not enough memory for this. Let the events of a rule share a variable, bound it with `within`, "
            "or try fewer events; `ensue play --memory` allows more."
        )
    return "The rules are nested too deeply."


def _run(question: Question) -> dict[str, Any]:
    found, read = question.program.detect_tables([question.events], question.request)
    return detections(question.program, found, read, question.request)


def _timeline(question: Question) -> dict[str, Any]:
    """A page with events and detections; with many events detections have no sources, which take long."""
    from ensue.view.page import themed
    from ensue.view.timeline import timeline_of, traced

    program, events, request = question.program, [question.events], question.request
    few = question.events.data.count(b"\n") <= MOST_TRACED
    found, read = traced(program, events, request, None if few else program.detect_tables(events, request)[0])
    html = timeline_of(program, found, read, title="Timeline", most=MOST_DRAWN).html()
    return {
        "html": themed(html, "dark" if question.more.get("theme") == "dark" else "light"),
        "note": None
        if few
        else f"Of more than {MOST_TRACED:,} events detections do not show what they came from here; Why does.",
    }


def _why(question: Question) -> dict[str, Any]:
    """Explain why a detection was found, given as its line of JSON; or why one of a type was not."""
    from ensue.reasons.ask import answer

    more = question.more
    detection = json.loads(more["detection"]) if "detection" in more else None
    found = answer(
        question.program, [question.events], question.request, detection, more.get("type") or None,
        more.get("at") or None, more.get("key") or {}, None, MOST_EXPLAINED,
    )  # fmt: skip
    return {"why": _exact(found.to_dict())}


def _exact(value: Any) -> Any:
    """Plain data with integers as text where a browser would round them.

    >>> _exact({"start": 3, "id": [2**60]})
    {'start': 3, 'id': ['1152921504606846976']}
    """
    match value:
        case dict():
            return {name: _exact(each) for name, each in value.items()}
        case list():
            return [_exact(each) for each in value]
        case int() if abs(value) > LARGEST_EXACT:
            return str(value)
        case _:
            return value


def _plan(question: Question) -> dict[str, Any]:
    few = len(question.events.data) <= MOST_OBSERVED
    events = [question.events] if few and question.events.data.strip() else None
    return {"plan": plan_of(question.program.explain_events(events, question.request, intervals=False))}


def _test(question: Question) -> dict[str, Any]:
    from ensue.engine.limits import limiting
    from ensue.testing import run_tests

    source = question.program.file.source
    with limiting(question.request.limits):
        outcomes = list(run_tests(question.program))
    return {
        "tests": [
            {
                "title": outcome.test.title,
                "line": source.position(outcome.test.span.start)[0],
                "passed": outcome.passed,
                "error": outcome.error,
                "missing": [event for each in outcome.differences for event in each.missing],
                "unexpected": [event for each in outcome.differences for event in each.unexpected],
            }
            for outcome in outcomes
        ]
    }


def _given(question: Question) -> dict[str, Any]:
    return events_of_test(question.program, question.more.get("test"))


PROGRAM_ANSWERS: dict[str, Callable[[Question], dict[str, Any]]] = {
    "run": _run,
    "timeline": _timeline,
    "why": _why,
    "plan": _plan,
    "test": _test,
    "given": _given,
}
