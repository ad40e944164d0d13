"""State grows where it must and stays small where it can: keys that come once and never again are forgotten."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import ensue
from ensue.data import Columns
from ensue.engine.capacity import USUAL, using
from ensue.engine.plain_tables import mixed_of
from ensue.engine.run import Run
from ensue.engine.state import encode
from ensue.engine.structures.key_numbers import KeyNumbers
from tests.agreement import EXECUTIONS, check, outcome

DECLARATIONS = "unit s. event a(k: int, x: int). event b(k: int, x: int). event s(t: string, x: int).\n"

BOUNDED = {
    "pairs": "d(k) <- a(k, _) seq b(k, _) within 10.",
    "triples": "d(k) <- a(k, _) seq b(k, _) seq b(k, _) within 10.",
    "conjunction": "d(k) <- a(k, _) and b(k, _) within 10.",
    "recent": "d(k) <- recent a(k, _) seq b(k, _) within 10.",
    "used up": "d(k) <- recent a(k, _) seq b(k, _).",
    "chronicle": "d(k) <- chronicle a(k, _) seq continuous b(k, _) within 10.",
    "quiet": "d(k) <- e: a(k, _), w: extend(e, 5), while w: not b(k, _).",
    "between": "d(k) <- not b(k, _) in [a(k, _), a(k, _)] within 10.",
    "span": "d(k, n = count(x), low = min(x)) <- while last 5s: collect a(k, x).",
    "gathering": "d(k, n = count(x)) <- o: b(k, _), w: extend_backward(o, 5), while w: collect a(k, x).",
    "timer": "d(k) <- e: a(k, _), w: shift(e, 5).",
    "texts": "d(t) <- s(t, _) seq s(t, _) within 10.",
    "texts in a row": 'd(t, y = "p") <- not s(t, _) in [s(t, x), s(t, _)] within 10.',
    "window over pairs": "p(k, x) <- a(k, x) seq b(k, _) within 10. d(n = sum(x)) <- while last 5: collect p(_, x).",
}

PIECE = 200


def rows(piece, rules, keys=None):
    """A piece of a stream: an event at each time, three in a row for each key; the number of keys may be limited."""
    types = "aabaabaab" if rules == BOUNDED["used up"] else "abbaabaaa"
    found = []
    for time in range(piece * PIECE, (piece + 1) * PIECE):
        key = time // 3 if keys is None else time // 3 % keys
        event = ("s", {"t": f"k{key}", "x": time}) if "s(" in rules else (types[time % 9], {"k": key, "x": time})
        found.append((*event, time, time, None, time))
    return found


def advanced(rules, pieces):
    """Rules as generated code after a number of pieces of a stream."""
    run = Run(ensue.compile(DECLARATIONS + rules).typed, compiled=None, instant=True)
    for piece in range(pieces):
        batch = run.batch()
        batch.rows = rows(piece, rules)
        run.advance(batch, (piece + 1) * PIECE - 1, 0)
    return run


def kept(run):
    """The structures of a state."""
    return [structure for lane in run.lanes for _, _, structure in lane._kept()]


def room_in(run):
    """Capacity in rows, by array."""
    return [(type(each).__name__, {name: len(array) for name, array in each.arrays.items() if name != "old_slots_"})
            for each in kept(run)]  # fmt: skip


def keys_in(run):
    """Largest number of known keys of any structure."""
    structures = [structure for lane in run.lanes for structure in lane.structures.values()]
    numbered = [each.used for each in structures if isinstance(each, KeyNumbers)]
    return max([*numbered, *(each.slots for each in kept(run) if hasattr(each, "slots"))], default=0)


@pytest.fixture
def soon():
    """Values and keys are forgotten as soon as there are a few; nothing is compiled."""
    with using(replace(USUAL, values=64, numbers=16, events=2**60, table=16)):
        yield


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("rules", BOUNDED.values(), ids=BOUNDED)
def test_keys_that_are_gone_are_forgotten(rules):
    """Four times as many events need no more room."""
    early, late = advanced(rules, 5), advanced(rules, 20)
    assert room_in(late) == room_in(early)
    assert keys_in(late) <= 128


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("rules", BOUNDED.values(), ids=BOUNDED)
def test_and_found_when_they_come_again(rules):
    program = ensue.compile(DECLARATIONS + rules)
    events = [
        {"type": type_, "start": start, "end": end, **attributes}
        for piece in range(5)
        for type_, attributes, start, end, _, _ in rows(piece, rules, keys=100)
    ]
    wanted = outcome(EXECUTIONS["plain"], program, events)
    assert wanted[-1].end > 4 * PIECE
    for name in ("plain, cut", "small", "small, cut"):
        assert check(name, program, events, None, 1, wanted)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("rules", BOUNDED.values(), ids=BOUNDED)
def test_a_state_is_as_large_as_what_it_holds(rules):
    """Saved bytes grow with rows, not with capacity or past rows."""
    few, many = (len(encode(advanced(rules, pieces).saved())) for pieces in (5, 20))
    assert many < 2 * few


@pytest.mark.slow
def test_many_keys_one_after_the_other():
    """A quarter of a million, as machine code, with the usual sizes."""
    program = ensue.compile(DECLARATIONS + BOUNDED["pairs"] + BOUNDED["span"].replace("d(", "e(")).typed
    run = Run(program, compiled=True, instant=True)
    count = 100_000
    for piece in range(5):
        times = np.arange(piece * count, (piece + 1) * count)
        types = pa.array(["a", "b"] * (count // 2))
        table = pa.table({"type": types, "time": times, "k": times // 2, "x": times, "t": pa.array(["p"] * count)})
        batch = run.batch()
        batch.mixed = mixed_of(table, Columns(), program.events)
        assert batch.mixed is not None
        run.advance(batch, int(times[-1]), 0)
        assert [len(batch.derived_columns[name]) for name in "de"] == [count // 2, count // 2]
    for name, room in room_in(run):
        assert max(room.values()) <= USUAL.table, name
