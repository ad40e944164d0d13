"""Rules with ``once``, ``at most`` and ``all``: their visible effects besides the events."""

from __future__ import annotations

import warnings
from random import Random

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ensue
from ensue.reference import detect
from tests.agreement import attributes_of
from tests.random_programs import given_types, programs, streams

RULES = """
event hot(m: string, t: int).
rule calm: earliest(m) <- hot(m, t) once per m in 10.
rule few: some(m, t) <- hot(m, t) at most 2 per m in 10.
plain(m) <- hot(m, t).
"""
EVENTS = [{"type": "hot", "time": time, "m": "ab"[time % 2], "t": time} for time in range(12)]
SUPPRESSED = {"calm": 8, "few": 6}


def test_what_is_not_kept_is_counted():
    program = ensue.compile(RULES)
    table = pa.Table.from_pylist(EVENTS)
    forms = [EVENTS, table, {"hot": table.drop_columns("type")}, table.to_pandas(), pl.from_arrow(table), "reader"]
    for form in forms:
        for settings_ in ({}, {"engine": "reference"}, {"provenance": True}, {"compiled": True}):
            if isinstance(form, str) and settings_ in ({"engine": "reference"}, {"provenance": True}):
                continue
            told = []
            events = table.to_reader(max_chunksize=5) if isinstance(form, str) else form
            found = program.detect(events, on_suppressed=told.append, **settings_)
            if isinstance(found, pa.RecordBatchReader):
                found.read_all()
            assert told == [SUPPRESSED], (type(form), settings_)
    assert ensue.compile("event hot(m: string).  plain(m) <- hot(m).").detect(EVENTS, on_suppressed=told.append)
    assert told[-1] == {}


def test_a_session_counts_and_goes_on_counting():
    program = ensue.compile(RULES)
    session = program.start()
    assert session.suppressed == {"calm": 0, "few": 0}
    for number, event in enumerate(EVENTS):
        session.send(event)
        if number % 4 == 3:
            session = program.resume(session.save())
    session.advance(20)
    assert session.suppressed == SUPPRESSED
    session.add("rule late: late(m) <- hot(m, t) once in 100.")
    session.send([{"type": "hot", "time": time, "m": "a", "t": 0} for time in (21, 22)])
    session.close()
    assert session.suppressed == {"calm": 9, "few": 6, "late": 1}


def test_explain_says_how_many():
    explained = ensue.compile(RULES).explain([*EVENTS, EVENTS[0]])
    assert "once per m in 10" in explained.text()
    assert "observed: 13 in, 4 out, at most 2 kept, 8 suppressed" in explained.text()
    assert explained.json()["rules"][1]["plan"]["observed"]["suppressed"] == 6


def test_a_group_is_forgotten_when_nothing_counts_any_more():
    session = ensue.compile(RULES).start(emit="earliest", in_order=True)
    for time in range(0, 4000, 5):
        session.send({"type": "hot", "time": time, "m": str(time), "t": 0})
    kept = {(size.rule, size.node): size.tuples for size in session.sizes()}
    assert kept["calm", "quiet"] < 100


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.data())
def test_numbers_are_those_of_the_definitions(text, data):
    try:
        program = ensue.compile(text)
    except ensue.RuleError:
        return
    if not any(rule.quiet for rule in program.typed.rules):
        return
    events = data.draw(streams(20, types=given_types(program)))
    wanted: dict[int, int] = {}
    rows = [(e["type"], attributes_of(e), e["start"], e["end"], None) for e in events]
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            detect(program.typed, rows, suppressed=wanted)
            program.detect([dict(e) for e in events], on_suppressed=told.append)
        except ensue.DetectError:
            return
    assert told == [program.suppressed_by_name(wanted)]


ALL = """
event login(ip: string, user: string).
all seen(ip) <- login(ip, _).
counted(n = count(s)) <- while each 10: collect s: seen(_).
on seen(ip) do tell(ip).
"""
LOGINS = [{"type": "login", "time": 1, "ip": "x", "user": user} for user in "abc"]


def test_matches_kept_apart_know_what_they_came_from():
    found = ensue.compile(ALL).detect(LOGINS, until=10, provenance=True)
    assert sorted(row["sources"] for row in found if row["type"] == "seen") == [[0], [1], [2]]
    assert [row["sources"] for row in found if row["type"] == "counted"] == [[0, 1, 2]]


@pytest.mark.parametrize("in_order", [True, False])
def test_each_match_has_a_key_of_its_own(in_order):
    told = []
    program = ensue.compile(ALL)

    def tell(ip, *, key):
        told.append(key)

    for _ in range(2):
        session = program.start(lateness=3, in_order=in_order, actions={"tell": tell})
        for event in Random(1).sample(LOGINS, 3):
            session.send(event)
        session.close()
    assert len(told) == 6
    assert len(set(told)) == 3


def test_every_form_has_each_of_them():
    program = ensue.compile(ALL)
    table = pa.Table.from_pylist(LOGINS)
    assert program.detect(table, emit="seen").num_rows == 3
    assert len(program.detect(table.to_pandas(), emit="seen")) == 3
    assert isinstance(program.detect(table.to_pandas(), emit="seen"), pd.DataFrame)
    assert program.detect(pl.from_arrow(table), emit="seen").height == 3
    assert program.detect(table.to_reader(max_chunksize=1), emit="seen").read_all().num_rows == 3
