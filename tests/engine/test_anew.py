"""Negated and gathered patterns that use names from outside: conditions that are pulled out, and patterns that are
matched again for each match."""

import zlib

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import ensue
from ensue.plan import operators as plan
from ensue.plan.build import Planner
from ensue.plan.walk import walk
from tests.agreement import check, meaning
from tests.random_programs import streams

DECLARATIONS = """
unit s.
event a(k: int, x: int). event b(k: int, y: float). event c(k: int, s: string). event i(k: int, x: int) instant.
event v(y: float, o: bool).
table linked(p: int, q: int).
linked(1, 2). linked(1, 3). linked(2, 3). linked(2, 1). linked(0, 0). linked(3, 2).
"""

PULLED = {
    "a condition": "d(k) <- e: c(k, s), w: extend_backward(e, 9), while w: not (a(k, x) where x > e.end - w.start - 6)",
    "in a pair": "d(k) <- e: a(k, n), w: extend_backward(e, 9), while w: not (c(k, _) seq (i(m, z) where z > n))",
    "in two": "d(k) <- e: a(k, n), w: extend_backward(e, 9), "
              "while w: not ((a(k, m) where m != n) seq (i(_, z) where z > n) within 5)",
    "deeper": "d(k) <- e: a(k, n), w: extend_backward(e, 9), "
              "while w: not (c(k, _) seq (i(m, z) and (v(y, o) where y < n) within 4))",
    "related": "d(k) <- e: a(k, n), w: extend_backward(e, 9), while w: not (f: c(k, _), f before[2..5] e)",
    "related in a pair": "d(k) <- e: a(k, n), w: extend_backward(e, 9), while w: not (i(k, _) seq (f: c(k, _), f before[1..6] e))",
    "on": "d(k) <- e: a(k, n), w: extend_backward(e, 9), while w: not (i(k, m) seq c(k, _) on m != n)",
    "gathered": "d(k, n = count(f), t = first(m), u = last(m)) <- e: a(k, p), w: extend_backward(e, 12), "
                "while w: collect (c(k, _) seq (f: i(_, m) where m > p))",
    "gathered, related": "d(k, n = count(f)) <- e: a(k, p), w: extend_backward(e, 12), while w: collect (f: i(_, m), f before[2..] e)",
    "a lookup": "d(k) <- e: a(k, n), w: extend_backward(e, 9), while w: not (c(k, _) seq (i(_, m), linked(m, q) where q > n))",
    "an aggregate": "d(k) <- e: a(k, n), w: extend_backward(e, 12), while w: not "
                    "(f: c(k, _), g: extend_backward(f, 5), while g: collect h: i(_, m) where count(h) > n)",
    "an aggregate of values": "d(k) <- e: a(k, n), w: extend_backward(e, 12), while w: not "
                    "(f: c(k, _), g: extend_backward(f, 5), while g: collect i(_, m) where sum(m) > n)",
    "two sides": "d(k) <- e: a(k, n), w: extend_backward(e, 9), while w: not ((i(k, m) where m > n) or (c(k, s) where n = 1))",
    "between": "d(k) <- not (i(k, m) where m > n) in [a(k, n), c(k, _)]",
    "a policy": "d(k) <- e: a(k, n), w: extend_backward(e, 9), while w: not (i(k, m) seq c(k, _) where m > n policy restricted)",
}  # fmt: skip

ANEW = {
    "chosen on": "d(k) <- e: a(k, n), w: extend_backward(e, 12), while w: not (recent i(k, m) seq c(k, _) on m >= n)",
    "chosen where": "d(k) <- e: a(k, n), w: extend_backward(e, 12), "
                    "while w: not (recent (i(k, m) where m >= n) seq chronicle c(k, _))",
    "chosen, related": "d(k) <- e: a(k, n), w: extend_backward(e, 12), "
                       "while w: not (chronicle f: i(k, m) seq g: c(k, _), f before[3..] e)",
    "chosen, gathered": "d(k, n = count(f), t = first(m), u = last(m), z = sum(m)) <- e: a(k, p), w: extend_backward(e, 14), "
                        "while w: collect (recent f: i(_, m) seq c(_, _) on m >= p)",
    "cumulative": "d(k, n = count(g)) <- e: a(k, p), w: extend_backward(e, 14), "
                  "while w: collect (cumulative (i(_, m) where m >= p) seq g: c(_, _) where count(m) > 1)",
    "either, gathered": "d(k, n = count(m), t = first(m)) <- e: a(k, p), w: extend_backward(e, 14), "
                        "while w: collect ((i(_, m) where m > p) or (a(_, m) where m = p))",
    "absent inside": "d(k) <- e: a(k, n), w: extend_backward(e, 12), "
                     "while w: not (f: c(k, _), g: extend_backward(f, 5), while g: not (i(k, m) where m >= n))",
    "gathered inside": "d(k) <- e: a(k, n), w: extend_backward(e, 12), "
                       "while w: not (f: c(k, _), g: extend_backward(f, 6), while g: collect (h: i(_, m) where m >= n) where count(h) > 1)",
    "inside what is outside": "d(k) <- e: a(k, n), w: extend_backward(e, 12), "
                              "while w: not (f: c(k, _), while w: not (g: i(k, m) where m > n))",
    "collected in what is outside": "d(k) <- e: a(k, n), w: extend_backward(e, 12), "
                                    "while w: not (f: c(k, _), while w: collect g: i(k, m) where count(g) > 1)",
    "in a pair, inside what is outside": "d(k) <- e: a(k, n), w: extend_backward(e, 12), "
                                         "while w: not (i(k, _) seq (f: c(k, _), while w: not (a(k, m) where m < n)))",
    "inside what is outside, twice": "d(k) <- e: a(k, n), w: extend_backward(e, 12), while w: not (f: c(k, _), "
                                     "while w: not (g: i(k, m), while w: not (v(y, _) where y > n and y > m)))",
    "shared further out": "d(k) <- e: a(k, n), w: extend_backward(e, 12), while w: not c(k2, _) without i(k, _)",
    "aggregated with it": "d(k) <- e: a(k, n), w: extend_backward(e, 12), while w: not "
                          "(f: c(k, _), g: extend_backward(f, 6), while g: collect i(_, m) where sum(m * n) > 3)",
    "two levels": "d(k) <- e: a(k, n), w: extend_backward(e, 14), while w: not (f: c(k, _), g: extend_backward(f, 6), "
                  "while g: not (recent h: i(_, m) seq v(y, _) on m > n and y >= m and h.end >= g.start))",
    "names of all kinds": "d(k) <- e: v(y, o), z: c(k, s), w: extend_backward(z, 12), while w: not "
                          "(recent (i(k, m) where m > y and o) seq (c(k, t) where t != s and t != z.s) on m > e.start - w.start)",
    "with a lookup": "d(k) <- e: a(k, n), w: extend_backward(e, 12), "
                     "while w: not (recent i(k, m) seq c(k, _), linked(m, q) on m >= n where q > n)",
    "every": "d(k) <- e: a(k, n), w: extend_backward(e, 12), while w: not (recent i(k, m) seq t: every(3) on m >= n)",
    "timers inside": "d(k) <- e: a(k, n), w: extend_backward(e, 12), "
                     "while w: not (recent f: i(k, m) seq c(k, _), t: extend(f, 3) on m >= n)",
    "a derived type": "f(k, m) <- i(k, m) where m > 0. d(k) <- e: a(k, n), w: extend_backward(e, 12), "
                      "while w: not (recent f(k, m) seq c(k, _) on m >= n)",
    "recursive": "d(k = k, x = 0) <- c(k, _). d(k = k, x = x + 1) <- d(k, x) seq a(k, n), "
                 "not (chronicle i(k, m) seq b(k, _) on m >= n) in [c(k, _), i(k, _)] where x < 3",
    "a float shared": "d(y) <- e: v(y, o), w: extend_backward(e, 12), while w: not (recent a(y, m) seq c(_, _) on m >= y)",
}  # fmt: skip


def plans(program):
    planner = Planner(program.typed.events)
    return [node for rule in program.typed.rules for node in walk(planner.rule(rule))]


def agrees(program, name, execution, examples):
    @seed(zlib.crc32(name.encode()))
    @settings(max_examples=examples)
    @given(streams(20, types=["a", "a", "c", "i", "i", "v"]), st.integers(0, 99), st.sampled_from([None, 0, 9]))
    def agree(events, number, more):
        until = None if more is None else max((e["end"] for e in events), default=0) + more
        check(execution, program, events, until, number, meaning(program, events, until))

    agree()


@pytest.mark.parametrize("name", PULLED)
def test_conditions_are_pulled_out(name):
    program = ensue.compile(f"{DECLARATIONS} {PULLED[name]}.")
    if name != "two sides":  # which are split before
        assert not any(isinstance(node, plan.Anew) for node in plans(program))
    agrees(program, name, "plain, cut", 40)


@pytest.mark.parametrize("name", ANEW)
def test_the_rest_is_matched_anew(name):
    program = ensue.compile(f"{DECLARATIONS} {ANEW[name]}.")
    if name not in ("aggregated with it", "a float shared"):  # which conditions pulled out are enough for
        assert any(isinstance(node, plan.Anew) for node in plans(program))
    agrees(program, name, "plain, cut", 40)


@pytest.mark.parametrize("name", ANEW)
def test_inputs_of_what_is_matched_anew(name):
    program = ensue.compile(f"{DECLARATIONS} {ANEW[name]}.")
    agrees(program, name, "plain, sources", 15)


@pytest.mark.parametrize("name", [*PULLED, *ANEW])
def test_as_machine_code(name):
    program = ensue.compile(f"{DECLARATIONS} {(PULLED | ANEW)[name]}.")
    agrees(program, name, "machine, cut", 6)


@pytest.mark.parametrize("name", ["chosen on", "chosen, gathered", "two levels", "a derived type"])
def test_a_state_is_saved_and_resumed(name):
    program = ensue.compile(f"{DECLARATIONS} {ANEW[name]}.")
    agrees(program, name, "session, saved", 15)
    agrees(program, name, "session, sources", 10)
