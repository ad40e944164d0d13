"""Resident memory and sizes of state over many events, with keys and strings that never come back.

    python -m tests.endure --only memory --events 10000000

Each structure has rules that use it. Events come in Arrow tables, as fast as the session takes them; each key lives
for a short time. What is kept at the end must not be more than what was kept in the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute

import ensue

DECLARED = "unit s. event a(k: int, s: string) instant. event b(k: int, s: string) instant.\n"

STRUCTURES = {
    "stores": "pair(k) <- a(k, _) seq b(k, _) within 50.",
    "strings as keys": "pair(s) <- a(_, s) seq b(_, s) within 50.",
    "newest": "pair(k) <- recent a(k, _) seq b(k, _) within 50.",
    "chosen": "pair(k) <- chronicle a(k, _) seq b(k, _) within 50.",
    "timers": "alone(s) <- o: a(_, s), w: extend(o, 30), while w: not b(_, s).",
    "absences": "calm(k) <- not b(k, _) in [a(k, _), a(k, _)] within 50.",
    "groups": "many(s, n = count(e)) <- while last 40s: collect e: a(_, s).",
    "windows": "many(k, n = count(e)) <- while each 40s: collect e: a(k, _).",
    "once per": "seen(s) <- a(_, s) once per s in 40.",
    "answers": 'table known(k: int, s: string). known(1, "x"). seen(k) <- a(k, s), known(k, s).',
    "functions": 'seen(t) <- a(_, s), t = upper(s) where matches(s, "7$").',
}
"""Rules that use each structure."""

BATCH = 100_000
RATE = 100
"""Events of each moment."""


@dataclass(frozen=True)
class Measured:
    """State after a number of events."""

    events: int
    resident: int
    tuples: int
    bytes: int


def tables(events: int) -> Iterator[pa.Table]:
    """Events whose keys and strings are new every few moments."""
    for begin in range(0, events, BATCH):
        number = np.arange(begin, min(begin + BATCH, events))
        key = number // 4
        yield pa.table(
            {
                "type": pa.array(np.where(number % 4 < 3, "a", "b")),
                "time": pa.array(number // RATE),
                "k": pa.array(key),
                "s": pa.compute.binary_join_element_wise("text ", pa.array(key).cast(pa.string()), ""),
            }
        )


def measured(rules: str, events: int, intervals: int = 10) -> Iterator[Measured]:
    """Send events to a session, and measure at intervals."""
    session = ensue.compile(DECLARED + rules).start(compiled=True)
    every, sent, due = max(BATCH, events // intervals), 0, 0
    for table in tables(events):
        session.send(table)
        sent += table.num_rows
        if sent >= due + every or sent == events:
            due = sent
            sizes = session.sizes()
            yield Measured(sent, resident(), sum(s.tuples for s in sizes), sum(s.bytes for s in sizes))


def resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def memory(events: int, say: Callable[[str], object], margin: int = 30_000_000) -> list[str]:
    """Run every structure; return those that grew between the middle and the end."""
    grown = []
    for name, rules in STRUCTURES.items():
        found = list(measured(rules, events))
        middle, last = found[len(found) // 2 - 1], found[-1]
        for each in (found[0], middle, last):
            say(
                f"{name:16} {each.events:12,} events  {each.resident / 1e6:6.0f} MB resident  "
                f"{each.tuples:9,} tuples  {each.bytes / 1e6:6.1f} MB of state"
            )
        if last.resident > middle.resident + margin or last.bytes > 1.2 * middle.bytes + 1_000_000:
            grown.append(name)
    return grown
