"""The inputs that derived events came from: handles of sets, their growth, and their removal."""

from random import Random

import pytest

import ensue
from ensue.engine.capacity import SMALL, using
from ensue.engine.run import Run
from ensue.engine.structure import Frame, class_of
from ensue.engine.structures.rows import Rows, rows_layout
from ensue.engine.structures.sources import Sources, inputs_of, shift_sources, sources_layout
from tests.agreement import check, meaning


def make(kind, layout):
    return class_of(kind, layout)(Frame(layout.cells), 0)


def sources_of(**columns):
    return make(Sources, sources_layout()), make(Rows, rows_layout({"time": "i64", "from": "source", **columns}))


def leaf(position):
    return 2 * position + 1


def put(rows, handles):
    rows.arrays["rows"][: len(handles), rows.layout.column("from").place] = handles


def test_a_union_has_the_inputs_of_both():
    origins, _ = sources_of()
    three = origins.add(leaf(3), origins.add(leaf(1), leaf(7)))
    assert inputs_of(origins, three) == {1, 3, 7}
    assert origins.add(0, three) == origins.add(three, 0) == origins.add(three, three) == three
    assert inputs_of(origins, 0) == frozenset()


@pytest.mark.parametrize("number", range(20))
def test_rows_have_the_same_inputs_after_compaction(number):
    rng = Random(number)
    origins, rows = sources_of()
    handles = [0, *map(leaf, range(6))]
    for _ in range(rng.randint(0, 60)):
        handles.append(origins.add(rng.choice(handles), rng.choice(handles)))
    for _ in range(rng.randint(0, 6)):  # boxes, as derived events have them, some of which lead to each other
        if origins.count == origins.capacity:
            origins.grow()
        box = 2 * origins.count
        origins.one[origins.count], origins.other[origins.count] = rng.choice(handles), 0
        origins.count += 1
        handles.append(box)
        later = rng.choice(handles)
        if later and not later & 1:
            origins.one[later >> 1] = origins.add(origins.one[later >> 1], box)
    held = [rng.choice(handles) for _ in range(rng.randint(0, 12))]
    put(rows, held)
    wanted = [inputs_of(origins, handle) for handle in held]
    before = origins.count
    origins.compact([rows], always=True)
    (column,) = rows.columns_with("source")
    assert [inputs_of(origins, handle) for handle in column[: len(held)].tolist()] == wanted
    assert origins.count <= before
    assert not column[len(held) :].any()


def test_compaction_leaves_out_what_no_row_leads_to():
    origins, rows = sources_of()
    kept = origins.add(leaf(1), leaf(2))
    for position in range(1000):
        origins.add(leaf(position), leaf(position + 1))
    put(rows, [kept])
    origins.compact([rows], always=True)
    assert origins.count == 2  # nothing, and the one that is held


def test_events_derived_from_each_other_and_from_nothing_have_no_inputs():
    origins, rows = sources_of()
    one, other = 2 * origins.count, 2 * (origins.count + 1)
    origins.one[origins.count], origins.one[origins.count + 1] = other, one
    origins.count += 2
    put(rows, [one, other])
    origins.compact([rows], always=True)
    (column,) = rows.columns_with("source")
    assert column[:2].tolist() == [0, 0]


def test_compaction_waits_until_there_are_many():
    origins, rows = sources_of()
    origins.enough = 100
    for position in range(98):
        origins.add(leaf(position), leaf(position + 1))
    origins.compact([rows])
    assert origins.count == 99
    origins.add(leaf(1), leaf(5))
    origins.compact([rows])
    assert origins.count == 1


def test_a_unit_takes_over_the_nodes_of_others():
    (one, first), (other, second) = sources_of(), sources_of()
    put(first, [one.add(leaf(1), leaf(2)), leaf(9)])
    put(second, [other.add(leaf(3), other.add(leaf(4), leaf(5))), 0])
    origins, _ = sources_of()
    for old, rows in ((one, first), (other, second)):
        shift_sources(rows, origins.absorb(old))
    found = [
        inputs_of(origins, handle) for rows in (first, second) for handle in next(iter(rows.columns_with("source")))[:2]
    ]
    assert found == [{1, 2}, {9}, {3, 4, 5}, set()]


# --- in programs

PROGRAM = """
unit s.
event a(k: int, x: int). event b(k: int, y: float). event c(k: int, s: string) instant. event i(k: int, x: int) instant.
near(k, m = m) <- a(k, _) seq i(k, m) within 6.
far(k) <- near(k, _) seq c(k, _) within 9.
quiet(k) <- e: near(k, _), w: extend(e, 4), while w: not i(k, _).
some(k, n = count(f)) <- e: c(k, _), w: extend_backward(e, 9), while w: collect f: near(k, _).
chosen(k) <- recent near(k, _) seq chronicle c(k, _).
moving(k, n = count(m)) <- while last 3: collect near(k, m).
path(k, n = 0) <- i(k, _).
path(k, n = n + 1) <- path(k, n) seq a(k, _) within 9 where n < 3.
"""


def stream(rng, count, step):
    events, time = [], 0
    for _ in range(count):
        time += rng.randint(0, step)
        type_ = rng.choice("aaciii")
        event = {"type": type_, "start": time, "end": time, "k": rng.randint(0, 2)}
        event |= {"s": "p"} if type_ == "c" else {"x": rng.randint(0, 3)}
        events.append(event)
    return events


@pytest.mark.parametrize("execution", ["small, sources", "session, sources", "machine, sources"])
def test_inputs_are_those_of_the_reference_when_nodes_are_left_out_all_the_time(execution):
    program = ensue.compile(PROGRAM)
    for number in range(4):
        events = stream(Random(number), 40, 3)
        with using(SMALL):
            check(execution, program, events, None, number, meaning(program, events))


def test_nodes_do_not_grow_for_ever():
    program = ensue.compile(PROGRAM.split("chosen")[0])
    with using(SMALL):
        run = Run(program.typed, provenance=True, compiled=False)
    events, sizes = stream(Random(1), 1500, 3), []
    for position, event in enumerate(events):
        batch = run.batch()
        attributes = {name: value for name, value in event.items() if name not in ("type", "start", "end")}
        batch.rows = [(event["type"], attributes, event["start"], event["end"], None, position)]
        run.advance(batch, event["end"], 0)
        sizes.append(sum(lane.structures["origins"].count for lane in run.lanes))
    assert max(sizes[1000:]) <= 2 * max(sizes[:500])
    assert max(sizes) < 2000
