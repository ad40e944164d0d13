"""Large tables on several cores: the same detections in the same order, whatever the number of threads."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ensue
from ensue.engine import large_files, tables
from ensue.engine.structures.capacity import USUAL, using
from ensue.partitioning import cuts_of

EVENTS = "event a(k: int, x: float).  event b(k: int, x: float).  "
TEXTS = EVENTS.replace("k: int", "k: string")

CASES = {
    "slices": (EVENTS + "m(k) <- a(k, _) seq b(k, _) within 5.", "in_slices"),
    "slices of an absence": (EVENTS + "m(k) <- x: a(k, _), w: extend(x, 4), while w: not b(k, _).", "in_slices"),
    "slices without a key": (EVENTS + "m(i = k, j) <- a(k, x) seq b(j, y) within 3 where y > x.", "in_slices"),
    "slices of two stages": (
        EVENTS + "s(k, x) <- a(k, x) seq b(k, _) within 5.  m(x) <- s(_, x) seq s(_, x) within 9.", "in_slices",
    ),
    "keys": (EVENTS + "m(k, x) <- recent a(k, x) seq b(k, _).", "by_key"),
    "keys that are strings": (TEXTS + "m(k, x) <- recent a(k, x) seq b(k, _).", "by_key"),
    "a window over all keys": (
        EVENTS + "s(k, x) <- a(k, x) seq b(k, _) within 5.  m(t = sum(x)) <- while last 4: collect s(_, x).",
        "in_slices",
    ),
    "quiet on what was derived": (
        EVENTS + "s(k, x) <- recent a(k, x) seq b(k, _).  m(x) <- s(_, x) once in 3.", "by_key",
    ),
    "recursion": (
        EVENTS + "r(k, n = 1) <- a(k, _).  r(k, n = m + 1) <- not a(k, _) in [r(k, m), a(k, _)] where m < 5.", "by_key",
    ),
}  # fmt: skip


def table_of(rules, rows=400):
    keys = [number * 7 % 11 for number in range(rows)]
    return pa.table(
        {
            "type": ["a" if number * 5 % 3 else "b" for number in range(rows)],
            "time": [number // 2 for number in range(rows)],
            "k": [f"key {key}" for key in keys] if "k: string" in rules else keys,
            "x": [float(number * 3 % 13) for number in range(rows)],
        }
    )


@pytest.fixture
def small_parts():
    with using(replace(USUAL, thread=50, twice=1, file=0, piece=64)):
        yield


@pytest.fixture
def ways(monkeypatch):
    """The names of the ways in which threads were used."""
    taken = []
    for module in (tables, large_files):
        for name in ("in_slices", "by_key"):
            way = getattr(module, name)
            monkeypatch.setattr(module, name, lambda *given, way=way, name=name: taken.append(name) or way(*given))
    return taken


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("threads", [2, 3, 7])
def test_the_same_on_several_threads(case, threads, small_parts, ways):
    rules, way = CASES[case]
    program, events = ensue.compile(rules), table_of(rules)
    wanted = program.detect(events, 230, threads=1)
    assert wanted.num_rows > 20 and not ways
    assert program.detect(events, 230, threads=threads).equals(wanted)
    assert ways == [way]


@pytest.mark.parametrize("case", CASES)
def test_the_same_from_a_file(case, small_parts, ways, tmp_path):
    rules, way = CASES[case]
    program, events = ensue.compile(rules), table_of(rules)
    pq.write_table(events, tmp_path / "events.parquet", row_group_size=45)
    wanted = program.detect(events, 230, threads=1)
    assert program.detect(tmp_path / "events.parquet", 230, threads=1).equals(wanted)
    assert not ways
    assert program.detect(tmp_path / "events.parquet", 230, threads=3).equals(wanted)
    assert ways == [way]


def test_a_file_with_a_gap_goes_the_long_way(small_parts, ways, tmp_path):
    rules, _ = CASES["slices"]
    program, events = ensue.compile(rules), table_of(rules)
    types = events.column("type").to_pylist()
    gap = events.set_column(0, "type", pa.array([*types[:-1], None]))
    pq.write_table(gap, tmp_path / "events.parquet", row_group_size=45)
    with pytest.warns(ensue.BadRowsWarning):
        found = program.detect(tmp_path / "events.parquet", threads=3)
    assert found.equals(program.detect(events.slice(0, len(events) - 1), threads=1))


def test_rules_that_cannot_be_cut_run_on_one_thread(small_parts, ways):
    program = ensue.compile(EVENTS + "m(k) <- a(k, _) seq b(j, _) where j > k.  every_(n = count(e)) <- "
                            "every(5), while last 3: collect e: a(_, _).")  # fmt: skip
    events = table_of("")
    assert program.detect(events, emit="m", threads=3).num_rows
    assert not ways


def test_limits_hold_in_every_thread(small_parts):
    program = ensue.compile(CASES["slices"][0])
    with pytest.raises(ensue.LimitError, match="derives more than 3 events"):
        program.detect(table_of(""), threads=2, max_matches=3)


def test_how_many_threads(monkeypatch, small_parts, ways):
    program, events = ensue.compile(CASES["keys"][0]), table_of("")
    for wrong in (0, -1, "2", True):
        with pytest.raises(ensue.DataError, match="how many threads may detect, 1 or more"):
            program.detect(events, threads=wrong)
    monkeypatch.setenv("ENSUE_THREADS", "many")
    with pytest.raises(ensue.DataError, match="ENSUE_THREADS is 'many'"):
        program.detect(events)
    monkeypatch.setenv("ENSUE_THREADS", "1")
    program.detect(events)
    assert not ways
    monkeypatch.setenv("ENSUE_THREADS", "2")
    program.detect(events)
    assert ways == ["by_key"]


def test_how_far_stages_look_back_together():
    rules = EVENTS + "s(k, x) <- a(k, x) seq b(k, _) within 5.  m(x) <- s(_, x) seq s(_, x) within 9."
    assert cuts_of(ensue.compile(rules).typed, ["m"]).extent == 13  # the second one begins after the first has ended
    quiet = EVENTS + "m(k) <- a(k, _) seq b(k, _) within 5 once per k in 3."
    assert cuts_of(ensue.compile(quiet).typed, ["m"]) is None


def test_what_is_not_kept_is_counted(small_parts, ways):
    program, counts = ensue.compile(CASES["quiet on what was derived"][0]), []
    for threads in (1, 3):
        program.detect(table_of(""), threads=threads, on_suppressed=counts.append)
    assert counts[0] == counts[1] and counts[0]["m"] > 10 and ways
