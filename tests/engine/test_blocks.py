"""Rows are taken in blocks: where one ends makes no difference, nor do rows that the rules do not use."""

from dataclasses import replace

import pyarrow as pa
import pytest

import ensue
from ensue.engine import machine
from ensue.engine.capacity import USUAL, using
from ensue.engine.structures.block import Block

ROOMS = (1, 2, 3, USUAL.block)
RUNNING = (False, True) if machine.available() else (False,)

TYPES = "event a(k: int).  event b(k: int).  event other(k: int).\n"


def found(rules, events, room, compiled):
    with using(replace(USUAL, block=room)):
        detections = ensue.compile(rules).detect(events, compiled=compiled)
    return [tuple(detection.values())[1:] for detection in detections]


def events(*given):
    return [{"type": name, "start": start, "end": end, "k": k} for name, start, end, k in given]


@pytest.mark.parametrize("compiled", RUNNING)
@pytest.mark.parametrize("room", ROOMS)
def test_rows_of_other_types_fill_no_block(room, compiled):
    given = events(
        *(("other", t, t, 1) for t in range(3)),
        ("a", 3, 3, 1),
        *(("other", t, t, 1) for t in range(4, 9)),
        ("b", 9, 9, 1),
        ("other", 10, 10, 1),
    )
    assert found(TYPES + "w(k) <- a(k) seq b(k).", given, room, compiled) == [(3, 9, 1)]
    assert found(TYPES + "w(k) <- a(k) seq b(k).", given[:3], room, compiled) == []


@pytest.mark.parametrize("compiled", RUNNING)
@pytest.mark.parametrize("room", ROOMS)
def test_events_of_one_end_are_in_one_step_wherever_a_block_ends(room, compiled):
    given = [{"type": "p", "start": t, "end": t, "k": 1, "x": x} for t, x in [(1, 0), (2, 1), (2, 2), (3, 3)]]
    rules = "event p(k: int, x: int).\nw(k, x, y) <- not p(k, _) in [p(k, x), p(k, y)]."
    wanted = [(1, 2, 1, 0, 1), (1, 2, 1, 0, 2), (2, 3, 1, 1, 3), (2, 3, 1, 2, 3)]
    assert found(rules, given, room, compiled) == wanted


@pytest.mark.parametrize("compiled", RUNNING)
@pytest.mark.parametrize("room", ROOMS)
def test_what_is_due_between_rows_is_in_order_with_them(room, compiled):
    given = events(("a", 0, 0, 1), ("other", 3, 3, 1), ("a", 5, 5, 2), ("other", 6, 6, 2), ("b", 8, 8, 2))
    rules = TYPES + "w(k) <- x: a(k), s: extend(x, 4), while s: not b(k)."
    assert found(rules, given, room, compiled) == [(0, 4, 1)]
    assert found(rules, given[:3], room, compiled) == [(0, 4, 1)]


@pytest.mark.parametrize("compiled", RUNNING)
@pytest.mark.parametrize("times", (1, 2, 3))
def test_equal_events_of_a_recursive_rule_are_one_in_each_step(times, compiled):
    rules = TYPES + "c(k, n = 0) <- a(k).\nc(k, n = m + 1) <- c(k, m), b(k), m < 2."
    given = events(*(("a", t, 5, 1) for t in [5] * times), ("b", 5, 5, 1), ("b", 5, 5, 1))
    assert found(rules, given, 2, compiled) == [(5, 5, 1, 0), (5, 5, 1, 1), (5, 5, 1, 2)]


def keys_read(monkeypatch, rules, table):
    """The keys that blocks read in a detection: for each batch a number of columns, None where there are none."""
    read, original = [], Block.read_keys

    def spy(block, columns):
        read.append(columns and len(columns))
        original(block, columns)

    monkeypatch.setattr(Block, "read_keys", spy)
    ensue.compile(rules).detect(table)
    return read


def table_of(n, types="ab"):
    return pa.table({
        "type": [types[t % len(types)] for t in range(n)], "time": range(n),
        "k": [t // 7 % 40 for t in range(n)], "m": [t // 2 % 3 for t in range(n)],
    })  # fmt: skip


PAIR = "event {}(k: int, m: int).\nevent {}(k: int, m: int).\n"


def test_keys_are_looked_up_by_block_where_all_types_have_them_in_the_same_columns(monkeypatch):
    table = table_of(200)
    one, two = PAIR.format("a", "b") + "w(k) <- a(k, _) seq b(k, _).", "w(k, m) <- a(k, m) seq b(k, m)."
    assert keys_read(monkeypatch, one, table) == [1]
    assert keys_read(monkeypatch, PAIR.format("a", "b") + two, table) == [2]
    assert keys_read(monkeypatch, PAIR.format("a", "b") + "w(k) <- a(k, _) seq b(_, k).", table) == [None]
    assert keys_read(monkeypatch, PAIR.format("a", "b") + "w(k) <- a(k, _), b(l, _) within 3.", table) == [None]


@pytest.mark.parametrize("compiled", RUNNING)
@pytest.mark.parametrize("types", ("ab", "a", "abz"))
@pytest.mark.parametrize("body", ("a(k, _) seq b(k, _) within 9", "not a(k, _) in [a(k, m), a(k, n)] where m < n"))
def test_keys_that_come_and_go_are_found_in_blocks(body, types, compiled):
    table, rules = table_of(400, types), PAIR.format("a", "b") + f"w(k) <- {body}."
    program, wanted = ensue.compile(rules), None
    for room, numbers in ((1, 2), (3, 2), (64, 4), (USUAL.block, USUAL.numbers)):
        with using(replace(USUAL, block=room, numbers=numbers, slots=2)):
            found = program.detect(table, compiled=compiled).to_pylist()
        assert wanted is None or found == wanted
        wanted = found
    assert wanted == program.detect(table, engine="reference").to_pylist()
    assert bool(wanted) == (types != "a" or "not" in body)
