"""Rules of one shape run as one, and find the same as each of them alone."""

from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.data import Columns
from ensue.engine.batch import columns_of_rows
from ensue.engine.capacity import USUAL, using
from ensue.engine.options import ALL, Options
from ensue.engine.plain_tables import mixed_of
from ensue.engine.run import Run, prepare
from ensue.engine.units import families_of
from ensue.language import typed
from tests.agreement import COMPILED, EXECUTIONS, check, cut, engine, meaning, outcome
from tests.engine.alike_programs import alike
from tests.random_programs import given_types, streams

READING = "event reading(id: int, v: float, kind: string).\n"


@pytest.fixture(autouse=True)
def _two_are_enough():
    """Two rules of one shape are a family here, so that programs stay small."""
    with using(replace(USUAL, family=2)):
        yield


def planned(text, apart=False, options=ALL):
    program = ensue.compile(text).typed
    wanted = [name for name, event in program.events.items() if event.derived]
    return prepare(program, wanted, True, apart, options=options)


def sources(prepared):
    """The sources that there are, each once."""
    return {code.source for code in prepared.codes}


def families(prepared):
    return families_of(code.together for code in prepared.codes)


def members(prepared):
    return [len(family.members) for family in families(prepared)]


# --- sharing


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("head", ["hot_{i}(id)", 'hot(id, which = "r{i}")'])
def test_a_hundred_rules_of_one_shape_are_one_unit(head, apart):
    rules = [f"{head.format(i=i)} <- reading(id, v, _) where v > {i}." for i in range(100)]
    prepared = planned(READING + "\n".join(rules), apart)
    assert (len(prepared.codes), members(prepared)) == (1, [100])


def test_the_source_depends_on_the_shape_alone():
    def spikes(count, least, most, kind):
        return READING + "\n".join(
            f'spike_{i}(id) <- a: reading(id, v, _) seq b: reading(id, w, "{kind}") where w - v > {least + i} '
            f"within {most + i}."
            for i in range(count)
        )

    assert sources(planned(spikes(5, 1, 10, "x"))) == sources(planned(spikes(50, 7, 77, "y")))
    assert sources(planned(spikes(1, 1, 10, "x"))) == sources(planned(spikes(1, 3, 30, "y")))


def test_names_make_no_difference():
    prepared = planned(
        READING
        + """
        one(id) <- a: reading(id, _, _) seq reading(id, w, _) where w - a.v > 1 within 10.
        two(number) <- first: reading(number, _, _) seq reading(number, x, _) where x - first.v > 2 within 20.
        """
    )
    assert members(prepared) == [2]


def test_shapes_that_differ_are_apart():
    prepared = planned(
        READING
        + """
        above(id) <- reading(id, v, _) where v > 1.
        below(id) <- reading(id, v, _) where v < 1.
        """
    )
    assert (len(prepared.codes), members(prepared)) == (2, [])


def test_types_of_several_rules_are_shared_shape_by_shape():
    rules = [
        f"odd_{i}(id) <- reading(id, v, _) where v > {i}.\nodd_{i}(id) <- reading(id, v, _) where v < -{i}."
        for i in range(1, 11)
    ]
    prepared = planned(READING + "\n".join(rules))
    assert (len(prepared.codes), members(prepared)) == (1, [10, 10])


def test_timers_of_one_length_are_shared():
    rules = [
        f'late_{i}(id) <- o: reading(id, _, "{i}"), w: extend(o, {i % 2 + 3}), while w: not reading(id, _, "x").'
        for i in range(6)
    ]
    prepared = planned(READING + "\n".join(rules))
    assert (members(prepared), len(sources(prepared))) == ([3, 3], 1)


def test_rules_that_cannot_run_as_one_have_the_same_source():
    rules = [f'gone_{i}(id) <- not reading(id, _, "{i}") in [reading(id, 1, _), reading(id, 2, _)].' for i in range(4)]
    prepared = planned(READING + "\n".join(rules))
    assert (members(prepared), len(prepared.codes), len(sources(prepared))) == ([], 4, 1)


def test_what_is_shared_can_be_asked_for():
    prepared = planned(READING + "\n".join(f'k_{i}(id) <- reading(id, v, "{i}") where v > {9 - i}.' for i in range(3)))
    (family,) = families(prepared)
    constants = {i: tuple(column.values[row] for column in family.columns) for row, i in enumerate(family.members)}
    assert constants == {0: ("0", 9.0), 1: ("1", 8.0), 2: ("2", 7.0)}
    assert family.index is not None
    assert family.columns[family.index.column].values == ("0", "1", "2")


def test_rules_are_compared_as_they_are_run():
    """`where kind = "x"` is rewritten to what `"x"` in the pattern is, with one of the rules alone."""
    prepared = planned(
        READING
        + """
        one(id, kind) <- reading(id, v, kind) where kind = "x" and v > 1.
        two(id, kind) <- reading(id, v, kind) where v > 2 and kind = "y".
        """
    )
    assert members(prepared) == [2]


@pytest.mark.parametrize("apart", [False, True])
def test_sharing_can_be_switched_off(apart):
    rules = READING + "\n".join(f"hot_{i}(id) <- reading(id, v, _) where v > {i}." for i in range(5))
    prepared = planned(rules, apart, Options(sharing=False))
    assert (members(prepared), len(prepared.codes), len(sources(prepared))) == ([], 5, 1)
    assert members(planned(rules, apart)) == [5]


# --- constants and comparisons

EVENTS = "event a(k: int, x: int).\nevent b(k: int, y: float).\nevent c(k: int, s: string).\n"

COMPARED = {
    "a float with whole numbers": "r_{i}(k) <- b(k, {i}).",
    "a float with floats": "r_{i}(k, z = y) <- b(k, y) where y = {i}.5.",
    "a string with strings": 'r_{i}(k, s) <- c(k, s) where s = "{i}".',
    "strings in order": 'r_{i}(k, s) <- c(k, s) where s > "{i}" and k <= {i}.',
    "constants in a head": 'r_{i}(k, x = {i}, s = "{i}", f = y + {i}) <- b(k, y) where y > {i}.',
    "a whole number with floats": "r_{i}(k) <- a(k, x) where x = {i}.5 or x > {i}.25.",
    "what differs on both sides": "r_{i}(k) <- a(k, {i}) seq b(k, y) where y < {i} within 1{i}.",
    "a length": "r_{i}(k) <- a(k, _) seq b(k, _) lasting 1{i}.",
    "a repetition": "r_{i}(k, n = count(x)) <- a(k, x){{2}} where sum(x) > {i}.",
}
"""Rules with a number `i`."""


@pytest.mark.parametrize("way", ["plain, cut", "small, cut", "plain, sources", "machine, cut"])
@pytest.mark.parametrize("name", COMPARED)
def test_values_are_compared_as_by_the_rules_themselves(name, way):
    program = ensue.compile("unit s.\n" + EVENTS + "\n".join(COMPARED[name].format(i=i) for i in range(4)))
    rng, found = Random(name), 0
    for _ in range(3):
        drawn = {
            "a": lambda: {"x": rng.choice([None, 0, 1, 2, 3])},
            "b": lambda: {"y": rng.choice([None, 0.0, 1.0, 1.5, 2.5, 3.0, float("nan")])},
            "c": lambda: {"s": rng.choice([None, "0", "1", "3", "x"])},
        }
        types = [rng.choice(sorted(given_types(program))) for _ in range(40)]
        events = [
            {"type": type_, "start": t // 2, "end": t // 2, "k": rng.choice([0, 1, None]), **drawn[type_]()}
            for t, type_ in enumerate(types)
        ]
        wanted = meaning(program, events)
        assert check(way, program, events, None, rng.randrange(99), wanted)
        found += len(wanted)
    assert found > 0
    assert len(families(planned(program.file.source.text))) == 1


NOT_SHARED = {
    "a timer": "r_{i}(k) <- e: a(k, _), w: extend(e, {i}).",
    "a window's size": "r_{i}(k, n = count(x)) <- while last {i}: collect a(k, x).",
    "in a repetition": "r_{i}(n = count(k)) <- a(k, {i}){{2}}.",
    "in an alternative": "r_{i}(k) <- a(k, {i}) or b(k, 1).",
    "where a window begins": "r_{i}(n = count(x)) <- while since b(_, {i}): collect a(_, x).",
    "under a policy": "r_{i}(k) <- a(k, {i}) seq b(k, _) policy restricted.",
}


@pytest.mark.parametrize("name", NOT_SHARED)
def test_rules_stay_apart_where_what_is_matched_differs(name):
    text = "unit s.\n" + EVENTS + "\n".join(NOT_SHARED[name].format(i=i) for i in range(2, 5))
    assert members(planned(text)) == []
    program, rng = ensue.compile(text), Random(1)
    events = [
        {"type": type_, "start": t, "end": t, "k": rng.randrange(2), value: rng.randrange(1, 5) * one}
        for t in range(30)
        for type_, value, one in [("a", "x", 1) if rng.random() < 0.5 else ("b", "y", 1.0)]
    ]
    wanted = meaning(program, events)
    assert len(wanted) > 0
    assert check("plain, cut", program, events, None, 1, wanted)


@pytest.mark.parametrize("way", ["plain, cut", "machine, cut"])
def test_static_predicates_are_asked_by_a_family(way):
    text = READING + "table near(id: int).\nnear(1). near(2).\n"
    text += "\n".join(f"hot_{i}(id) <- reading(id, v, _) where near(id) and v > {i}." for i in range(3))
    program = ensue.compile(text)
    assert members(planned(text)) == [3]
    events = [{"type": "reading", "start": t, "end": t, "id": t % 4, "v": t / 4, "kind": ""} for t in range(16)]
    wanted = meaning(program, events)
    assert len(wanted) > 3
    assert check(way, program, events, None, 1, wanted)


def test_a_restricted_sequence_is_one_in_a_family():
    rule = "pair_{i}(k, x) <- a(k, x) seq b(k, _) policy restricted where x > {i}."
    text = "unit s.\n" + EVENTS + "\n".join(rule.format(i=i) for i in range(3))
    assert members(planned(text)) == [3]
    program = ensue.compile(text)
    events = [{"type": "a", "start": t, "end": t, "k": 1, "x": t} for t in range(1, 5)]
    events += [{"type": "b", "start": t, "end": t, "k": 1, "y": 1.0} for t in range(5, 8)]
    wanted = meaning(program, events)
    assert [each.start for each in wanted] == [4, 4, 4]
    assert check("plain, cut", program, events, None, 1, wanted)


# --- meaning


def compiled(text):
    try:
        return ensue.compile(text)
    except ensue.RuleError:
        assume(False)


@pytest.mark.parametrize(("ways", "examples"), [(EXECUTIONS, 60), (COMPILED, 12)], ids=["plain", "machine"])
def test_rules_alike_find_what_each_would_find(ways, examples):
    @settings(max_examples=examples)
    @given(alike(), st.data())
    def agrees(text, data):
        program = compiled(text)
        for _ in range(2):
            events = data.draw(streams(20, types=given_types(program)))
            name, number = data.draw(st.sampled_from(sorted(ways))), data.draw(st.integers(0, 99))
            check(name, program, events, None, number, meaning(program, events))

    agrees()


@settings(max_examples=30)
@given(alike(), st.integers(1, 3), st.booleans(), st.data())
def test_what_is_derived_in_pieces_is_put_together(text, most, shared, data):
    program = compiled(text)
    events = data.draw(streams(20, types=given_types(program)))
    wanted = meaning(program, events)
    with using(replace(USUAL, unit=most, family=2 if shared else 99)):
        for name in ("plain, cut", "plain, sources", "small, step by step, instants", "detect, tables by type"):
            check(name, program, events, None, 7, wanted)


@pytest.mark.parametrize("count", [3, 300])
def test_many_rules_find_much_in_one_step(count):
    """A row is compared with its neighbours only, however many there are."""
    rules = [f"hot_{i}(id) <- reading(id, v, _) where v > {(7 * i) % count}." for i in range(count)]
    program = ensue.compile(READING + "\n".join(rules))
    events = [{"type": "reading", "start": t, "end": t, "id": 1, "v": float(count), "kind": ""} for t in (1, 1, 2)]
    found = outcome(engine(True), program, events)
    assert sorted((each.type, each.end) for each in found) == sorted(
        (f"hot_{i}", t) for i in range(count) for t in (1, 2)
    )


# --- sessions

NAMED = {
    "plain": "rule plain{i}: plain_{i}(k, x) <- a(k, x) where x > {n}.",
    "pair": "rule pair{i}: pair_{i}(k) <- a(k, x) seq b(k, y) where x + y > {n} within {n}.",
    "late": "rule late{i}: late(k, n = {i}) <- e: a(k, {n}), w: extend(e, 3), while w: not b(k, _).",
    "newest": "rule newest{i}: newest_{i}(k, x) <- recent a(k, x) seq b(k, y) where y > {n}.",
    "sums": "rule sums{i}: sums_{i}(k, t = sum(x)) <- while last 3: collect a(k, x) where sum(x) > {n}.",
}

STREAMS = streams(20, types=["a", "b"], values=["plain"])


@settings(max_examples=10)
@given(st.sets(st.sampled_from(sorted(NAMED)), min_size=1, max_size=2), STREAMS, st.integers(0, 1000))
def test_rules_alike_come_and_go(names, events, number):
    rules = [NAMED[name].format(i=i, n=i + 1) for name in sorted(names) for i in range(3)]
    program = ensue.compile(EVENTS + "\n".join(rules))
    with using(replace(USUAL, family=99)):
        apart = changing(program, events, Random(number))
    assert changing(program, events, Random(number)) == apart


def changing(program, events, rng):
    """Detections of a session that is saved and resumed, while rules are removed from it and added to it."""
    session = program.start(compiled=False)
    names = sorted({event.partition("_")[0] for event, type_ in program.typed.events.items() if type_.derived})
    found, there, added = [], [f"{name}{i}" for name in names for i in range(3)], 3
    for event in sorted(events, key=lambda event: event["end"]):
        if rng.random() < 0.3:
            session = session.program.resume(session.save())
        if there and rng.random() < 0.2:
            session.remove(there.pop(rng.randrange(len(there))))
        if rng.random() < 0.2:
            name = rng.choice(names)
            session.add(NAMED[name].format(i=added, n=rng.randint(1, 4)))
            there.append(f"{name}{added}")
            added += 1
        found += session.send(dict(event))
    return found + session.close(max((event["end"] for event in events), default=0) + 9)


def test_strings_of_rules_that_came_later_are_those_of_the_state():
    """Another string had come before the last rule did, whose constant is the first that is new."""
    text = EVENTS + "\n".join(f'rule r{i}: r_{i}(k) <- c(k, "{i}") seq c(k, "z").' for i in range(3))
    session = ensue.compile(text).start(compiled=True)
    session.send({"type": "c", "time": 1, "k": 1, "s": "other"})
    session.send({"type": "c", "time": 2, "k": 2, "s": "1"})
    session.add('rule new: new(k) <- c(k, "new") seq c(k, "z").')
    session.send({"type": "c", "time": 3, "k": 3, "s": "new"})
    session = session.program.resume(session.save())
    session.remove("r0")
    session = session.program.resume(session.save())
    found = [row for k in (1, 2, 3) for row in session.send({"type": "c", "time": 3 + k, "k": k, "s": "z"})]
    found += session.close()
    assert [(row["type"], row["k"]) for row in found] == [("r_1", 2), ("new", 3)]


def test_what_was_decided_is_saved_only_where_rules_changed():
    text = EVENTS + "\n".join(f'rule r{i}: r_{i}(k) <- c(k, "{i}").' for i in range(3))
    session = ensue.compile(text).start(compiled=False)
    session.send({"type": "c", "time": 1, "k": 1, "s": "0"})
    assert session.state()["progress"]["decided"] is None
    session.remove("r1")
    (seed,), names, *_ = session.state()["progress"]["decided"]
    assert (len(seed), len(names)) == (3, 2)


def test_what_a_family_keeps_belongs_to_its_rules():
    text = EVENTS + "\n".join(f"both(k, n = {i}) <- a(k, x) seq b(k, y) where x + y > {i}." for i in range(3))
    session = ensue.compile(text).start(compiled=False)
    for time in range(1, 7):
        session.send({"type": "a", "time": time, "k": time % 2, "x": 1})
    session.advance(6)
    assert [(s.rule, s.keys, s.tuples) for s in session.sizes()] == [("both", 2, 6)]


def test_there_may_be_more_types_than_two_bytes_tell_apart():
    program = ensue.compile(EVENTS + "\n".join(NAMED["pair"].format(i=i, n=i + 2) for i in range(3)))
    others = {f"e{i}": typed.EventType(f"e{i}", {}, declared=True, derived=False) for i in range(40_000)}
    more = replace(program.typed, events={**others, **program.typed.events})
    rows = [("a", {"k": 1, "x": 3}, 1, 1, None, 0), ("b", {"k": 1, "y": 0.5}, 2, 2, None, 1)]
    columns = {row[0]: columns_of_rows([row], more.events[row[0]]) for row in rows}
    table = pa.table({"type": ["a", "b"], "time": [1, 2], "k": [1, 1], "x": [3, None], "y": [None, 0.5], "s": ["", ""]})
    for taken in ({"rows": rows}, {"given": columns}, {"mixed": mixed_of(table, Columns(time="time"), more.events)}):
        at_work = Run(more)
        batch = at_work.batch()
        for name, value in taken.items():
            assert value is not None
            setattr(batch, name, value)
        at_work.advance(batch, 2, 1)
        held = {**batch.derived_columns, **batch.derived}  # a few stay rows
        assert sorted(name for name, found in held.items() if len(found)) == ["pair_0", "pair_1"]


def test_a_family_as_machine_code_finds_what_each_of_its_rules_finds():
    text = EVENTS + "\n".join(rule.format(i=i, n=i + 1) for rule in NAMED.values() for i in range(4))
    program, rng = ensue.compile(text), Random(3)
    events = [
        {"type": type_, "start": t, "end": t, "k": rng.randrange(5), value: rng.randrange(6) * one}
        for t in range(1000)
        for type_, value, one in [("a", "x", 1) if t % 2 else ("b", "y", 1.0)]
    ]
    wanted = outcome(engine(True, options=Options(sharing=False)), program, events)
    assert {each.type for each in wanted} == {name for name, event in program.typed.events.items() if event.derived}
    assert len(families(planned(text))) == len(NAMED)
    assert check("machine, cut", program, events, None, 1, wanted)
    assert outcome(engine(True, cut), program, events) is not None
