"""``policy restricted`` in generated code: its detections, its state, and its cost."""

import random
import sys
import zlib
from dataclasses import replace

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import ensue
from ensue.engine import machine
from ensue.engine.capacity import USUAL, using
from ensue.engine.run import Run
from ensue.engine.structures.instances import Instances
from ensue.engine.structures.times import Times
from tests.agreement import cut, difference, engine, outcome, reference, small, step_by_step

DECLARATIONS = """
event a(k: int, x: int). event b(k: int, y: float). event c(k: int, s: string).
event i(k: int, x: int) instant. event j(k: int, x: int) instant.
"""
ATTRIBUTES = {"a": ("k", "x"), "b": ("k", "y"), "c": ("k", "s"), "i": ("k", "x"), "j": ("k", "x")}

needs_machine = pytest.mark.skipif(not machine.available(), reason="there is no llvmlite")
MODES = [False, pytest.param(True, marks=needs_machine)]


EXECUTIONS = {
    "cut": engine(False, cut),
    "step by step": engine(False, step_by_step),
    "with little room": small(engine(False, cut)),
    "sources": engine(False, cut, provenance=True),
    "compiled": engine(True, cut),
}
PLAIN = [name for name in EXECUTIONS if name != "compiled"]


def agree(text, events, execution, number=0):
    """Assert that an execution finds the same as the reference."""
    program = ensue.compile(DECLARATIONS + text)
    wanted = reference(program, events)
    found = outcome(EXECUTIONS[execution], program, events, None, random.Random(number))
    assert difference(wanted, found) is None, f"{text}\n{events}\n{difference(wanted, found)}"


# --- detections


class Drawn:
    """A pattern as text, with the types of the variables that it binds."""

    def __init__(self, text, variables):
        self.text, self.variables = text, variables


@st.composite
def atoms(draw, known=None):
    type_ = draw(st.sampled_from("aabbccij"))
    choices = {"k": "kkkl_", "x": "mmk__", "y": "zk__", "s": "tt_"}
    names = [draw(st.sampled_from(choices[attribute])) for attribute in ATTRIBUTES[type_]]
    kinds = {"k": "int", "x": "int", "y": "float", "s": "string"}
    names = [name if name == "_" or known is None or name in known else "_" for name in names]
    variables = {}
    for attribute, name in zip(ATTRIBUTES[type_], names, strict=True):
        if name != "_":
            variables.setdefault(name, kinds[attribute])
    return Drawn(f"{type_}({', '.join(names)})", variables)


@st.composite
def patterns(draw, depth):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(atoms())
    left = draw(patterns(depth - 1))
    match draw(st.sampled_from(["or", "and", "and", "seq", "seq", "seq", "without", "without", "nested"])):
        case "nested":
            within = draw(st.sampled_from(["", " within 4", " within 7"]))
            numbers = [name for name, kind in left.variables.items() if kind == "int"]
            where = f" where {draw(st.sampled_from(numbers))} > 0" if numbers and draw(st.booleans()) else ""
            policy = " policy unrestricted" if " or " not in left.text and draw(st.integers(0, 3)) == 0 else ""
            return Drawn(f"({left.text}{within}{where}{policy})", left.variables)
        case "without":
            negated = draw(st.one_of(atoms(left.variables), patterns(depth - 1)))
            within = draw(st.sampled_from(["", "", " within 3"]))
            return Drawn(f"({left.text} without ({negated.text}{within}))", left.variables)
        case "or":
            right = draw(patterns(depth - 1))
            both = {name: kind for name, kind in left.variables.items() if right.variables.get(name) == kind}
            return Drawn(f"({left.text} or {right.text})", both)
        case word:
            right = draw(patterns(depth - 1))
            return Drawn(f"({left.text} {word} {right.text})", {**left.variables, **right.variables})


@st.composite
def rules(draw):
    drawn = draw(patterns(draw(st.integers(1, 3))))
    shown = [name for name in sorted(drawn.variables) if draw(st.integers(0, 3))]
    within = draw(st.sampled_from(["", "", " within 2", " within 6", " within 30"]))
    return f"d({', '.join(shown)}) <- {drawn.text}{within} policy restricted."


@st.composite
def streams(draw, most=22):
    last, lengths = draw(st.sampled_from([(4, [0, 0, 1]), (12, [0, 0, 1, 2, 5]), (12, [0]), (40, [0, 1, 7, 30])]))
    nulls = draw(st.booleans())
    values = {
        "k": [0, 1, 1, 2], "x": [0, 1, 2], "y": [0.5, 1.0, 2.0], "s": ["p", "p", "q"],
    }  # fmt: skip
    odd = {"k": [None], "x": [None], "y": [None, float("nan")], "s": [None]}
    events = []
    for _ in range(draw(st.integers(0, most))):
        type_ = draw(st.sampled_from("abcij"))
        start = draw(st.integers(0, last))
        length = 0 if type_ in "ij" else draw(st.sampled_from(lengths))
        event = {"type": type_, "start": start, "end": start + length}
        for name in ATTRIBUTES[type_]:
            event[name] = draw(st.sampled_from(values[name] + (odd[name] if nulls else [])))
        events.append(event)
    return events


def _agree_on_random_rules(text, stream, execution, number):
    try:
        ensue.compile(DECLARATIONS + text)
    except ensue.RuleError:
        return  # a bound that can never hold, or a variable that is unknown where it stands
    agree(text, stream, execution, number)


@pytest.mark.parametrize("execution", PLAIN)
def test_agrees_with_the_meaning(execution):
    @seed(zlib.crc32(execution.encode()))
    @given(rules(), streams(), st.integers(0, 99))
    @settings(max_examples=60, deadline=None)
    def run(text, stream, number):
        _agree_on_random_rules(text, stream, execution, number)

    run()


@needs_machine
@seed(7)
@given(rules(), streams(), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_agrees_as_machine_code(text, stream, number):
    _agree_on_random_rules(text, stream, "compiled", number)


def event(type_, start, end=None, **values):
    return {"type": type_, "start": start, "end": start if end is None else end, **values}


LONG = [
    "d(k) <- a(k, _) and b(k, _) policy restricted.",
    "d(k, x) <- a(k, x) and (i(k, _) or b(k, _)) within 20 policy restricted.",
    "d(k, x, s) <- (a(k, x) and c(_, s)) and i(k, _) and c(k, s) within 15 policy restricted.",
    "d(k) <- a(k, _) seq (i(k, _) or j(k, _)) policy restricted.",
    "d(k, x) <- a(k, x) seq b(k, _) policy restricted.",
    "d(k, x) <- (a(k, x) seq b(k, _)) and i(_, x) within 25 policy restricted.",
    "d(k, x) <- (a(k, _) seq i(k, x)) and j(_, x) policy restricted.",
    "d(k, s) <- (a(k, _) seq c(k, s)) and c(_, s) within 40 policy restricted.",
    "d(k, s) <- (b(k, _) seq c(k, s)) and c(_, s) policy restricted.",
    "d(k, x) <- (i(k, x) seq (a(k, x) and b(k, _))) without c(k, _) within 30 policy restricted.",
    "d(k) <- a(k, _) without (b(k, _) seq i(k, _)) policy restricted.",
]
"""Rules whose state grows, is swept, and is searched: chains of groups, jumps, sides with further keys."""


@pytest.mark.parametrize("compiled", MODES)
@pytest.mark.parametrize("text", LONG)
@pytest.mark.parametrize("keys", [1, 40])
def test_long_streams(text, keys, compiled):
    drawn, events, now = random.Random(keys), [], 0
    for _ in range(220):
        now += drawn.randint(0, 2)
        type_ = drawn.choice("abcij")
        length = 0 if type_ in "ij" else drawn.choice([0, 1, 5, 30])
        values = {"k": drawn.randrange(keys), "x": drawn.randrange(12), "y": 0.5, "s": drawn.choice("pqrstuvw")}
        events.append(event(type_, now - length, now, **{name: values[name] for name in ATTRIBUTES[type_]}))
    agree(text, events, "compiled" if compiled else "with little room", keys)


CHOICES = {
    "of events that start and end together the first": (
        "d(x) <- a(_, x) policy restricted.",
        [event("a", 1, 3, k=0, x=7), event("a", 1, 3, k=0, x=5), event("a", 0, 3, k=0, x=1)],
        [(5, 1, 3)],
    ),
    "of alternatives with one interval the first by their events": (
        "d(e.start) <- (e: a(_, _) or (e: i(_, _) and b(_, _))) policy restricted.",
        [event("a", 1, 4, k=0, x=0), event("i", 2, k=0, x=0), event("b", 1, 4, k=0, y=0.5), event("a", 0, 4, k=0, x=0)],
        [(2, 1, 4)],
    ),
    "a conjunction takes the left side that starts last, though an earlier one has the same interval": (
        "d(x) <- a(_, x) and b(_, _) policy restricted.",
        [event("a", 3, k=0, x=1), event("a", 5, k=0, x=2), event("b", 1, 9, k=0, y=0.5)],
        [(2, 1, 9)],
    ),
    "where both sides end together, the pair that starts later": (
        "d(x) <- a(_, x) and b(_, _) policy restricted.",
        [event("a", 4, 5, k=0, x=1), event("b", 1, 2, y=0.5), event("a", 2, 9, k=0, x=2), event("b", 3, 9, y=1.0)],
        [(1, 1, 5), (1, 3, 9)],
    ),
    "a sequence takes, of left sides that start together, the one that ended first": (
        "d(x) <- a(_, x) seq j(_, _) policy restricted.",
        [event("a", 1, 4, k=0, x=2), event("a", 1, 2, k=0, x=3), event("j", 6, k=0, x=0)],
        [(3, 1, 6)],
    ),
}


@pytest.mark.parametrize("compiled", MODES)
@pytest.mark.parametrize("choice", CHOICES)
def test_choices(choice, compiled):
    text, events, wanted = CHOICES[choice]
    program = ensue.compile(DECLARATIONS + text)
    for found in (reference(program, events), engine(compiled)(program, events, None, random.Random(0))):
        assert [(*each.attributes.values(), each.start, each.end) for each in found] == wanted


@pytest.mark.parametrize("compiled", MODES)
def test_what_is_negated_may_be_derived_by_the_rule_itself(compiled):
    """The match waits for events of its own time that come later in the step."""
    text = "a(k, k) <- (c(k, _) without a(_, _)) seq b(k, _) policy restricted."
    events = [event("a", 8, k=1, x=1), event("c", 8, k=3, s="p"), event("b", 11, k=3, y=1.0)]
    for rule in (text, text.replace(" policy restricted", "")):
        for stream in (events, events[1:]):
            agree(rule, stream, "compiled" if compiled else "cut")


# --- state


def tables(text, rows, instant=False):
    """Structures in which a rule keeps instances and times, after some rows."""
    at_work = Run(ensue.compile(DECLARATIONS + text).typed, compiled=False, instant=instant)
    batch = at_work.batch()
    batch.rows = rows
    at_work.advance(batch, rows[-1][3], rows[0][3])
    return [each for lane in at_work.lanes for each in lane.structures.values() if isinstance(each, Instances | Times)]


def kept(text, rows, instant=False):
    """Number of instances and times in them."""
    return sum(table.size()[1] for table in tables(text, rows, instant))


def rows_of(count, keys, most=0, types="abc", seed=1):
    """Events with rising ends, each some time long."""
    drawn, found = random.Random(seed), []
    for now in range(count):
        type_ = drawn.choice(types)
        length = 0 if type_ in "ij" else drawn.randint(0, most)
        values = {"k": drawn.randrange(keys), "x": drawn.randrange(5), "y": 0.5, "s": "p"}
        values = {name: values[name] for name in ATTRIBUTES[type_]}
        found.append((type_, values, now - length, now, None, now))
    return found


BOUNDED = {
    "conjunction": ("d(k) <- a(k, _) and b(k, _) policy restricted.", 2),
    "negation": ("d(k) <- (a(k, _) or b(k, _)) without c(k, _) policy restricted.", 1),
    "disjunction": ("d(k) <- a(k, _) or b(k, _) policy restricted.", 0),
    "an instantaneous choice": ("d(k) <- a(k, _) seq (b(k, _) or c(k, _)) policy restricted.", 2),
    "an instantaneous negation": ("d(k) <- a(k, _) seq (b(k, _) without c(k, _)) policy restricted.", 3),
    "a chain": ("d(k, x) <- a(k, x) seq b(k, _) seq c(k, _) policy restricted.", 4),
    "a sequence with nothing inside": ("d(k) <- (a(k, _) seq b(k, _)) without c(k, _) policy restricted.", 3),
}
"""Rules, and how much they keep at most for each key: with each sequence also what ended in the last step."""


@pytest.mark.parametrize("keys", [1, 5])
@pytest.mark.parametrize("shape", BOUNDED)
def test_what_is_kept_of_4000_events(shape, keys):
    text, most = BOUNDED[shape]
    assert kept(text, rows_of(4000, keys), instant=True) <= most * keys


@pytest.mark.parametrize("shape", ["conjunction", "negation", "disjunction"])
def test_intervals_do_not_matter_where_there_is_no_sequence(shape):
    text, most = BOUNDED[shape]
    assert kept(text, rows_of(4000, 3, most=50)) <= most * 3


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("d(k) <- a(k, _) seq b(k, _) within 20 policy restricted.", 21),
        ("d(k) <- a(k, _) seq (b(k, _) and c(k, _) within 20) policy restricted.", 21 + 2 + 1),
        ("d(k) <- a(k, _) seq (b(k, _) seq c(k, _)) within 20 policy restricted.", 2 * 21),
    ],
)
def test_a_window_bounds_a_sequence(text, most):
    assert kept(text, rows_of(4000, 1, most=10, types="aaabc")) <= most


def test_groups_are_kept_for_all_that_tells_them_apart():
    """The key has `x`, too: one instance of each side for each value, and no more."""
    text = "d(k, x) <- (a(k, x) and i(_, x)) and j(k, _) policy restricted."
    assert kept(text, rows_of(3000, 4, types="aij"), instant=True) == 4 * 5 + 5 + 4 * 5 + 4


@pytest.mark.parametrize(
    "text",
    [
        "d(k) <- i(k, _) seq j(k, _) policy restricted.",
        "d(k) <- i(k, _) and j(k, _) within 40 policy restricted.",
        "d(k, x) <- (i(k, x) and j(k, _)) and a(_, x) within 40 policy restricted.",
        "d(k) <- i(k, _) without j(k, _) policy restricted.",
    ],
)
def test_keys_that_come_and_go_are_forgotten(text):
    rows = [("ij"[now % 2], {"k": now // 2, "x": now % 3}, now, now, None, now) for now in range(6000)]
    with using(replace(USUAL, table=16)):
        found = list(tables(text, rows, instant=True))
    for table in found:
        assert table.slot_mask < 512
        assert isinstance(table, Times) or max(table.group_room, table.room) <= 512


# --- how long it takes


def all_of_it(now):
    """From the beginning on: nothing ended before."""
    return 0


def half_of_it(now):
    return now // 2


LINEAR = {
    "conjunction": ("d(k) <- a(k, _) and b(k, _) policy restricted.", half_of_it),
    "nothing is used up": ("d(k) <- a(k, _) seq b(k, _) policy restricted.", all_of_it),
    "half is used up": ("d(k) <- a(k, _) seq b(k, _) policy restricted.", half_of_it),
    "each right side for itself": ("d(k, s) <- (a(k, _) seq c(k, s)) and c(_, s) policy restricted.", half_of_it),
    "each right side for itself, none": ("d(k, s) <- (a(k, _) seq c(k, s)) and c(_, s) policy restricted.", all_of_it),
    "negation": ("d(k) <- b(k, _) without a(k, _) policy restricted.", half_of_it),
}


@pytest.mark.parametrize("shape", LINEAR)
def test_four_times_as_many_events_of_one_key_take_four_times_the_work(shape):
    """Count lines of plain code: quadratic work would take sixteen times as much."""
    text, begins = LINEAR[shape]
    few, many = (lines_run(text, events_of_one_key(text, begins, count)) for count in (500, 2_000))
    assert many < 6 * few


def events_of_one_key(text, begins, count):
    rows = []
    for now in range(count):
        type_ = "ab"[now % 2] if "c(" not in text else "ac"[now % 2]
        values = {"k": 1, "x": 1, "y": 0.5, "s": "pqr"[now % 3]}
        start = now if type_ == "a" else begins(now)
        rows.append((type_, {name: values[name] for name in ATTRIBUTES[type_]}, start, now, None, now))
    return rows


def lines_run(text, rows):
    """Number of lines of generated code that run."""
    count = 0

    def each(frame, event, _):
        nonlocal count
        count += event == "line"
        return each

    def generated(frame, event, argument):
        return each if frame.f_code.co_filename.startswith("<unit") else None

    before = sys.gettrace()
    sys.settrace(generated)
    try:
        tables(text, rows)
    finally:
        sys.settrace(before)
    return count
