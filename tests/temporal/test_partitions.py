"""Stages: the partitioning of rules written for the purpose; parts together find the same as the whole."""

import math
import re
from random import Random

import pytest
from benchmarks.workloads import WORKLOADS
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.data.results import picked
from ensue.language.walk import atoms
from ensue.partitioning import ByKey, ByRow, BySlices, Whole, stage_program, stages
from ensue.reference import detect
from ensue.temporal.instants import with_instants
from tests.agreement import SEQUENCE, Detection, attributes_of, difference
from tests.random_programs import given_types, programs, streams
from tests.temporal.in_parts import detect_in_parts

DECLARATIONS = """
event a(k: int, x: int).
event b(k: int, y: float).
event c(k: int, s: string).
event f(y: float, k: int).
event i(k: int, x: int) instant.
event j(k: int, x: int) instant.
event t(at: timestamp, s: string).
event n(s: string, x: int).
table linked(p: int, q: int).
"""


def staged(rules, wanted=None, instants=False):
    """The stages of rules, each as a line."""
    program = ensue.compile(rules).typed
    program = with_instants(program) if instants else program
    return [shown(stage) for stage in stages(program, picked(program, wanted))]


def shown(stage):
    match stage.parting:
        case ByKey(keys=keys, kinds=kinds, nulls=nulls):
            parts = ", ".join(f"{name}({', '.join(keys[name])})" if name in keys else name for name in stage.reads)
            how = f"by {', '.join(kinds)}: {parts}" + (f", nulls of {', '.join(sorted(nulls))}" if nulls else "")
        case BySlices():
            how = f"by slices: {', '.join(stage.reads)}"
        case ByRow():
            how = f"by row: {', '.join(stage.reads)}"
        case Whole():
            how = f"whole: {', '.join(stage.reads)}"
    words = [f"{', '.join(stage.derives)} {how}"]
    words += [f"extent {stage.extent}"] if stage.extent is not None else []
    words += [f"duplicates of {', '.join(sorted(stage.duplicates))}"] if stage.duplicates else []
    words += ["until"] if stage.ends_by_itself else []
    words += ["first end"] if stage.from_first_end else []
    return "; ".join(words)


# --- the rules that are measured

MEASURED = {
    "w1": ["w1 by int: A(id), B(id); extent 10000"],
    "w2": ["w2 by int: A(id), B(id), C(id); extent 10000"],
    "w3": ["w3 by int: A(id), B(id), nulls of A; extent 10001; until"],
    "w4": ["w4 by int: A(id), B(id)"],
    "w5": ["pair by int: A(id), B(id); extent 10000", "w5 whole: pair"],
    "w6": ["follow by int: A(id), B(id); extent 10000", "w6 whole: follow"],
    "w7": ["turn, fall, w7 by int: tick(sym), turn(sym), fall(sym)"],
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_workloads(name):
    assert staged(WORKLOADS[name].rules, instants=True) == MEASURED[name]


def test_an_interval_may_be_longer_than_any_extent():
    assert staged(WORKLOADS["w3"].rules) == ["w3 by int: A(id), B(id), nulls of A; until"]


# --- one rule

KEYED = {
    "a variable joins": (
        "d(k) <- a(k, _) seq b(k, _).", "d by int: a(k), b(k)",
    ),
    "what is derived does not say which part it comes from": (
        "d(x) <- a(k, x) seq b(k, _).", "d by int: a(k), b(k); duplicates of d",
    ),
    "a longer key": (
        "d(k, x) <- a(k, x) seq i(k, x).", "d by int, int: a(k, x), i(k, x)",
    ),
    "half of the key in the head is not enough": (
        "d(k) <- a(k, x) seq i(k, x).", "d by int, int: a(k, x), i(k, x); duplicates of d",
    ),
    "one type twice": (
        "d(k) <- a(k, p) seq a(k, q).", "d by int: a(k)",
    ),
    "one type twice, by other attributes": (
        "d(k) <- a(k, _) seq a(_, k).", "d whole: a",
    ),
    "one attribute of two": (
        "d(k) <- a(k, k) seq a(_, k).", "d by int: a(x)",
    ),
    "integers and floats": (
        "d(k) <- a(k, _) seq f(k, _).", "d by float: a(k), f(y)",
    ),
    "a float does not say which integer it was": (
        "event d(y: float).\nd(y = k) <- a(k, _) seq b(k, _).", "d by int: a(k), b(k); duplicates of d",
    ),
    "text": (
        "d(s) <- c(_, s) seq t(_, s).", "d by string: c(s), t(s)",
    ),
    "timestamps": (
        "d(p) <- t(p, _) seq t(p, _).", "d by timestamp: t(at)",
    ),
    "an attribute of an event that is not declared": (
        "d(k) <- a(k, _) seq other(k = k).", "d whole: a, other",
    ),
    "no key for a negated event": (
        "d(k) <- not c in [a(k, _), b(k, _)].", "d whole: a, b, c",
    ),
    "a negated event": (
        "d(k) <- not c(k, _) in [a(k, _), b(k, _)].", "d by int: a(k), b(k), c(k)",
    ),
    "something that is lacking, and null of its own": (
        "d(k) <- a(k, _) without c(k, _).", "d by int: a(k), c(k), nulls of a",
    ),
    "a gathered event": (
        "d(k, n = count(e)) <- o: a(k, _), while o: collect e: c(k, _).", "d by int: a(k), c(k), nulls of a",
    ),
    "a repetition between": (
        "d(k) <- a(k, _) seq c(k, _)+ seq b(k, _).", "d by int: a(k), b(k), c(k)",
    ),
    "a repetition between that is not correlated": (
        "d(k) <- a(k, _) seq c+ seq b(k, _).", "d whole: a, b, c",
    ),
    "a run": (
        "d(k) <- a(k, _){3}.", "d by int: a(k), nulls of a",
    ),
    "a run of all": (
        "d(n = count(x)) <- a(_, x){3}.", "d whole: a",
    ),
    "a context": (
        "d(k) <- recent a(k, _) seq b(k, _).", "d by int: a(k), b(k)",
    ),
    "a context, and equality that is looked at afterwards": (
        "d(k) <- recent a(k, _) seq b(m, _) where k = m.", "d whole: a, b",
    ),
    "a context beside a timer": (
        "d(k) <- recent a(k, _) seq every(5).", "d whole: a; until; first end",
    ),
    "a cumulative constituent": (
        "d(k, n = count(x)) <- cumulative a(k, x) seq b(k, _).", "d by int: a(k), b(k)",
    ),
    "a cumulative constituent without a key": (
        "d(n = count(k)) <- cumulative a(k, _) seq b(_, _).", "d whole: a, b",
    ),
    "alternatives": (
        "d(k) <- (a(k, _) or b(k, _)) seq c(k, _).", "d by int: a(k), b(k), c(k)",
    ),
    "a key on one side of a sequence": (
        "d(k) <- (a(k, m) or b(k, _)) seq i(_, _).", "d whole: a, b, i",
    ),
    "nested": (
        "d(k) <- (a(k, _) seq b(k, _)) during c(k, _).", "d by int: a(k), b(k), c(k)",
    ),
    "a name inside that is another's": (
        "d(k) <- a(k, _), not (c(m, _) seq b(m, _)) in [i(k, _), j(k, _)].", "d whole: a, b, c, i, j",
    ),
    "restricted": (
        "d(k) <- a(k, _) seq b(k, _) policy restricted.", "d by int: a(k), b(k)",
    ),
    "restricted, one event": (
        "d(k) <- a(k, _) policy restricted.", "d whole: a",
    ),
    "restricted, something lacking": (
        "d(k) <- (a(k, _) without c(k, _)) seq b(k, _) policy restricted.", "d by int: a(k), b(k), c(k)",
    ),
    "a window": (
        "d(k, n = count(x)) <- while last 10: collect a(k, x).", "d by int: a(k), nulls of a",
    ),
    "a window of all": (
        "d(n = count(x)) <- while last 10: collect a(_, x).", "d whole: a",
    ),
    "a window by an attribute": (
        "d(k = e.k, n = count(e)) <- while last 10: collect e: a(_, _).", "d by int: a(k), nulls of a",
    ),
    "a window whose group is computed": (
        "d(k = k % 2, n = count(x)) <- while last 10: collect a(k, x).", "d whole: a",
    ),
    "a window beside an event": (
        "d(k, n = count(x)) <- c(k, _), while last 10: collect a(k, x).", "d by int: a(k), c(k)",
    ),
    "a window beside an event that has no key": (
        "d(k, n = count(x)) <- c(_, _), while last 10: collect a(k, x).", "d whole: a, c",
    ),
    "a window beside a table": (
        "d(p, n = count(x)) <- linked(p, _), while last 10: collect a(p, x).", "d by int: a(k)",
    ),
    "since": (
        "d(k, n = count(x)) <- while since c(k, _): collect a(k, x).", "d by int: a(k), c(k)",
    ),
    "since something that all share": (
        "d(k, n = count(x)) <- while since c(_, _): collect a(k, x).", "d whole: a, c",
    ),
    "equality behind where": (
        "d(k = o.k) <- o: a(_, _) seq s: b(_, _) where o.k = s.k.", "d by int: a(k), b(k)",
    ),
    "equality with what is negated": (
        "d(k = o.k) <- o: a(_, _) seq i(_, _), while o: not (s: c(_, _) where s.k = o.k).", "d whole: a, c, i",
    ),
    "equality inside what is negated": (
        "d(k = o.k) <- o: a(_, _), while o: not (s: c(_, _) where s.k = o.k).", "d by int: a(k), c(k), nulls of a",
    ),
    "a table in between is no equality": (
        "d(p) <- a(p, _), linked(p, q), b(q, _).", "d whole: a, b",
    ),
    "recursion": (
        "d(k, x) <- i(k, x).\nd(k, x = x + r) <- recent d(k, x) seq j(k, r).", "d by int: i(k), j(k), d(k), nulls of i",
    ),
    "recursion over all": (
        "d(x) <- i(_, x).\nd(x = x + r) <- recent d(x) seq j(_, r).", "d whole: i, j, d",
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", KEYED)
def test_keys(title):
    rules, expected = KEYED[title]
    assert staged(DECLARATIONS + rules) == [expected]


ROWS_AND_SLICES = {
    "one event": ("d(x) <- a(_, x) where x > 1.", "d by row: a; extent 0; duplicates of d"),
    "one event and a timer": (
        "d(k) <- o: a(k, _), w: extend(o, 6).", "d by row: a; extent 6; duplicates of d; until",
    ),
    "one event or another": ("d(k) <- a(k, _) or b(k, _).", "d by row: a, b; extent 0; duplicates of d"),
    "one event after a moment": ("d(k) <- at(4) seq a(k, _).", "d by row: a; extent 0; duplicates of d; until"),
    "one event before a moment": ("d(k) <- a(k, _) seq at(4).", "d by row: a; duplicates of d; until"),
    "an event or a moment": ("d() <- at(4) or a(_, _).", "d by slices: a; extent 0; until"),
    "recursion over one event": (
        "d(x) from w <- e: i(_, x), w: extend(e, 1).\nd(x = x + 1) from w <- e: d(x), w: shift(e, 2) where x < 4.",
        "d by row: i, d; duplicates of d; until",
    ),
    "timers alone": ("d() <- every(5).", "d by row: ; extent 0; until; first end"),
    "within": ("d() <- a(_, _) seq b(_, _) within 7.", "d by slices: a, b; extent 7"),
    "a gap between instants": ("d() <- i(_, _) before[..7] j(_, _).", "d by slices: i, j; extent 7"),
    "a gap before something that lasts": ("d() <- i(_, _) before[..7] a(_, _).", "d whole: a, i"),
    "the end counts, not the start": ("d() <- a(_, _) before[..7] j(_, _).", "d by slices: a, j; extent 7"),
    "nothing bounds it": ("d() <- a(_, _) seq b(_, _).", "d whole: a, b"),
    "an absence after an instant": (
        "d(k) <- o: i(k, _), w: extend(o, 6), while w: not c(_, _).", "d by slices: c, i; extent 6; until",
    ),
    "an absence before an instant": (
        "d(k) <- o: i(k, _), w: extend_backward(o, 6), while w: not c(_, _).", "d by slices: c, i; extent 6",
    ),
    "an absence inside an interval": ("d(k) <- o: a(k, _), while o: not c(_, _).", "d whole: a, c"),
    "an absence between": ("d() <- not c in [a, j] within 7.", "d by slices: a, c, j; extent 7"),
    "an absence of something composed": (
        "d() <- o: i(_, _), w: extend(o, 6), while w: not (c(_, _) seq b(_, _)).",
        "d by slices: b, c, i; extent 6; until",
    ),
    "an absence of something with an absence": (
        "d() <- o: i(_, _), w: extend(o, 6), while w: not (e: j(_, _), v: extend_backward(e, 3), while v: not b).",
        "d by slices: b, i, j; extent 6; until",
    ),
    "an absence inside an event outside the absence": (
        "d() <- u: a(_, _), o: i(_, _), u before[..3] o, w: extend(o, 6), while w: not (j(_, _), while u: not c).",
        "d whole: a, c, i, j; until",
    ),
    "an alternative that lacks something": (
        "d() <- ((a(_, _) without c(_, _)) or b(_, _)) seq i(_, _) within 7.", "d by slices: a, b, c, i; extent 7",
    ),
    "a run": ("d(n = count(x)) <- a(_, x){3} within 7.", "d by slices: a; extent 7"),
    "a run of what is composed": (
        "d(n = count(x)) <- (a(_, x) seq b(_, _)){2} within 7.", "d whole: a, b",
    ),
    "a run of what is composed and bounded": (
        "d(n = count(x)) <- (a(_, x) seq b(_, _) within 9){2} within 7.", "d by slices: a, b; extent 16",
    ),
    "an absence after a moment": ("d() <- not c in [at(4), j].", "d whole: c, j; until"),
    "a span": ("d(n = count(x)) <- while last 5s: collect a(_, x).", "d by slices: a; extent 4"),
    "a span of what is composed": (
        "d(n = count(x)) <- while last 5s: collect (a(_, x) seq b(_, _) within 7).", "d by slices: a, b; extent 7",
    ),
    "each": ("d(n = count(x)) <- while each 5: collect a(_, x).", "d by slices: a; extent 5; until"),
    "a span beside an event": ("d(n = count(x)) <- c(_, _), while last 5s: collect a(_, x).", "d whole: a, c"),
    "since": ("d(n = count(x)) <- while since c(_, _): collect a(_, x).", "d whole: a, c"),
    "a context": ("d() <- chronicle i(_, _) seq j(_, _) within 7.", "d whole: i, j"),
    "a context inside": ("d() <- (chronicle i(_, _) seq j(_, _)), c(_, _) within 7.", "d whole: c, i, j"),
    "a context inside an absence": (
        "d() <- o: j(_, _), w: extend_backward(o, 6), while w: not (chronicle i(_, _) seq c(_, _)).",
        "d whole: c, i, j",
    ),
    "a policy": ("d() <- a(_, _) seq b(_, _) within 7 policy restricted.", "d whole: a, b"),
    "every": ("d() <- i(_, _) before[..3] every(5).", "d by row: i; extent 3; duplicates of d; until; first end"),
    "every, and two events": (
        "d() <- (i(_, _) before[..3] every(5)) before[..4] j(_, _).", "d by slices: i, j; extent 7; until; first end",
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", ROWS_AND_SLICES)
def test_rows_and_slices(title):
    rules, expected = ROWS_AND_SLICES[title]
    assert staged("unit s." + DECLARATIONS + rules) == [expected]


# --- several rules

SEVERAL = {
    "one key for all": (
        "d(k, x) <- a(k, x) seq b(k, _) within 5. e(k) <- d(k, _) seq c(k, _) within 3.",
        ["d, e by int: a(k), b(k), c(k), d(k); extent 7"],
    ),
    "a key that fits both is shorter": (
        "d(k, x) <- a(k, x) seq i(k, x). e(k) <- d(k, _) seq c(k, _).",
        ["d, e by int: a(k), c(k), i(k), d(k)"],
    ),
    "two keys": (
        "d(x) <- a(k, x) seq b(k, _). e(x) <- d(x) seq i(_, x).",
        ["d by int: a(k), b(k); duplicates of d", "e by int: i(x), d(x)"],
    ),
    "a null takes part in one of two rules": (
        "d(k) <- a(k, _) seq b(k, _). e(k) <- a(k, _) without c(k, _).",
        ["d, e by int: a(k), b(k), c(k), nulls of a"],
    ),
    "a rule of one event goes along": (
        "d(k) <- a(k, _) seq b(k, _). e(x) <- a(_, x).",
        ["d, e by int: a(k), b(k), nulls of a; duplicates of e"],
    ),
    "a rule of one event hands its key on": (
        "d(m = k) <- a(k, x) where x > 1. e(k) <- d(k) seq b(k, _).",
        ["d, e by int: a(k), b(k), d(m), nulls of a"],
    ),
    "a rule of one event makes the key": (
        "d(m = k + 1) <- a(k, _). e(k) <- d(k) seq b(k, _).",
        ["d by row: a; extent 0; duplicates of d", "e by int: b(k), d(m)"],
    ),
    "a rule of one event makes the key, and time is not cut": (
        "d(m = k + 1) <- a(k, _). e(k) <- d(k) seq b(k, _) within 5.",
        ["d by row: a; extent 0; duplicates of d", "e by int: b(k), d(m); extent 5"],
    ),
    "a rule of one event is no reason for another shuffle": (
        "d(m = k + 1) <- a(k, _). e(k) <- b(k, _) seq c(k, _). g(k) <- d(k) seq c(k, _).",
        ["d by row: a; extent 0; duplicates of d", "e, g by int: b(k), c(k), d(m)"],
    ),
    "keys of other types do not meet": (
        "d(k) <- a(k, _) seq b(k, _). e(s) <- c(_, s) seq n(s, _).",
        ["d by int: a(k), b(k)", "e by string: c(s), n(s)"],
    ),
    "keys of one type, apart": (
        "d(k) <- a(k, _) seq b(k, _). e(k) <- i(k, _) seq j(k, _).",
        ["d, e by int: a(k), b(k), i(k), j(k)"],
    ),
    "what fits an earlier stage does not wait": (
        "d(k) <- a(k, _) seq b(k, _). e(x) <- i(_, x) seq a(_, x). g(k) <- b(k, _) seq c(k, _).",
        ["d, g by int: a(k), b(k), c(k)", "e by int: a(x), i(x)"],
    ),
    "slices add up": (
        "d() <- a(_, _) seq b(_, _) within 5. e() <- d() seq c(_, _) within 3. g() <- e() or d().",
        ["d, e, g by slices: a, b, c, d, e; extent 7"],
    ),
    "slices add up where the first ends before the second begins": (
        "d() from o <- i(_, _) before[..5] o: j(_, _). e() <- d() before[..3] i(_, _).",
        ["d, e by slices: i, j, d; extent 8"],
    ),
    "absence in between adds up": (
        "d() from o <- o: j(_, _), w: extend_backward(o, 5), while w: not c(_, _). "
        "e() <- o: i(_, _), w: extend_backward(o, 4), while w: not d().",
        ["d, e by slices: c, i, j, d; extent 9"],
    ),
    "a timer among rules with a key": (
        "d(k) <- a(k, _) seq b(k, _) within 5. d(k = 1) <- at(4).",
        ["d by slices: a, b; extent 5; until"],
    ),
    "a key, then slices, then the whole, then a row": (
        "d(k) <- a(k, _) seq b(k, _). e(k) <- d(k) seq c(_, _) within 3. g(k) <- e(k) seq i(_, _). h(k) <- g(k).",
        ["d by int: a(k), b(k)", "e by slices: c, d; extent 2", "g, h whole: i, e, g"],
    ),
    "after the whole there are keys again": (
        "d(k) <- a(k, _) seq b(_, _). e(k) <- d(k) seq c(k, _).",
        ["d whole: a, b", "e by int: c(k), d(k)"],
    ),
    "how long a derived event lasts bounds what is around it": (
        "d() <- o: i(_, _), w: extend(o, 6), while w: not j(_, _). "
        "e(n = count(x)) <- o: d(), w: extend_backward(o, 24), while w: collect j(_, x).",
        ["d, e by slices: i, j, d; extent 36; until"],
    ),
    "a type that is given and derived": (
        "i(k, x) <- j(k, x) where x > 1. d(k) <- i(k, _) seq b(k, _).",
        ["i, d by int: b(k), i(k), j(k), nulls of j"],
    ),
    "rules of one type stay together": (
        "d(k) <- a(k, _) seq b(k, _). d(k) <- c(k, _) seq b(k, _).",
        ["d by int: a(k), b(k), c(k)"],
    ),
    "rules of one type that fit no key": (
        "d(k) <- a(k, x) seq i(_, x) within 5. d(k) <- a(k, _) seq b(k, _) within 3.",
        ["d by slices: a, b, i; extent 5"],
    ),
    "timers alone come first": (
        "d() <- every(5). e(k) <- a(k, _) seq b(k, _) seq d().",
        ["d by row: ; extent 0; until; first end", "e whole: a, b, d"],
    ),
    "recursion through another": (
        "d(k, x) <- i(k, x). e(k, x) <- d(k, x) seq j(k, _). d(k, x = x + 1) <- e(k, x) seq i(k, _).",
        ["d, e by int: i(k), j(k), d(k), e(k), nulls of i"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", SEVERAL)
def test_several_rules(title):
    rules, expected = SEVERAL[title]
    assert staged(DECLARATIONS + rules) == expected


def test_only_what_is_wanted():
    rules = DECLARATIONS + "d(k) <- a(k, _). e(k) <- d(k) seq b(k, _). g(k) <- c(k, _) seq c(k, _)."
    assert staged(rules, ["e"]) == ["d, e by int: a(k), b(k), d(k), nulls of a"]
    assert staged(rules, ["d"]) == ["d by row: a; extent 0; duplicates of d"]


def test_why_everything_is_in_one_part():
    def said(rules):
        program = ensue.compile(DECLARATIONS.strip() + "\n" + rules)
        (stage,) = stages(program.typed, picked(program.typed, None))
        assert isinstance(stage.parting, Whole)
        return [each.describe(program.typed, program.file.source) for each in stage.parting.obstacles]

    no_key = "runs in one part: no variable has one value in everything that it matches"
    assert said("rule far: d() <- a(_, _) seq b(_, _).") == [
        f"The rule `far` (line 10) {no_key}, and nothing bounds how far apart its events are, as `within` does."
    ]
    assert said("d() <- recent a(_, _) seq b(_, _) within 5.") == [
        f"The rule for `d` (line 10) {no_key}, and a context selects from events of any time."
    ]
    assert said("d(n = count(x)) <- while last 9: collect a(_, x).") == [
        f"The rule for `d` (line 10) {no_key}, and `last 9` counts back over any length of time."
    ]
    assert said("d(x) <- i(_, x).\nd(x = x + r) <- d(x) seq j(_, r).") == [
        f"The rule for `d` (line 11) {no_key}, and what it derives depends on its own results, however long ago."
    ]
    assert said("d(k) <- a(k, _) seq b(k, _). d(x) <- a(_, x) seq i(_, x) within 5.") == [
        "The rule for `d` (line 10) runs in one part: it has a key, but not one that other rules for the same events "
        "have, too, and nothing bounds how far apart its events are, as `within` does."
    ]


def test_the_program_of_a_stage():
    program = ensue.compile(
        DECLARATIONS
        + """
        d(x) <- a(k, x) seq b(k, _).
        e(x) <- d(x) seq i(_, x).
        e(x) <- e(x) seq j(_, x).
        test "nothing" given a(1, 2) @ 0 expect no d.
        """
    ).typed
    first, second = stages(program, ["e"])
    one, other = stage_program(program, first), stage_program(program, second)
    assert list(one.events) == list(other.events) == list(program.events)
    assert one.events["d"].derived
    assert not other.events["d"].derived
    assert other.events["d"].attributes == program.events["d"].attributes
    assert [rule.event for rule in other.rules] == ["e", "e"]
    assert [stratum.recursive for stratum in other.strata] == [True]
    assert sorted(rule for layer in other.strata[0].layers for rule in layer) == [0, 1]
    assert other.predicates == program.predicates
    assert not one.tests


def test_many_rules_are_parted_at_once():
    text = "".join(
        f"event p{n}(k: int, x: int). event q{n}(k: int, x: int). d{n}(k) <- p{n}(k, x) seq q{n}(k, x) within {n}.\n"
        for n in range(1, 201)
    )
    (stage,) = stages(program := ensue.compile(text).typed, picked(program, None))
    assert len(stage.rules) == 200
    assert isinstance(stage.parting, ByKey)
    assert stage.parting.kinds == ("int", "int")


# --- parts together find the same as the whole


VALUES = {
    "int": [0, 1, 1, 2, 2, None],
    "float": [0.0, -0.0, 1.0, 1.0, 2.0, math.nan, None],
    "string": ["p", "p", "q", None],
    "timestamp": [0, 1, 1, None],
}
RULES = {
    **{title: rules for title, (rules, _) in KEYED.items()},
    **{f"{title}, by slices": rules for title, (rules, _) in ROWS_AND_SLICES.items()},
    **{title: rules for title, (rules, _) in SEVERAL.items()},
}


def some_rows(program, types, rng):
    """Events of some types, close together, with few values, nulls among them."""
    rows = []
    for _ in range(rng.randint(0, 24)):
        event = program.events[rng.choice(types)]
        start = rng.randint(0, 20)
        end = start if event.instant else start + rng.choice((0, 0, 1, 3, 9))
        attributes = {name: rng.choice(VALUES.get(type_, VALUES["int"])) for name, type_ in event.attributes.items()}
        rows.append((event.name, attributes, start, end, rng.choice((None, None, 1, 2))))
    return rows


@pytest.mark.parametrize("title", RULES)
def test_the_rules_above_find_the_same_in_parts(title):
    program = ensue.compile("unit s." + DECLARATIONS + RULES[title]).typed
    used = {atom.event for rule in program.rules for atom in atoms(rule.body)}
    types = sorted(name for name in used if program.events[name].given) or ["a"]
    wanted = picked(program, None)
    for seed in range(12):
        rng = Random(f"{title} {seed}")
        rows = some_rows(program, types, rng)
        until = rng.choice((None, 15, 33, 40))
        tables = {"linked": [(0, 1), (1, 2), (2, 2)]}
        whole = detect(program, rows, until, tables)
        parts = detect_in_parts(program, rows, until, wanted, rng, tables)
        assert difference(detections(whole), detections(parts)) is None, seed


@st.composite
def keyed_programs(draw):
    """Random programs, in half of which variables are fewer still, so that more of them are correlated."""
    text = draw(programs())
    if draw(st.booleans()):
        for name, same in (("m", "k"), ("n", "k"), ("g", "f"), ("t", "s")):
            text = re.sub(rf"(?<![\w.\"]){name}\b(?![\w\"(:])", same, text)
    return text


def compiled(text):
    try:
        return ensue.compile(text)
    except ensue.RuleError:
        assume(False)


@given(keyed_programs(), st.data())
@settings(max_examples=80)
def test_parts_find_what_the_whole_finds(text, data):
    program = compiled(text)
    derived = picked(program.typed, None)
    wanted = data.draw(st.just(derived) | st.lists(st.sampled_from(derived), min_size=1, unique=True))
    sequence = data.draw(st.integers(0, 5)) == 5
    values = ("plain", "nulls", "odd")
    events = data.draw(streams(20, values, types=given_types(program), sequence=sequence))
    last = max((event["end"] for event in events), default=0)
    until = data.draw(st.sampled_from([None, None, last, last + 3, last + 40, last - 5]))
    rows = [(e["type"], attributes_of(e), e["start"], e["end"], e.get(SEQUENCE)) for e in events]
    try:
        whole = [event for event in detect(program.typed, rows, until) if event.type in wanted]
    except ensue.DetectError:  # a derivation without end
        return
    number = data.draw(st.integers(0, 999))
    for seed in (number, number + 1000):
        parts = detect_in_parts(program.typed, rows, until, wanted, Random(seed))
        assert difference(detections(whole), detections(parts)) is None, said(program, wanted)


def detections(events):
    return [Detection(event.type, event.start, event.end, event.attributes) for event in events]


def said(program, wanted):
    return "\n".join(map(shown, stages(program.typed, wanted)))
