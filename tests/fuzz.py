"""Random programs on random streams through every execution, for as long as you like.

    python -m tests.fuzz --seed 1 --minutes 10
    python -m tests.fuzz --seed 1 --minutes 10 --machine --processes 2

Each execution's answer is compared with the reference's. One program in four runs as machine code, too; with
`--machine` all do, and nothing else. Programs that detect something run on more streams than others, and executions
that take long run on fewer. Some streams are long, up to 20,000 events: there the reference evaluates key by key where
rules allow that, and plain code is the measure elsewhere. The first difference is made small and printed as a case
file; the exit status is 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import Empty
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import ensue
from ensue.engine import run as engine_run
from ensue.engine.limits import Limits, limiting
from ensue.language import syntax
from ensue.language.print import show
from ensue.partitioning import ByKey, ByRow, stages
from ensue.program import Program
from ensue.rules import Rules
from tests import agreement
from tests.agreement import (
    COMPILED,
    EXECUTIONS,
    Detection,
    DisagreementError,
    Outcome,
    Stream,
    attributes_of,
    check,
    meaning,
    outcome,
)  # fmt: skip
from tests.random_programs import compiled, given_types, programs
from tests.random_streams import long_stream, random_stream
from tests.temporal.in_parts import detect_in_parts

ROUND = 40
"""Number of programs that are drawn before the time is checked."""

TRIED, STREAMS = 6, 48
"""Number of short streams that each program runs on if it detects nothing on them, and if it does; plans and code are
made for the first.
"""

MACHINE = 0.25
"""Share of the programs that run as machine code, too."""

LONG_STREAMS = 0.03
"""Share of the programs that run on long streams."""

DEAR = {
    "plain, one optimisation off", "plain, one type at a time", "small, one optimisation off", "detect, file on cores",
    "session, tables by type, late", "session, saved", "session, small, saved", "session, changed",
    "session, changed, late", "session, small, changed", "session, sources", "session machine, saved",
    "session machine, small, saved", "session machine, changed",
}  # fmt: skip
"""Executions that take several times as long as the engine alone."""

LONGER = 0.01
"""Share of the streams that machine code takes again and again, as one stream of hundreds of events."""

LENGTHS = (500, 3_000, 20_000)
"""Numbers of events of long streams; a longer one is used if the shorter one took little time."""

PATIENT = 0.5
"""Seconds that plain code may take on a long stream before others are not tried on it, nor a longer one."""

TOO_LONG = 10.0
"""CPU seconds after which plain code is stopped on a stream of many events, which is then left out."""

LONG = {
    False: ("plain", "plain, cut", "plain, one table", "detect, table", "detect, on cores", "detect, tables by type"),
    True: ("machine", "machine, cut", "machine, one table", "detect machine, table in order",
           "detect machine, on cores", "detect machine, tables by type"),
}  # fmt: skip
"""Executions that run on long streams, by whether they are machine code."""

MANY_PLANS = 2_000
"""Number of plans that are kept: all that one program needs."""


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
    """A run: its counters, and the last difference found."""

    machine: bool
    only: str
    minutes: float = 10
    began: float = field(default_factory=time.monotonic)
    programs: int = 0
    refused: int = 0
    comparisons: int = 0
    with_detections: int = 0
    """Comparisons of streams on which something is detected."""
    detections: int = 0
    long: int = 0
    referred: int = 0
    longest: int = 0
    failure: Failure | None = None

    def executions(self, rng: Random) -> list[str]:
        """Those of one program."""
        names = [*COMPILED] if self.machine else [*EXECUTIONS]
        if not self.machine and rng.random() < MACHINE:
            names += COMPILED
        return [name for name in names if self.only in name]

    def round(self, number: int) -> bool:
        """Draw some programs; False if executions differed on one of them."""

        @seed(number)
        @settings(
            max_examples=ROUND, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck),
            database=None, report_multiple_bugs=False, print_blob=False,
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
        if self.ended:
            return
        self.programs += 1
        engine_run._prepared.clear()
        rng = Random(data.draw(st.integers(0, 2**32)))
        types, executions = given_types(program), self.executions(rng)
        before = self.detections
        for number in range(STREAMS):
            if number == TRIED and self.detections == before:
                break
            events = random_stream(rng, types, 24)
            more = rng.choice([None, None, 0, 3, 40])
            until = None if more is None else _last(events) + more
            chosen = [name for name in executions if rng.randrange(rarity(name)) == 0]
            self.try_stream(program, events, until, rng, chosen)
        if rng.random() < LONG_STREAMS:
            self.try_long(program, types, rng)

    def try_stream(
        self, program: Program, events: Stream, until: int | None, rng: Random, executions: list[str]
    ) -> None:
        number = rng.randrange(100)
        wanted = meaning(program, events, until)
        self.detections += 0 if isinstance(wanted, type) else len(wanted)
        self.compare(program, events, until, number, wanted, executions)
        compiled_ones = [name for name in executions if name in COMPILED]
        if compiled_ones and rng.random() < LONGER:
            many = longer(events, number)
            beyond = None if until is None else until + max((e["end"] for e in many), default=0) - _last(events)
            plain, took = outcome_of_plain(program, many, beyond)
            if plain is not None and took < PATIENT:
                self.compare(program, many, beyond, number, plain, compiled_ones)

    def try_long(self, program: Program, types: list[str], rng: Random) -> None:
        """Longer and longer streams, as long as plain code is done with one soon."""
        for length in LENGTHS:
            events = long_stream(rng, types, length)
            with limiting(Limits(matches=200_000)):  # a rule that pairs everything with everything ends soon
                plain, took = outcome_of_plain(program, events, None)
            slow = took > PATIENT
            if plain is None or isinstance(plain, type):
                return
            wanted = in_parts(program, events) if not slow else None
            if wanted is not None:
                self.referred += 1
                self.compare(program, events, None, 0, wanted, ["plain"])
            self.long += 1
            self.longest = max(self.longest, length)
            self.detections += len(plain)
            chosen = [name for name in LONG[self.machine] if self.only in name]
            self.compare(program, events, None, rng.randrange(100), plain, chosen)
            if slow:
                return

    def compare(
        self, program: Program, events: Stream, until: int | None, number: int, wanted: Outcome, names: list[str]
    ) -> None:
        for name in names:
            try:
                compared = check(name, program, events, until, number, wanted)
            except DisagreementError as error:
                self.failure = Failure(program.file.source.text, events, until, error, wanted)
                raise
            self.comparisons += compared
            self.with_detections += compared and (isinstance(wanted, type) or bool(wanted))

    @property
    def ended(self) -> bool:
        return time.monotonic() - self.began > 60 * self.minutes

    @property
    def counts(self) -> list[int]:
        return [
            self.programs, self.refused, self.comparisons, self.with_detections, self.detections, self.long,
            self.referred, self.longest,
        ]  # fmt: skip


def rarity(execution: str) -> int:
    """An execution runs on one of so many streams."""
    if execution in DEAR:
        return 10
    return 2 if execution.startswith(("detect", "session")) else 1


def describe(counts: list[list[int]], began: float) -> str:
    """Counts of all processes as one line."""
    seconds = time.monotonic() - began
    programs_, refused, comparisons, with_detections, detections, long, referred = (
        sum(each) for each in list(zip(*counts, strict=True))[:7]
    )
    return (
        f"{seconds:6.0f} s  {programs_:,} programs ({refused:,} refused), {comparisons:,} comparisons "
        f"({comparisons / seconds:.0f}/s, {with_detections / max(comparisons, 1):.0%} with detections), {detections:,} "
        f"detections; {long:,} long streams ({referred:,} by the reference, too), up to "
        f"{max(each[7] for each in counts):,} events"
    )


def share_checked_rules() -> None:
    """Check each text once: sessions whose rules change would check the same few again and again."""
    check_anew = Rules.checked.__func__  # type: ignore[attr-defined]
    known: OrderedDict[Any, Any] = OrderedDict()

    def checked(cls: Any, source: Any, types: Any = None, functions: Any = None) -> Any:
        key = (cls, source, repr(types), repr(functions))
        if key not in known:
            known[key] = check_anew(cls, source, types, functions)
            if len(known) > 200:
                known.popitem(last=False)
        return known[key]

    Rules.checked = classmethod(checked)  # type: ignore[method-assign, assignment]


class TooLong(BaseException):
    """Plain code has run for too long. It is no `Exception`, so nothing takes it for an answer."""


def outcome_of_plain(program: Program, events: Stream, until: int | None) -> tuple[Outcome | None, float]:
    """The outcome of plain code and its CPU seconds; None if these are too many."""

    def stop(*_: object) -> None:
        raise TooLong

    began, before = time.process_time(), signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, TOO_LONG)
    try:
        return outcome(EXECUTIONS["plain"], program, events, until), time.process_time() - began
    except TooLong:
        return None, TOO_LONG
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def in_parts(program: Program, events: Stream) -> list[Detection] | None:
    """Evaluate the definitions key by key; None where some rule needs more events together than is feasible."""
    wanted = [name for name, event in program.typed.events.items() if event.derived]
    if any(event.each for event in program.typed.events.values()):
        return None
    for stage in stages(program.typed, wanted):
        match stage.parting:
            case ByKey() as by_key if not _crowded(by_key, events):
                pass
            case ByRow():
                pass
            case _:
                return None
    given = [(e["type"], attributes_of(e), e["start"], e["end"], None) for e in events]
    found = detect_in_parts(program.typed, given, None, wanted, Random(0), buckets=len(events) + 1)
    return [Detection(e.type, e.start, e.end, e.attributes) for e in found]


def _crowded(parting: ByKey, events: Stream) -> bool:
    """True if a key has more events than the reference can look at together."""
    keys = Counter(
        tuple(map(repr, (e.get(name) for name in parting.keys[e["type"]]))) for e in events if e["type"] in parting.keys
    )
    return max(keys.values(), default=0) > 60


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
    """The rules with a test of the expected events, as in `tests/cases`."""
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
    parser.add_argument("--machine", action="store_true", help="machine code only: fewer programs")
    parser.add_argument("--only", default="", help="only executions with this in their name")
    parser.add_argument("--processes", type=int, default=1, help="each with a seed of its own, from --seed on")
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("ENSUE_CACHE_DIR", tempfile.mkdtemp(prefix="ensue-fuzz-"))
    seeds = range(chosen.seed, chosen.seed + chosen.processes)
    began = time.monotonic()
    counts = {number: Fuzz(False, "").counts for number in seeds}
    if chosen.processes == 1:
        for number, found in fuzzed(chosen.seed, chosen.minutes, chosen.machine, chosen.only):
            if isinstance(found, str):
                say(found)
                return 1
            counts[number] = found
            say(describe([*counts.values()], began))
        return 0
    context = multiprocessing.get_context("spawn")
    told: Any = context.Queue()
    at_work = [
        context.Process(target=_tell, args=(told, number, chosen.minutes, chosen.machine, chosen.only), daemon=True)
        for number in seeds
    ]
    for process in at_work:
        process.start()
    while any(process.is_alive() for process in at_work) or not told.empty():
        try:
            number, found = told.get(timeout=1)
        except Empty:
            continue
        if isinstance(found, str):
            say(f"seed {number}: {found}")
            return 1
        counts[number] = found
        say(describe([*counts.values()], began))
    return int(any(process.exitcode for process in at_work))


def fuzzed(number: int, minutes: float, machine: bool, only: str) -> Iterator[tuple[int, list[int] | str]]:
    """Rounds from a seed on: counts after each, and at last the difference that was found, if there is one."""
    fuzz = Fuzz(machine, only, minutes)
    engine_run.MOST_PLANS = MANY_PLANS
    share_checked_rules()
    drawn = number * 1_000_000
    while not fuzz.ended:
        drawn += 1
        if not fuzz.round(drawn):
            assert fuzz.failure is not None
            failure = reduced(fuzz.failure)
            yield (
                number,
                (
                    f"{fuzz.failure.error}\n\n{fuzz.failure.text}\n\n{failure.error}\n\n{case_file(failure)}\n\n"
                    f"events = {list(failure.events)!r}"
                ),
            )
            return
        yield number, fuzz.counts


def _tell(told: Any, *given: Any) -> None:
    for each in fuzzed(*given):
        told.put(each)


if __name__ == "__main__":
    sys.exit(main())
