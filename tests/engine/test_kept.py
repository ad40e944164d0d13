"""State while a stream goes on: no more than the plan says.

Tuples are counted, not time: four times as many events leave no more behind where something bounds them.
"""

import pytest

import ensue
from ensue.engine.options import ALL, NONE, Options
from ensue.engine.run import Run

DECLARATIONS = """
event tick(s: int, p: int) instant.
event a(k: int) instant. event b(k: int) instant. event c(k: int) instant.
"""

KEYS = 5

FALLS = """
fall(s, p) <- not tick(s, _) in [tick(s, q), tick(s, p)] where p < q.
run(s) <- not tick(s, _) in [fall(s, _), tick(s, p)] where p > 0.
"""

BOUNDED = {
    "the terminator itself is forbidden": (FALLS, 4 * KEYS),
    "the initiator itself is forbidden": ("d(s) <- not tick(s, _) in [tick(s, _), a(s)].", 2 * KEYS),
    "the right side streams": ("d(k) <- a(k) seq b(k) within 10.", 40),
    "the left side streams": ("d(k) <- b(k) after a(k) within 10.", 40),
    "a composite side streams": ("d(k) <- e: a(k), f: b(k), g: c(k), e before g, f before g within 10.", 120),
    "nothing waits": ("d(k) <- c(k) seq (a(k) seq b(k)).", 0),
    "a policy, and an instant": ("d(k) <- a(k) seq c(k) policy restricted.", 3 * KEYS),
    "the newest instant decides": ("d(k) <- o: a(k), w: extend(o, 40), while w: not b(k).", 24 + KEYS),
    "the newest instant decides, without": ("d(k) <- (c(k) seq b(k)) without a(k).", KEYS),
    "around parentheses": ("d(k) <- a(k) seq (b(k) seq a(k)) within 10.", 150),
    "beginnings too old for what is counted since": (
        "d(k, n = count(e)) <- while since a(k): collect e: b(k) within 9.",
        4 * KEYS,
    ),
    "a scope around an alternative": (
        "d(k, n = count(e)) <- o: (a(k) or c(k)), w: extend(o, 20), while w: collect e: b(k).",
        2 * 24,
    ),
    "inside an alternative": ("d(k) <- (a(k) seq b(k) within 9) or (b(k) seq a(k) within 7).", 120),
}
"""Rules, and how many tuples they may keep: one that has just been ended is still there."""


def rows(count):
    """Ticks that rise and fall, and `a` and `b` in turns; each key comes once in every five events."""
    found = []
    for time in range(count):
        key = time % KEYS
        found.append(("tick", {"s": key, "p": (time * 7) % 11}, time, time, None, 2 * time))
        found.append(("ab"[time // KEYS % 2], {"k": key}, time, time, None, 2 * time + 1))
    return [(type_, {**v, "s": v["k"]} if type_ == "a" else v, *rest) for type_, v, *rest in found]


def stored(rules, count, compiled, options=ALL):
    """Number of tuples that are stored after `count` steps."""
    declared = DECLARATIONS.replace("event a(k: int)", "event a(k: int, s: int)") if "a(s)" in rules else DECLARATIONS
    rules = rules.replace("a(s)", "a(_, s)")
    run = Run(ensue.compile(declared + rules).typed, compiled=compiled, options=options)
    for first in range(0, count, 100):
        batch = run.batch()
        batch.rows = [row for row in rows(count) if first <= row[3] < first + 100]
        run.advance(batch, first + 99, 0)
    return sum(size.tuples for size in run.sizes())


@pytest.mark.parametrize("name", BOUNDED)
def test_no_more_is_kept_than_needed(name):
    rules, most = BOUNDED[name]
    assert stored(rules, 400, False) <= most
    assert stored(rules, 1600, False) <= most


NEVER_OPEN = {
    "a pair between two": "d(k) <- not (a(k) seq b(k)) in [c(k), off(k)].",
    "a pair without a key": "d() <- not (a(k) seq b(k)) in [c(_), off(_)].",
    "an alternative between two": "d(k) <- not ((a(k) and b(k)) or (b(k) seq a(k))) in [c(k), off(k)].",
    "a pair inside another": "d(k) <- (c(k) seq off(k)) without (a(k) seq b(k)).",
    "a pair since": "d(k, n = count(e)) <- while since c(k): collect (e: a(k) seq b(k)).",
    "a pair since a while": "keep 500. d(k, n = count(e)) <- while since c(k): collect (e: a(k) seq b(k)).",
    "chosen": "d(k) <- not (chronicle a(k) seq b(k)) in [c(k), off(k)].",
    "strictly": "d(k, n = count(e)) <- o: c(k), w: extend(o, 9000), while w: collect e: a(k).",
    "with the beginning": "d(k, n = count(e)) <- o: c(k), w: extend(o, 9000), while [w]: collect e: a(k).",
    "with the beginning alone": "d(k, n = count(e)) <- o: c(k), w: extend(o, 9000), while [w): collect e: a(k).",
    "none with the beginning": "d(k) <- o: c(k), w: extend(o, 9000), while [w]: not a(k).",
    "a pair with the beginning": "d(k) <- o: c(k), w: extend(o, 9000), while [w]: not (a(k) seq b(k)).",
    "in parentheses": "d(k, n = count(e)) <- w: (c(k) seq off(k)), while w: collect e: a(k).",
    "parentheses twice": "d(k, n = count(e)) <- w: ((c(k) seq off(k)) seq off(k)), while [w]: collect e: a(k).",
    "an alternative": "d(k, n = count(e)) <- o: (c(k) or off(k)), w: extend(o, 9000), while w: collect e: a(k).",
    "a pair in an alternative": "d(k) <- o: (c(k) or (off(k) seq c(k))), w: following(o, 9000), while [w]: not a(k).",
    "two rules": "d(k) <- not (a(k) seq b(k)) in [c(k), off(k)]. e(k) <- not (a(k) seq b(k)) in [off(k), c(k)].",
    "derived": "o(k) <- c(k). d(k, n = count(e)) <- o: o(k), w: extend(o, 9000), while [w]: collect e: a(k).",
}
"""Scopes that begin with what never comes: nothing is kept for them."""


@pytest.mark.parametrize("name", NEVER_OPEN)
def test_nothing_is_kept_while_no_scope_is_open(name):
    declared = "event off(k: int) instant. " + NEVER_OPEN[name]
    assert stored(declared, 400, False) == 0
    assert stored(declared, 400, False, NONE) > 0


def test_only_keys_whose_scope_is_open_are_kept():
    program = ensue.compile(
        DECLARATIONS + "d(k, n = count(e)) <- o: c(k), w: extend(o, 50), while [w]: collect e: (a(k) or b(k))."
    )
    run = Run(program.typed, compiled=False)
    batch = run.batch()
    batch.rows = [("c", {"k": 1}, 10, 10, None, 2000), *(row for row in rows(40) if row[0] in "ab")]
    batch.rows.sort(key=lambda row: row[3])
    run.advance(batch, 39, 0)
    assert sum(size.tuples for size in run.sizes() if size.node == "inner") == 6


@pytest.mark.parametrize(
    ("rules", "option"),
    [
        ("d(k) <- a(k) seq b(k) within 10.", "lifetimes"),
        ("d(k) <- a(k) seq b(k).", "streaming"),
        ("d(k) <- c(k) seq (a(k) seq b(k)).", "suppressing"),
        ("d(k) <- tick(k, _) seq (a(k) seq b(k)) where k = 0.", "suppressing"),
        ("d(s) <- not tick(s, _) in [tick(s, _), tick(s, _)].", "ending"),
    ],
)
def test_each_optimisation_stores_less_than_none(rules, option):
    less, all_ = stored(rules, 400, False, Options(**{**vars(NONE), option: True})), stored(rules, 400, False, NONE)
    assert less < all_
