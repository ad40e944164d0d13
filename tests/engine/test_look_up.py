"""Static predicates as body items in generated code: joined rows, their bindings, and their order."""

import math
import zlib
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.capacity import USUAL
from ensue.engine.operators.look_up import mixed_columns
from ensue.engine.structure import Frame, class_of
from ensue.engine.structures.answers import (
    STATIC,
    Answers,
    Facts,
    answers_layout,
    facts_layout,
    part_place,
    row_codes,
    row_value,
)
from ensue.engine.structures.values import Dictionary
from ensue.language import typed
from tests.agreement import check, meaning
from tests.random_programs import streams

DECLARATIONS = """
unit s.
event a(k: int, x: int). event b(k: int, y: float). event c(k: int, s: string). event v(y: float, o: bool).
table linked(p: int, q: int). table called(p: int, s: string). table rated(p: float, r: float). table on_off(o: bool).
linked(1, 2). linked(1, 3). linked(2, 3). linked(2, 1). linked(0, 0). linked(-1, null). linked(3, 2). linked(null, 1).
called(0, "p"). called(1, "q"). called(1, "p"). called(2, "Pq"). called(1, null).
rated(1.0, 0.5). rated(2.0, 1.5). rated(0.0, 2.5). rated(2.5, 1.0).
on_off(true).
loose(1, "x"). loose(1.5, "y"). loose(2, "z").
reach(p, q) :- linked(p, q).
reach(p, r) :- linked(p, q), reach(q, r).
weight(p, r) :- linked(p, _), rated(r, _).
weight(p, p) :- linked(p, _).
"""

BODIES = {
    "bound": "d(k, x, q) <- a(k, x), linked(k, q)",
    "bound twice": "d(k, x) <- a(k, x), linked(k, x)",
    "unbound": "d(k, p, q) <- a(k, _), linked(p, q)",
    "a constant": "d(k, q) <- a(k, _), linked(1, q)",
    "one variable twice": "d(k, p) <- a(k, _), linked(p, p)",
    "bound and twice": "d(k) <- a(k, _), linked(k, k)",
    "anything": "d(k, q) <- a(k, _), linked(_, q)",
    "strings": "d(k, s) <- a(k, _), called(k, s)",
    "a string bound": "d(k, p, s) <- c(k, s), called(p, s)",
    "derived": "d(k, q) <- a(k, _), reach(k, q)",
    "two": "d(k, q, s) <- a(k, _), linked(k, q), called(q, s)",
    "truth": "d(y, o) <- v(y, o), on_off(o)",
    "a float": "d(y, r) <- v(y, _), rated(y, r)",
    "an integer among floats": "d(t = concat(k, r), r) <- a(k, _), rated(k, r) where string(k) != \"1\"",
    "a float among integers": "d(y, q) <- v(y, _), linked(y, q)",
    "as text": "d(t = concat(p, s)) <- a(k, x), loose(p, s)",
    "mixed and bound": "d(t = concat(y, s)) <- v(y, _), loose(y, s)",
    "mixed and computed": "d(t = r + 0.5, u = r) <- a(k, _), weight(k, r)",
    "conditions": "d(k, q) <- a(k, x), linked(k, q) where q > x and string(k) != \"2\"",
    "nested": "d(k, q) <- (a(k, x), linked(x, q)) seq c(q, _) within 8",
    "timers": "d(k, q) <- e: a(k, x), linked(x, q), w: extend(e, 3), while w: not c(q, _)",
    "gathered": "d(k, n = count(e), f = first(q), l = last(q), g = sum(q)) <- z: c(k, _), w: extend_backward(z, 9), "
                "while w: collect (e: a(_, x), linked(x, q))",
    "gathered, derived": "d(n = count(q), f = first(s), l = last(s)) <- z: c(k, _), w: extend_backward(z, 9), "
                         "while w: collect (e: a(_, x), reach(x, q), called(q, s))",
    "absent": "d(k) <- z: c(k, _), w: extend_backward(z, 9), while w: not (a(k, x), linked(x, k))",
    "either": "d(k, q) <- ((a(k, x), linked(x, q)) or (a(k, x), reach(x, q))) seq c(k, _) within 9",
    "either, gathered": "d(k, f = first(q), l = last(q), n = count(q)) <- z: c(k, _), w: extend_backward(z, 9), "
                        "while w: collect ((a(k, x), linked(x, q)) or (a(k, q)))",
}  # fmt: skip


@pytest.mark.parametrize("mode", ["plain", "machine"])
@pytest.mark.parametrize("name", BODIES)
def test_agrees_with_the_reference(name, mode):
    program = ensue.compile(f"{DECLARATIONS} {BODIES[name]}.")

    @seed(zlib.crc32(name.encode()))
    @settings(max_examples=25 if mode == "plain" else 6)
    @given(streams(20, types=["a", "c", "b", "v"]), st.integers(0, 99))
    def agrees(events, number):
        check(f"{mode}, cut", program, events, None, number, meaning(program, events))

    agrees()


def test_columns_that_hold_integers_among_floats():
    program = ensue.compile(f"{DECLARATIONS} {BODIES['bound']}.").typed
    assert mixed_columns(program) == {("loose", 0), ("weight", 1)}


# --- the structures


class Lane:
    """The part of a lane that `Answers` need."""

    def __init__(self, rows):
        self.rows, self.knowledge, self.values = rows, self, Dictionary()
        self.structures = {"facts": make(Facts, facts_layout())}

    def bindings(self, predicate, terms, values):
        for row in self.rows:
            found = dict(zip([term.name for term in terms], row, strict=True))
            if all(found[name] == value for name, value in values.items()):
                yield {**values, **found}

    def _decoded(self, held, kind):
        return held

    def encoded(self, value, kind):
        return value


def make(kind, layout, *arguments):
    return class_of(kind, layout)(Frame(layout.cells), 0, *arguments)


def answers():
    lookup = typed.Lookup("linked", (typed.Variable("p", "int"), typed.Variable("q", "int")))
    layout = answers_layout(1, {"f0": "i64", "f_valid": "i64"})
    return make(Answers, layout, lookup, [("p", "i")], [("q", "i")], [True], True)


def test_rows_of_a_key_lie_together_in_order():
    table, lane = answers(), Lane([(1, q) for q in (5, None, 3)] + [(2, 4)])
    table.slot_k0[0], table.slot_k0[1], table.slot_k0[2] = 1, 2, 3
    for slot in range(3):
        table.answer(lane, slot)
    assert [(table.first[i], table.count[i], table.known[i]) for i in range(3)] == [(0, 3, 1), (3, 1, 1), (4, 0, 1)]
    assert [(table.f0[i], table.f_valid[i]) for i in range(4)] == [(0, 0), (3, 1), (5, 1), (4, 1)]
    assert [lane.values.value(table.number[i])[2:] for i in range(4)] == [(1, None), (1, 3), (1, 5), (2, 4)]


def test_rows_are_remembered_beyond_the_room_there_is():
    table, lane = answers(), Lane([(1, q) for q in range(100)])
    table.slot_k0[0] = 1
    table.answer(lane, 0)
    assert [table.f0[i] for i in range(100)] == list(range(100))


def test_too_many_answers_are_forgotten():
    table, lane = answers(), Lane([(1, q) for q in range(5)])
    table.frame.capacity = replace(USUAL, calls=3)
    table.slot_k0[0] = 1
    table.answer(lane, 0)
    table.grow()
    assert table.known[0] == 0
    assert table.filled == 0
    assert len(row_codes(lane.values.others())) == 5  # matches may hold them


def placed(rows, values=None):
    """Facts that know rows, and the codes of these in order."""
    facts, values = make(Facts, facts_layout()), values or Dictionary()
    for row in rows:
        facts.know(values, row_value(*row), values.code(row_value(*row)))
    return facts, values


def in_order(facts, values, rows):
    places = [facts.place[values.code(row_value(*row))] for row in rows]
    return all(one < other for one, other in pairwise(places)) and places == sorted(set(places))


@settings(max_examples=60)
@given(st.lists(st.integers(0, 400), max_size=200))
def test_places_follow_the_order_of_rows_whatever_comes_between(numbers):
    facts, values = placed(("p", (number,)) for number in numbers)
    assert in_order(facts, values, [("p", (number,)) for number in sorted(set(numbers))])


@pytest.mark.parametrize("numbers", [range(500), range(500, 0, -1), [x for i in range(250) for x in (i, 1000 - i)]])
def test_places_do_not_run_out(numbers):
    facts, values = placed(("p", (number,)) for number in numbers)
    assert in_order(facts, values, [("p", (number,)) for number in sorted(numbers)])
    assert min(filter(None, facts.place)) > 0 and max(facts.place) < 2**59


def test_rows_are_ordered_by_their_values_then_by_predicate():
    rows = [
        ("p", ()),
        ("q", (None,)),
        ("p", (False,)),
        ("p", (1,)),
        ("q", (1.0,)),
        ("p", (1, 2)),
        ("p", (1.5,)),
        ("a", ("",)),
    ]
    facts, values = placed(reversed(rows))
    assert in_order(facts, values, rows)


def test_rows_with_the_same_values_are_the_same_however_they_are_written():
    values = Dictionary()
    assert values.code(row_value("p", (1.0, math.nan))) == values.code(row_value("p", (1, math.nan)))
    assert values.code(row_value("p", (1.0,))) != values.code(row_value("q", (1.0,)))


def test_rows_of_a_state_get_their_places_together():
    """So no place moves between the two sides of a comparison."""
    values = Dictionary()
    rows = [("p", (number,)) for number in range(100, 0, -1)]
    codes = [values.code(row_value(*row)) for row in rows]
    facts, _ = placed(rows[:1], values)
    places = [facts.place[code] for code in codes]
    assert all(places)
    assert in_order(facts, values, rows[::-1])


@pytest.mark.parametrize("compiled", [False, True])
def test_a_comparison_never_asks_for_a_place(compiled, monkeypatch):
    asked = []
    know = Facts.know

    def noting(facts, values, row, code):
        asked.append(facts.place[code] if code < facts.capacity else 0)
        know(facts, values, row, code)

    monkeypatch.setattr(Facts, "know", noting)
    program = ensue.compile(
        "event p(k: int). table one(k: int, v: int). table two(k: int, v: int).\n"
        "d(v = first(v)) <- while last 3: collect ((p(k), one(k, v)) or (p(k), two(k, v)))."
    )
    tables = {"one": [(1, 1000)], "two": [(1, number) for number in range(60)]}
    events = [{"type": "p", "time": 1, "k": 1}]
    assert program.detect(events, tables=tables, compiled=compiled) == program.detect(
        events, tables=tables, engine="reference"
    )
    assert asked == [0] * 61  # once for each row that is answered


def test_a_part_has_its_own_number_unless_it_is_a_static_row(monkeypatch):
    facts, values = placed([])
    two, one = (values.code(row_value("p", (number,))) for number in (2, 1))
    monkeypatch.setitem(part_place.__globals__, "facts", facts)
    monkeypatch.setitem(part_place.__globals__, "ask", lambda facts, code: facts.know(values, values.value(code), code))
    assert part_place(17) == 17
    assert part_place((1 << 61) + 4) == (1 << 61) + 4
    assert part_place((1 << 20) << 40) < part_place(STATIC + one) < part_place(STATIC + two) < 1 << 61
