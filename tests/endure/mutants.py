"""Mutation testing: change one comparison, constant or operator of the sources at a time, and see which test notices.

    python -m tests.endure.mutants --seed 1 --minutes 60 --output mutants.jsonl

One process imports everything and collects the checks: tests of some folders, and random programs with the answers of
the unchanged reference. It runs each check once to see which lines it reaches and how long it takes. Then it forks for
each change: the child puts the changed code in the place of the functions that are there, and runs checks that reach
the changed line until one fails. Those that noticed changes nearby come first, then the quick ones.

The first round gives each change a few seconds of checks, the second one more to those that no check noticed. With
`--output` a run can be continued. Machine code and Spark are left out, so what is not noticed here may still be noticed
by the whole suite.
"""

from __future__ import annotations

import argparse
import gc
import json
import linecache
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from inspect import CO_NEWLOCALS
from itertools import groupby, islice
from pathlib import Path
from random import Random
from types import CodeType, FunctionType
from typing import IO, Any

import pytest

from tests.endure.mutations import FOLDERS, ROOT, Mutation, mutated, mutations

TESTS = (
    "tests/test_cases.py", "tests/test_parameter_contexts.py", "tests/test_boundaries.py", "tests/test_often.py",
    "tests/test_parameters.py", "tests/language/test_messages.py", "tests/temporal", "tests/rewriting", "tests/plan",
    "tests/explain", "tests/reference", "tests/engine", "tests/why",
)  # fmt: skip
"""Files and folders with tests that are checks."""

LEFT_OUT = (
    "machine", "process", "thread", "random", "test_agreement", "test_partitions", "test_cache", "test_growth",
    "every_execution",
)  # fmt: skip
"""Words in the names of tests that are no checks: they take long, or cannot run in a child."""

PROGRAMS, STREAMS = 150, 2
"""How many random programs there are, and how many streams each runs on."""

RUN_BY = ("plain", "small, cut", "plain, not optimised", "plain, sources", "session, events")
"""The executions that random programs run on."""

BUDGETS = (2.0, 12.0)
"""CPU seconds of checks for a change in each round, as they take without a change and traced."""

LONGEST = 8.0
"""CPU seconds that a check may take."""

TOGETHER = 8
"""How many tests of one function are a check: each that is measured costs a fork."""

Check = Callable[[], bool]
"""Runs something; True if it is as it should be."""


@dataclass(frozen=True)
class Known:
    """A check as it runs without a change: its CPU seconds while it is traced, and the lines that it reaches."""

    seconds: float
    lines: frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Tried:
    """The outcome of a change in a round: killed, timed out, survived or not reached; and the checks that ran."""

    outcome: str
    checks: list[str]


# --- checks


class Server:
    """Pytest's plugin: collects tests, and runs changes in the place of tests."""

    def __init__(self, run: Callable[[dict[str, Check]], None], programs: list[Any]) -> None:
        self.run, self.programs, self.failed = run, programs, False

    def pytest_runtestloop(self, session: Any) -> bool:
        checks: dict[str, Check] = {}
        for (path, function), items in groupby(
            filter(is_check, session.items), lambda item: (item.path, item.function)
        ):
            for number, some in enumerate(batched(items, TOGETHER)):
                name = f"{path.relative_to(ROOT)}::{function.__name__} {number}"
                checks[name] = lambda some=some: all(map(self.passes, some))
        for number, (text, streams) in enumerate(self.programs):
            checks[f"reference on random program {number}"] = lambda given=(text, streams): agrees(*given, ())
            checks[f"random program {number}"] = lambda given=(text, streams): agrees(*given, RUN_BY)
        self.run(checks)
        return True

    def passes(self, item: Any) -> bool:
        self.failed = False
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed |= report.failed


def is_check(item: Any) -> bool:
    return not any(word in item.nodeid for word in LEFT_OUT) and item.get_closest_marker("slow") is None


def batched(items: Iterator[Any], size: int) -> Iterator[tuple[Any, ...]]:
    while some := tuple(islice(items, size)):
        yield some


def agrees(text: str, streams: list[Any], executions: tuple[str, ...]) -> bool:
    """Run a program on streams: on some executions, or with none given by the reference."""
    import ensue
    from tests import agreement

    program = ensue.compile(text)
    for events, until, number, wanted in streams:
        if not executions and agreement.difference(wanted, agreement.meaning(program, events, until)) is not None:
            return False
        for name in executions:
            agreement.check(name, program, events, until, number, wanted)
    return True


def random_programs(seed_: int) -> list[Any]:
    """Random programs that detect something, with streams and what the reference finds."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st

    import ensue
    from tests.agreement import meaning
    from tests.random_programs import given_types, programs
    from tests.random_streams import random_stream

    found: list[Any] = []

    @seed(seed_)
    @settings(max_examples=3 * PROGRAMS, phases=[Phase.generate], deadline=None, database=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(programs(), st.integers(0, 2**32))
    def draw(text: str, number: int) -> None:
        try:
            program = ensue.compile(text)
        except ensue.RuleError:
            return
        random, streams = Random(number), []
        for attempt in range(3 * STREAMS):
            events = random_stream(random, given_types(program), 24)
            until = random.choice([None, 3 + max((event["end"] for event in events), default=0)])
            if wanted := meaning(program, events, until):
                streams.append((events, until, attempt, wanted))
        if streams and len(found) < PROGRAMS:
            found.append((text, streams[:STREAMS]))

    draw()
    return found


# --- children


def child(run: Callable[[IO[bytes]], None]) -> tuple[bytes, int]:
    """Run something in a fork of this process: what it wrote, and 0 if it ended well."""
    there, here = os.pipe()
    number = os.fork()
    if number:
        os.close(here)
        with os.fdopen(there, "rb") as pipe:
            written = pipe.read()
        return written, os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    try:
        os.close(there)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        resource.setrlimit(resource.RLIMIT_DATA, (2**31, 2**31))
        with os.fdopen(here, "wb", buffering=0) as pipe:
            run(pipe)
        os._exit(0)
    except BaseException:
        os._exit(1)


def limit(seconds: float) -> None:
    """End this process after some CPU seconds, and if it waits for something."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(int(10 * seconds) + 20)


def measured(check: Check) -> Known | None:
    """How long a check takes and which lines it reaches; None if it takes too long or fails."""

    reached: set[tuple[str, int]] = set()
    names: dict[str, str | None] = {}

    def trace(frame: Any, event: str, _: Any) -> Any:
        path = frame.f_code.co_filename
        if path not in names:
            name = os.path.relpath(path, ROOT)
            names[path] = name if name.startswith(FOLDERS) else None
        if (name := names[path]) is None:
            return None
        reached.add((name, frame.f_lineno))
        return trace

    def follow(pipe: IO[bytes]) -> None:
        limit(LONGEST)
        began = time.process_time()
        sys.settrace(trace)
        passed = check()
        sys.settrace(None)
        if passed:
            pipe.write(pickle.dumps(Known(time.process_time() - began, frozenset(reached))))

    written, _ = child(follow)
    return pickle.loads(written) if written else None


class Sources:
    """The functions of the sources that changes are made in, and what they keep from call to call."""

    def __init__(self) -> None:
        from ensue.engine.subset.source import source_of

        self.functions: dict[str, list[FunctionType]] = {}
        self.places: dict[str, list[tuple[str, int]]] = {}
        for path in (path for folder in FOLDERS for path in (ROOT / folder).glob("*.py")):
            import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
            self.places[str(path)] = list(map(place_of, codes(compile(path.read_text(), str(path), "exec"))))
        self.caches = [source_of.cache_clear]
        self.modules = {module.__file__: module for module in sys.modules.values() if getattr(module, "__file__", None)}
        inside = tuple(f"{ROOT / folder}/" for folder in FOLDERS)
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(inside):
                self.functions.setdefault(each.__code__.co_filename, []).append(each)
            elif hasattr(type(each), "cache_clear") and each.__module__.startswith(
                tuple(folder.removeprefix("src/").replace("/", ".") for folder in FOLDERS)
            ):
                self.caches.append(each.cache_clear)

    def change(self, mutation: Mutation) -> bool:
        """Put changed code in the place of what is there; False for what is made once at import and cannot change."""
        path = str(ROOT / mutation.file)
        text = mutated(mutation.file, mutation.number)
        code = compile(text, path, "exec")
        changed = dict(zip(self.places[path], codes(code), strict=True))
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
        for function in self.functions.get(path, ()):
            if (new := changed.get(place_of(function.__code__))) is not None:
                function.__code__ = new
        for clear in self.caches:
            clear()
        return self._constants(path, code) or bool(mutation.function)

    def _constants(self, path: str, code: CodeType) -> bool:
        """Change constants of the module, also where other modules have imported them; False if there is no change."""
        module = self.modules[path]
        fresh = {"__name__": module.__name__, "__package__": module.__package__, "__file__": path}
        exec(code, fresh)
        found = False
        for name, new in fresh.items():
            old = module.__dict__.get(name)
            if isinstance(new, FunctionType) and new.__module__ == module.__name__ and isinstance(old, FunctionType):
                old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
            elif isinstance(new, str | int | tuple) and repr(new) != repr(old) and not name.startswith("__"):
                found = True
                for other in self.modules.values():
                    if other.__dict__.get(name) is old:
                        setattr(other, name, new)
        return found


def place_of(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def codes(code: CodeType) -> list[CodeType]:
    """The code of the functions of a module and its classes, in their order; not of functions within functions."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    functions = [each for each in inner if each.co_flags & CO_NEWLOCALS]
    return functions + [each for inside in inner if inside not in functions for each in codes(inside)]


# --- trying


class Trying:
    """All checks, what is known of them, and which of them noticed changes so far."""

    def __init__(self, checks: dict[str, Check], known: dict[str, Known]) -> None:
        self.checks, self.known = checks, known
        self.sources = Sources()
        self.kills: Counter[tuple[str, ...]] = Counter()
        self.runs: Counter[tuple[str, ...]] = Counter()
        self.reached: dict[tuple[str, ...], int] = {}

    def reaching(self, mutation: Mutation) -> list[str]:
        """The checks that reach the changed line, or else its statement; all for what is read at import."""
        if not mutation.function:
            return [*self.known]
        for lines in ([mutation.line], mutation.statement):
            places = {(mutation.file, line) for line in lines}
            if found := [name for name, known in self.known.items() if not places.isdisjoint(known.lines)]:
                return found
        return []

    def value(self, check: str, mutation: Mutation) -> float:
        """How likely a check is to notice a change, for the time that it takes.

        That is more likely if it reaches much of the function, and if it noticed other changes there, or its like did.
        """
        known, like = self.known[check], like_of(check, mutation)
        here, near = (mutation.file, mutation.function, check), (mutation.file, check)
        if here not in self.reached:
            self.reached[here] = sum((mutation.file, line) in known.lines for line in mutation.inside)
        usual = (1 + self.kills[like]) / (20 + self.runs[like])
        kills, runs = 20 * self.kills[here] + 5 * self.kills[near], 2 * self.runs[here] + self.runs[near]
        likely = (20 * usual + kills) / (20 + runs)
        return likely * (1 + self.reached[here]) ** 2 / (0.02 + known.seconds)

    def chosen(self, mutation: Mutation, budget: float, before: list[str]) -> list[str]:
        names = [name for name in self.reaching(mutation) if name not in before]
        found = []
        for name in sorted(names, key=lambda name: self.value(name, mutation), reverse=True):
            if self.known[name].seconds <= budget:
                budget -= self.known[name].seconds
                found.append(name)
        return found

    def attempt(self, mutation: Mutation, budget: float, before: list[str]) -> Tried:
        """Change the sources in a child, and run checks there until one fails."""
        chosen = self.chosen(mutation, budget, before)
        if not chosen and not before:
            return Tried("not reached", [])

        def run(pipe: IO[bytes]) -> None:
            if not self.sources.change(mutation):
                pipe.write(b"not possible\n")
                return
            for place, name in enumerate(chosen):
                pipe.write(f"{place}\n".encode())
                limit(2 * self.known[name].seconds + 3)
                if not self.checks[name]():
                    sys.exit(1)

        written, status = child(run)
        if written == b"not possible\n":
            return Tried("not tried", [])
        begun = chosen[: len(written.splitlines())]
        for name in begun:
            self.note(self.runs, name, mutation)
        if status == 0:
            return Tried("survived", before + begun)
        for name in begun[-1:]:
            self.note(self.kills, name, mutation)
        return Tried("killed" if status == 1 else "timed out", begun[-1:])

    def note(self, counts: Counter[tuple[str, ...]], check: str, mutation: Mutation) -> None:
        counts[mutation.file, mutation.function, check] += 1
        counts[mutation.file, check] += 1
        counts[like_of(check, mutation)] += 1


def like_of(check: str, mutation: Mutation) -> tuple[str, ...]:
    """The checks that one is like, of one test function or random programs, for changes in one folder."""
    return mutation.file.rpartition("/")[0], check.rstrip("0123456789")


def known_checks(checks: dict[str, Check], kept: Path) -> dict[str, Known]:
    """Measure each check, once for all runs with the same folder."""
    found: dict[str, Known | None] = {}
    with kept.open("a+b") as file:
        file.seek(0)
        while file.peek(1):
            found.update(pickle.load(file))
        for name in [name for name in checks if name not in found]:
            found[name] = measured(checks[name])
            pickle.dump({name: found[name]}, file)
            if found[name] is None:
                print(f"left out, as it fails or takes long: {name}", flush=True)
    return {name: known for name, known in found.items() if name in checks and known is not None and known.lines}


def try_all(checks: dict[str, Check], chosen: Any, work: Path) -> None:
    """Try changes in two rounds for as long as asked, and show what became of them."""
    began = time.monotonic()
    trying = Trying(checks, known_checks(checks, work / "measured"))
    gc.freeze()
    drawn = mutations(chosen.only)
    Random(chosen.seed).shuffle(drawn)
    output = Path(chosen.output or work / "mutants.jsonl")
    done: dict[tuple[str, int, str], tuple[int, Tried]] = {}
    for line in output.read_text().splitlines() if output.exists() else []:
        each = json.loads(line)
        done[each["file"], each["number"], each["change"]] = (each["round"], Tried(each["outcome"], each["checks"]))
    for each in drawn:
        for name in done.get(key_of(each), (0, Tried("", [])))[1].checks:
            trying.note(trying.runs, name, each)
            if done[key_of(each)][1].outcome == "killed":
                trying.note(trying.kills, name, each)
    for round_, budget in enumerate(BUDGETS):
        for each in drawn:
            key = key_of(each)
            last, tried = done.get(key, (-1, Tried("survived", [])))
            if last >= round_ or tried.outcome != "survived":
                continue
            if time.monotonic() - began > 60 * chosen.minutes:
                break
            tried = trying.attempt(each, budget, tried.checks)
            done[key] = (round_, tried)
            entry = {"outcome": tried.outcome, "round": round_, "file": each.file, "number": each.number,
                     "change": key[2], "checks": tried.checks}  # fmt: skip
            with output.open("a") as file:
                file.write(json.dumps(entry) + "\n")
            if round_ and tried.outcome == "survived":
                print(f"not noticed: {each}", flush=True)
    show({key: tried.outcome for key, (_, tried) in done.items()}, Counter(each.file for each in drawn))


def key_of(mutation: Mutation) -> tuple[str, int, str]:
    return mutation.file, mutation.number, f"{mutation.line}: {mutation.description}"


def show(outcomes: dict[tuple[str, int, str], str], possible: Counter[str]) -> None:
    """Print how many changes of each folder came to what."""
    for folder in FOLDERS:
        inside = Counter(outcome for (file, _, _), outcome in outcomes.items() if file.startswith(folder))
        of = sum(count for file, count in possible.items() if file.startswith(folder))
        print(f"{folder}: {inside.total():,} of {of:,}: {dict(inside)}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.endure.mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--only", default="", help="only files with this in their name")
    parser.add_argument("--output", help="what became of each change, a line of JSON each; a run continues there")
    parser.add_argument("--work", help="a folder to keep what was measured without a change")
    chosen = parser.parse_args(arguments)
    work = Path(chosen.work or tempfile.mkdtemp(prefix="ensue-mutants-"))
    work.mkdir(exist_ok=True)
    os.environ |= {"ENSUE_CACHE_DIR": str(work), "CI": "1"}
    os.chdir(ROOT)
    programs = work / "programs"
    if not programs.exists():
        programs.write_bytes(pickle.dumps(random_programs(chosen.seed)))
    server = Server(lambda checks: try_all(checks, chosen, work), pickle.loads(programs.read_bytes()))
    options = ["-q", "-s", "--no-header", "--no-summary", "-p", "no:cacheprovider", "-p", "no:xdist",
               "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # fmt: skip
    return int(pytest.main([*options, *TESTS], plugins=[server]) not in (0, 5))


if __name__ == "__main__":
    sys.exit(main())
