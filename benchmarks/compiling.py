"""Compiling: CPU seconds from the text of a program to its machine code, where each rule has a shape of its own.

Each program runs in a process of its own, with an empty cache of compiled code, on ten events.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from itertools import product
from random import Random
from typing import Any

from benchmarks.measure import ChildError, in_child
from benchmarks.options import Options
from benchmarks.report import Result, Table, seconds
from benchmarks.workloads import EVENTS, MILLION

COUNTS = (1, 10, 100, 1_000)

PATTERNS = {
    "A(id, x) seq B(id, y) within {w}": "two",
    "recent A(id, x) seq B(id, y) within {w}": "two",
    "chronicle A(id, x) seq C(id, y) within {w}": "two",
    "A(id, x) and C(id, y) within {w}": "two",
    "A(id, x) before[..{w}] C(id, y)": "two",
    "(A(id, x) or B(id, x)) seq C(id, y) within {w}": "two",
    "not C(id, _) in [A(id, x), B(id, y)] within {w}": "two",
    "A(id, x) seq B(id, y) seq C(id, z) within {w}": "three",
    "a: A(id, x), w: extend(a, {w}), while w: not B(id, _)": "one",
    "a: A(id, x), w: extend(a, {w}), while w: collect B(id, y)": "collected",
    "while last {w}: collect B(id, x)": "window",
    "while each {w}: collect C(id, x)": "window",
}
"""Patterns, and the names that conditions and heads can use."""

CONDITIONS = {
    "one": ("", "x > {c}", "round(x) = {c}", "x * 2 > {c}"),
    "two": ("", "x > {c}", "y < {c}", "x + y > {c}", "x < y", "abs(x - y) > {c}"),
    "three": ("", "x > {c}", "z < y", "x + y > z", "x < z", "least(x, y) > {c}"),
    "collected": ("", "sum(y) > {c}", "count(*) > {c}", "max(y) < x"),
    "window": ("", "sum(x) > {c}", "count(*) > {c}", "avg(x) < {c}"),
}
HEADS = {
    "one": ("id", "id, x", "id, v = x * 2", "id, v = round(x)"),
    "two": ("id", "id, x", "id, y", "id, v = x + y", "id, v = greatest(x, y)", "id, x, y"),
    "three": ("id", "id, z", "id, y", "id, v = x + y + z", "id, x, z", "id, x, y, z"),
    "collected": ("id, n = count(*)", "id, s = sum(y)", "id, x, s = max(y)", "id, s = avg(y)"),
    "window": ("id, s = sum(x)", "id, s = avg(x), n = count(*)", "id, s = max(x)", "id, s = min(x), t = sum(x)"),
}

TEN = [{"type": "ABC"[i % 3], "ts": i, "id": i // 3, "x": 1.5} for i in range(10)]


def run(options: Options) -> Result:
    found: dict[str, Any] = {}
    rows, notes = [], []
    for count in COUNTS if options.events >= MILLION[0] else COUNTS[:-1]:
        with tempfile.TemporaryDirectory() as cache:
            try:
                found[str(count)] = each = in_child("benchmarks.compiling", count, env={"ENSUE_CACHE_DIR": cache})
            except ChildError as error:
                notes.append(f"{count}: {error}")
                continue
        rows.append((f"{count:,}", str(each["units"]), *(seconds(each[part]) for part in PARTS)))
    table = Table(
        "CPU seconds to compile rules of different shapes", ("rules", "units", *PARTS), tuple(rows), tuple(notes)
    )
    return Result("compiling", (table,), found)


PARTS = ("checking", "planning and generating", "translating", "LLVM", "all")


def shapes() -> list[tuple[str, str, str]]:
    """Pattern, condition and head of each shape, in an order of chance."""
    found = [
        (pattern, condition, head)
        for pattern, names in PATTERNS.items()
        for condition, head in product(CONDITIONS[names], HEADS[names])
    ]
    Random(1).shuffle(found)
    return found


def rules(count: int) -> str:
    """A program of rules that have one shape each; after the last one, types A, B and C change places.

    >>> rules(1).splitlines()[-1].startswith("r0(id")
    True
    """
    known = shapes()
    if count > 3 * len(known):
        raise ValueError(f"there are {3 * len(known):,} shapes, not {count:,}")
    lines = []
    for i in range(count):
        pattern, condition, head = known[i % len(known)]
        where = f" where {condition}" if condition else ""
        line = f"r{i}({head}) <- {pattern}{where}.".format(w=1_000 + 37 * i, c=i + 1)
        turn = i // len(known)
        lines.append(line.translate(str.maketrans("ABC", "ABC"[turn:] + "ABC"[:turn])))
    return EVENTS + "\n".join(lines)


def measured(count: int) -> dict[str, float]:
    """In a child: where the time of the first detection with machine code goes."""
    import pyarrow as pa

    import ensue
    from ensue.engine.machine import compilation, store, texts

    spent = dict.fromkeys(("translating", "LLVM"), 0.0)
    units = 0

    def timed(part: str, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            nonlocal units
            began = time.process_time()
            try:
                return function(*arguments)
            finally:
                spent[part] += time.process_time() - began
                units += part == "LLVM"

        return call

    events = pa.Table.from_pylist(TEN)
    compilation.target(1)  # loading LLVM is not compiling
    _replace(compilation.build, timed("LLVM", compilation.build), (compilation, store))
    _replace(texts.translate, timed("translating", texts.translate), (texts,))
    began = time.process_time()
    program = ensue.compile(rules(count))
    checked = time.process_time()
    program.detect(events, time="ts", compiled=True, threads=1)
    everything = time.process_time() - began
    planning = everything - (checked - began) - sum(spent.values())
    return {
        "units": units, "checking": checked - began, "planning and generating": planning, **spent, "all": everything,
    }  # fmt: skip


def _replace(function: Any, by: Any, modules: tuple[Any, ...]) -> None:
    for module in modules:
        for name, value in list(vars(module).items()):
            if value is function:
                setattr(module, name, by)


if __name__ == "__main__":
    print(json.dumps(measured(int(sys.argv[1]))))
