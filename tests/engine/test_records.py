"""A function, or an aggregate, is one record: one that is added here runs on every execution."""

from math import sqrt
from statistics import median, pvariance

import pytest

import ensue
from ensue.language.aggregates import AGGREGATES, Aggregate
from ensue.language.functions import FUNCTIONS, Signature
from tests.agreement import COMPILED, EXECUTIONS, check, meaning

EVENTS = "event a(k: int, x: float, i: int). event b(k: int).\n"


def distance(x: float, y: float) -> float:
    return sqrt(x * x + y * y)


def spread_pvariance(squares: float, count: float) -> float:
    return squares / count


def number(argument):
    return "float" if argument in ("int", "float", "any", "null") else None


STREAM = [
    {"type": kind, "start": t, "end": t, "k": t % 2} | ({"x": t * 0.7 - 3, "i": (t * 5) % 7} if kind == "a" else {})
    for t, kind in enumerate("aabaaabaabbaaaabaabaaaba")
]


@pytest.fixture
def records(monkeypatch):
    of_two = Aggregate("", number, lambda v: pvariance(v) if len(v) > 1 else None, "moments", spread_pvariance)
    monkeypatch.setitem(AGGREGATES, "pvariance", of_two)
    monkeypatch.setitem(AGGREGATES, "median", Aggregate("", number, lambda values: float(median(values))))
    monkeypatch.setitem(AGGREGATES, "longest", Aggregate("", lambda _: "string", lambda v: max(map(str, v), key=len)))
    monkeypatch.setitem(FUNCTIONS, "distance", Signature(("number", "number"), "float", "", distance, machine=True))
    monkeypatch.setitem(FUNCTIONS, "shout", Signature(("value",), "string", "", lambda s: f"{s}!", texts=True))


RULES = [
    "m(k, v = {name}({of})) <- while last 3: collect a(k, x, i).",
    "m(k, v = {name}({of})) <- while last 5s: collect a(k, x, i). unit s.",
    "m(k, v = {name}({of})) <- while since b(k): collect a(k, x, i).",
    "m(k, v = {name}({of})) <- b(k), w: extend_backward(e, 6), while w: collect a(k, x, i).",
    "m(v = {name}({of})) <- cumulative a(k, x, i) seq b(_).",
]


@pytest.mark.parametrize("execution", ["plain, cut", "small", "session, saved", "machine", "detect machine, rows"])
@pytest.mark.parametrize("name", ["pvariance", "median", "longest"])
def test_an_aggregate(records, execution, name):
    assert execution in EXECUTIONS | COMPILED
    for rule in RULES:
        for of in ("x", "i"):
            program = ensue.compile(EVENTS + rule.replace("b(k), w", "e: b(k), w").format(name=name, of=of))
            assert meaning(program, STREAM)
            assert check(execution, program, STREAM)


@pytest.mark.parametrize("execution", ["plain, cut", "machine"])
@pytest.mark.parametrize("term", ["distance(x, i)", "distance(i, null)", "shout(i)", "distance(i, abs(x)) + 1"])
def test_a_function(records, execution, term):
    program = ensue.compile(EVENTS + f"m(v = {term}) <- a(_, x, i).")
    assert meaning(program, STREAM)
    assert check(execution, program, STREAM)
