"""Rules added and removed while a session runs."""

import pytest

import ensue

RULES = """
event a(x: int).
event b(x: int).
rule both: both(x) <- a(x) seq b(x).
"""


def event(type_, time, x=1):
    return {"type": type_, "time": time, "x": x}


def test_a_new_rule_sees_events_from_now_on():
    session = ensue.compile(RULES).start(in_order=True)
    session.send([event("a", 1), event("a", 2)])
    session.add("rule twice: twice(x) <- a(x) seq a(x).")
    assert session.send([event("a", 3), event("b", 4)]) == [
        {"type": "twice", "start": 2, "end": 3, "x": 1}
    ]  # what ends at 2 had not been evaluated
    assert [(row["type"], row["start"]) for row in session.close()] == [("both", 1), ("both", 2), ("both", 3)]


def test_a_rule_that_is_removed_finds_nothing_any_more():
    session = ensue.compile(RULES + "rule also: also(x) <- b(x).").start(in_order=True)
    session.send(event("a", 1))
    session.remove("both")
    session.send(event("b", 2))
    assert [row["type"] for row in session.close()] == ["also"]
    assert "both" not in session.rules
    assert "event a(x: int)." in session.rules


def test_what_is_wrong_changes_nothing():
    program = ensue.compile(RULES + "rule more: more(x) <- both(x).")
    session = program.start(in_order=True)
    session.send(event("a", 1))
    before = session.rules
    with pytest.raises(ensue.RuleError, match="E10"):
        session.add("bad(x) <- nothing(x).")
    with pytest.raises(ensue.RuleError, match="both"):
        session.remove("both")
    with pytest.raises(ensue.RuleError, match="E106"):
        session.add("rule both: other(x) <- a(x).")
    with pytest.raises(ensue.DataError, match=r"called 'boht'; there is 'both', 'more'\. Did you mean 'both'"):
        session.remove("boht")
    assert session.rules == before
    assert session.program is program
    session.send(event("b", 2))
    assert [row["type"] for row in session.close()] == ["both", "more"]


@pytest.mark.parametrize(
    ("rules", "name", "message"),
    [
        ("b(x) <- a(x).", "b", r"^The rule for 'b' has no name; .* name in front of a rule: `rule b: b\(x\) <- ….`$"),
        ("b(x) <- a(x). b(x) <- a(x), x > 3.", "b", r"^The rules for 'b' have no names; .*`rule b: b\(x\) <- ….`$"),
        ("c(1). b(x) :- c(x).", "b", r"^The rule for 'b' has no name; .*`rule b: b\(x\) :- ….`$"),
        ("b(x) <- a(x).", "a", r"^No rule is called 'a'; there is none\.$"),
        ("b(x) <- a(x). rule one: b(x) <- a(x), x > 3.", "b", r"^The rule for 'b' has no name; "),
        ("rule one: b(x) <- a(x).", "b", r"^No rule is called 'b'; there is 'one'\.$"),
    ],
)
def test_a_rule_without_a_name_is_not_removed(rules: str, name: str, message: str):
    session = ensue.compile(f"event a(x: int). {rules}").start()
    with pytest.raises(ensue.DataError, match=message):
        session.remove(name)


def test_another_rule_for_the_same_type():
    session = ensue.compile(RULES).start(in_order=True)
    session.send(event("a", 1))
    session.add("rule single: both(x) <- b(x) where x > 5.")
    session.send([event("b", 2), event("b", 2, 6)])
    assert [(row["start"], row["x"]) for row in session.close()] == [(1, 1), (2, 6)]


def test_types_that_grow():
    """A second rule makes a number a float; rules whose values are of another type now know nothing of the past."""
    session = ensue.compile(RULES + "n(v = x) <- a(x). pairs(v) <- n(v) seq n(v).").start(emit="pairs")
    session.send([event("a", 1, 2), event("a", 2, 3)])
    session.add("n(v = x + 0.5) <- b(x).")
    found = session.send([event("a", 3, 2), event("a", 4, 2), event("b", 5, 2)])
    assert found == [{"type": "pairs", "start": 3, "end": 4, "v": 2.0}]


def test_events_tables_and_facts():
    session = ensue.compile(RULES).start(in_order=True)
    session.send(event("a", 1))
    session.add('event c(x: int, s: string). table good(s: string). good("p").')
    session.add("rule c: ok(x) <- a(x) seq c(x, s) where good(s).")
    session.send([event("a", 2), {"type": "c", "time": 3, "x": 1, "s": "p"}])
    session.add('good("q").')
    session.send({"type": "c", "time": 4, "x": 1, "s": "q"})
    assert [(row["start"], row["end"]) for row in session.close()] == [(1, 4), (2, 4)]


def test_texts_in_a_new_rule():
    session = ensue.compile('event c(s: string). rule q: q(s) <- c(s) where s = "q".').start(in_order=True)
    session.send([{"type": "c", "time": 1, "s": s} for s in "xyzq"])
    session.advance(1)
    session.add('rule more: more(s, t = concat("p", s)) <- c(s) where starts_with("pq", s) or s = "z".')
    session.send([{"type": "c", "time": 2, "s": s} for s in ("p", "z", "q")])
    assert [(row["type"], row.get("t")) for row in session.close()] == [("q", None), ("more", "pp"), ("more", "pz")]


def test_facts_for_a_window_beside_a_table():
    """A window beside a table goes on with the rows that are there when an event comes."""
    session = ensue.compile(
        "event a(x: int). table t(y: int). t(1). w(y, n = count(o)) <- while last 9: collect o: a(_), t(y)."
    ).start()
    session.send([event("a", 1), event("a", 2)])
    session.add("t(2).")
    found = session.send(event("a", 3)) + session.close()
    assert [(row["y"], row["n"]) for row in found] == [(1, 2), (2, 2), (1, 3), (2, 3)]


def test_reactions():
    called = []
    program = ensue.compile(RULES + "on both(x) do f(x).")
    session = program.start(actions={"f": called.append})
    session.add("on a(x) if x > 1 do f(0 - x).")
    session.send([event("a", 1), event("a", 1, 2), event("b", 2)])
    session.close()
    assert called == [-2, 1]
    with pytest.raises(ensue.DataError, match="The rules do 'g'"):
        program.start(actions={"f": called.append}).add("on a(x) do g(x).")


def test_timers_of_a_new_rule_begin_now():
    session = ensue.compile(RULES).start()
    session.send([event("a", 1), event("a", 13)])
    session.add("rule m: m() <- at(7). rule l: l() <- at(17). rule p: p() <- every(5).")
    found = session.send(event("a", 21))
    assert [(row["type"], row["end"]) for row in found] == [("p", 15), ("l", 17), ("p", 20)]


def test_a_timer_that_is_running_goes_on():
    session = ensue.compile("event a(x: int). late(x) <- o: a(x), w: extend(o, 6). p() <- every(4).").start()
    session.send(event("a", 1))
    session.advance(3)
    session.add("rule more: more(x) <- late(x).")
    assert [(row["type"], row["end"]) for row in session.advance(8)] == [
        ("p", 4), ("late", 7), ("more", 7), ("p", 8),
    ]  # fmt: skip


def test_before_the_first_event():
    session = ensue.compile(RULES).start()
    session.add("rule c: c(x) <- a(x).")
    session.remove("both")
    assert [row["type"] for row in session.send([event("a", 1), event("b", 2)])] == ["c"]


def test_emit_stays_what_it_was():
    session = ensue.compile(RULES).start(emit="both", in_order=True)
    session.add("c(x) <- a(x).")
    session.send([event("a", 1), event("b", 2)])
    assert [row["type"] for row in session.close()] == ["both"]


def test_a_changed_session_is_resumed_with_its_own_rules():
    program = ensue.compile(RULES)
    session = program.start(in_order=True)
    session.send([event("a", 1), event("a", 2)])
    session.add("rule c: c(x) <- a(x) seq b(x) within 1.")
    state = session.save()
    with pytest.raises(ensue.StateError, match="other rules"):
        program.resume(state)
    session = ensue.compile(session.rules).resume(state)
    session.send(event("b", 3))
    assert [(row["type"], row["start"]) for row in session.close()] == [("both", 1), ("both", 2), ("c", 2)]


def test_statements_and_names_are_texts():
    session = ensue.compile("event a(x: int). b(x) <- a(x).").start()
    for wrong in (5, b"rule c: c(x) <- a(x).", None):
        with pytest.raises(TypeError, match=f"^statements are a text, not {type(wrong).__name__}$"):
            session.add(wrong)
        with pytest.raises(TypeError, match=f"^the name of a rule is a text, not {type(wrong).__name__}$"):
            session.remove(wrong)


def test_closed_sessions_do_not_change():
    session = ensue.compile(RULES).start()
    session.close()
    with pytest.raises(ensue.SessionError):
        session.add("c(x) <- a(x).")


USING = """
event a(x: int) instant. event b(x: int) instant.
rule short: pair(x) <- a(x) seq b(x) within 5.
rule use: use(x, n = count(c)) <- p: pair(x), w: extend_backward(p, 10), while w: collect c: b(_).
"""
LONG = "rule long: pair(x) <- a(x) seq b(x) within 50."
STREAM = [("b", 1), ("b", 7), ("a", 9), ("b", 12), ("a", 14), ("b", 15), ("b", 40)]


def test_a_rule_cannot_have_events_last_longer_than_others_counted_on():
    session = ensue.compile(USING).start(in_order=True)
    session.send(event("b", 1))
    with pytest.raises(ensue.DataError, match=r"`pair` may last 1 to 50; so far it was 1 to 5\. The rule `use` uses"):
        session.add(LONG)
    session.add("rule other: pair(x) <- b(x) seq a(x) within 4.")
    found = [row for type_, time in STREAM[1:] for row in session.send(event(type_, time))]
    assert [(row["type"], row["start"], row["end"]) for row in found] == [
        ("use", -3, 9), ("pair", 7, 9), ("use", -1, 12), ("pair", 9, 12), ("use", 2, 14), ("pair", 12, 14),
        ("use", 4, 15), ("pair", 14, 15),
    ]  # fmt: skip


def test_of_a_declared_type_any_length_is_counted_on():
    session = ensue.compile("event pair(x: int)." + USING).start()
    session.send(event("b", 1))
    session.add(LONG)
    assert "long" in session.rules


def test_a_longer_event_is_no_matter_where_nothing_depends_on_it():
    session = ensue.compile(USING.split("rule use")[0] + "rule two: two(x) <- pair(x) seq a(x).").start()
    session.send(event("b", 1))
    session.add(LONG)
    assert "long" in session.rules


def test_a_type_that_was_given_is_derived_now():
    """Given events may have any length, so the session still assumes that."""
    session = ensue.compile("event a(x: int). two(x) <- z(x = x) seq a(x) within 9.").start()
    session.send({"type": "z", "start": 1, "end": 6, "x": 1})
    session.add("z(x) <- a(x).")
    found = session.send([event("a", 8), event("b", 9)])
    assert [(row["type"], row["start"], row["end"]) for row in found] == [("two", 1, 8), ("z", 8, 8)]


@pytest.mark.parametrize("saved", [False, True])
def test_rules_that_stay_are_planned_as_before(saved):
    """The rule that derives the longer events is removed, and added again."""
    program = ensue.compile(USING.replace("within 5", "within 3") + LONG.replace("50", "7"))
    wanted = ensue.compile(USING.replace("within 5", "within 3")).detect([event(*each) for each in STREAM])
    session, found = program.start(), []
    for number, each in enumerate(STREAM):
        found += session.send(event(*each))
        if number == 1:
            session.remove("long")
        elif number == 2:
            if saved:
                session = ensue.compile(session.rules).resume(session.save())
            session.add("rule again: pair(x) <- a(x) seq b(x) within 3.")
        elif number == 4:
            with pytest.raises(ensue.DataError, match="`pair` may last 1 to 8; so far it was 1 to 7"):
                session.add(LONG.replace("50", "8"))
    found += session.close()
    key = ("type", "start", "end", "n")
    assert sorted(str([row.get(k) for k in key]) for row in found) == sorted(
        str([row.get(k) for k in key]) for row in wanted
    )


@pytest.mark.parametrize("number", [2, 3])
def test_a_rule_that_comes_again_knows_nothing_of_the_past(number):
    """True if it is like others, so that they run as one, or has parts in common with one."""
    rules = [f"rule r{i}: r{i}(x) <- a(x) seq b(x) within {i + 5}." for i in range(number)]
    session = ensue.compile("event a(x: int). event b(x: int)." + "".join(rules)).start()
    session.send(event("a", 1))
    session.advance(1)
    session.remove("r1")
    session.advance(2)
    session.add(rules[1])
    session.add("rule more: more(x) <- b(x) seq b(x).")
    session = ensue.compile(session.rules).resume(session.save())
    found = session.send([event("a", 3), event("b", 4)]) + session.close()
    assert [row["start"] for row in found if row["type"] == "r1"] == [3]
    assert [row["start"] for row in found if row["type"] == "r0"] == [1, 3]
