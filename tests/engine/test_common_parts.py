"""Equal parts of rules: their state, the rules that share them, and that sharing does not change detections."""

from contextlib import nullcontext
from dataclasses import replace
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.engine.capacity import SMALL, using
from ensue.engine.options import ALL, Options
from ensue.engine.run import Run, prepare
from tests.agreement import COMPILED, EXECUTIONS, Detection, check, difference, meaning, reference
from tests.engine.common_programs import PARTS, common, dense, variants
from tests.random_programs import DECLARATIONS, given_types, streams

EVENTS = """unit s. event a(k: int, x: int). event b(k: int, y: int). event c(k: int). event d(k: int).
"""
FIRST = "rule one: one(k, x) <- a(k, x) seq b(k, y) seq c(k) within 20."
SECOND = "rule two: two(k, y) <- a(k, x) seq b(k, y) seq d(k) within 20."


def stream():
    """Eight `a`, two `b` after them, of one key, and then a `c` and a `d`."""
    events = [{"type": "a", "time": time, "k": 1, "x": time} for time in range(8)]
    events += [{"type": "b", "time": 8 + time, "k": 1, "y": time} for time in range(2)]
    return [*events, {"type": "c", "time": 10, "k": 1}, {"type": "d", "time": 11, "k": 1}]


def kept(*rules, compiled=False):
    """Numbers of tuples that a session keeps, part by part."""
    session = ensue.compile(EVENTS + "\n".join(rules)).start(compiled=compiled)
    session.send(stream())
    session.advance(11)
    return sorted(size.tuples for size in session.sizes() if size.tuples)


def parts(text, options=ALL, apart=True):
    """The users of the parts that are built once, unit by unit."""
    program = ensue.compile(text).typed
    names = [name for name, event in program.events.items() if event.derived]
    prepared = prepare(program, names, apart=apart, options=options)
    return [[len(part.users) for part in code.together.common] for code in prepared.codes]


# --- state

ALONE = [8, 16]
"""A rule keeps each `a`, and each pair of an `a` and a `b`."""


@pytest.mark.parametrize("compiled", [False, True])
def test_two_rules_keep_no_more_than_one(compiled):
    assert kept(FIRST, compiled=compiled) == ALONE
    assert kept(FIRST, SECOND, compiled=compiled) == ALONE


def test_names_make_no_difference():
    conditions = "two(y) <- p: a(id, _) seq q: b(id, y) seq d(id) where q.y >= 0 - p.x within 20."
    assert kept(FIRST, conditions) == [8, 16, 16]  # the pairs are others
    assert kept(FIRST, "two(id, n) <- p: a(id, n) seq b(id, _) seq d(id) within 20.") == ALONE
    assert kept(FIRST, "two(x) <- a(x, k) seq b(x, _) seq d(x) within 20.") == ALONE


@pytest.mark.parametrize("length", [12, 20, 90])
def test_the_longest_length_counts(length):
    """Of the rows that are kept for 12 none is over yet."""
    assert kept(FIRST, SECOND.replace("20", str(length))) == ALONE


def test_what_is_too_old_for_one_rule_is_kept_for_the_other_only():
    rules = ensue.compile(EVENTS + FIRST.replace("20", "5") + SECOND.replace("20", "11"))
    found = rules.detect(stream())
    assert [(row["type"], row["start"], row["end"]) for row in found if row["type"] == "one"] == [
        ("one", start, 10) for start in (5, 6, 7)
    ]
    assert len([row for row in found if row["type"] == "two"]) == 16


def test_events_that_several_joins_wait_for_are_kept_once():
    rules = (
        "one(k) <- a(k, _) seq c(k).",
        "two(k, x) <- a(k, x) seq d(k).",
        "three(k) <- a(k, _) seq b(k, _).",
    )
    assert kept(*rules) == [8]
    assert kept(*rules, "four(k) <- a(k, x) seq b(k, y) where y > x.") == [8]


def test_what_is_kept_by_another_key_is_kept_apart():
    assert kept(FIRST, "two(k) <- a(k, y) seq b(_, y).") == [8, 8, 16]


def test_a_part_in_several_places_of_one_rule_is_kept_once():
    assert kept("pair(k) <- (a(k, x) seq b(k, _)) and (a(k, z) seq b(k, _)) where x < z.") == [8, 16, 16]


def test_conditions_of_one_rule_only_keep_it_apart():
    assert kept(FIRST, SECOND.replace(" within", " where x > 2 within")) == [5, 8, 10, 16]


def test_both_rules_are_named_by_none():
    session = ensue.compile(EVENTS + FIRST + SECOND).start()
    session.send(stream())
    assert {size.rule for size in session.sizes()} == {None}
    session = ensue.compile(EVENTS + FIRST + FIRST.replace("rule one:", "")).start()
    session.send(stream())
    assert {size.rule for size in session.sizes()} == {"one"}


def test_a_selection_is_not_shared():
    rule = "one(k, x) <- recent a(k, x) seq b(k, y)."
    assert kept(rule, rule.replace("one", "two")) == kept(rule) * 2


# --- who shares


def test_parts_inside_parts():
    text = EVENTS + FIRST + SECOND + "three(k) <- a(k, _) seq d(k)."
    assert parts(text) == [[2, 2]]  # `a` for the pair and for `three`, and the pair for two rules
    assert parts(text, Options(parts=False)) == [[], [], []]


def test_derived_events_are_shared_by_later_rules():
    text = EVENTS + "h(k) <- a(k, 1). one(k) <- h(k) seq b(k, _). two(k) <- h(k) seq c(k)."
    assert parts(text, apart=False) == [[2]]
    assert parts(text) == [[], [2]]


def test_rules_that_depend_on_each_other_through_others():
    text = EVENTS + FIRST + "h(k) <- one(k, _) seq d(k). two(k) <- a(k, _) seq b(k, _) seq h(k)."
    assert parts(text) == [[], [], []]
    assert parts(text, apart=False) == [[2]]


def test_what_comes_in_rounds_is_not_shared():
    text = EVENTS + "e(k) <- a(k, _). e(k) <- e(k) seq b(k, _). e(k) <- e(k) seq c(k)."
    assert parts(text, apart=False) == [[]]


def test_rules_that_wait_do_not_hold_up_others():
    """In a session detections of a rule without absence are emitted at once, so it runs in a separate unit."""
    text = EVENTS + FIRST + "two(k) <- (a(k, _) seq b(k, _) seq d(k)) without c(k) within 20."
    assert parts(text) == [[], []]
    assert parts(text, apart=False) == [[2]]


def test_there_is_room_for_so_many_rules_in_a_unit():
    text = EVENTS + "\n".join(
        f"r{i}(k) <- a(k, x) seq b(k, y) seq c(k) where x + {i} * y > 1 and y < x + {i} * k." for i in range(5)
    )
    with using(replace(SMALL, unit=2, family=99)):
        assert parts(text) == [[2], [2], []]


def test_two_starts_are_arranged_alike():
    text = EVENTS + SECOND + FIRST + "three(k) <- a(k, _) seq d(k)."
    found = [Run(ensue.compile(text).typed, apart=True).decided for _ in range(2)]
    assert found[0] == found[1]
    assert len(found[0].parts) == 2


# --- rules that come and go


def test_the_others_keep_what_a_rule_shared_with_them():
    session = ensue.compile(EVENTS + FIRST + SECOND).start()
    session.send(stream()[:-2])
    session.advance(9)
    session.remove("one")
    assert sorted(size.tuples for size in session.sizes()) == ALONE
    session = ensue.compile(session.rules).resume(session.save())
    assert sorted(size.tuples for size in session.sizes()) == ALONE
    assert len([*session.send(stream()[-2:]), *session.close()]) == 16


def test_a_rule_that_comes_later_knows_nothing_of_the_past():
    session = ensue.compile(EVENTS + FIRST).start()
    session.send(stream()[:4])
    session.advance(3)
    session.add(SECOND + "rule three: three(k) <- a(k, x) seq b(k, y) seq c(k) within 20.")
    found = session.send(stream()[4:]) + session.advance(11)
    assert [len([row for row in found if row["type"] == name]) for name in ("one", "two", "three")] == [8, 8, 4]
    assert sorted(size.tuples for size in session.sizes()) == [4, 8, 8, 16]


def test_what_cannot_stay_together_is_refused():
    session = ensue.compile(EVENTS + FIRST + SECOND).start()
    session.send(stream()[:4])
    with pytest.raises(ensue.DataError, match="keep what they have in common once"):
        session.add("a(k, x) <- one(k, x) seq d(k).")
    assert len(session.send(stream()[4:]) + session.close()) == 24


# --- detections


def compiled_program(text):
    try:
        return ensue.compile(text)
    except ensue.RuleError:
        return None


@settings(max_examples=15, deadline=None)
@given(common(), st.data())
def test_every_execution_finds_the_same(text, data):
    program = compiled_program(text)
    assume(program is not None)
    events = data.draw(streams(most_events=12, types=given_types(program)))
    wanted = meaning(program, events)
    for name in EXECUTIONS:
        check(name, program, events, seed=data.draw(st.integers(0, 99)), wanted=wanted)


@settings(max_examples=25, deadline=None)
@given(common(), st.integers(0, 999), st.sampled_from(sorted(EXECUTIONS)))
def test_every_execution_finds_the_same_where_much_is_found(text, number, name):
    program = compiled_program(text)
    assume(program is not None)
    check(name, program, dense(Random(number), "abchiab", 26), seed=number)


@settings(max_examples=6, deadline=None)
@given(common(), st.integers(0, 999), st.sampled_from(sorted(COMPILED)))
def test_machine_code_finds_the_same(text, number, name):
    program = compiled_program(text)
    assume(program is not None)
    check(name, program, dense(Random(number), "abchiab", 26), seed=number)


HEADER = "unit s." + DECLARATIONS


@settings(max_examples=20, deadline=None)
@given(st.data(), st.integers(0, 999), st.booleans())
def test_rules_that_come_and_go_find_what_they_find_alone(data, number, small):
    """Each rule detects in the events after it was added, until it was removed."""
    rng, part, rules = Random(number), data.draw(st.sampled_from(PARTS)), {}
    for i in range(5):
        rule = data.draw(variants(i, part))
        if compiled_program(HEADER + rule) is not None:
            rules[f"n{i}"] = rule
    assume(len(rules) > 1)
    events = dense(rng, "abchiab", 30)
    with using(SMALL) if small else nullcontext():
        found, spans = come_and_go(rules, events, rng)
    wanted = []
    for name, after, until in spans:
        seen = [event for event in events if after < event["end"] <= until]
        if seen:
            wanted += reference(ensue.compile(HEADER + rules[name]), seen, until)
    assert (
        difference(*(sorted(side, key=str) for side in ([replace(each, sources=None) for each in wanted], found)))
        is None
    )


def come_and_go(rules, events, rng):
    """Detections of a session whose rules change, and which is saved, at random; and when there was which rule."""
    active = {name: -99 for name in rules if rng.random() < 0.7} or {min(rules): -99}
    session = ensue.compile(HEADER + "\n".join(rules[name] for name in active)).start()
    found, spans = [], []
    for time in sorted({event["end"] for event in events}):
        found += session.send([event for event in events if event["end"] == time])
        found += session.advance(time)
        match rng.randrange(6):
            case 0 if len(active) > 1:
                name = rng.choice(sorted(active))
                spans.append((name, active.pop(name), time))
                session.remove(name)
            case 1 | 2 if len(active) < len(rules):
                new = [name for name in rules if name not in active]
                session.add("\n".join(rules[name] for name in new))
                active |= dict.fromkeys(new, time)
            case 3:
                session = ensue.compile(session.rules).resume(session.save())
    found += session.close()
    spans += [(name, after, time) for name, after in active.items()]
    detections = []
    for row in found:
        type_, start, end = (row.pop(name) for name in ("type", "start", "end"))
        detections.append(Detection(type_, start, end, row))
    return detections, spans
