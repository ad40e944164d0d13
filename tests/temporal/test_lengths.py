"""Lengths of derived events by their rules; no event is ever shorter or longer."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.reference import detect
from ensue.temporal.constraints import length_of_event
from ensue.temporal.instants import with_instants
from ensue.temporal.lengths import lengths_of
from tests.agreement import SEQUENCE, attributes_of
from tests.random_programs import given_types, programs, streams

DECLARATIONS = """
event a(k: int). event i(k: int) instant. event j(k: int) instant. event both(k: int).
"""


def lengths(rules, instants=False):
    program = ensue.compile(DECLARATIONS + rules).typed
    return lengths_of(with_instants(program) if instants else program)


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ("d(k) <- i(k).", (0, 0)),
        ("d(k) <- a(k).", (0, None)),
        ("d(k) <- i(k) seq j(k).", (1, None)),
        ("d(k) <- i(k) seq j(k) within 5.", (1, 5)),
        ("d(k) <- i(k) and j(k) lasting 4.", (4, 4)),
        ("d(k) <- o: i(k), w: extend(o, 6).", (6, 6)),
        ("d(k) <- o: i(k), w: extend_backward(o, 6), v: extend(o, 2).", (8, 8)),
        ("d(k) from o <- o: i(k), w: extend_backward(o, 6).", (0, 0)),
        ("d(k) from w <- o: i(k), w: shift(o, 6).", (0, 0)),
        ("d(k) from o <- o: i(k), w: extend(o, 6).", (6, 6)),
        ("d(k) from e <- e: (i(k) before[2] j(k)), f: i(k), e before[3] f.", (5, 5)),
        ("d(k) from o <- i(k) seq o: j(k) seq i(k) within 9.", (1, 8)),
        ("d(k) from o <- (o: i(k) or o: j(k)) and i(k) within 9.", (0, 9)),
        ("d(k) <- e: i(k), f: j(k), e before[2..3] f.", (2, 3)),
        ("d(k) <- e: i(k), f: j(k) where e.end < f.start within 7.", (1, 7)),
        ("d(k) <- i(k) or j(k).", (0, 0)),
        ("d(k) <- (i(k) before[2] j(k)) or (j(k) before[4] i(k)).", (2, 4)),
        ("d(k) <- (i(k) seq j(k) within 3) seq i(k) within 5.", (2, 5)),
        ("d(k) <- recent i(k) seq j(k) within 5.", (1, 5)),
        ("d(n = count(e)) <- cumulative e: i(k) seq j(_) within 5.", (1, 5)),
        ("d(k) <- i(k) seq j(k) within 5 policy restricted.", (1, 5)),
        ("d(k) <- i(k){3}.", (0, None)),
        ("d(k) <- (i(k) seq j(k) within 5) without a(k).", (1, 5)),
        ("d(n = count(e)) <- while last 9: collect e: i(_).", (0, None)),
        ("unit s. d(n = count(e)) <- while last 9s: collect e: i(_).", (0, 8)),
        ("unit s. d(n = count(e)) <- while last 9s: collect e: a(_).", (0, None)),
        ("unit s. d(n = count(e)) <- while last 2s: collect e: (i(k) before[4..5] j(k)).", (4, 5)),
        ("d(n = count(e)) <- while each 9: collect e: a(_).", (9, 9)),
        ("unit s. d(n = count(e)) <- i(k), while last 9s: collect e: j(k).", (0, None)),
        ("unit s. d(n = count(e)) <- i(k), while last 9s: collect e: j(k) within 12.", (0, 12)),
        ("d(n = count(e)) <- while since i(k): collect e: j(k).", (0, None)),
        ("d(k) <- at(5), i(k) within 4.", (0, 4)),
        # any rule may have derived it
        ("d(k) <- i(k) before[2] j(k). d(k) <- i(k) before[7] j(k).", (2, 7)),
        ("d(k) <- i(k) before[2] j(k). d(k) <- i(k) seq j(k).", (1, None)),
        # what is derived from what is derived
        ("c(k) <- i(k) before[2..3] j(k). d(k) <- c(k) before[..4] i(k).", (3, 7)),
        ("d(k) <- i(k). d(k) <- d(k) before[..4] j(k).", (0, None)),
        ("d(k) <- i(k). d(k) from o <- d(k) before[..4] o: j(k).", (0, 0)),
        ("d(k) <- i(k). d(k) <- d(k) before[..4] j(k) within 9.", (0, 9)),
        ("d(k) <- i(k) before[3] j(k). d(k) <- c(k). c(k) <- d(k) seq i(k) within 20.", (3, 20)),
        ("d(k) <- i(k) before[9] j(k). d(k) from o <- x: d(k), o: i(k) where o.start = x.start + 1.", (0, 9)),
        # what can never be says nothing
        ("d(k) <- d(k) seq i(k).", (0, None)),
    ],
)  # fmt: skip
def test_lengths(rules, wanted):
    assert lengths(rules + " use(k = 1) <- d() seq i(_).")["d"] == wanted


def test_given_events_that_are_instants_say_more():
    rules = "d(k) <- a(k) before[..3] a(k). e(k) <- a(k). use(k) <- d(k) seq e(k)."
    assert lengths(rules)["d"] == (1, None)
    assert lengths(rules, instants=True) == {"d": (1, 3), "e": (0, 0), "use": (0, None)}


def test_a_declared_type_may_be_given_so_nothing_is_certain():
    program = ensue.compile(DECLARATIONS + "both(k) <- i(k). use(k) <- both(k) seq i(k).").typed
    assert program.events["both"].given and program.events["both"].length == (0, None)
    assert not with_instants(program).events["both"].instant
    assert not program.events["use"].given


@pytest.mark.parametrize(
    ("rule", "instant"),
    [
        ("d(k) <- i(k).", True),
        ("d(k) from o <- o: i(k), w: extend_backward(o, 6).", True),
        ("d(k) from w <- o: i(k), w: shift(o, 6).", True),
        ("d(k) <- a(k).", False),
        ("d(k) <- i(k) seq j(k).", False),
        ("d(k) <- i(k) before[1] j(k).", False),
        ("d(k) from o <- o: i(k), w: extend(o, 6).", False),
        ("d(k) from w <- o: i(k), w: extend(o, 6).", False),
        ("d(k) from o <- i(k) seq o: a(k).", False),
        ("d(k = count(e)) <- while last 2: collect e: i(_).", False),
    ],
)
def test_a_declared_instant_is_derived_at_one_moment(rule, instant):
    codes = {each.code for each in ensue.check_rules(DECLARATIONS + "event d(k: int) instant. " + rule)}
    assert ("E410" in codes) is not instant


def test_what_is_instantaneous_by_its_rules_is_so_for_others():
    program = ensue.compile(DECLARATIONS + "d(k) <- i(k) where k > 1. use(k) <- not d(k) in [d(k), d(k)].").typed
    assert program.events["d"].instant


def test_a_chain_of_many_types_takes_no_time():
    links = "".join(f"d{n + 1}(k) <- d{n}(k) before[..1] i(k)." for n in range(300, 0, -1))
    assert lengths("d1(k) <- i(k)." + links)["d300"] == (299, 299)


PAPER = """
unit s.
event order(id: int, p: string, q: int) instant.
event shipped(id: int, t: string) instant.
overdue(id) <- o: order(id, p, q), w: extend(o, 6h),  while w: not shipped(id, _), q < 10.
overdue(id) <- o: order(id, p, q), w: extend(o, 12h), while w: not shipped(id, _), q >= 10.
rep(count(sid)) <- o: overdue(oid), w: extend_backward(o, 24h), while w: collect shipped(sid, t).
"""


def test_the_report_of_the_paper_keeps_36_hours():
    """[000] rule 4: an overdue order lasts 6 or 12 hours, and 24 more are looked back from its start."""
    program = ensue.compile(PAPER)
    assert program.typed.events["overdue"].length == (6 * 3600, 12 * 3600)
    assert not [note for note in program.notes if note.code == "W003"]
    assert "keeps shipped: for 1d12h" in program.explain().text()
    session = program.start(time="time")
    for hour in range(400):
        session.send({"type": "shipped", "time": hour * 3600, "id": hour, "t": ""})
    assert max(size.tuples for size in session.sizes()) < 200


@settings(max_examples=60)
@given(programs(), st.data())
def test_no_event_is_shorter_or_longer_than_its_rules_say(text, data):
    try:
        compiled = ensue.compile(text)
    except ensue.RuleError:
        assume(False)
    program = compiled.typed
    for instants, times in ((False, ("dense", "usual", "wide")), (True, ("instants",))):
        known = with_instants(program) if instants else program
        events = data.draw(streams(16, types=given_types(compiled), times=times))
        rows = [(e["type"], attributes_of(e), e["start"], e["end"], e.get(SEQUENCE)) for e in events]
        try:
            found = detect(program, rows)
        except ensue.DetectError:
            continue
        for event in found:
            low, high = length_of_event(event.type, known.events)
            assert low <= event.end - event.start and (high is None or event.end - event.start <= high), event
