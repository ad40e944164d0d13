"""Mutation testing: change one comparison, constant or operator of the sources at a time, and see which test notices.

    python -m tests.endure.mutants --seed 1 --minutes 45 --output survived.jsonl

Mutants are drawn from `temporal`, `reference` and `engine/operators`; there the texts that become generated code are
changed, too. Each runs, in a process of its own, what reaches the changed line: case files, the tables of parameter
contexts, random programs with the answers of the unchanged reference, and some test files. Machine code and Spark are
left out, so what survives may still be noticed by the whole suite.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import pickle
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDERS = ("src/ensue/temporal", "src/ensue/reference", "src/ensue/engine/operators")
FILES = (
    "tests/language/test_messages.py", "tests/temporal/test_distances.py", "tests/temporal/test_lengths.py",
    "tests/rewriting/test_rewriting.py", "tests/temporal/test_reasoning.py", "tests/engine/test_kept.py",
    "tests/test_boundaries.py",
)  # fmt: skip
"""Test files that are run beside cases and random programs."""

PROGRAMS, STREAMS = 60, 3
"""How many random programs there are, and how many streams each runs on."""

RUN_BY = ("plain", "small, cut", "plain, not optimised", "plain, sources", "session, events")
"""The executions that random programs run on."""

PATIENCE = 60
"""CPU seconds of tests for a mutant, as they take without a change."""

SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip

IN_TEXT = {
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " + ": " - ",
    " - ": " + ", " and ": " or ", " or ": " and ", "if not ": "if ", "min(": "max(", "max(": "min(",
}  # fmt: skip


# --- mutants


def places(tree: ast.Module, texts: bool) -> Iterator[tuple[ast.AST, str, int, Callable[[], None]]]:
    """A possible change: the node that says where, a description, its line, and the change itself."""
    skipped = _skipped(tree)
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        match node:
            case ast.Compare(ops=ops):
                for at, operator in enumerate(ops):
                    if (other := SWAPPED.get(type(operator))) is not None:
                        yield _changing(node, f"{type(operator).__name__} -> {other.__name__}", ops, at, other())
            case ast.BoolOp(op=operator) | ast.BinOp(op=ast.Add() | ast.Sub() as operator):
                other = SWAPPED[type(operator)]
                yield _setting(node, f"{type(operator).__name__} -> {other.__name__}", "op", other())
            case ast.UnaryOp(op=ast.Not()):
                yield _setting(node, "Not -> Not not", "operand", ast.UnaryOp(ast.Not(), node.operand))
            case ast.Constant(value=bool(value)):
                yield _setting(node, f"{value} -> {not value}", "value", not value)
            case ast.Constant(value=int(value)):
                yield _setting(node, f"{value} -> {value + 1}", "value", value + 1)
            case ast.Constant(value=str(value)) if texts:
                for old, new in IN_TEXT.items():
                    for found in re.finditer(re.escape(old), value):
                        text = value[: found.start()] + new + value[found.end() :]
                        yield _setting(node, f"{value!r} -> {text!r}", "value", text)


def _changing(
    node: Any, said: str, items: list[Any], at: int, new: Any
) -> tuple[ast.AST, str, int, Callable[[], None]]:
    return node, said, node.lineno, lambda: items.__setitem__(at, new)


def _setting(node: Any, said: str, name: str, new: Any) -> tuple[ast.AST, str, int, Callable[[], None]]:
    return node, said, node.lineno, lambda: setattr(node, name, new)


def _skipped(tree: ast.Module) -> set[int]:
    """Docstrings, annotations and messages: no behaviour, or none that a test should hold word by word."""
    roots: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                roots.append(node)
            case ast.AnnAssign(annotation=annotation):
                roots.append(annotation)
            case ast.FunctionDef(args=arguments, returns=returns):
                roots += [
                    each.annotation for each in ast.walk(arguments) if isinstance(each, ast.arg) and each.annotation
                ]
                roots += [returns] if returns is not None else []
                roots += node.decorator_list
            case ast.ClassDef():
                roots += node.decorator_list
            case ast.Raise() | ast.Import() | ast.ImportFrom():
                roots.append(node)
    return {id(inner) for root in roots for inner in ast.walk(root)}


def drawn(only: str) -> list[tuple[str, int, str]]:
    """All mutants, as file, number within it, and description."""
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if only in name:
                each = list(places(ast.parse(path.read_text()), "operators" in folder))
                found += [(name, number, f"{line}: {said}") for number, (_, said, line, _) in enumerate(each)]
    return found


def mutated(name: str, number: int) -> tuple[str, int]:
    """A file with one place changed, and the line of that place."""
    tree = ast.parse((ROOT / name).read_text())
    _, _, line, change = list(places(tree, "operators" in name))[number]
    change()
    return ast.unparse(ast.fix_missing_locations(tree)), line


# --- tests


def checks() -> dict[str, Callable[[], None]]:
    """Everything that a mutant may be noticed by; sources are imported here, changed or not."""
    import ensue
    from ensue.testing import EXECUTIONS, run_test
    from tests import agreement
    from tests.test_parameter_contexts import CASES, WAYS, test_parameter_contexts

    def case(path: Path, execution: str) -> None:
        program = ensue.compile(path)
        for test in program.typed.tests:
            outcome = run_test(program, test, EXECUTIONS[execution])
            assert outcome.passed, outcome.error or outcome.differences

    def contexts(way: str) -> None:
        for each in CASES:
            test_parameter_contexts(each, WAYS[way])

    def tests_in(path: str) -> None:
        import pytest

        assert (
            pytest.main(
                [
                    "-q",
                    "-x",
                    "-p",
                    "no:cacheprovider",
                    "-W",
                    "ignore::pytest.PytestAssertRewriteWarning",
                    str(ROOT / path),
                ]
            )
            == 0
        )

    def agrees(text: str, drawn: list[Any]) -> None:
        program = ensue.compile(text)
        for events, until, number, wanted in drawn:
            assert agreement.difference(wanted, agreement.meaning(program, events, until)) is None
            for name in RUN_BY:
                agreement.check(name, program, events, until, number, wanted)

    found: dict[str, Callable[[], None]] = {}
    for path in sorted((ROOT / "tests/cases").rglob("*.ensue")):
        for execution in ("python", "reference"):
            found[f"{execution} {path.stem}"] = lambda path=path, execution=execution: case(path, execution)
    for way in ("python", "reference"):
        found[f"{way} contexts"] = lambda way=way: contexts(way)
    for path in FILES:
        found[path] = lambda path=path: tests_in(path)
    known = Path(os.environ["ENSUE_MUTANTS"]) / "programs"
    if known.exists():
        for number, given in enumerate(pickle.loads(known.read_bytes())):
            found[f"random program {number}"] = lambda given=given: agrees(*given)
    return found


def random_programs(seed_: int) -> list[Any]:
    """Random programs and streams with what the reference finds."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st

    import ensue
    from tests.agreement import meaning
    from tests.random_programs import given_types, programs
    from tests.random_streams import random_stream

    found: list[Any] = []

    @seed(seed_)
    @settings(max_examples=PROGRAMS, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck),
              database=None)  # fmt: skip
    @given(programs(), st.integers(0, 2**32))
    def draw(text: str, number: int) -> None:
        try:
            program = ensue.compile(text)
        except ensue.RuleError:
            return
        random = Random(number)
        streams = []
        for number_ in range(STREAMS):
            events = random_stream(random, given_types(program), 24)
            until = random.choice([None, 3 + max((event["end"] for event in events), default=0)])
            streams.append((events, until, number_, meaning(program, events, until)))
        found.append((text, streams))

    draw()
    return found


def measured(work: Path, seed: int) -> dict[str, tuple[float, set[tuple[str, int]]]]:
    """For each check its CPU seconds, and the lines that it reaches; without those that fail as sources are."""

    def prepare() -> None:
        (work / "programs").write_bytes(pickle.dumps(random_programs(seed)))

    def measure() -> None:
        reached: set[tuple[str | None, int]] = set()
        names: dict[str, str | None] = {}

        def line(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                reached.add((names[frame.f_code.co_filename], frame.f_lineno))
            return line

        def trace(frame: Any, event: str, _: Any) -> Any:
            path = frame.f_code.co_filename
            if path not in names:
                place = os.path.relpath(path, work)
                names[path] = place if place.startswith(FOLDERS) else None
            return None if names[path] is None else line

        found = {}
        for name, run in checks().items():
            reached.clear()
            began = time.process_time()
            threading.settrace(trace)
            sys.settrace(trace)
            try:
                run()
            except BaseException as error:
                print(f"left out, as it fails already: {name}: {type(error).__name__}", file=sys.stderr)
                continue
            finally:
                sys.settrace(None)
                threading.settrace(None)  # type: ignore[arg-type]
            print(f"{time.process_time() - began:6.2f} s  {name}", file=sys.stderr, flush=True)
            found[name] = (time.process_time() - began, set(reached))
        (work / "measured").write_bytes(pickle.dumps(found))

    for step in (prepare, measure):
        if apart(work, step, 3_000) != 0:
            sys.exit("tests fail without a change")
    return pickle.loads((work / "measured").read_bytes())  # type: ignore[no-any-return]


# --- running


def apart(work: Path, run: Callable[[], None], seconds: int) -> int:
    """Run something in a process of its own, with the sources in a folder: 0 if it ends well."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        signal.alarm(6 * seconds)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        if seconds < 1_000:
            os.dup2(nothing, 2)
        sys.path[:0] = [str(work / "src"), str(ROOT)]
        os.chdir(ROOT)
        run()
        os._exit(0)
    except BaseException:
        if seconds > 1_000:
            import traceback

            traceback.print_exc()
        os._exit(1)


def try_mutant(work: Path, name: str, number: int, known: Any) -> str:
    """Killed, timed out, survived, or not reached by any check."""
    text, line = mutated(name, number)
    reached = [check for check, (_, lines) in known.items() if (name, line) in lines]
    if not reached and _at_import(name, line):
        reached = list(known)
    if not reached:
        return "not reached"
    chosen, seconds = [], 0.0
    for check in sorted(reached, key=lambda each: known[each][0]):
        if seconds + known[check][0] > PATIENCE:
            break
        chosen.append(check)
        seconds += known[check][0]
    place = work / name
    kept = place.with_suffix(".kept")
    shutil.move(place, kept)
    place.write_text(text)
    os.utime(place, (time.time() + 5, time.time() + 5))
    try:

        def run() -> None:
            every = checks()
            for check in chosen:
                every[check]()

        status = apart(work, run, int(3 * seconds) + 15)
    finally:
        shutil.move(kept, place)
    if status == 0:
        return "survived"
    return "killed" if status == 1 else "timed out"


def _at_import(name: str, line: int) -> bool:
    """True for a line outside of functions, which is read once."""
    inside = (node for node in ast.walk(ast.parse((ROOT / name).read_text())) if isinstance(node, ast.FunctionDef))
    return not any(node.lineno <= line <= (node.end_lineno or 0) for node in inside)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.endure.mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--only", default="", help="only files with this in their name")
    parser.add_argument("--output", help="where each mutant is written, a line of JSON each")
    parser.add_argument("--work", help="a folder to keep what was measured without a change")
    chosen = parser.parse_args(arguments)
    began = time.monotonic()
    work = Path(chosen.work or tempfile.mkdtemp(prefix="ensue-mutants-"))
    work.mkdir(exist_ok=True)
    shutil.copytree(ROOT / "src", work / "src", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    os.environ |= {"ENSUE_MUTANTS": str(work), "CI": "1", "PYTHONPATH": str(work / "src")}
    sys.path[:] = [place for place in sys.path if Path(place).resolve() not in (ROOT / "src", ROOT)]
    sys.dont_write_bytecode = True
    for each in ("numpy", "pyarrow.compute", "lark", "llvmlite.binding", "hypothesis", "pytest"):
        __import__(each)
    known = (
        pickle.loads((work / "measured").read_bytes()) if (work / "measured").exists() else measured(work, chosen.seed)
    )
    mutants = drawn(chosen.only)
    Random(chosen.seed).shuffle(mutants)
    counts: dict[str, Counter[str]] = {}
    for name, number, said in mutants:
        if time.monotonic() - began > 60 * chosen.minutes:
            break
        came = try_mutant(work, name, number, known)
        counts.setdefault(name.rsplit("/", 1)[0], Counter())[came] += 1
        if chosen.output:
            with Path(chosen.output).open("a") as file:
                file.write(json.dumps([came, name, number, said]) + "\n")
        if came not in ("killed", "timed out"):
            print(f"{came}: {name}:{said}", flush=True)
    for folder, each in counts.items():
        print(f"{folder}: {each.total()} of {sum(folder in name for name, _, _ in mutants):,}: {dict(each)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
