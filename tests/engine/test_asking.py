"""Static predicates in conditions of generated code: every answer is the one that the rules mean, however it came."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

import ensue
from ensue.engine.capacity import USUAL, using
from ensue.engine.derived_tables import derived_tables
from ensue.engine.knowledge import Knowledge
from ensue.engine.run import Run
from ensue.reference import detect
from tests.agreement import from_tables

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
    """Events that a run derives; at the times in `cuts`, it may be saved and restored in another run."""
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
    return ensue.compile(CHAIN).typed


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("cuts", [(), (7, 30, 31)])
def test_tables_that_are_handed_over(program, cuts, nulls):
    tables, rows = chain(9), shipments(1, 70, 9, nulls)
    wanted = meant(program, rows, tables)
    assert {each.partition("(")[0] for each in wanted} == {"walk", "heavy"}
    for compiled in (False, True):
        assert derived(program, rows, tables, compiled, cuts) == wanted


def test_a_state_that_is_restored_asks_again(program):
    tables, rows = chain(9), shipments(2, 60, 9)
    assert derived(program, rows, tables, True, (20, 40), restored=True) == meant(program, rows, tables)


def test_more_goals_than_there_is_room_for(program):
    tables, rows = chain(30), shipments(3, 200, 30)
    wanted = derived(program, rows, tables, False)
    with using(replace(USUAL, calls=4)):
        assert derived(program, rows, tables, True) == wanted


def test_answers_go_with_the_strings_that_they_are_about():
    """The code of a string that is forgotten is given to another, of which something else may be true."""
    program = ensue.compile("""
        event e(t: string).
        table good(t: string).
        found(t) <- e(t) where good(t).
    """).typed
    rows = [("e", {"t": f"t{k}"}, k, k, None, k) for k in range(100)]
    tables = {"good": [(f"t{k}",) for k in range(100) if k % 3 == 0]}
    with using(replace(USUAL, values=8)):
        found = derived(program, rows, tables, True, range(0, 100, 5))
    assert found == sorted(f"found(t = 't{k}') @ [{k}, {k}]" for k in range(0, 100, 3))


def test_what_goes_wrong_while_it_is_asked_is_raised(program, monkeypatch):
    def question(*_):
        raise RecursionError("too deep")

    monkeypatch.setattr(Knowledge, "question", question)
    for compiled in (False, True):
        with pytest.raises(RecursionError, match="too deep"):
            derived(program, shipments(1, 20, 9), chain(9), compiled)
