"""A few programs that are compiled as a whole and cover between them what is compiled; and long streams for them.

Domains are small and many events end together, so that whatever can meet does.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

EVENTS = """
event a(k: int, x: int).
event b(k: int, x: int).
event c(k: int, x: int).
event f(y: float, z: float).
event s(t: string, k: int).
event h(k: int, x: int).
"""

PROGRAMS = {
    "all pairs and triples": """
        pair(k, x, other = e.x) <- a(k, x) seq e: b(k, _) within 6.
        triple(k, middle = e.start) <- a(k, _) seq e: b(k, _) seq c(k, _) within 9.
        crossed(k, m) <- a(k, m) seq b(m, k) within 12.
    """,
    "absence": """
        alone(k) <- e: a(k, _), w: extend(e, 4), while w: not b(k, _).
        inside(k, x) <- e: a(k, x), while e: not b(k, _).
        between(k) <- not c(k, _) in [a(k, _), b(k, _)] within 9.
        quiet(k) <- (a(k, _) seq b(k, _)) without c(k, _) within 6.
        small(k, x) <- e: a(k, x), w: extend(e, 5), while w: not (b(k, y) where y > x).
    """,
    "contexts": """
        newest(k) <- recent a(k, _) seq b(k, _) within 8.
        oldest(k, x) <- chronicle a(k, x) seq b(k, _) within 8.
        stays(k, x) <- continuous a(k, x) seq b(k, _).
        each_one(k, x) <- chronicle a(k, x) seq continuous b(k, _) within 8.
        unkeyed(x, y) <- chronicle a(_, x) seq c(_, y) on x != y.
    """,
    "moving sum over a conjunction": """
        pair(k, x, other = e.x) <- a(k, x) and e: b(k, _) within 3.
        moving(total = sum(x), n = count(x)) <- while last 20: collect pair(_, x, _).
        follow(k, x) <- a(k, x) seq b(k, _) within 4.
        average(k, m = avg(x)) <- while last 5: collect follow(k, x).
    """,
    "iteration": """
        turn(k, top = p, n = 1) <- not c(k, _) in [c(k, q), c(k, p)] where p >= q.
        fall(k, top, low = p, n = 2) <- not c(k, _) in [turn(k, top, _), c(k, p)] where p < top.
        fall(k, top, low = p, n = m + 1) <- not c(k, _) in [fall(k, top, q, m), c(k, p)] where p < q.
        above(k) <- not c(k, _) in [fall(k, top, _, m), c(k, p)] where p > top and m >= 2.
    """,
    "sums that go on": """
        so_far(k, total = 0) <- a(k, 0).
        so_far(k, total = t + x) <- recent so_far(k, t) seq b(k, x) where t < 1000.
        chain(k, x) <- a(k, x).
        chain(k = y, x = y) <- chain(_, x) seq b(x, y) within 4.
    """,
    "gathering": """
        all_of(k, n = count(e), v = count(x), t = sum(x), m = avg(x), low = min(x), high = max(x), d = stddev(x)) <-
            o: c(k, _), w: extend_backward(o, 7), while w: collect e: a(k, x).
        some(k, n = count(e)) <- o: c(k, _), w: extend_backward(o, 7), while w: collect e: b(_, x) where count(e) > 3.
        floats(z, t = sum(y), m = avg(y), low = min(y), high = max(y)) <-
            o: s(_, z), w: extend_backward(o, 5), while w: collect f(y, _).
        between(k, n = count(x)) <- a(k, _) seq b(k, x)+ seq c(k, _) within 9.
    """,
    "windows": """
        last_three(k, n = count(x), t = sum(x), m = avg(x), low = min(x), high = max(x), one = first(x), end = last(x)) <-
            while last 3: collect a(k, x).
        last_time(k, n = count(x), t = sum(x), low = min(x), high = max(x)) <- while last 6s: collect b(k, x).
        floats(z, n = count(y), t = sum(y), m = avg(y)) <- while last 4: collect f(y, z).
        all_floats(t = sum(y), low = min(y), high = max(y)) <- while last 5s: collect f(y, _).
    """,
    "timers": """
        later(k) <- e: a(k, _), w: shift(e, 3).
        longer(k, x) <- e: a(k, x), w: extend(e, 2), b(k, _), w contains e.
        meeting(k) <- e: a(k, _), w: extend(e, 4), o: b(k, _), o during w.
        chain(k) <- e: a(k, _), v: extend(e, 2), w: extend(v, 2), while w: not b(k, _).
    """,
    "texts": """
        pair(t, k) <- s(t, k) seq s(t, _) within 4.
        named(t, n = count(e)) <- while last 4: collect e: s(t, _).
        is_p(k) <- s("p", k) seq s("é", k) within 5.
        either(t, u) <- s(t, k) and s(u, k) within 2 where t != u.
    """,
    "floats": """
        pair(y, z) <- f(y, _) seq f(y, z) within 3.
        keyed(z, n = count(y), t = sum(y)) <- while last 3: collect f(y, z).
        compared(k, y) <- a(k, _) seq f(y, _) within 2 where y >= k or y != y.
        quotient(q = y / z, r = y - z) <- f(y, z).
    """,
    "arithmetic": """
        numbers(p = x + k, m = x * x * x, d = x // k, r = x % k, n = -x, q = x / k, j = abs(x), g = sign(x)) <- a(k, x).
        choice(v = if_else(x > k, x, k), w = coalesce(x, k), u = is_null(x), l = least(x, k), g = greatest(x, k)) <- b(k, x).
        sums(k, total = sum(x)) <- while last 3: collect c(k, x).
        large(k, x) <- a(k, x) seq b(k, y) within 2 where x * y > 0 and not (x = 1).
    """,
    "shared and given": """
        h(k, x) <- a(k, x) seq b(k, _) within 3.
        twice(k, x) <- h(k, x) seq h(k, _) within 6.
        three(k, x) <- a(k, x) and b(k, _) and c(k, _) within 3.
        last_h(k, n = count(x)) <- while last 4: collect h(k, x).
        near(k) <- e: a(k, _) par o: b(k, _) within 9.
        starts_so(k) <- e: a(k, _) starts o: b(k, _).
    """,
}
"""By what they are about; the events are declared beside them."""


def program_text(name: str) -> str:
    return f"unit s.\n{EVENTS}\n{PROGRAMS[name]}"


FLOATS = [0.0, -0.0, 1.0, 1.0, 2.5, math.nan, math.inf, -math.inf, 1e300, 0.1]
WHOLE = [0, 1, 2, 3, -1, -2, 2**63 - 1, -(2**63), 2**62]
TEXTS = ["", "p", "q", "é", "P", "pp"]


def long_stream(
    rng: Random, count: int, *, nulls: bool, odd: bool, instant: bool, step: int = 1
) -> list[dict[str, Any]]:
    """So many events, a few of which end together; time goes on by up to `step` from one to the next."""
    events = []
    time = 0

    def whole() -> int | None:
        if nulls and rng.random() < 0.08:
            return None
        return rng.choice(WHOLE) if odd and rng.random() < 0.1 else rng.randrange(4)

    def floating() -> float | None:
        if nulls and rng.random() < 0.08:
            return None
        return rng.choice(FLOATS) if odd else rng.choice([0.5, 1.0, 2.0, -3.25])

    for _ in range(count):
        time += rng.randint(0, step)
        type_ = rng.choice("aaabbbcccfsh")
        start = time if instant else time - rng.choice((0, 0, 0, 1, 2, 5))
        row: dict[str, Any] = {"type": type_, "start": start, "end": time}
        match type_:
            case "f":
                row |= {"y": floating(), "z": floating()}
            case "s":
                row |= {"t": None if nulls and rng.random() < 0.08 else rng.choice(TEXTS), "k": whole()}
            case _:
                row |= {"k": whole(), "x": whole()}
        events.append(row)
    return events
