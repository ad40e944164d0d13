"""Programs on which optimisations are measured: W1 to W7, rules of Bry and Eckert (2007), joins of three, one that
feeds others, and a hundred mixed rules.

A program comes with a stream that fits it, made from a fixed seed: rows of (type, attributes, start, end).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks.streams import events, stock
from benchmarks.workloads import WORKLOADS, Workload

Row = tuple[str, dict[str, Any], int, int]


@dataclass(frozen=True)
class Subject:
    """A program and its stream; `instant` says that each of its events has one time."""

    name: str
    title: str
    rules: str
    rows: Callable[[int], list[Row]]
    instant: bool = True
    runs_on: int = 0
    """Length of time that passes after the last event."""
    share: int = 1
    """Factor by which its stream is shorter than the others."""
    emit: tuple[str, ...] | None = None
    """Requested types, if not all."""


# --- W1 to W7

SPACING = 5
"""Events are so many milliseconds apart, so that a short stream lasts longer than the windows of ten seconds.

Where a stream has but a share of the events, they are that much farther apart."""
PER_KEY, SYMBOLS = 20, 100
SHARES = {"w5": 8, "w6": 8, "w7": 2}
"""W5 and W6 look at a thousand tuples for each pair; W7 compares all ticks of a symbol if nothing ends waiting rows."""


def _of_workload(workload: Workload) -> Subject:
    share = SHARES.get(workload.name, 1)

    def rows(n: int) -> list[Row]:
        stocks = workload.stream == "stock"
        table = stock(n, SYMBOLS) if stocks else events(n, max(1, n // PER_KEY))
        times = [SPACING * share * at for at in table["ts"].to_pylist()]
        made = table.drop_columns("ts").to_pylist()
        return [(row.pop("type", "tick"), row, at, at) for at, row in zip(times, made, strict=True)]

    return Subject(workload.name, workload.title, workload.rules, rows, runs_on=workload.runs_on, share=share)


# --- Bry, Eckert: Temporal Order Optimizations of Incremental Joins for Composite Event Detection

HOUR = 3600

SHOP = "unit s.\nevent order(id: int, p: string, q: int).  event shipped(id: int, t: string).\n"
RULE_1 = SHOP + "comp(id, p) <- o: order(id, p, q), s: shipped(id, t), o before s."
RULE_2 = SHOP + "overdue(id) <- o: order(id, p, q), w: extend(o, 6h), while w: not shipped(id, t), q < 10."
RULE_4 = """unit s.
event overdue(oid: int).  event shipped(id: int, t: string).
rep(n = count(sid)) <- o: overdue(oid), w: extend_backward(o, 24h), while w: collect shipped(sid, t)."""
RULE_5 = """unit s.
event a(u: int, v: int).  event b(v: int, w: int).  event c(w: int, x: int).
d(u, v, w, x) <- i: a(u, v), j: b(v, w), k: c(w, x), i before k, j during k."""


def orders(n: int) -> list[Row]:
    """An order every five minutes; nine of ten are shipped, within twelve hours."""
    rng = Random(1)
    found: list[Row] = []
    for id_ in range(n // 2):
        at = 300 * id_ + rng.randrange(300)
        found.append(("order", {"id": id_, "p": f"p{rng.randrange(50)}", "q": rng.randint(1, 19)}, at, at))
        if rng.random() < 0.9:
            shipped = at + rng.randrange(1, 12 * HOUR)
            found.append(("shipped", {"id": id_, "t": f"t{id_}"}, shipped, shipped))
    return in_order(found)


def shipments(n: int) -> list[Row]:
    """Something is shipped every five minutes or so, and every fourth event is an order that is overdue."""
    rng = Random(4)
    found: list[Row] = []
    for number in range(n):
        at = 225 * number + rng.randrange(225)
        late = rng.random() < 0.25
        found.append(("overdue", {"oid": number}, at, at) if late else _shipped(number, at))
    return in_order(found)


def _shipped(number: int, at: int) -> Row:
    return "shipped", {"id": number, "t": f"t{number}"}, at, at


def chains(n: int) -> list[Row]:
    """An `a`, then a long `c` after it, and a `b` that lies in it half of the time."""
    rng = Random(5)
    pool = max(1, n // 30)
    found: list[Row] = []
    for number in range(n // 3):
        v, w = rng.randrange(pool), rng.randrange(pool)
        at = 50 * number
        begin = at + (40 if rng.random() < 0.5 else 400)
        found.append(("a", {"u": number, "v": v}, at, at + rng.randint(0, 10)))
        found.append(("b", {"v": v, "w": w}, begin, begin + rng.randint(0, 10)))
        found.append(("c", {"w": w, "x": number}, at + 20, at + 100))
    return in_order(found)


# --- joins of three events in another order than written

STARTED = """unit s.
event start(m: int) instant.  event reading(m: int, v: int) instant.  event fault(m: int) instant.
trouble(m) <- a: start(m), b: reading(m, _), c: fault(m), a before b, b before c within 1h."""
CLOSE = """unit s.
event door(k: int) instant.  event motion(k: int) instant.  event alarm(k: int) instant.
entered(k) <- d: door(k), m: motion(k), a: alarm(k), d before[..1h] m, d before[..10s] a."""
APART = """unit s.
event login(u: int) instant.  event alarm(s: int) instant.  event entry(u: int, s: int) instant.
seen(u, s) <- login(u), alarm(s), entry(u, s) within 10m."""


def started(n: int) -> list[Row]:
    """One event a second of five machines: one in a hundred is a start, one in a thousand a fault, or a reading."""
    rng = Random(7)
    found: list[Row] = []
    for at in range(n):
        kind = rng.choices(("start", "reading", "fault"), (10, 989, 1))[0]
        found.append((kind, {"m": rng.randrange(5)} | ({"v": at} if kind == "reading" else {}), at, at))
    return found


def close(n: int) -> list[Row]:
    """One event a second of ten keys: a door, motion, an alarm."""
    rng = Random(10)
    return [(rng.choice(("door", "motion", "alarm")), {"k": rng.randrange(10)}, at, at) for at in range(n)]


def apart(n: int) -> list[Row]:
    """One event a second: a login of one of fifty users, an alarm at one of fifty sites, or a user at a site."""
    rng = Random(50)
    found: list[Row] = []
    for at in range(n):
        kind, user, site = rng.choice(("login", "alarm", "entry")), {"u": rng.randrange(50)}, {"s": rng.randrange(50)}
        found.append((kind, {"login": user, "alarm": site, "entry": user | site}[kind], at, at))
    return found


# --- a rule that only feeds another

FED = """unit s.
event login(u: int) instant.  event fail(u: int) instant.
burst(u) <- fail(u) seq fail(u) seq fail(u) within 1m.
alarm(u) <- login(u) seq burst(u) within 2m."""


def logins(n: int) -> list[Row]:
    """One event a second of fifty users: one in fifty is a login, all others fail."""
    rng = Random(11)
    return [("login" if rng.random() < 0.02 else "fail", {"u": rng.randrange(50)}, at, at) for at in range(n)]


# --- a hundred rules

SHAPES = (
    "r{i}(id) <- {p}(id, x) seq {q}(id, _) within {w} where x > {c}.",
    "r{i}(id) <- {p}(id, _) seq {q}(id, _) seq {r}(id, z) within {w} where z > {c}.",
    "r{i}(id, x) <- {p}(id, x) and {q}(id, y) within {w} where x + y > {c} + 90.",
    "r{i}(id) <- recent {p}(id, _) seq {q}(id, y) within {w} where y > {c}.",
    "r{i}(id) <- chronicle {p}(id, x) seq {q}(id, _) within {w} where x > {c}.",
    "r{i}(id) <- a: {p}(id, x), w: extend(a, {w}), while w: not {q}(id, _), x > {c}.",
    "r{i}(id) <- not {r}(id, _) in [{p}(id, x), {q}(id, _)] within {w} where x > {c}.",
    "r{i}(id) <- {p}(id, x) during D(id, y) where x > {c}.",
    "r{i}(id) <- D(id, x) before[..{w}] {p}(id, y) where x + y > {c} + 90.",
    "r{i}(id, s = sum(x)) <- while last {w}: collect {p}(id, x) where max(x) > {c}.",
    "r{i}(id) <- {p}(id, x) seq ({q}(id, y) seq {r}(id, z)) within {w} where x + y + z > {c} + 180.",
    "r{i}(id) <- {p}(id, x) seq {q}(id, _) policy restricted where x > {c}.",
)
"""Sequences, conjunctions, contexts, absences, intervals, windows, parentheses and a policy."""

MIXED = 100


COMPILED = SHAPES[:10]
"""Those that have a form in generated code."""


def mixed(count: int = MIXED, shapes: tuple[str, ...] = SHAPES) -> str:
    """A program of `count` rules, of each shape in turn; types, lengths and constants are drawn from a fixed seed.

    >>> print(mixed(1).splitlines()[-1])
    r0(id) <- A(id, x) seq C(id, _) within 400 where x > 91.
    """
    rng = Random(2007)
    lines = ["event A(id: int, x: float) instant.  event B(id: int, x: float) instant."]
    lines.append("event C(id: int, x: float) instant.  event D(id: int, x: float).")
    for i in range(count):
        p, q, r = rng.sample("ABC", 3)
        length, least = rng.choice((100, 200, 400)), rng.randrange(80, 99)
        lines.append(shapes[i % len(shapes)].format(i=i, p=p, q=q, r=r, w=length, c=least))
    return "\n".join(lines)


def mixed_events(n: int) -> list[Row]:
    """One event a millisecond, of four types; those of type D last up to a tenth of a second."""
    rng = Random(7)
    keys = max(1, n // PER_KEY)
    found: list[Row] = []
    for at in range(n):
        kind = rng.choice("ABCD")
        length = rng.randint(1, 100) if kind == "D" else 0
        found.append((kind, {"id": rng.randrange(keys), "x": round(rng.random() * 100, 3)}, at, at + length))
    return in_order(found)


# --- a long stream

ALERT = """unit s.
event machine_overheated(m: int) instant.  event machine_failed(m: int) instant.
machine_alert(m) <- machine_overheated(m) before[..5m] machine_failed(m)."""
"""A rule of Walzer, Breddin, Groch: Relative Temporal Constraints in the Rete Algorithm for Complex Event Detection."""

MACHINES = 1_000


def machines(n: int) -> Iterator[Row]:
    """One event a second, as long as one likes: a machine overheats, or fails."""
    rng = Random(2008)
    for at in range(n):
        yield rng.choice(("machine_overheated", "machine_failed")), {"m": rng.randrange(MACHINES)}, at, at


def in_order(rows: list[Row]) -> list[Row]:
    """Rows in the order of their ends."""
    return sorted(rows, key=lambda row: row[3])


_ALL = (
    *map(_of_workload, WORKLOADS.values()),
    Subject("rule 1", "an order that is shipped", RULE_1, orders),
    Subject("rule 2", "an order that is not shipped", RULE_2, orders, runs_on=6 * HOUR),
    Subject("rule 4", "what was shipped in the last day", RULE_4, shipments, share=2),
    Subject("rule 5", "before and during", RULE_5, chains, instant=False),
    Subject("order 1", "one of three events a thousand times as frequent as another", STARTED, started),
    Subject("order 2", "two of three events close together", CLOSE, close, share=10),
    Subject("order 3", "two of three events that share nothing", APART, apart, share=5),
    Subject("fed", "a rule that only feeds another", FED, logins, share=5, emit=("alarm",)),
    Subject("mixed", f"{MIXED} mixed rules", mixed(), mixed_events, instant=False, share=5),
)

SUBJECTS = {subject.name: subject for subject in _ALL}
