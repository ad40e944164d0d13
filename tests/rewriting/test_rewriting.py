"""Rewrites: golden pairs of before and after, a file for each, and that rewritten rules mean the same.

In a golden file a rule is followed by ``=>`` and what it becomes, or ``=> same``. Before it may stand how many events
are ``given`` of each type.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.language import typed
from ensue.language.walk import patterns
from ensue.reference import detect
from ensue.rewriting import REWRITES, order_joins, rewritten
from ensue.rewriting.bodies import with_bodies
from ensue.rewriting.rates import powers
from ensue.temporal.instants import with_instants
from tests.agreement import attributes_of
from tests.random_programs import given_types, programs
from tests.random_streams import streams
from tests.temporal.test_reasoning import bodies

HERE = Path(__file__).parent
DECLARATIONS = """
event a(k: int, x: int).  event b(k: int, y: float).  event i(k: int, x: int) instant.
"""
BY_NAME = {rewrite.__name__: rewrite for rewrite in (*REWRITES, order_joins)}
RATES = st.dictionaries(st.sampled_from("abi"), st.sampled_from([1, 10, 1000])).map(powers)


def pairs_in(name):
    text = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    return [tuple(part.strip() for part in pair.split("=>")) for pair in text.split("\n\n")]


PAIRS = [(name, *pair) for name in BY_NAME for pair in pairs_in(name)]


def program_of(rules):
    return ensue.compile(DECLARATIONS + re.sub(r"^given.*", "", rules)).typed


def rates_in(rules):
    """Frequencies of types, if a golden pair gives them."""
    given_ = re.match(r"given.*", rules)
    return powers({name: int(count) for count, name in re.findall(r"(\d+) (\w+)", given_[0])} if given_ else {})


def applied(rewrite, program, rates=()):
    if rewrite is order_joins:
        rules = [replace(r, body=order_joins(r.body, program.events, rates)) for r in program.rules]
        return replace(program, rules=tuple(rules))
    rules = [replace(r, body=with_bodies(r.body, lambda b: rewrite(b, program.events))) for r in program.rules]
    return replace(program, rules=tuple(rules))


def shape(program):
    """The rules without numbers, and without parts that do not change the meaning: spans, words, parentheses."""
    (rule,) = program.rules
    shown = repr(_plain(rule.body))
    return re.sub(r"(id|pair|pattern)=\d+|initiator=\w+|word='\w+'", "", shown)


def _plain(body):
    """A body without redundant parentheses, and without names of attributes that must have one value."""

    def plain(pattern):
        match pattern:
            case typed.Atom(fields=fields):
                fixed = {name for name, term in fields if isinstance(term, typed.Constant)}
                kept = [(n, t) for n, t in fields if n not in fixed or isinstance(t, typed.Constant)]
                return replace(pattern, fields=tuple(kept))
            case typed.Pair():
                return replace(pattern, left=plain(pattern.left), right=plain(pattern.right), shared=())
            case typed.Either():
                return replace(pattern, alternatives=tuple(map(plain, pattern.alternatives)))
            case typed.Lacking():
                inner = plain(pattern.pattern)
                return inner if isinstance(inner, typed.Lacking) else replace(pattern, pattern=inner)
            case typed.Nested(body=typed.Body(pattern=inner) as nested) if nested == typed.Body(inner):
                return plain(inner)
            case _:
                return pattern

    absences = tuple(replace(a, pattern=plain(a.pattern)) for a in body.absences)
    return replace(body, pattern=plain(body.pattern), absences=absences)


@pytest.mark.parametrize(("name", "before", "after"), PAIRS)
def test_before_and_after(name, before, after):
    program = program_of(before)
    found = applied(BY_NAME[name], program, rates_in(before))
    if after == "same":
        assert found == program
    else:
        assert found != program
        assert shape(found) == shape(program_of(after))


def test_each_rewrite_has_its_file():
    assert {path.stem for path in HERE.glob("*.txt")} == set(BY_NAME)


def found_in(program, events):
    given_ = [(e["type"], attributes_of(e), e["start"], e["end"], e.get("n")) for e in events]
    found = detect(program, given_)
    return [(e.type, e.start, e.end, repr(e.attributes), sorted(e.sources)) for e in found]


@pytest.mark.parametrize(("name", "before", "after"), PAIRS)
@settings(max_examples=4)
@given(events=streams(most_events=10, types=["a", "b", "i"]))
def test_the_golden_pairs_mean_the_same(name, before, after, events):
    program = program_of(before)
    assert found_in(applied(BY_NAME[name], program, rates_in(before)), events) == found_in(program, events)


@settings(max_examples=30)
@given(bodies(), streams(most_events=10, times=("dense", "usual"), types=["a", "b", "i"]), RATES)
def test_relations_mean_the_same_after_all_rewrites(rules, events, rates):
    try:
        program = program_of(rules)
    except ensue.RuleError:
        assume(False)
    less = rewritten(program, rates)
    assume(less != program)
    assert found_in(less, events) == found_in(program, events)


@settings(max_examples=30)
@given(bodies(), streams(most_events=10, times=("instants",), types=["a", "b", "i"]), RATES)
def test_where_given_events_are_instants_rules_mean_the_same(rules, events, rates):
    try:
        program = program_of(rules)
    except ensue.RuleError:
        assume(False)
    assert found_in(rewritten(with_instants(program), rates), events) == found_in(program, events)


@settings(max_examples=30)
@given(programs(), RATES, st.data())
def test_random_programs_mean_the_same(text, rates, data):
    try:
        program = ensue.compile(text).typed
    except ensue.RuleError:
        assume(False)
    less = rewritten(program, rates)
    assume(less != program)
    assert [len(list(patterns(rule.body))) > 0 for rule in less.rules] == [True] * len(program.rules)
    events = data.draw(streams(10, types=given_types(ensue.compile(text))))
    try:
        wanted = found_in(program, events)
    except ensue.DetectError:
        assume(False)
    assert found_in(less, events) == wanted
