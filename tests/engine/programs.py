"""Programs that together cover everything that can be compiled, and streams for them.

Domains are small and many events end together, so that whatever can meet does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from random import Random
from typing import Any

EVENTS = {
    "a": "k: int, x: int",
    "b": "k: int, x: int",
    "c": "k: int, x: int",
    "f": "y: float, z: float",
    "s": "t: string, k: int",
    "h": "k: int, x: int",
}

PROGRAMS = {
    "absence and timers": """
        smaller(k, x) <- e: a(k, x), w: extend(e, 5), while w: not (b(k, y) where y > x).
    """,
    "contexts": """
        newest(k, t) <- recent a(k, _) seq s(t, k) within 8.
        each_one(k, x) <- chronicle a(k, x) seq continuous b(k, _) within 8.
    """,
    "windows": """
        follow(k, x) <- a(k, x) seq b(k, _) within 4.
        moving(k, m = avg(x), low = min(x)) <- while last 5: collect follow(k, x).
        all_floats(t = sum(y), high = max(y)) <- while last 5s: collect f(y, _).
    """,
    "lists": """
        last_ones(k, xs = list(x), n = count(x)) <- while last 3: collect a(k, x) where count(x) > 1.
        floats(ys = list(y), zs = list(z)) <- while last 4s: collect f(y, z).
        texts(k, ts = list(t)) <- while each 4s: collect s(t, k).
        since_b(k, xs = list(x)) <- while since b(k, _): collect a(k, x).
        gathered(k, xs = list(x), truths = list(x > 1)) <- a(k, _) seq b(k, x)+ seq c(k, _) within 9.
        run(k, xs = list(x)) <- h(k, x){2}.
        beside(k, xs = list(x)) <- c(k, _), while last 2: collect a(k, x) within 6.
        either(xs = list(x)) <- while last 2: collect a(_, x).
        either(xs = list(k)) <- c(_, _), while last 2: collect b(k, _) within 3.
        looked_into(k, xs = list(x)) <- while last 2: collect b(k, x).
        again(xs) <- looked_into(_, xs) seq c(_, _) within 2.
    """,
    "recursion": """
        fall(k, low = p, n = 2) <- not c(k, _) in [c(k, q), c(k, p)] where p < q.
        fall(k, low = p, n = m + 1) <- not c(k, _) in [fall(k, q, m), c(k, p)] where p < q.
    """,
    "repetition": """
        between(k, n = count(x), t = sum(x), l = last(x)) <- a(k, _) seq b(k, x)+ seq c(k, _) within 9.
    """,
    "static predicates": """
        step(0, 1).
        step(1, 2).
        step(3, -1).
        to(x, y) :- step(x, y).
        to(x, z) :- step(x, y), to(y, z).
        follows(k, x) <- recent a(k, x) seq b(_, k) on to(x, k) where not to(k, _).
        called(t, k) <- s(t, k) where name(t, k) or half(k + 0.5) and t != "é".
        near(y, z) <- f(y, z) where half(y) and not half(z).
        name("p", 1).
        name("q", 2) :- name("p", _).
        name("é", k) :- step(k, _), not to(k, 2).
        half(0.5).
        half(1.0).
        half(-0.0).
    """,
    "values": """
        numbers(t, p = x + k, m = x * x * x, d = x // k, r = x % k, n = -x, q = x / k, j = abs(x),
            v = if_else(x > k, x, k), w = coalesce(x, k), u = is_null(x))
            <- s(t, k) seq a(k, x) within 5 where t != "é".
        quotient(q = y / z, r = y - z, larger = y > z or y != y) <- f(y, z).
    """,
    "knowledge everywhere": """
        odd(1).
        odd(3).
        even(x) :- pair(x, y), odd(y).
        odd(x) :- pair(x, y), even(y).
        pair(0, 1).
        pair(2, 3).
        pair(1, 2).
        there(0).
        pairs(k, m) <- a(k, x) seq b(m, x) within 9 on pair(k, m) where odd(x) or even(x).
        alone(k) <- e: a(k, _), w: extend(e, 4), while w: not (b(k, x) where odd(x)).
        between(k) <- not (c(k, y) where even(y)) in [a(k, _), b(k, _)] within 9.
        counted(k, n = count(x)) <- while last 3: collect (a(k, x) where even(x)).
        gathered(k, t = sum(x)) <- o: c(k, _), w: extend_backward(o, 7), while w: collect (a(k, x) where odd(x)).
        said(k, here = odd(k), v = if_else(even(x) and there(_), x, k)) <- a(k, x).
        chain(k) <- a(k, 0).
        chain(k = m) <- recent chain(k) seq b(_, m) on pair(k, m).
    """,
    "all pairs": """
        pair(k, x, other = e.x) <- a(k, x) seq e: b(k, _) within 6.
        crossed(k, m) <- a(k, m) seq b(m, k) within 12 where k != m.
    """,
    "all triples": """
        triple(k, middle = e.start) <- a(k, _) seq e: b(k, _) seq c(k, _) within 9.
    """,
    "absence": """
        alone(k) <- e: a(k, _), w: extend(e, 4), while w: not b(k, _).
        inside(k, x) <- e: a(k, x), while e: not b(k, _).
        between(k) <- not c(k, _) in [a(k, _), b(k, _)] within 9.
    """,
    "chronicle": """
        oldest(k, x) <- chronicle a(k, x) seq b(k, _) within 8.
        each_one(k, x) <- chronicle a(k, x) seq continuous b(k, _) within 8.
        unkeyed(x, y) <- chronicle a(_, x) seq c(_, y) on x != y.
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
    """,
    "gathering": """
        all_of(k, n = count(e), v = count(x), t = sum(x), m = avg(x), low = min(x), high = max(x), f = first(x),
            l = last(x)) <- o: c(k, _), w: extend_backward(o, 7), while w: collect e: a(k, x).
    """,
    "windows that count": """
        three(k, n = count(x), t = sum(x), m = avg(x), low = min(x), high = max(x)) <- while last 3: collect a(k, x).
        floats(z, n = count(y), t = sum(y), m = avg(y), low = min(y), high = max(y)) <- while last 4: collect f(y, z).
    """,
    "windows of time": """
        last_time(k, n = count(x), t = sum(x), low = min(x), high = max(x)) <- while last 6s: collect b(k, x).
        all_floats(t = sum(y), low = min(y), high = max(y)) <- while last 5s: collect f(y, _).
    """,
    "timers": """
        meeting(k) <- e: a(k, _), w: extend(e, 4), o: b(k, _), o during w within 12.
        later(k, x) <- e: a(k, x), v: extend(e, 2), w: shift(v, 3), while w: not b(k, _).
    """,
    "texts": """
        pair(t, k) <- s(t, k) seq s(t, _) within 9.
        named(t, n = count(e)) <- while last 4: collect e: s(t, _).
        is_p(t, k) <- s("p", k) seq s(t, k) within 5 where t != "é".
    """,
    "floats": """
        pair(y, z) <- f(y, _) seq f(y, z) within 9.
        compared(k, y) <- a(k, _) seq f(y, _) within 2 where y >= k or y != y.
        quotient(q = y / z, r = y - z, s = y * 2) <- f(y, z).
    """,
    "arithmetic": """
        numbers(p = x + k, m = x * x * x, d = x // k, r = x % k, n = -x, q = x / k, j = abs(x)) <- a(k, x).
        choice(v = if_else(x > k, x, k), w = coalesce(x, k), u = is_null(x)) <- b(k, x).
        sums(k, total = sum(x)) <- while last 3: collect c(k, x).
    """,
    "given and derived": """
        h(k, x) <- a(k, x) and b(k, _) within 3.
        twice(k, x) <- h(k, x) seq h(k, _) within 6.
        last_h(k, n = count(x)) <- while last 4: collect h(k, x).
    """,
    "three together": """
        three(k, x) <- a(k, x) and b(k, _) and c(k, _) within 3.
        near(k) <- e: a(k, _) par o: b(k, _) within 9.
    """,
}
"""Rules by their subjects."""


def program_text(title: str) -> str:
    """Rules with declarations of the events that they use."""
    rules = PROGRAMS[title]
    used = (f"event {name}({attributes})." for name, attributes in EVENTS.items() if re.search(rf"\b{name}\(", rules))
    return "\n".join(("unit s.", *used, rules))


FLOATS = [0.0, -0.0, 1.0, 1.0, 2.5, math.nan, math.inf, -math.inf, 1e300, 0.1]
WHOLE = [0, 1, 2, 3, -1, -2, 2**63 - 1, -(2**63), 2**62]
TEXTS = ["", "p", "q", "é", "P", "pp"]


def stream(
    rng: Random, types: Sequence[str], count: int, *, nulls: bool, odd: bool, instant: bool, step: int = 1
) -> list[dict[str, Any]]:
    """A number of events, a few of which end together; time advances by up to `step` from one to the next."""
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
        type_ = rng.choice(types)
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
