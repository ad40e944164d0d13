"""Long sequences: `A1 seq A2 seq … seq An within w` on streams of these types and six more, one event a unit of time.

These are the synthetic queries of the paper on the CORE engine. In one stream the last type is missing, so that
sequences begin and never end; in one it comes rarely. Time for each event should not grow with the length or the window
beyond what is stored, and what is found should cost what it is; so each is set against the shortest sequence with
the shortest window on the same kind of stream, in turns. How many detections there are is counted by a plain sum over
the types (`matches`).
"""

from __future__ import annotations

import json
import sys
from time import process_time
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ChildError, in_child
from benchmarks.options import Options
from benchmarks.report import NONE, Result, Table, thousands, times

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

LENGTHS, WINDOWS = (3, 5, 7, 9), (50, 100, 200)
OTHERS = 6
"""So many types are in the stream that no rule reads."""

RARELY = 100_000
"""The number of events of which one is of the last type, where that comes."""

STREAMS = {0: "the last type is missing", RARELY: f"the last type is one event in {RARELY:,}"}


def run(options: Options) -> Result:
    measured: dict[str, Any] = {}
    tables, wrong = [], []
    for rarely, about in STREAMS.items():
        found = measured[about] = _measured(rarely, options)
        tables.append(_table(about, found, options))
        wrong += [
            f"{name}, {about}: {each['count']:,} detections, not {each['right']:,}"
            for name, each in found.items()
            if each.get("count") != each.get("right")
        ]
    return Result("sequences", tuple(tables), measured, tuple(wrong))


def _measured(rarely: int, options: Options) -> dict[str, Any]:
    try:
        return dict(in_child("benchmarks.sequences", options.events, options.runs, rarely))
    except ChildError as error:
        return {"": {"failed": str(error)}}


def _table(about: str, found: dict[str, Any], options: Options) -> Table:
    rows, failed = [], [each["failed"] for each in found.values() if "failed" in each]
    for window in WINDOWS if not failed else ():
        for length in LENGTHS:
            each = found[_name(length, window)]
            rows.append(
                (
                    _name(length, window),
                    f"{share(length):.2f}",
                    times(options.events / each["cpu"] / 1e6, 1),
                    times(each["shortest"], each["cpu"], 2),
                    times(each["shortest"] / share(LENGTHS[0]), each["cpu"] / share(length), 2),
                    thousands(each["count"]),
                    f"{1e9 * each['more'] / each['count']:,.0f}" if each["count"] else NONE,
                )
            )
    header = (
        "sequence", "events stored, share", "M events per CPU-second", "ratio to the first", "of each event stored",
        "detections", "ns a detection",
    )  # fmt: skip
    notes = ("Nanoseconds of a detection are what it takes beyond the stream in which the last type is missing.",)
    return Table(f"Sequences where {about} ({options.events:,} events)", header, tuple(rows), (*notes, *failed))


def share(length: int) -> float:
    """The share of the events that are stored: those of all types of the rule but the last."""
    return (length - 1) / (length - 1 + OTHERS)


def _name(length: int, window: int) -> str:
    return f"{length} types within {window}"


# --- in a child


def rules(length: int, window: int) -> str:
    declared = "  ".join(f"event A{place}(v: int)." for place in range(1, length + 1))
    return f"{declared}\nall w() <- {' seq '.join(f'A{k}(_)' for k in range(1, length + 1))} within {window}."


def stream(n: int, length: int, rarely: int) -> tuple[pa.Table, np.ndarray]:
    """Events of all types but the last alike, and of that as often as said; the number of each one's type, too."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(7)
    kinds = rng.integers(0, length - 1 + OTHERS, n)
    kinds += kinds >= length - 1  # the last type is left out
    if rarely:
        kinds[rarely - 1 :: rarely] = length - 1
    names = pa.array([f"A{k + 1}" for k in range(length)] + [f"X{k + 1}" for k in range(OTHERS)])
    return pa.table({"type": names.take(pa.array(kinds)), "ts": np.arange(n), "v": rng.integers(0, 1000, n)}), kinds


def matches(kinds: np.ndarray, length: int, window: int) -> int:
    """Count the sequences: for each last event, those of its window are summed up type by type."""
    import numpy as np

    total = 0
    for end in np.flatnonzero(kinds == length - 1):
        ways = [0] * length
        for kind in kinds[max(0, end - window) : end]:
            if kind < length - 1:
                ways[kind] += 1 if kind == 0 else ways[kind - 1]
        total += ways[length - 2]
    return total


def measured(n: int, runs: int, rarely: int) -> dict[str, Any]:
    """In a child: the best CPU time of each length and window, the shortest ones' and that without a last type."""
    import ensue

    shortest = ensue.compile(rules(LENGTHS[0], WINDOWS[0])), stream(n, LENGTHS[0], rarely)[0]
    found = {}
    for window in WINDOWS:
        for length in LENGTHS:
            program = ensue.compile(rules(length, window))
            table, kinds = stream(n, length, rarely)
            actions = {"cpu": (program, table), "shortest": shortest, "without": (program, stream(n, length, 0)[0])}
            taken: dict[str, list[float]] = {name: [] for name in actions}
            count = 0
            for _ in range(runs + 1):
                for name, (what, events) in actions.items():
                    began = process_time()
                    detected = what.detect(events, time="ts", emit="w").num_rows
                    taken[name].append(process_time() - began)
                    count = detected if name == "cpu" else count
            best = {name: min(each[1:]) for name, each in taken.items()}
            found[_name(length, window)] = best | {
                "more": max(0.0, best["cpu"] - best["without"]), "count": count,
                "right": matches(kinds, length, window),
            }  # fmt: skip
    return found


if __name__ == "__main__":
    print(json.dumps(measured(*map(int, sys.argv[1:]))))
