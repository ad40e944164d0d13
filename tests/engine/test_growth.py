"""State grows where it must and stays small where it can: keys that come once and never again are forgotten."""

import pytest

import ensue
from ensue.engine.compiled import lane, room
from ensue.engine.run import Run
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
    "window over pairs": "p(k, x) <- a(k, x) seq b(k, _) within 10. d(n = sum(x)) <- while last 5: collect p(_, x).",
}

PIECE = 200


def rows(begin, texts):
    """Events of two in a row for each key, one at each time."""
    found = []
    for time in range(begin, begin + PIECE):
        key = time // 2
        named = ("s", {"t": f"k{key}", "x": time}) if texts else ("ab"[time % 2], {"k": key, "x": time})
        found.append((*named, time, time, None, time))
    return found


def sizes(rules, pieces, compiled=None):
    """How many rows the arrays have room for, all in all, after so many pieces of a stream."""
    run = Run(ensue.compile(DECLARATIONS + rules).typed, compiled=compiled, instant=True)
    for piece in range(pieces):
        batch = run.batch()
        batch.rows = rows(piece * PIECE, "s(" in rules)
        run.advance(batch, (piece + 1) * PIECE - 1, 0)
    (only,) = run.lanes
    return {name: len(array) for name, array in only.arrays.by_name.items()}


@pytest.fixture
def soon(monkeypatch):
    """Keys are forgotten as soon as there are a few."""
    monkeypatch.setattr(lane, "FEW", 2**60)
    monkeypatch.setattr(lane, "CHUNK", 64)
    monkeypatch.setattr(room, "MANY_KEYS", 64)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("rules", BOUNDED.values(), ids=BOUNDED)
def test_keys_that_are_gone_are_forgotten(rules):
    """Five times as many events need no more room."""
    assert sizes(rules, 40) == sizes(rules, 8)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("rules", BOUNDED.values(), ids=BOUNDED)
def test_and_what_they_stood_for_is_found_all_the_same(rules):
    events = []
    for type_, attributes, start, end, _, _ in [row for piece in range(6) for row in rows_of(piece, rules)]:
        events.append({"type": type_, "start": start, "end": end, **attributes})
        if end % 9 == 0:  # a key that comes again when it has been forgotten
            events.append({"type": type_, "start": start, "end": end, **attributes, "x": -1})
    program = ensue.compile(DECLARATIONS + rules)
    wanted = outcome(EXECUTIONS["network"], program, events)
    for name in ("generated", "generated, cut", "checked, cut"):
        check(name, program, events, None, 1, wanted)


def rows_of(piece, rules):
    return [
        (type_, {**attributes, **({} if "t" in attributes else {"k": attributes["k"] % 150})}, *rest)
        for type_, attributes, *rest in rows(piece * PIECE, "s(" in rules)
    ]


def test_a_state_is_as_large_as_what_it_holds():
    """Saved bytes count rows, not the room for them."""
    program = ensue.compile(DECLARATIONS + BOUNDED["pairs"])
    saved = []
    for count in (400, 4000):
        session = program.start(compiled=False)
        session.send([{"type": "ab"[t % 2], "time": t, "k": t // 2, "x": 0} for t in range(count)])
        saved.append(len(session.save()))
    assert saved[1] < 1.2 * saved[0]


@pytest.mark.slow
@pytest.mark.parametrize("rules", [BOUNDED["pairs"], BOUNDED["span"]])
def test_a_million_keys_one_after_the_other(rules):
    """Compiled, with the usual sizes."""
    pytest.importorskip("numba")
    import numpy as np
    import pyarrow as pa

    from ensue.data import Columns
    from ensue.engine.mixed import mixed_of

    program = ensue.compile(DECLARATIONS + rules).typed
    run = Run(program, compiled=True, instant=True)
    count = 200_000
    for piece in range(10):
        times = np.arange(piece * count, (piece + 1) * count)
        table = pa.table(
            {"type": pa.array(["a", "b"] * (count // 2)), "time": times, "k": times // 2, "x": times,
             "t": pa.array(["p"] * count)}
        )  # fmt: skip
        batch = run.batch()
        batch.mixed = mixed_of(table, Columns(), program.events)
        assert batch.mixed is not None
        run.advance(batch, int(times[-1]), 0)
        assert len(batch.derived_columns["d"]) == count // 2
    (only,) = run.lanes
    kept = {name: len(array) for name, array in only.arrays.by_name.items() if name[0] not in "DS"}
    assert max(kept.values()) <= 1 << 19, kept
