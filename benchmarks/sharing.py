"""Sharing: the cost of a thousand rules of one shape beside one of them, and the time to compile ten thousand; and the
cost of a hundred rules that have all but their last events in common.

Rules find less the higher their number, and a thousand some hundred times what the first finds, which is part of what
they take. Each shape begins with an empty cache of compiled code.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ChildError, in_child, repeated
from benchmarks.options import Options
from benchmarks.report import Result, Table, seconds, thousands, times

if TYPE_CHECKING:
    import pyarrow as pa

COUNTS = (1, 10, 100, 1_000)
MANY = 10_000

EVENTS = "event reading(id: int, v: float). event order(id: int, product: string). event shipped(id: int).\n"
SHAPES = {
    "threshold": "alert_{i}(id) <- reading(id, v) where v > {high}.",
    "sequence": "spike_{i}(id) <- reading(id, v) seq reading(id, w) where w - v > {rise} within {length}.",
    "absence": 'late(which = "r{i}", id) <- o: order(id, "p{i}"), w: extend(o, 6000), while w: not shipped(id).',
    "common part": "event end_{i}(id: int). done_{i}(id) <- order(id, _) seq shipped(id) seq end_{i}(id) within 2000.",
}
ENDS = 100
"""Number of types of last events for rules with a common part."""


def rules(shape: str, count: int) -> str:
    """A program of `count` rules of one shape.

    >>> print(rules("threshold", 2).splitlines()[-1])
    alert_1(id) <- reading(id, v) where v > 0.9990010.
    """
    lines = [
        SHAPES[shape].format(i=i, high=f"{0.999 + i / 1e6:.7f}", rise=f"{0.97 + i * 3e-5:.5f}", length=10_000 + i % 700)
        for i in range(count)
    ]
    return EVENTS + "\n".join(lines)


def run(options: Options) -> Result:
    rows, notes, measured = [], [], {}
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as cache:
            for count in (*COUNTS, MANY) if shape != "common part" else [c for c in COUNTS if c <= ENDS]:
                try:
                    found = in_child(
                        "benchmarks.sharing", shape, count, options.events, options.runs, env={"ENSUE_CACHE_DIR": cache}
                    )
                except ChildError as error:
                    found = {}
                    notes.append(f"{shape}, {count:,} rules: {error}")
                measured[f"{shape} {count}"] = found
                one = measured[f"{shape} 1"]
                figures = (found.get("cpu"), one.get("cpu"))
                compiling = (seconds(found.get(part)) for part in ("check", "plan", "compile"))
                ratio = times(*figures)
                rows.append(
                    (f"{shape}, {count:,}", *compiling, seconds(figures[0]), ratio, thousands(found.get("rows")))
                )
    notes.append(
        "All in CPU seconds. Machine code is made for one rule, and then once for any number of them of one shape. "
        "Rules with a common part are of different shapes, up to 32 of them in one unit of code."
    )
    header = ("rules", "check", "plan", "machine code", "detection", "× one rule", "detections")
    title = f"Rules of one shape, and rules with a common part ({options.events:,} events)"
    return Result("sharing", (Table(title, header, tuple(rows), tuple(notes)),), measured)


def events(shape: str, n: int) -> pa.Table:
    """Events for the rules of a shape, in the order of time."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(7)
    at = np.arange(n, dtype=np.int64)
    if shape == "common part":
        kinds = pa.array(["order", "shipped", *(f"end_{i}" for i in range(ENDS))])
        share = np.array([0.45, 0.45, *[0.1 / ENDS] * ENDS])
        types = kinds.take(pa.array(rng.choice(len(kinds), n, p=share)))
        return pa.table({"type": types, "time": at, "id": rng.integers(0, max(1, n // 300), n)} | _no(n))
    if shape != "absence":
        types = pa.repeat("reading", n)
        return pa.table(
            {"type": types, "time": at, "id": rng.integers(0, max(1, n // 100), n), "v": rng.random(n)} | _no(n)
        )
    types = pa.array(["order", "shipped"]).take(pa.array(rng.integers(0, 2, n)))
    products = pa.array([f"p{i}" for i in range(1_000)]).take(pa.array(rng.integers(0, 1_000, n)))
    return pa.table(
        {"type": types, "time": at, "id": rng.integers(0, max(1, n // 10), n), "v": rng.random(n), "product": products}
    )


def _no(n: int) -> dict[str, Any]:
    import pyarrow as pa

    return {"product": pa.repeat("", n)}


def measured(shape: str, count: int, n: int, runs: int) -> dict[str, Any]:
    """In a child: the cost of checking, planning and compiling, and of detection after that."""
    import ensue
    from ensue.engine.run import prepare

    text, table = rules(shape, count), events(shape, n)
    ensue.compile(EVENTS)  # which reads the grammar
    moments = [time.process_time()]
    program = ensue.compile(text)
    moments.append(time.process_time())
    prepare(program.typed, [name for name, event in program.typed.events.items() if event.derived], True)
    moments.append(time.process_time())
    found: Any = program.detect(table.slice(0, 1_000), compiled=True)
    moments.append(time.process_time())
    check, plan, machine_code = (after - before for before, after in pairwise(moments))

    def detect() -> None:
        nonlocal found
        found = program.detect(table, compiled=True)

    taken = repeated(detect, runs)
    return {**taken, "check": check, "plan": plan, "compile": machine_code, "rows": found.num_rows}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], *map(int, sys.argv[2:]))))
