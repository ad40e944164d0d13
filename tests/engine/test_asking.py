"""Static predicates in conditions of generated code: every answer is the one that the rules mean, however it came."""

import ctypes
from itertools import pairwise
from random import Random

import numpy as np
import pytest

import ensue
from ensue.engine.compiled import arrays, asking, kernels, lane, layout, strings
from ensue.engine.knowledge import Knowledge
from ensue.engine.knowledge.questions import Question
from ensue.engine.lanes import plan_of
from ensue.engine.run import Run
from ensue.engine.tables import derived_tables
from ensue.reference import detect
from tests.agreement import as_checked_python, as_plain_python, from_tables

CHAIN = """
event shipment(site: string, weight: float).
table linked(a: string, b: string).
table limit(site: string, most: float).
ahead(x, y) :- linked(x, y).
ahead(x, z) :- linked(x, y), ahead(y, z).
behind(x, y) :- linked(y, x).
behind(x, z) :- behind(x, y), linked(z, y).
light(s, w) :- limit(s, w), w < 5.
source(s) :- linked(s, _), not linked(_, s).
walk(origin = site, site) <- shipment(site, _) where source(site).
walk(origin, site) <- recent walk(origin, prev) seq shipment(site, _) on ahead(prev, site) and behind(site, origin).
heavy(site, w) <- shipment(site, w) where limit(site, _) and not light(site, w).
"""


def chain(length):
    """A path of sites, one of which leads back, and two that nothing else leads to."""
    names = [f"s{k}" for k in range(length)]
    links = [*pairwise(names), (names[-1], names[length // 2]), ("x", "s1"), ("y", None)]
    limits = [(name, float(k % 7)) for k, name in enumerate(names)] + [("s1", float("nan")), ("s2", None)]
    return {"linked": links, "limit": limits}


def shipments(seed, count, sites, nulls=False):
    rng = Random(seed)
    found = []
    for time in range(count):
        site = (
            None if nulls and rng.random() < 0.1 else rng.choice([f"s{time % sites}", f"s{rng.randrange(sites)}", "x"])
        )
        weight = rng.choice([0.0, -0.0, 1.0, 3.0, 6.0, float("nan"), None if nulls else 2.0])
        found.append(("shipment", {"site": site, "weight": weight}, time, time, None, time))
    return found


def derived(program, rows, tables, compiled, cuts=(), restored=False):
    """What a run derives: at the times where it is cut, it may be saved and restored in another."""
    run = Run(program, tables, compiled=compiled)
    found, before = [], -1
    for time in (*cuts, len(rows)):
        batch = run.batch()
        batch.rows = [row for row in rows if before < row[3] <= time]
        run.advance(batch, time, 0)
        wanted = [name for name, event in program.events.items() if event.derived]
        found += from_tables(derived_tables(batch, program, wanted, False, None))
        before = time
        if restored:
            state, run = run.saved(), Run(program, tables, compiled=compiled)
            run.restore(state)
    return sorted(map(str, found))


def meant(program, rows, tables):
    found = detect(program, [row[:5] for row in rows], len(rows), tables)
    return sorted(
        f"{e.type}({', '.join(f'{n} = {v!r}' for n, v in e.attributes.items())}) @ [{e.start}, {e.end}]" for e in found
    )


@pytest.fixture
def program():
    program = ensue.compile(CHAIN).typed
    assert plan_of(program, ["walk", "heavy"], False).reasons == ()
    return program


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("cuts", [(), (7, 30, 31)])
def test_tables_that_are_handed_over(program, cuts, nulls):
    tables, rows = chain(9), shipments(1, 70, 9, nulls)
    wanted = meant(program, rows, tables)
    assert {each.partition("(")[0] for each in wanted} == {"walk", "heavy"}
    assert derived(program, rows, tables, False, cuts) == wanted
    for way in (as_plain_python, as_checked_python):
        with way():
            assert derived(program, rows, tables, None if way is as_plain_python else True, cuts) == wanted


def test_a_state_that_is_restored_asks_again(program):
    tables, rows = chain(9), shipments(2, 60, 9)
    with as_plain_python():
        assert derived(program, rows, tables, None, (20, 40), restored=True) == meant(program, rows, tables)


def test_more_goals_than_there_is_room_for(program, monkeypatch):
    monkeypatch.setattr(arrays, "ANSWERS", 4)
    monkeypatch.setattr(asking, "MOST", 16)
    monkeypatch.setattr(lane, "CHUNK", 16)
    tables, rows = chain(30), shipments(3, 200, 30)
    with as_plain_python():
        assert derived(program, rows, tables, None) == derived(program, rows, tables, False)


def test_answers_go_with_the_strings_that_they_are_about(monkeypatch):
    """The code of a string that is forgotten is given to another, of which something else may be true."""
    monkeypatch.setattr(strings, "MANY", 8)
    program = ensue.compile("""
        event e(t: string).
        table good(t: string).
        found(t) <- e(t) where good(t).
    """).typed
    rows = [("e", {"t": f"t{k}"}, k, k, None, k) for k in range(100)]
    tables = {"good": [(f"t{k}",) for k in range(100) if k % 3 == 0]}
    with as_plain_python():
        found = derived(program, rows, tables, None, range(0, 100, 5))
    assert found == sorted(f"found(t = 't{k}') @ [{k}, {k}]" for k in range(0, 100, 3))


def test_what_goes_wrong_while_it_is_asked_is_raised(program, monkeypatch):
    def question(*_):
        raise RecursionError("too deep")

    monkeypatch.setattr(Knowledge, "question", question)
    with as_plain_python(), pytest.raises(RecursionError, match="too deep"):
        derived(program, shipments(1, 20, 9), chain(9), None)


def test_a_path_is_not_asked_for_site_by_site(program, monkeypatch):
    """What follows on the path is told before it is asked for."""
    asked = []
    holds = Question.holds
    monkeypatch.setattr(Question, "holds", lambda self, values: asked.append(values) or holds(self, values))
    tables = chain(300)
    rows = [("shipment", {"site": f"s{k % 300}", "weight": 9.0}, k, k, None, k) for k in range(600)]
    with as_plain_python():
        found = derived(program, rows, tables, None)
    assert sum(len(values) == 2 and values[1] == "s0" for values in asked) < 50  # behind(site, "s0")
    assert found == derived(program, rows, tables, False)


@pytest.mark.parametrize("size", [8, 64, 1024])
@pytest.mark.parametrize("kind", ["s", "i"])
def test_what_is_told_is_kept_beside_what_is_asked(size, kind):
    """Whatever an answer brings with it, each key has its own: also where that falls on the row that is asked for."""
    rng = Random(size)
    ask = layout.Ask(0, "p", (kind, kind))
    answers = arrays.no_answers(ask, size)
    true = {(a, b) for a in range(20) for b in range(20) if (a * b) % 3 == 1 or rng.random() < 0.2}
    calls = []

    def answer(row):
        a, b, _ = answers[row].tolist()
        calls.append((a, b))
        if (a, b) not in true:
            return asking.NO
        place = rng.randrange(2)
        more = [other for other in range(20) if ((other, b) if place == 0 else (a, other)) in true]
        asking._tell(answers, row, place, np.array(rng.sample(more, rng.randrange(len(more) + 1)), np.int64))
        return asking.YES

    function = asking._Function(answer)
    answers[0, 0] = ctypes.cast(function, ctypes.c_void_p).value
    with np.errstate(over="ignore"):
        for _ in range(3000):
            key = (rng.randrange(20), rng.randrange(20))
            assert kernels.asked(answers, tuple(map(np.int64, key))) == (key in true), key
    kept = answers[1:][answers[1:, -1] > 0]
    assert len({(a, b) for a, b, _ in kept.tolist()}) == len(kept) == answers[0, 1] <= size // 2 + 1
    assert all(((a, b) in true) == (answer == asking.YES) for a, b, answer in kept.tolist())
    assert size < 1024 or len(calls) == len(set(calls)) < 400


@pytest.mark.slow
def test_compiled_by_numba(program):
    pytest.importorskip("numba")
    tables, rows = chain(40), shipments(4, 2000, 40)
    assert derived(program, rows, tables, True, (500, 900)) == derived(program, rows, tables, False)
