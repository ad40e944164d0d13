"""Unused attributes are not read."""

from __future__ import annotations

from typing import Any

import pytest

import ensue
from ensue.language.aggregates import AGGREGATES
from ensue.language.typed import Program
from ensue.reference import detect
from ensue.spark.pruning import pruned

ORDERED = ("first", "last", "list")
"""Aggregates that depend on the order of events."""

EVENTS = "event a(w: int, x: int, y: int, z: int). event b(w: int, x: int, y: int, z: int).\n"


@pytest.mark.parametrize(
    ("rule", "a", "b"),
    [
        ("r(y) <- a(_, _, y, _) seq b(_, _, y, _) within 5.", "y", "y"),
        ("r() <- a(_, _, _, _) seq b(_, _, 1, _) within 5.", "", "y"),
        ("r(v = o.z) <- o: a(_, _, y, _) seq b(y, _, _, _) within 5.", "yz", "w"),
        ("r(y) <- recent a(_, _, y, _) seq b(_, _, y, _) within 5.", "wxy", "wxy"),  # w and x decide before y does
        ("r(w) <- recent a(w, _, _, _) seq b(w, _, _, _) within 5.", "w", "w"),  # what differs in z is alike
        ("r() <- recent a(_, _, _, _) seq b(_, _, _, _) within 5.", "", ""),
        *((f"r(n = {name}(y)) <- while last 5s: collect a(_, _, y, _).", "wxy", "") for name in ORDERED),
        *((f"r(n = {name}(y)) <- while last 5s: collect a(_, _, y, _).", "y", "") for name in ("sum", "min", "count")),
        ("r(n = sum(y)) <- while last 5: collect a(_, _, y, _).", "wxy", ""),
        ("r(n = sum(y)) <- while each 5s: collect a(_, _, y, _).", "y", ""),
        ("r(n = sum(y)) <- a(_, _, y, _){3}.", "wxy", ""),
        ("r(y) <- a(_, _, y, _) seq b(_, _, _, _) policy restricted.", "wxy", ""),
    ],
)
def test_what_is_kept(rule: str, a: str, b: str) -> None:
    events = pruned(ensue.compile("unit s. " + EVENTS + rule).typed).events
    assert ["".join(events[name].attributes) for name in "ab"] == [a, b]


def test_every_aggregate_that_depends_on_the_order_of_events_is_known() -> None:
    assert sorted(ORDERED) == sorted(name for name, record in AGGREGATES.items() if record.ordered)
    values = [2, 1]
    for name, record in AGGREGATES.items():
        constants = (0.0,) if record.fraction else ()
        assert record.ordered == (record.meaning(values, *constants) != record.meaning(values[::-1], *constants)), name


@pytest.mark.parametrize(
    "rule",
    [
        *(f"r(n = {name}(y)) <- o: b(), p: preceding(o, 5), while [p]: collect a(_, _, y, _)." for name in ORDERED),
        "r(y) <- recent a(_, _, y, _) seq b().",
        "r(y) <- chronicle a(_, _, y, _) seq b().",
        "r(n = sum(y)) <- while last 2: collect a(_, _, y, _).",
        "r(n = sum(y)) <- a(_, _, y, _){2} where count(y) = 2.",
    ],
)
def test_events_of_one_moment_stay_in_order(rule: str) -> None:
    """By `w` they stand in another order than by `y`, so a column too few changes what is found."""
    program = ensue.compile("unit s. " + EVENTS + rule).typed
    ties = [("a", {"w": w, "x": 0, "y": y, "z": 0}, 1, 1, None) for w, y in ((1, 5), (2, 3), (3, 4))]
    rows = [*ties, ("b", dict.fromkeys("wxyz", 0), 2, 2, None)]
    events = pruned(program).events
    kept = [(type_, {n: v for n, v in row.items() if n in events[type_].attributes}, *at) for type_, row, *at in rows]
    fewer = [(type_, {n: v for n, v in row.items() if n == "y"}, *at) for type_, row, *at in rows]
    whole = found(program, rows)
    assert found(pruned(program), kept) == whole
    assert found(program, fewer) != whole


def found(program: Program, rows: list[Any]) -> list[Any]:
    return [(event.attributes, event.start, event.end) for event in detect(program, rows)]
