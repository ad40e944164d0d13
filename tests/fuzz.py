"""Random programs on random streams through every execution, for as long as you like.

    python -m tests.fuzz --seed 1 --minutes 10
    python -m tests.fuzz --seed 1 --minutes 10 --machine

What an execution finds is compared with what the reference finds. With `--machine` rules become machine code, and run
on longer streams, too, where plain code says what is wanted. The first difference is made small and printed as a case
file; then the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import ensue
from ensue.language import syntax
from ensue.language.print import show
from ensue.program import Program
from tests import agreement
from tests.agreement import COMPILED, EXECUTIONS, DisagreementError, Outcome, Stream, check, meaning, outcome
from tests.random_programs import compiled, given_types, programs, streams

ROUND = 40
"""How many programs are drawn before the time is looked at."""

VALUES = ("plain", "nulls", "odd")


@dataclass
class Failure:
    """A difference, and all that it takes to see it again."""

    text: str
    events: Stream
    until: int | None
    error: DisagreementError
    wanted: Outcome


@dataclass
class Fuzz:
    """A run: what has been done, and the last difference found."""

    machine: bool
    only: str
    began: float = field(default_factory=time.monotonic)
    programs: int = 0
    refused: int = 0
    comparisons: int = 0
    detections: int = 0
    failure: Failure | None = None

    @property
    def executions(self) -> list[str]:
        names = COMPILED if self.machine else EXECUTIONS
        return [name for name in names if self.only in name]

    def round(self, number: int) -> bool:
        """Draws some programs; whether all executions agreed on them."""
        phases = [Phase.generate] if self.machine else [Phase.generate, Phase.shrink]

        @seed(number)
        @settings(
            max_examples=ROUND, phases=phases, deadline=None, suppress_health_check=list(HealthCheck), database=None,
            report_multiple_bugs=False, print_blob=False,
        )  # fmt: skip
        @given(programs(), st.data())
        def draw(text: str, data: Any) -> None:
            self.try_program(text, data)

        try:
            draw()
        except DisagreementError:
            return False
        return True

    def try_program(self, text: str, data: Any) -> None:
        try:
            program = compiled(data.draw, text)
        except ensue.RuleError:
            self.refused += 1
            return
        self.programs += 1
        for _ in range(3):
            events = data.draw(
                streams(24, VALUES, types=given_types(program), sequence=data.draw(st.integers(0, 5)) == 5)
            )
            more = data.draw(st.sampled_from([None, None, 0, 3, 40]))
            until = None if more is None else _last(events) + more
            self.try_stream(program, events, until, data.draw(st.integers(0, 99)))

    def try_stream(self, program: Program, events: Stream, until: int | None, number: int) -> None:
        wanted = meaning(program, events, until)
        self.detections += 0 if isinstance(wanted, type) else len(wanted)
        if self.machine:
            self.compare(program, events, until, number, wanted)
            many = longer(events, number)
            beyond = None if until is None else until + max((e["end"] for e in many), default=0) - _last(events)
            self.compare(program, many, beyond, number, None)
        else:
            self.compare(program, events, until, number, wanted)

    def compare(self, program: Program, events: Stream, until: int | None, number: int, wanted: Outcome | None) -> None:
        if wanted is None:
            wanted = outcome(EXECUTIONS["plain"], program, events, until)
        for name in self.executions:
            try:
                self.comparisons += check(name, program, events, until, number, wanted)
            except DisagreementError as error:
                self.failure = Failure(program.file.source.text, events, until, error, wanted)
                raise

    def said(self) -> str:
        seconds = time.monotonic() - self.began
        rate = self.comparisons / seconds
        return (
            f"{seconds:6.0f} s  {self.programs} programs ({self.refused} refused), {self.comparisons} comparisons "
            f"({rate:.0f}/s), {self.detections} detections"
        )


def _last(events: Stream) -> int:
    return max((event["end"] for event in events), default=0)


def longer(events: Stream, number: int) -> Stream:
    """The same events again and again, later and later."""
    if not events:
        return events
    span = max(e["end"] for e in events) - min(e["start"] for e in events)
    gap = span + 1 - number % 5
    times = 400 // len(events)
    return [{**e, "start": e["start"] + k * gap, "end": e["end"] + k * gap} for k in range(times) for e in events]


# --- making it small


def reduced(failure: Failure) -> Failure:
    """Without rules and events that do not matter."""
    changed = True
    while changed:
        changed = False
        for smaller in _smaller(failure):
            if (found := _still(smaller, failure)) is not None:
                failure, changed = found, True
                break
    return failure


def _smaller(failure: Failure) -> list[tuple[str, Stream, int | None]]:
    text, events, until = failure.text, failure.events, failure.until
    lines = text.splitlines()
    found: list[tuple[str, Stream, int | None]] = []
    size = len(events) // 2
    while size:
        found += [(text, [*events[:at], *events[at + size :]], until) for at in range(0, len(events), size)]
        size //= 2
    if until is not None:
        found.append((text, events, None))
    dropped = [at for at, line in enumerate(lines) if not line.startswith("unit ")]  # without it all is another error
    return found + [("\n".join([*lines[:at], *lines[at + 1 :]]), events, until) for at in dropped]


def _still(smaller: tuple[str, Stream, int | None], failure: Failure) -> Failure | None:
    """The failure that is left, if the same execution still differs."""
    text, events, until = smaller
    error = failure.error
    try:
        program = ensue.compile(text)
    except ensue.RuleError:
        return None
    few = len(events) < 40
    wanted = meaning(program, events, until) if few else outcome(EXECUTIONS["plain"], program, events, until)
    try:
        check(error.execution, program, events, until, error.seed, wanted)
    except DisagreementError as other:
        return Failure(text, events, until, other, wanted)
    return None


# --- saying it


def case_file(failure: Failure) -> str:
    """The rules with a test that says what is wanted, as `tests/cases` holds them."""
    program = ensue.compile(failure.text)
    events = [_written(program, e["type"], agreement.attributes_of(e), e["start"], e["end"]) for e in failure.events]
    given = "\n  given " + ",\n    ".join(events) if events else ""
    until = "" if failure.until is None else f"\n  until {failure.until}"
    wanted = [] if isinstance(failure.wanted, type) else failure.wanted
    expected = [_written(program, d.type, d.attributes, d.start, d.end) for d in wanted]
    derived = {name for name, event in program.typed.events.items() if event.derived}
    expected += [f"no {name}" for name in sorted(derived - {d.type for d in wanted})]
    test = f'test "{failure.error.execution}"{given}{until}\n  expect ' + ",\n    ".join(expected) + "."
    return f"{failure.text}\n\n{test}"


def _written(program: Program, type_: str, attributes: Any, start: int, end: int) -> str:
    event = program.typed.events.get(type_)
    terms = [f"{name} = {show(syntax.Literal(value))}" for name, value in attributes.items()]
    if event is not None and (event.declared or event.derived):
        terms = [show(syntax.Literal(attributes.get(name))) for name in event.attributes]
    return f"{type_}({', '.join(terms)}) @ {start if start == end else f'[{start}, {end}]'}"


def main(arguments: list[str] | None = None, say: Callable[[str], object] = print) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="where to begin; each seed draws other programs")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--machine", action="store_true", help="machine code: fewer programs")
    parser.add_argument("--only", default="", help="only executions with this in their name")
    chosen = parser.parse_args(arguments)
    if chosen.machine:
        os.environ.setdefault("ENSUE_CACHE_DIR", tempfile.mkdtemp(prefix="ensue-fuzz-"))
    fuzz = Fuzz(chosen.machine, chosen.only)
    number = chosen.seed * 1_000_000
    while time.monotonic() - fuzz.began < 60 * chosen.minutes:
        number += 1
        if not fuzz.round(number):
            assert fuzz.failure is not None
            say(f"{fuzz.failure.error}\n\n{fuzz.failure.text}\n")
            failure = reduced(fuzz.failure)
            say(fuzz.said())
            say(f"\n{failure.error}\n\n{case_file(failure)}\n\nevents = {list(failure.events)!r}")
            return 1
        say(fuzz.said())
    return 0


if __name__ == "__main__":
    sys.exit(main())
