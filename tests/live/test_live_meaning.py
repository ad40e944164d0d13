"""A session gives the same as the reference on all events at once, however they are sent."""

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.data import Form
from ensue.data.give_back import give_back
from ensue.reference import detect
from ensue.request import Request
from tests.random_programs import programs, streams

INTEGERS = dict.fromkeys(("start", "end", "k", "x"), pa.int64())
SCHEMA = pa.schema({"type": pa.string(), **INTEGERS, "y": pa.float64(), "u.s": pa.string(), "o": pa.bool_()})


def compiled(rules):
    try:
        return ensue.compile(rules)
    except ensue.RuleError:
        assume(False)


def expected(program, events, until=None):
    try:
        found, read = program.detect_tables(events, Request(until, engine="reference"))
    except ensue.DetectError:
        assume(False)
    return give_back(found, read.form)


def cuts(draw, events):
    """The events in pieces of any length."""
    pieces, at = [], 0
    while at < len(events):
        size = draw(st.integers(1, 4))
        pieces.append(events[at : at + size])
        at += size
    return pieces


def arrow(events):
    return pa.Table.from_pylist(events, schema=SCHEMA)


def rows(table):
    """The rows of a table of detections, as they would be among dicts; attributes of other types are null."""
    return [{k: v for k, v in row.items() if v is not None} for row in table.to_pylist()]


def without_nulls(detections):
    return [{k: v for k, v in row.items() if v is not None} for row in detections]


def rounded(detections):
    """Detections with floats as exact as all executions compute them, which add in different orders."""
    return [{k: float(f"{v:.12g}") if type(v) is float else v for k, v in row.items()} for row in detections]


def shuffled(draw, events, lateness):
    """The events in an order in which none comes more than the lateness behind one that ends later."""
    waiting = sorted(events, key=lambda event: event["end"])
    order = []
    while waiting:
        allowed = [e for e in waiting if e["end"] - waiting[0]["end"] <= lateness]
        order.append(waiting.pop(draw(st.integers(0, len(allowed) - 1))))
    return order


def in_order(events):
    return sorted(events, key=lambda event: event["end"])


@settings(max_examples=60)
@given(programs(), streams(), st.data())
def test_one_dict_at_a_time(rules, events, data):
    program = compiled(rules)
    until = data.draw(st.none() | st.integers(0, 30))
    until = until if until is None or not events else max(until, max(e["end"] for e in events))
    wanted = expected(program, events, until)
    session = program.start(in_order=True)
    found = []
    for event in in_order(events):
        found += session.send(event)
    assert rounded(found + session.close(until)) == rounded(wanted)
    assert (session.received, session.late, session.waiting) == (len(events), 0, 0)


@settings(max_examples=60)
@given(programs(), streams(), st.data())
def test_any_cuts_within_lateness(rules, events, data):
    program = compiled(rules)
    wanted = expected(program, events)
    lateness = data.draw(st.integers(0, 6))
    session = program.start(lateness, in_order=True)
    found = []
    for piece in cuts(data.draw, shuffled(data.draw, events, lateness)):
        found += session.send(piece)
    assert rounded(found + session.close()) == rounded(wanted)


@settings(max_examples=40)
@given(programs(), streams(), st.data())
def test_arrow_and_dicts_mixed(rules, events, data):
    program = compiled(rules)
    try:
        program.detect(arrow([]))
    except ensue.DataError:  # attributes of one name and several types: no table holds them
        assume(False)
    wanted = expected(program, events)
    lateness = data.draw(st.integers(0, 4))
    session = program.start(lateness, in_order=True)
    found = []
    for piece in cuts(data.draw, shuffled(data.draw, events, lateness)):
        if data.draw(st.booleans()):
            found += rows(session.send(arrow(piece)))
        else:
            found += without_nulls(session.send(piece))
    session.send([])
    assert rounded(found + without_nulls(session.close())) == rounded(without_nulls(wanted))


@settings(max_examples=60)
@given(programs(), streams(), st.data())
def test_saved_and_resumed(rules, events, data):
    program = compiled(rules)
    wanted = expected(program, events)
    lateness = data.draw(st.integers(0, 4))
    session = program.start(lateness, in_order=True)
    found = []
    for piece in cuts(data.draw, shuffled(data.draw, events, lateness)):
        if data.draw(st.booleans()):
            session = program.resume(session.save())
        found += session.send(piece)
    session = program.resume(session.save())
    assert rounded(found + session.close()) == rounded(wanted)


@settings(max_examples=40)
@given(programs(), streams(), st.data())
def test_sources_are_those_of_the_reference(rules, events, data):
    program = compiled(rules)
    lateness = data.draw(st.integers(0, 4))
    sent = shuffled(data.draw, events, lateness)
    try:
        wanted = detect(program.typed, [(e["type"], attributes(e), e["start"], e["end"], None) for e in sent])
    except ensue.DetectError:
        assume(False)
    session = program.start(lateness, provenance=True)
    found = []
    for piece in cuts(data.draw, sent):
        if data.draw(st.booleans()):
            session = program.resume(session.save())
        found += session.send(piece)
    found += session.close()
    assert [(row["type"], row["start"], row["end"], row["sources"]) for row in found] == [
        (event.type, event.start, event.end, sorted(event.sources)) for event in wanted
    ]
    tables, _ = program.detect_tables(sent, Request(provenance=True))
    assert give_back(tables, Form("rows")) == found


def types_added(program, extra):
    """The types that more rules derive, all of them new."""
    together = compiled(program.file.source.text + "\n" + "\n".join(extra))
    before = {rule.event for rule in program.typed.rules}
    added = {rule.event for rule in together.typed.rules[len(program.typed.rules) :]}
    assume(before.isdisjoint(added))
    return added


def attributes(event):
    return {name: value for name, value in event.items() if name not in ("type", "start", "end")}


@settings(max_examples=40)
@given(programs(), programs(most_rules=1, alone=True), streams(), st.data())
def test_rules_that_stay_do_not_notice_what_is_added_and_removed(rules, more, events, data):
    program = compiled(rules)
    wanted = expected(program, events)
    added = more.splitlines()[-1].replace("d0(", "z0(")
    extra = [statement.strip() + "." for statement in added.split(". ") if statement.strip(" .")]
    extra = [f"rule extra{number}: {statement.rstrip('.')}." for number, statement in enumerate(extra)]
    more_types = types_added(program, extra)
    session = program.start(in_order=True)
    found = []
    there = False
    for event in in_order(events):
        if data.draw(st.integers(0, 3)) == 0:
            if there:
                for number in reversed(range(len(extra))):  # a rule goes before those that derive what it uses
                    session.remove(f"extra{number}")
            else:
                session.add("event new(q: int).\n" * ("event new" not in session.rules) + "\n".join(extra))
            there = not there
        found += session.send(event)
    found += session.close()
    assert rounded(row for row in found if row["type"] not in more_types) == rounded(wanted)
