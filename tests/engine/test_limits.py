"""Limits on derived events and on state: the error names the rule."""

from dataclasses import replace

import pyarrow as pa
import pytest

import ensue
from ensue.engine import limits
from ensue.engine.capacity import USUAL, using
from ensue.engine.limits import Limits, half_of_memory, limiting
from ensue.engine.run import Run

CROSS = """
event a(x: int).
event b(y: int).
rule all_pairs: pair(x, y) <- a(x) and b(y).
rule calm: seen(x) <- a(x).
rule rare: third(x) <- a(x) seq a(x) seq a(x).
"""


def events(count, first=0):
    numbers = range(first, first + count)
    return [{"type": type_, "time": n, name: n} for n in numbers for type_, name in (("a", "x"), ("b", "y"))]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("form", ["rows", "table"])
def test_a_cross_product_ends_with_a_sentence(compiled, form):
    rows = events(100)
    given = rows if form == "rows" else pa.Table.from_pylist([{"x": None, "y": None, **row} for row in rows])
    program = ensue.compile(CROSS)
    with pytest.raises(ensue.LimitError, match="The rule `all_pairs` derives more than 5,000 events from the 200 that"):
        program.detect(given, max_matches=5_000, compiled=compiled)
    found = program.detect(given, max_matches=10_000, compiled=compiled, emit="pair")
    assert len(found) == 10_000


def test_the_reference_has_the_same_limit():
    program = ensue.compile(CROSS)
    with pytest.raises(ensue.LimitError, match="The rule `all_pairs` derives more than 5,000 events from the 200 that"):
        program.detect(events(100), max_matches=5_000, engine="reference", emit="pair")
    assert len(program.detect(events(30), max_matches=5_000, engine="reference", emit="pair")) == 900


def test_what_is_usual_depends_on_the_events():
    assert Limits().most_matches(10) == 10_000_000
    assert Limits().most_matches(10**6) == 10**8
    assert Limits().most_bytes > 10**8


def test_a_container_has_less_memory_than_its_machine(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("2000000\n")
    (tmp_path / "none").write_text("max\n")
    half_of_memory.cache_clear()
    machine = half_of_memory()
    try:
        for files, half in ((["none", "missing"], None), (["missing", "memory.max"], 1_000_000)):
            monkeypatch.setattr(limits, "CONTAINER", [str(tmp_path / name) for name in files])
            half_of_memory.cache_clear()
            assert half_of_memory() == half if half is not None else half_of_memory() >= machine
    finally:
        half_of_memory.cache_clear()


@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_kept_is_limited(compiled):
    program = ensue.compile(CROSS)
    rows = [{"type": "a", "time": n, "x": n} for n in range(20_000)]
    with pytest.raises(ensue.LimitError, match=r"may keep 200,000 bytes\. `ensue check` says what is kept for ever"):
        program.detect(rows, max_state=200_000, compiled=compiled)
    assert len(program.detect(rows, max_state="1GB", compiled=compiled, emit="seen")) == 20_000


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_session_goes_on(in_order, compiled):
    session = ensue.compile(CROSS).start(max_matches=500, compiled=compiled, in_order=in_order, emit=["pair", "seen"])
    session.send(events(20))
    with pytest.raises(ensue.LimitError, match=r"`all_pairs` derives more than 500 .* the session continues"):
        session.send(events(20, first=20))
    found = session.send(events(3, first=40))
    found += session.close()
    assert sorted(row["x"] for row in found if row["type"] == "seen" and row["x"] >= 20) == list(range(20, 43))
    later = {(row["x"], row["y"]) for row in found if row["type"] == "pair" and row["end"] >= 40}
    assert {(x, y) for x, y in later if x >= 40 and y >= 40} == {(x, y) for x in range(40, 43) for y in range(40, 43)}
    assert all(x >= 39 and y >= 39 for x, y in later)  # what came before is forgotten


def test_a_session_with_limits_is_resumed_with_them():
    session = ensue.compile(CROSS).start(max_matches=500, max_state="1GB")
    session.send(events(5))
    resumed = ensue.compile(CROSS).resume(session.save())
    with pytest.raises(ensue.LimitError, match="all_pairs"):
        resumed.send(events(30, first=5))
        resumed.close()


def test_other_rules_keep_what_they_know():
    session = ensue.compile(CROSS).start(max_matches=500, in_order=True, emit=["third", "pair"])
    session.send([{"type": "a", "time": -2, "x": 5}, {"type": "a", "time": -1, "x": 5}])
    with pytest.raises(ensue.LimitError):
        session.send(events(40))
    found = session.send({"type": "a", "time": 50, "x": 6}) + session.close()
    assert (5, -2, 5) in {(row["x"], row["start"], row["end"]) for row in found if row["type"] == "third"}


def test_recursion_that_doubles():
    rules = "event a(x: int). r(x, n = 0) <- a(x). r(x, n = n + x) <- r(x, n) seq a(_)."
    with pytest.raises(ensue.LimitError, match="A rule for `r` derives more than 1,000"):
        ensue.compile(rules).detect([{"type": "a", "time": n, "x": n} for n in range(200)], max_matches=1_000)


def test_few_events_that_take_long_become_machine_code():
    """A hundred thousand events follow from a hundred: as Python that takes minutes."""
    rules = "event a(x: int). r(x, n = 0) <- a(x). r(x, n = n + x) <- r(x, n) seq a(_)."
    program = ensue.compile(rules)
    rows = [{"type": "a", "time": n, "x": n} for n in range(100)]
    with using(replace(USUAL, seconds=0.0)):
        run = Run(program.typed, compiled=None)
        batch = run.batch()
        batch.rows = [("a", {"x": row["x"]}, row["time"], row["time"], None, row["time"]) for row in rows]
        run.advance(batch, 99, 0)
    assert [lane._fast for lane in run.lanes] == [True]
    assert len(program.detect(rows, compiled=None)) == 161_899


@pytest.mark.parametrize("term", ["concat(s, s)", 'replace(s, "x", "xxxx")'])
def test_text_that_grows(term):
    rules = f'event a(x: int). r(s = "xx") <- a(0). r(s = {term}) <- recent r(s) seq a(_).'
    with pytest.raises(ensue.LimitError, match=r"A rule for `r` computes a text of .* characters, which is more than"):
        ensue.compile(rules).detect([{"type": "a", "time": n, "x": n} for n in range(64)])


@pytest.mark.parametrize(
    ("argument", "value"),
    [("max_matches", 0), ("max_matches", "many"), ("max_matches", True), ("max_state", -1), ("max_state", "4 cups")],
)
def test_what_is_no_limit_is_refused(argument, value):
    program = ensue.compile(CROSS)
    for run in (lambda **limit: program.detect([], **limit), program.start):
        with pytest.raises(ensue.DataError, match=f"`{argument}` is"):
            run(**{argument: value})


def test_limits_are_those_of_the_call_only():
    with limiting(Limits(matches=7)):
        pass
    assert len(ensue.compile(CROSS).detect(events(20), emit="pair")) == 400
