"""Static knowledge of the engine against the reference's, on random programs; and that it is quick."""

import math
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.knowledge import Knowledge, goals
from ensue.language import limits
from ensue.language.typed import Constant, Variable
from ensue.reference.static import Knowledge as Reference

TABLES = {"one": 1, "pair": 2, "triple": 3}
DERIVED = ({"d": 2, "e": 1}, {"f": 2, "g": 1})
"""Predicates by arity: each group may be recursive, and negates only what comes before it."""
ARITY = TABLES | DERIVED[0] | DERIVED[1]

NUMBERS = ["1", "1.0", "2", "2.5", "0.0", "-0.0", "null"]
USUAL = [1, 1.0, 2, 2.0, 3]
VALUES = [*USUAL, 2.5, 0.0, -0.0, None, math.nan, True]
VARIABLES = ["x", "y", "z"]
CONDITIONS = ["{0} < {1}", "{0} != {1}", "{0} >= 1", 'string({0}) = "1"', "is_null({0})", "not ({0} = 2 or {1} = 1)"]


COMPUTED = ["({0} + 1) % 3", "least({0} + 1, 4)", "-{0}", "{0} // 2", "abs({0}) % 2 + 0.5", "({0} + {1}) % 4", "{0}"]
"""Expressions that rules compute: of values from a few, so that it comes to an end."""


def sometimes(draw, one_in):
    return draw(st.integers(1, one_in)) == 1


def literal(draw, predicates, variables, others):
    """A predicate, its arguments mostly variables."""
    name = draw(st.sampled_from(sorted(predicates)))
    terms = [draw(st.sampled_from(others if sometimes(draw, 6) else variables)) for _ in range(ARITY[name])]
    return f"{name}({', '.join(terms)})"


def computed(draw, bound):
    return draw(st.sampled_from(COMPUTED)).format(*(draw(st.sampled_from(bound)) for _ in range(2)))


def rule(draw, head, group, numbers, computes=False):
    lower = TABLES | (DERIVED[0] if group else {})
    body = [literal(draw, lower | DERIVED[group], VARIABLES, ["_", *numbers]) for _ in range(draw(st.integers(0, 2)))]
    body += [literal(draw, TABLES, VARIABLES, ["_"]) for _ in range(draw(st.integers(not body, 1)))]
    bound = [name for name in VARIABLES if any(name in literal for literal in body)]
    terms = [draw(st.sampled_from(numbers if not bound or sometimes(draw, 8) else bound)) for _ in range(ARITY[head])]
    if bound and computes and sometimes(draw, 2):
        body += [f"w = {computed(draw, bound)}"] * (not sometimes(draw, 3))
        bound = [*bound, *(["w"] if body[-1].startswith("w =") else [])]
        terms = [computed(draw, bound) if sometimes(draw, 2) else term for term in terms]
        if sometimes(draw, 2):
            negated = draw(st.sampled_from(["", "not "]))
            body.append(f"{negated}one({computed(draw, bound)})")
    if bound and sometimes(draw, 3):
        body.append(f"not {literal(draw, lower, bound, ['_', *numbers])}")
    if bound and sometimes(draw, 3):
        condition = f"{literal(draw, lower, bound, ['_'])} or {{0}} = 1" if sometimes(draw, 3) else None
        names = [draw(st.sampled_from(bound)) for _ in range(2)]
        body.append((condition or draw(st.sampled_from(CONDITIONS))).format(*names))
    return f"{head}({', '.join(terms)}) :- {', '.join(draw(st.permutations(body)))}."


@st.composite
def programs(draw, numbers=NUMBERS, computes=False):
    """The text of static facts and rules: recursion, negation, comparisons, nulls, repeated variables."""
    lines = ["table one(a: int).", "table pair(a: float, b: float).", "table triple(a: int, b: float, c: float)."]
    for name in draw(st.lists(st.sampled_from(["one", "pair", "d"]), max_size=4)):
        lines.append(f"{name}({', '.join(draw(st.sampled_from(numbers)) for _ in range(ARITY[name]))}).")
    for group, heads in enumerate(DERIVED):
        for head in sorted(heads):
            lines += [rule(draw, head, group, numbers, computes) for _ in range(draw(st.integers(1, 2)))]
    return "\n".join(lines)


def tables(values=(*VALUES, *USUAL, *USUAL)):
    """Rows of tables, among them values that no program can write: NaN, and booleans, which are no numbers."""
    value = st.sampled_from(values)
    return st.fixed_dictionaries(
        {name: st.lists(st.tuples(*[value] * arity), min_size=2 * arity, max_size=8) for name, arity in TABLES.items()}
    )


def both(program, given):
    return Knowledge(program, given), Reference(program, given)


def assert_same(program, given):
    """The same rows, written in the same way (1 or 1.0), and even in the same order."""
    engine, reference = both(program, given)
    assert {name: [*rows] for name, rows in engine.rows.items()} == {n: [*rows] for n, rows in reference.rows.items()}
    for name, rows in reference.rows.items():
        assert list(map(repr, engine.rows[name].values())) == list(map(repr, rows.values()))


@given(programs(), tables())
@settings(max_examples=50)
def test_random_rules(text, given):
    assert_same(ensue.compile(text).typed, given)


@given(programs(computes=True), tables())
@settings(max_examples=60)
def test_random_rules_that_compute(text, given):
    assert_same(ensue.compile(text).typed, given)


@pytest.mark.parametrize("rules", ["n(x + 1) :- n(x).", "n(y) :- m(x), y = x + 2. m(x + 1) :- n(x), x > 0."])
def describe_test_what_does_not_come_to_an_end_is(rules, monkeypatch):
    monkeypatch.setattr(limits, "MOST_ROWS", 300)
    program = ensue.compile("n(1). m(1)." + rules).typed
    for knowledge in (Knowledge, Reference):
        with pytest.raises(ensue.DetectError, match=r"The static rules for .*n derive row after row.*more than 300\."):
            knowledge(program, {})


def test_as_many_rows_as_there_may_be(monkeypatch):
    monkeypatch.setattr(limits, "MOST_ROWS", 300)
    for end in (300, 301):
        program = ensue.compile(f"n(0). n(x + 1) :- n(x), x < {end}. far(x * 2) :- n(x).").typed
        for knowledge in (Knowledge, Reference):
            if end == 300:
                assert len(knowledge(program, {}).rows["far"]) == 301
            else:
                with pytest.raises(ensue.DetectError):
                    knowledge(program, {})


GRAPH = ensue.compile("""
table edge(a: float, b: float).
table mark(a: float).
reach(x, y) :- edge(x, y).
reach(x, z) :- edge(x, y), reach(y, z).
twice(x, y) :- edge(x, y).
twice(x, z) :- twice(x, y), twice(y, z).
odd(x, y) :- edge(x, y).
odd(x, z) :- even(x, y), edge(y, z).
even(x, z) :- edge(y, z), odd(x, y).
loop(x) :- reach(x, x).
same(x, y) :- edge(x, y).
same(x, x) :- same(x, y), edge(y, _).
same(x, z) :- edge(x, y), same(y, z).
triangle(z, x) :- edge(x, y), edge(z, w), edge(y, z), edge(w, x), not mark(x).
walk(x, y) :- mark(x), mark(y).
walk(z, y) :- edge(y, w), walk(x, y), edge(x, z), mark(w), string(z) != "2".
apart(x, y) :- mark(x), mark(y), not reach(x, y), not reach(y, x), x < y, y != 4.
""").typed


@given(st.data())
@settings(max_examples=40)
def test_random_graphs(data):
    node = st.sampled_from([1, 1.0, 2, 2.0, 3, 4, 5, 6, None])
    edges = data.draw(st.lists(st.tuples(node, node), min_size=4, max_size=14))
    assert_same(GRAPH, {"edge": edges, "mark": data.draw(st.lists(st.tuples(node), min_size=2, max_size=5))})


ARGUMENTS = st.sampled_from([*VALUES, 7, "1", (1,), ({"a": 1},), [1], {"a": 1}])


@given(programs(), tables(), st.data())
@settings(max_examples=20)
def test_held(text, given, data):
    engine, reference = both(ensue.compile(text).typed, given)
    for _ in range(20):
        name = data.draw(st.sampled_from(sorted(ARITY)))
        values = [data.draw(ARGUMENTS) for _ in range(ARITY[name])]
        matter = [data.draw(st.booleans()) for _ in values]
        assert engine.held(name, values, matter) == reference.held(name, values, matter)


@given(programs(), tables(), st.data())
@settings(max_examples=20)
def test_bindings(text, given, data):
    engine, reference = both(ensue.compile(text).typed, given)
    variables = [Variable(name, "any") for name in VARIABLES]
    constants = [Constant(value, "any") for value in (1, 2.5, None)]
    for _ in range(20):
        name = data.draw(st.sampled_from(sorted(ARITY)))
        terms = tuple(
            data.draw(st.sampled_from([*variables, *variables, *constants, None])) for _ in range(ARITY[name])
        )
        values = data.draw(st.dictionaries(st.sampled_from([*VARIABLES, "other"]), ARGUMENTS, max_size=2))
        found = [sorted(map(repr, knowledge.bindings(name, terms, values))) for knowledge in (engine, reference)]
        assert found[0] == found[1]


# --- goals: evaluation for a question


WRITTEN_ONCE = ["1", "2", "3", "null"]
ONCE = [1, 2, 3, 4, 1, 2, 3, 2.5, None, math.nan, True]
"""Values each of which is written in one way, so that nothing depends on the order in which rows are found."""


def assert_answers(program, given, seed=0):
    """The same answers to every question about a few values, in any order; whether they were answered as goals."""
    engine, reference = both(program, given)
    questions = []
    for name, predicate in program.predicates.items():
        arity = len(predicate.columns)
        for matter in product([False, True], repeat=arity):
            questions += [(name, values, matter) for values in product([1, 2, 3, 4], repeat=sum(matter))]
    shuffled = Random(seed).sample(questions, min(len(questions), 80))
    for name, values, matter in shuffled:
        asked = iter(values)
        row = [next(asked) if matters else None for matters in matter]
        assert engine.held(name, row, list(matter)) == reference.held(name, row, list(matter)), (name, row)
        terms = [Variable(f"v{k}", "any") if value is None else Constant(value, "any") for k, value in enumerate(row)]
        found = [sorted(map(repr, knowledge.bindings(name, terms, {}))) for knowledge in (engine, reference)]
        assert found[0] == found[1], (name, row)
    return "_closure" not in engine.__dict__


def of_integers(text):
    """The same rules on tables of integers."""
    return ensue.compile(text.replace("float", "int")).typed


@given(programs(WRITTEN_ONCE), tables(ONCE))
@settings(max_examples=60)
def test_random_goals(text, given):
    assert assert_answers(of_integers(text), given)


@given(programs(WRITTEN_ONCE), tables(ONCE), st.integers(0, 9))
@settings(max_examples=30)
def test_what_is_forgotten_is_found_again(text, given, seed):
    before, goals.MOST = goals.MOST, 3
    try:
        assert_answers(of_integers(text), given, seed)
    finally:
        goals.MOST = before


@given(programs(["null"]), st.data())
@settings(max_examples=30)
def test_numbers_are_written_as_their_columns_have_them(text, data):
    whole, broken = (st.sampled_from([kind(1), kind(2), kind(3), None]) for kind in (int, float))
    kinds = {"one": [whole], "pair": [broken, broken], "triple": [whole, broken, broken]}
    given = {name: data.draw(st.lists(st.tuples(*each), min_size=2, max_size=6)) for name, each in kinds.items()}
    assert_answers(ensue.compile(text).typed, given)


@given(st.data())
@settings(max_examples=40)
def test_goals_in_random_graphs(data):
    node = st.sampled_from([1, 2, 3, 4, 5, 6, None])
    edges = data.draw(st.lists(st.tuples(node, node), min_size=4, max_size=14))
    marks = data.draw(st.lists(st.tuples(node), min_size=2, max_size=5))
    assert assert_answers(GRAPH, {"edge": edges, "mark": marks}, data.draw(st.integers(0, 99)))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("p(1).  q(2) :- not p(1).", []),
        ("p(1).  q(2) :- not p(3).", [(2,)]),
        ("p(1).  q(2) :- p(1), not p(_).", []),
        ("p(1).  q(2) :- 1 < 2.", [(2,)]),
        ("p(1).  q(2) :- 1 > 2.", []),
        ("p().  q() :- p().", [()]),
        ("p(null).  q(x) :- p(x).", [(None,)]),
        ("p(null).  q(x) :- p(x), p(x).", []),
        ("p(null).  q(1) :- p(null).", []),
        ("p(null).  q(1) :- p(x), not p(x).", [(1,)]),
        ("p(null, null).  p(1, 2).  p(3, 3.0).  q(x) :- p(x, x).", [(3,)]),
    ],
)
def test_what_follows(text, rows):
    engine = Knowledge(ensue.compile(text.replace("  ", "\n")).typed, {})
    assert list(engine.rows["q"].values()) == rows
    variable = [Variable("x", "any")] if "q()" not in text else []
    assert [tuple(found.values()) for found in engine.bindings("q", variable, {})] == rows


LINKED = "table linked(a: int, b: int).\n"


def chain(length):
    return {"linked": [(i, i + 1) for i in range(length)]}


@pytest.mark.parametrize("body", ["linked(x, y), c(y, z)", "c(x, y), linked(y, z)", "c(x, y), c(y, z)"])
def test_a_chain_is_closed(body):
    length = 150 if "linked" not in body else 300
    program = ensue.compile(f"{LINKED} c(x, y) :- linked(x, y).\n c(x, z) :- {body}.").typed
    engine = Knowledge(program, chain(length))
    assert len(engine.rows["c"]) == length * (length + 1) // 2
    assert engine.held("c", [0, length], [True, True])
    assert not engine.held("c", [length, None], [True, False])


def test_many_rounds_are_not_many_scans():
    program = ensue.compile(f"{LINKED} r(0).\n r(y) :- linked(x, y), r(x).").typed
    engine = Knowledge(program, chain(20_000))
    assert len(engine.rows["r"]) == 20_001


def test_a_rule_may_have_many_literals():
    body = ", ".join(f"linked(x{i}, x{i + 1})" for i in range(500))
    program = ensue.compile(f"{LINKED} far(x0, x500) :- {body}.").typed
    assert list(Knowledge(program, chain(502)).rows["far"].values()) == [(0, 500), (1, 501), (2, 502)]


def test_a_large_table_is_asked_by_index():
    program = ensue.compile("table t(a: int, b: string).").typed
    engine = Knowledge(program, {"t": [(i, f"v{i % 1000}") for i in range(50_000)]})
    assert all(engine.held("t", [i, f"v{i % 1000}"], [True, True]) for i in range(0, 50_000, 10))
    terms = (Variable("a", "int"), Variable("b", "string"))
    assert sum(1 for i in range(1000) for _ in engine.bindings("t", terms, {"b": f"v{i}"})) == 50_000


@pytest.mark.parametrize("body", ["linked(x, y), c(y, z)", "c(x, y), linked(y, z)", "c(x, y), c(y, z)"])
def test_goals_in_a_long_chain(body):
    """One path is proved site by site, from either end and from each site to the next: not all pairs, nor in depth."""
    length = 2_000
    program = ensue.compile(f"{LINKED} c(x, y) :- linked(x, y).\n c(x, z) :- {body}.").typed
    engine = Knowledge(program, chain(length))
    for site in range(1, length):
        assert engine.held("c", [0, site], [True, True])
        assert engine.held("c", [site - 1, site], [True, True])
        assert engine.held("c", [length - site, length], [True, True])
    assert not engine.held("c", [length, 0], [True, True])
    assert not engine.held("c", [7, 7], [True, True])
    kept = sum(search.size for search in engine._goals._searches.values())
    assert kept < 20 * length
    assert "_closure" not in engine.__dict__


def test_a_far_goal_is_not_deep():
    program = ensue.compile(f"{LINKED} c(x, y) :- linked(x, y).\n c(x, z) :- linked(x, y), c(y, z).").typed
    assert Knowledge(program, chain(30_000)).held("c", [0, 30_000], [True, True])


def test_many_predicates_one_defined_by_the_other():
    rules = "\n".join(f"p{k + 1}(x) :- p{k}(x), not linked(x, x)." for k in range(150))
    program = ensue.compile(f"{LINKED} p0(x) :- linked(x, _).\n{rules}").typed
    assert Knowledge(program, chain(3)).held("p150", [2], [True])
