"""A table that rules use and that is not passed is reported as missing."""

from __future__ import annotations

import warnings

import pytest

import ensue

RULES = """
event a(x: int).
table vip(x: int).
table known(x: int).
table unused(x: int).
table made(x: int).
known(1).
made(x) :- known(x).
far(x) :- vip(x).
b(x) <- a(x) where far(x) and known(x) and made(x).
"""
EVENTS = [{"type": "a", "time": 1, "x": 1}]


def test_a_table_that_nobody_handed_over():
    program = ensue.compile(RULES)
    with pytest.warns(ensue.MissingTableWarning, match="use the table 'vip', which was not passed") as told:
        assert program.detect(EVENTS) == []
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert program.detect(EVENTS, tables={"vip": []}) == []
        assert len(program.detect(EVENTS, tables={"vip": [(1,)]})) == 1


@pytest.mark.parametrize(
    ("rule", "missing"),
    [
        ("b(x) <- a(x), t(x).", True),
        ("b(x) <- a(x) on t(x).", True),
        ("b(x) <- a(x) without (a(y) where t(y)).", True),
        ("b(x) <- a(x).  on b(x) if t(x) do tell(x).", True),
        ("b(if_known = t(x)) <- a(x).", True),
        ("b(x) <- a(x).", False),
        ("s(x) :- not t(x), u(x).  u(1).  b(x) <- a(x), s(x).", True),
    ],
)
def test_wherever_it_is_used(rule, missing):
    program = ensue.compile(f"event a(x: int).  table t(x: int).  {rule}")
    assert bool(program.missing_tables({})) is missing
    assert not program.missing_tables({"t": []})
