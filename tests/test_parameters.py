"""Parameters and descriptions of rules, as they are passed and returned."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

import ensue
from ensue.testing import run_tests

RULES = """
unit s.
param limit: float = 100.0.
param patience: duration = 10s.
param n: int.
event reading(m: string, t: float).
rule too_hot "Too hot" [severity = "high", tags = ("heat", "machine")]: hot(m, t) <- reading(m, t) where t > limit.
rule much_too_hot [severity = "critical"]: hot(m, t) <- reading(m, t) where t > limit + 50.0.
twice(m) <- hot(m, _) seq hot(m, _) within patience.
counted(m, c = count(r)) <- while last n: collect r: reading(m, t).
on hot(m, t) do tell(m).
"""
EVENTS = [{"type": "reading", "time": time, "m": "a", "t": t} for time, t in ((1, 90.0), (5, 101.0), (20, 120.0))]


def types(found):
    return [(row["type"], row["end"]) for row in found]


def test_values_come_with_compile_detect_and_start():
    program = ensue.compile(RULES, params={"n": 2})
    assert [end for name, end in types(program.detect(EVENTS)) if name == "hot"] == [5, 20]
    assert types(program.detect(EVENTS, emit="hot", params={"limit": 80})) == [("hot", 1), ("hot", 5), ("hot", 20)]
    assert types(program.detect(EVENTS, emit="twice")) == []
    assert types(program.detect(EVENTS, emit="twice", params={"patience": "15s"})) == [("twice", 20)]
    assert types(program.detect(EVENTS, emit="twice", params={"patience": timedelta(seconds=15)})) == [("twice", 20)]
    assert types(program.detect(EVENTS, emit="twice", params={"patience": 15})) == [("twice", 20)]
    session = program.start(emit="hot", params={"limit": np.float64(110.0)})
    assert types(session.send(EVENTS) + session.advance(30)) == [("hot", 20)]
    assert program.params == {"limit": 100.0, "patience": "10s", "n": 2}


def test_one_without_a_value_must_be_given():
    program = ensue.compile(RULES)
    for run in (lambda: program.detect(EVENTS), program.start, program.explain, lambda: program.detect(pa.table({}))):
        with pytest.raises(ensue.DataError, match=r"need a value for the parameter 'n' \(int\)"):
            run()
    assert not program.warnings


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"limt": 3}, r"no parameter 'limt'; there is 'limit', 'patience', 'n'. Did you mean 'limit'\?"),
        ({"limit": "80"}, "'limit' is declared as float, and '80' is none: write it as in 1.5"),
        ({"limit": float("inf")}, "declared as float"),
        ({"n": 2.5}, "declared as int"),
        ({"n": True}, "declared as int"),
        ({"n": None}, "declared as int"),
        ({"n": 2**63}, "declared as int"),
        ({"patience": "soon"}, "declared as duration, and 'soon' is none: write it as in 6h"),
        ([("n", 3)], "pass a dict of values"),
    ],
)
def test_what_does_not_fit_is_an_error(params, message):
    with pytest.raises(ensue.DataError, match=message):
        ensue.compile(RULES, params=params)


IN_RULES = """param zone: string = "UTC".
param word: string = "a".
param wait: duration = 1s.
event a(s: string, t: timestamp).
b(h = hour(t, zone)) <- a(s, t) where matches(s, word).
c() <- o: a(_, _), w: extend(o, wait).
"""


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"zone": "\ud800"}, r"The parameter 'zone' is '\\ud800', which is no text"),
        ({"zone": "Europe/Berln"}, "'zone' cannot be 'Europe/Berln': there is no time zone .*, in line 5 of <rules>"),
        ({"zone": ""}, "'zone' cannot be '': the empty text names no time zone"),
        ({"word": "(a"}, r"'word' cannot be '\(a': the regular expression is wrong"),
        ({"wait": timedelta.max}, "'wait' cannot be datetime.timedelta.*: this duration does not fit into 64 bits"),
        ({"wait": -2, "word": "b"}, "^The parameter 'wait' cannot be -2: with a negative length"),
        ({"zone": "X", "word": "("}, r"'zone' cannot be 'X': .* The parameter 'word' cannot be '\('"),
    ],
)
def test_what_the_rules_make_nothing_of_is_an_error_that_names_the_parameter(params, message):
    with pytest.raises(ensue.DataError, match=message):
        ensue.compile(IN_RULES, params=params)


def test_a_state_goes_on_with_the_same_values_and_whatever_is_said_about_rules():
    program = ensue.compile(RULES, params={"n": 2})
    session = program.start()
    session.send(EVENTS[0])
    state = session.save()
    said = ensue.compile(RULES.replace('"high"', '"low"').replace('"Too hot"', ""), params={"n": 2})
    assert said.resume(state).time == session.time
    with pytest.raises(ensue.StateError):
        program.with_params({"n": 3}).resume(state)


def test_rules_that_are_added_use_parameters():
    session = ensue.compile(RULES, params={"n": 2, "limit": 80.0}).start(emit=None)
    session.add("cool(m) <- reading(m, t) where t <= limit.")
    assert ("cool", 1) in types(session.send({"type": "reading", "time": 1, "m": "a", "t": 80.0}) + session.advance(9))


def test_a_test_with_values_that_are_wrong_has_failed():
    text = """
        param wait: duration.
        event a(x: int).
        b(x) <- o: a(x), w: extend(o, wait).
        test "in time" with wait = 2 given a(1) @ 1 until 9 expect b(1) @ [1, 3].
        test "back" with wait = -2 given a(1) @ 1 until 9 expect no b.
        test "none" given a(1) @ 1 expect no b.
    """
    fine, back, none = run_tests(ensue.compile(text))
    assert fine.passed
    assert "before it starts" in back.error
    assert "need a value for the parameter 'wait'" in none.error


def test_rules_say_what_is_said_about_them():
    program = ensue.compile(RULES, params={"n": 2})
    first, second, third, _ = program.rules
    assert (first.name, first.event, first.title) == ("too_hot", "hot", "Too hot")
    assert first.about == {"severity": "high", "tags": ("heat", "machine")}
    assert (second.title, second.about, third.name, third.about) == (None, {"severity": "critical"}, None, {})
    explained = program.explain()
    assert '  Too hot\n  severity = "high", tags = ("heat", "machine")\n' in explained.text()
    assert explained.json()["rules"][0]["about"] == {"severity": "high", "tags": ("heat", "machine")}


def test_an_action_is_handed_the_rules_for_its_event():
    told = []
    session = ensue.compile(RULES, params={"n": 2}).start(actions={"tell": lambda m, *, rules: told.append((m, rules))})
    session.send(EVENTS)
    session.advance(30)
    assert [(m, [rule.about["severity"] for rule in rules]) for m, rules in told] == [("a", ["high", "critical"])] * 2
