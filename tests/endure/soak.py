"""Weeks of simulated time: a session of timers, absences, windows and alerts that are quiet for a while.

    python -m tests.endure --only soak --days 28

Machines report by day, rarely by night, and not at all for some hours of each week. They come and go for ever. Some
reports arrive late, some too late. Each night the session is saved and resumed. Its state at the end must not be
larger than in the first weeks, and its detections must be those in all events at once, without those that were late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

import ensue
from tests.endure.memory import resident

RULES = """
unit s.
event reading(m: int, v: float) instant.
event up(m: int) instant.
event down(m: int) instant.
event alarm(m: int, s: string) instant.
silent(m) from w <- r: reading(m, _), w: extend(r, 30m), while (w]: not reading(m, _).
unanswered(m, s) from w <- a: alarm(m, s), w: extend(a, 4h), while w: not down(m).
hot(m) <- reading(m, v) where v > 99.0 once per m in 6h.
calm(m) <- not alarm(m, _) in [up(m), down(m)] within 2d.
trouble(m, s) <- up(m) seq alarm(m, s) seq down(m) within 8h.
load(m, n = count(v), x = max(v)) <- while each 1h: collect reading(m, v).
stay(m, n = count(v)) <- while gap 2h: collect reading(m, v).
rough(m, d = stddev(v)) <- while last 15m: collect reading(m, v) where stddev(v) > 30.0 once per m in 1h.
"""

HOUR, DAY = 3600, 24 * 3600
MACHINES = 40
"""Machines at work at a time; a new one takes the place of each after half a day."""

LATENESS = 300

Found = tuple[str, int, int, int]
"""Type, start, end and machine of a detection."""


def hours(days: int, rng: np.random.Generator) -> Iterator[pa.Table]:
    """The events of each hour, nearly in order."""
    for hour in range(24 * days):
        silent = hour % (24 * 7) in range(30, 39)
        rate = 0 if silent else 900 if 6 <= hour % 24 < 22 else 20
        times = np.sort(rng.integers(hour * HOUR, (hour + 1) * HOUR, rate))
        place = rng.integers(0, MACHINES, rate)
        machine = place + MACHINES * ((times + place * HOUR) // (DAY // 2))
        kind = rng.choice(["reading"] * 92 + ["up", "down"] * 2 + ["alarm"] * 4, rate)
        text = pa.compute.binary_join_element_wise("text ", pa.array(times).cast(pa.string()), "")
        delay = rng.choice([0, 0, 0, 0, 20, 250, 4 * LATENESS], rate, p=[0.5, 0.2, 0.1, 0.1, 0.078, 0.02, 0.002])
        table = pa.table(
            {"type": kind, "time": times, "m": machine, "v": rng.normal(50, 20, rate), "s": text, "came": times + delay}
        )
        yield table.sort_by("came").drop_columns("came")


def soak(days: int, say: Callable[[str], object], seed: int = 1) -> list[str]:
    """Run a session for so many days; return what is wrong."""
    rng = np.random.default_rng(seed)
    program = ensue.compile(RULES)
    late: list[Any] = []
    given: list[pa.Table] = []
    found: Counter[Found] = Counter()
    kept: list[tuple[int, int]] = []
    session = program.start(lateness=LATENESS, on_late=late.append)
    for hour, table in enumerate(hours(days, rng)):
        given.append(table)
        at = 0
        while at < table.num_rows:
            size = int(rng.choice([1, 40, 400]))
            found += counted(session.send(table[at : at + size]))
            at += size
        if hour % 24 == 23:
            state = session.save()
            session = program.resume(state, on_late=late.append)
            kept.append((sum(size.tuples for size in session.sizes()), len(state)))
            if len(kept) % 7 == 0:
                tuples, saved = kept[-1]
                say(
                    f"{len(kept):5} days  {session.received:12,} events  {len(late):7,} late  {found.total():11,} "
                    f"detections  {tuples:9,} tuples  {saved / 1e6:6.2f} MB saved  {resident() / 1e6:5.0f} MB resident"
                )
    found += counted(session.close())
    return [*_grown(kept), *_differences(program, given, late, found)]


def counted(detections: pa.Table) -> Counter[Found]:
    return Counter(zip(*(detections.column(name).to_pylist() for name in ("type", "start", "end", "m")), strict=True))


def _grown(kept: list[tuple[int, int]]) -> Iterator[str]:
    """Sizes in the last third of the time that are larger than those in the second."""
    third = len(kept) // 3
    for what, sizes in zip(("tuples", "bytes of the saved state"), zip(*kept, strict=True), strict=True):
        before, after = max(sizes[third:-third]), max(sizes[-third:])
        if after > 1.2 * before + 100:
            yield f"{what} have grown from {before:,} to {after:,}"


def _differences(program: ensue.Program, given: list[pa.Table], late: list[Any], found: Counter[Found]) -> list[str]:
    """Detections that differ from those in all events that were not late."""
    every = pa.concat_tables(given)
    lost = Counter((e["type"], e["start"], e["m"], e.get("v")) for e in late)
    in_time = []
    columns = (every.column(name).to_pylist() for name in ("type", "time", "m", "v"))
    for type_, time, machine, value in zip(*columns, strict=True):
        key = (type_, time, machine, value if type_ == "reading" else None)
        in_time.append(lost[key] == 0)
        lost[key] -= lost[key] > 0
    wanted = counted(program.detect(every.filter(pa.array(in_time))))
    return [
        f"{count:,} {what}, such as {next(iter(some))}"
        for what, some in (("missing", wanted - found), ("too many", found - wanted))
        if (count := some.total())
    ]
