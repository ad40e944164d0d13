"""The order of joins: any order that can be written means the same, and a cheap one is chosen."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.options import ALL
from ensue.engine.run import Run
from ensue.language import typed
from ensue.language.walk import pairs
from ensue.rewriting import conjunctions, order_joins, rewritten, rewritten_rule
from ensue.rewriting.conjunctions import conjunction_of, splits
from ensue.rewriting.join_trees import Joins
from ensue.rewriting.rates import powers, rates_of
from ensue.temporal.constraints import constrain
from ensue.temporal.describe import describe_events
from ensue.temporal.instants import with_instants
from tests.agreement import attributes_of
from tests.rewriting.test_rewriting import DECLARATIONS, found_in, program_of

RELATIONS = [
    "seq", "seq", "seq", "seq", "and", "and", "and", "and", "and", "before[..4]", "before[-1..]", "after", "during",
    "overlaps[..3]", "meets[3]", "starts[3]", "finishes[3]", "equals[4]", "par", "before[-3..3]",
]  # fmt: skip
OPERANDS = ["{a} without i({k}, _)", "not b({k}, _) in [{a}, {b}]", "{a} seq i({k}, _)* seq {b}", "{a} or {b}", "at(3)"]


def events_of(most, instant):
    """Many events of few keys that are close together, so that most joins find something."""
    starts, lengths = st.integers(0, 9), st.just(0) if instant else st.integers(0, 5)

    def event(type_, k, x, start, length):
        attributes = {"y": (0.0, -0.0, 1.0)[x]} if type_ == "b" else {"x": x}
        return {"type": type_, "k": k, **attributes, "start": start, "end": start + (0 if type_ == "i" else length)}

    one = st.builds(event, st.sampled_from("abi"), st.sampled_from([0, 0, 0, 1]), st.integers(0, 2), starts, lengths)
    return st.lists(one, min_size=most // 2, max_size=most)


@st.composite
def joins(draw):
    """A rule that joins three to five events, with names, relations, timers, absences and conditions around them."""
    labels, variables = [], set()

    def atom(label_chance=6):
        event = draw(st.sampled_from(["a", "a", "b", "i", "i"]))
        terms = draw(st.sampled_from(["k", "k", "l", "_"])), draw(st.sampled_from(["_", "_", "_", "_", "u", "1"]))
        if event == "b":
            terms = terms[0], draw(st.sampled_from("yy_"))
        variables.update(terms if label_chance else ())
        text = f"{event}({terms[0]}, {terms[1]})"
        if draw(st.integers(0, 9)) < label_chance:
            labels.append(f"e{len(labels)}")
            text = f"{labels[-1]}: {text}"
        return text

    def operand():
        if draw(st.integers(0, 9)):
            return atom()
        form = draw(st.sampled_from(OPERANDS))
        return f"({form.format(a=atom(0), b=atom(0), k=draw(st.sampled_from('kl')))})"

    def joined(count):
        if count == 1:
            return operand()
        left = draw(st.integers(1, count - 1))
        sides = [joined(left), joined(count - left)]
        texts = [f"({side})" if size > 1 else side for side, size in zip(sides, (left, count - left), strict=True)]
        return f" {draw(st.sampled_from(RELATIONS))} ".join(texts)

    items, count = [], draw(st.integers(3, 5))
    while count > 0:
        size = draw(st.sampled_from([1, 1, 2, 3, count]))
        items.append(joined(min(size, count)))
        count -= size
    items = [f"({item})" if " in [" in item else item for item in items]
    for _ in range(draw(st.integers(0, 3)) if len(labels) > 1 else 0):
        one, other = draw(st.permutations(labels))[:2]
        items.append(f"{one} {draw(st.sampled_from(RELATIONS[9:]))} {other}")
    if labels and draw(st.booleans()):
        items.append(f"w: extend({draw(st.sampled_from(labels))}, 3)")
        items.append(f"while w: {draw(st.sampled_from(['not', 'collect']))} i(k, 2)")
    if len(labels) > 1 and draw(st.booleans()):
        items.append(f"{labels[0]}.end <= {labels[-1]}.start")
    head = ", ".join(
        [f"s{n} = {label}.start, t{n} = {label}.end" for n, label in enumerate(labels)]
        + sorted(variables & {"k", "l", "u", "y"})
    )
    suffix = draw(st.sampled_from(["", "", "", " within 6", " within 9", " lasting 7"]))
    return f"d({head or 'one = 1'}) <- {', '.join(items)}{suffix}."


def any_tree(draw, joined):
    """Any order of the events that can be written."""

    def search(places):
        if len(places) == 1:
            return min(places)
        for left, right in draw(st.permutations(splits(places, not joined.interchangeable))):
            one, other = search(left), search(right)
            if one is not None and other is not None and joined.possible(one, other):
                return one, other
        return None

    return search(frozenset(range(len(joined.conjunction.events))))


def in_any_order(draw, rules, instant=False, count=(3, 6)):
    """A program as it is written, and with the joins of its rule in any order."""
    try:
        program = program_of(rules)
    except ensue.RuleError:
        assume(False)
    known = with_instants(program) if instant else program
    known = rewritten(known, ordering=False) if draw(st.booleans()) else known
    (rule,) = known.rules
    conjunction = conjunction_of(rule.body, known.events)
    assume(conjunction is not None and count[0] <= len(conjunction.events) <= count[1])
    assume(constrain(rule.body, known.events).contradiction() is None)
    joined = Joins(conjunction)
    tree = any_tree(draw, joined)
    assume(tree is not None and tree != conjunction.written)
    return program, replace(known, rules=(replace(rule, body=joined.body(tree, rule.body)),))


@settings(max_examples=60)
@given(joins(), st.booleans(), st.data())
def test_any_order_means_the_same(rules, instant, data):
    program, other = in_any_order(data.draw, rules, instant)
    events = data.draw(events_of(11, instant))
    assert found_in(other, events) == found_in(program, events)


def run_on(program, events, **settings_):
    """Detections of the engine."""
    run = Run(program, options=replace(ALL, ordering=False, rewriting=False), **settings_)
    batch = run.batch()
    batch.rows = [(e["type"], attributes_of(e), e["start"], e["end"], e.get("n"), n) for n, e in enumerate(events)]
    batch.rows.sort(key=lambda row: row[3])
    end = max(row[3] for row in batch.rows)
    run.advance(batch, end, min(row[3] for row in batch.rows))
    found = batch.events({"d"})
    return sorted((e.start, e.end, repr(dict(e.attributes))) for e in found)


@pytest.mark.parametrize("compiled", [False, None])
@settings(max_examples=30)
@given(rules=joins(), instant=st.booleans(), data=st.data())
def test_the_engine_finds_the_same_in_any_order(compiled, rules, instant, data):
    program, other = in_any_order(data.draw, rules, instant)
    events = data.draw(events_of(11, instant))
    wanted = sorted((start, end, attributes) for _, start, end, attributes, _ in found_in(program, events))
    assert run_on(other, events, compiled=compiled, instant=instant) == wanted


def test_an_order_that_cannot_be_written_is_noticed(monkeypatch):
    """The test above would fail if a limit were checked on a side that does not start or end with its event."""
    rule = "d(s = e.start) <- e: a(k, _), f: a(k, _), g: a(k, _), e before f, g overlaps f."
    program = program_of(rule)
    conjunction = conjunction_of(program.rules[0].body, program.events)
    right = Joins(conjunction).body(((0, 2), 1), program.rules[0].body)
    assert {(r.left, r.right) for r in right.related} == {("e", "f"), ("g", "f")}
    monkeypatch.setattr("ensue.rewriting.join_trees.covers", lambda *_: True)
    wrong = Joins(conjunction).body(((0, 2), 1), program.rules[0].body)
    assert {(r.left, r.right) for r in wrong.related} != {("e", "f"), ("g", "f")}


# --- which order is chosen


def order_of(rules, counts=None, instant=True):
    """The joins of a rule, the innermost last, each as the types on its two sides."""
    program = program_of(rules) if "event" not in rules else ensue.compile(rules).typed
    known = with_instants(program) if instant else program
    rule = rewritten_rule(known.rules[0], known.events, rates_of(program, counts or {})).rule
    return [(describe_events(pair.left), describe_events(pair.right)) for pair in pairs(rule.body.pattern)]


MACHINES = """unit s.
event start(m: int).  event reading(m: int, v: int).  event fault(m: int).
trouble(m) <- a: start(m), b: reading(m, _), c: fault(m), a before b, b before c within 1h.
"""


def test_what_is_frequent_is_joined_last():
    counts = {"start": 100, "reading": 100_000, "fault": 100}
    assert order_of(MACHINES, counts)[-1] == ("start", "fault")
    assert order_of(MACHINES)[-1] == ("start", "reading")


def test_readings_are_neither_multiplied_nor_kept_where_their_machine_has_not_started():
    body = with_instants(ensue.compile(MACHINES).typed)
    rule = rewritten_rule(body.rules[0], body.events, powers({"start": 1, "reading": 1000})).rule
    (outer, inner) = pairs(rule.body.pattern)
    assert inner.relation.distances == (typed.Distance((0, True), (1, False), 1, None),)
    assert outer.relation.distances == (
        typed.Distance((0, False), (1, False), 1, None),
        typed.Distance((1, True), (0, True), 1, None),
    )


def test_what_is_close_together_is_joined_first():
    rule = "d(k) <- e: a(k, _), f: b(k, _), g: i(k, _), e before[..1000] f, e before[..2] g."
    assert order_of(rule)[-1] == ("a", "i")


def test_what_a_join_checks_is_not_left_to_the_end():
    """With intervals, `e before g` is checked in the join of these two, which comes first."""
    rule = "d(k) <- e: a(k, _), g: a(k, _), f: b(k, _), e before[..10] g."
    assert order_of(rule, instant=False) == [("a", "b"), ("a", "a")]


def test_what_shares_nothing_is_not_joined_first():
    assert order_of("d(x) <- a(_, x), b(k, _), i(k, x) within 9.")[-1] == ("b", "i")


def test_equal_values_may_differ_so_events_that_share_one_stay_in_their_order():
    frequent = {"a": 100_000, "b": 1, "i": 1}
    assert order_of("d(k) <- b(k, _), a(k, _), i(k, _) within 9.", frequent)[-1] == ("b", "i")
    same = "d(y) <- e: b(k, y), a(k, _), f: b(k, y) within 9."
    assert order_of(same, frequent)[-1] == ("b", "b")
    different = "d(x) <- e: b(k, x), a(k, _), f: i(k, x) within 9."
    assert order_of(different, frequent)[-1] != ("b", "i")


def test_more_events_than_six_stay_as_they_are_written():
    program = program_of(f"d(k) <- {' and '.join(['a(k, _)'] * 7)} within 9.")
    assert order_joins(program.rules[0].body, program.events) is program.rules[0].body


# --- sequences

KINDS = "".join(f"event e{n}(k: int, x: int).  " for n in range(9))


def sequence(length, terms="k, _", rest=" within 9"):
    return f"{KINDS}\nd() <- {' seq '.join(f'e{n}({terms})' for n in range(length))}{rest}."


def from_the_last(length):
    """Each event on the left, and all that follow it on the right."""
    return [(f"e{n}", ", ".join(f"e{m}" for m in range(n + 1, length))) for n in range(length - 1)]


@pytest.mark.parametrize(("length", "terms"), [(3, "_, _"), (3, "_, 1"), *((n, "k, _") for n in (4, 5, 7, 9))])
def test_a_sequence_is_joined_from_its_last_event(length, terms):
    assert order_of(sequence(length, terms)) == from_the_last(length)
    assert order_of(sequence(length, terms), instant=False) == from_the_last(length)


def test_a_long_sequence_is_joined_from_its_last_event_whatever_the_numbers_of_events():
    counts = {"e0": 1, "e1": 1000, "e6": 1_000_000}
    assert order_of(sequence(7), counts) == from_the_last(7)
    assert order_of(sequence(5), {f"e{n}": 10**n for n in range(5)}) != from_the_last(5)
    assert order_of(sequence(5), {f"e{n}": 10 ** (4 - n) for n in range(5)}) == from_the_last(5)
    assert order_of(sequence(3, "_, _"), {"e0": 1, "e1": 1, "e2": 1000}) == [("e0, e1", "e2"), ("e0", "e1")]


def test_three_events_with_a_key_stay_as_they_are_written():
    assert order_of(sequence(3)) == [("e0, e1", "e2"), ("e0", "e1")]


def test_conditions_on_single_events_leave_a_sequence_as_it_is():
    one = f"{KINDS}\nd() <- e0(k, x) seq e1(_, _) seq e2(_, _) where x > 3 and k > 1 within 9."
    assert order_of(one) == from_the_last(3)
    both = f"{KINDS}\nd() <- e0(_, x) seq e1(_, y) seq e2(_, _) where x > y within 9."
    assert order_of(both) == [("e0, e1", "e2"), ("e0", "e1")]


def test_what_few_events_share_or_what_is_close_together_decides_in_a_sequence_too():
    shared = f"{KINDS}\nd() <- e0(_, x) seq e1(_, x) seq e2(_, _) within 9."
    assert order_of(shared)[-1] == ("e0", "e1")
    close = f"{KINDS}\nd() <- a: e0(_, _), b: e1(_, _), c: e2(_, _), a before[..1] b, b before[..900] c."
    assert order_of(close)[-1] == ("e0", "e1")


@settings(max_examples=40)
@given(st.integers(3, 5), st.sampled_from(["k, _", "_, _", "l, _"]), st.sampled_from(["", " within 6"]), st.data())
def test_sequences_from_the_last_event_find_the_same(length, terms, rest, data):
    kinds = data.draw(st.lists(st.sampled_from("aaabi"), min_size=length, max_size=length))
    labels = ", ".join(f"s{n} = e{n}.start, t{n} = e{n}.end" for n in range(length))
    atoms = " seq ".join(f"e{n}: {kind}({terms})" for n, kind in enumerate(kinds))
    program = program_of(f"d({labels}) <- {atoms}{rest}.")
    events = data.draw(events_of(14, instant=False))
    assert found_in(rewritten(program), events) == found_in(program, events)
    wanted = sorted((start, end, attributes) for _, start, end, attributes, _ in found_in(program, events))
    for compiled in (False, True):
        assert run_on(rewritten(program), events, compiled=compiled) == wanted


def test_rates_are_powers_of_ten():
    program = ensue.compile(MACHINES).typed
    near = [{"start": 90, "reading": n, "fault": 80} for n in (80_000, 200_000, 790_000)]
    assert {rates_of(program, counts) for counts in near} == {(("reading", 3),)}
    assert rates_of(program, {"start": 10, "reading": 90, "fault": 30}) == ()
    assert rates_of(ensue.compile(DECLARATIONS + "d(k) <- a(k, _) seq b(k, _).").typed, {"a": 1, "b": 1000}) == ()


def test_points_of_sides():
    assert conjunctions.holds_for_each(end=False, later=True, lower=True)
    assert conjunctions.holds_for_each(end=True, later=False, lower=True)
    assert not conjunctions.holds_for_each(end=True, later=True, lower=True)
