"""Latency: how long a running session takes for one event, with few and with many keys alive.

Every key is first given an A, all within the window of the rules, so that its state is alive; then single events of
random keys, A or B, are sent and timed one by one. Each has a moment of its own, which is evaluated at once (W1) or
when the next begins (W3, W4), so every event sent makes the session evaluate one. They end before the first key's A
leaves the window. Rules are machine code, as they are a moment after the first event of any session.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from time import perf_counter_ns, thread_time
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.measure import ChildError, in_child, rss_mb
from benchmarks.options import Options
from benchmarks.report import NONE, Result, Table, thousands
from benchmarks.workloads import WORKLOADS, Workload

TIMED = ("w1", "w3", "w4")
WINDOW = 10_000
FILLED = 1_000
"""The time at which every key has had its event."""
WARM_UP = 500


def run(options: Options) -> Result:
    rows, notes, measured = [], [], {}
    for workload in options.workloads(TIMED):
        for live in options.live:
            name = f"{workload.name}, {live:,} keys"
            try:
                found = in_child("benchmarks.latency", workload.name, live, options.sends)
                figures = (found["median"], found["p99"], found["worst"])
                rate = thousands(found["rate"])
                rows.append((name, *(f"{figure:.1f}" for figure in figures), rate, thousands(found["mb"])))
            except ChildError as error:
                found = {"failed": str(error)}
                rows.append((name, *[NONE] * 5))
                notes.append(f"{name}: {error}")
            measured[name] = found
    title = f"Microseconds for one event sent to a session ({options.sends:,} events timed)"
    header = ("workload and live keys", "median", "p99", "worst", "events a CPU-second", "MB held")
    return Result("latency", (Table(title, header, tuple(rows), tuple(notes)),), measured)


def measured(workload: Workload, live: int, sends: int) -> dict[str, Any]:
    """In a child: the times of single events in microseconds; half of them are timed together, the others each."""
    import ensue

    session = ensue.compile(workload.rules).start(time="ts", compiled=True)
    session.send(filling(live))
    events = list(random_events(live, WARM_UP + sends))
    for event in events[:WARM_UP]:
        session.send(event)
    taken = []
    some = events[WARM_UP : WARM_UP + sends // 2]
    begun = thread_time()
    for event in some:
        session.send(event)
    spent = thread_time() - begun
    for event in events[WARM_UP + sends // 2 :]:
        before = perf_counter_ns()
        session.send(event)
        taken.append((perf_counter_ns() - before) / 1000)
    taken.sort()
    return {
        "median": taken[len(taken) // 2],
        "p99": taken[len(taken) * 99 // 100],
        "worst": taken[-1],
        "rate": int(len(some) / spent),
        "mb": rss_mb(),
    }


def filling(live: int) -> pa.Table:
    """An A for each key, at times spread over those before `FILLED`."""
    key = np.arange(live)
    return pa.table({"type": pa.repeat("A", live), "ts": key * FILLED // live, "id": key, "x": np.ones(live)})


def random_events(live: int, n: int) -> Iterator[dict[str, Any]]:
    """One a millisecond, and so few that every key stays alive."""
    if FILLED + n >= WINDOW:
        raise ValueError(f"{n} events take longer than the keys are alive")
    choose = random.Random(3)
    for ts in range(FILLED, FILLED + n):
        yield {"type": choose.choice("AB"), "ts": ts, "id": choose.randrange(live), "x": 1.0}


if __name__ == "__main__":
    print(json.dumps(measured(WORKLOADS[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3]))))
