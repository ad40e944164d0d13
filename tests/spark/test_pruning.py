"""Attributes that nobody uses are not read."""

from __future__ import annotations

import pytest

import ensue
from ensue.spark.pruning import pruned

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
    ],
)
def test_what_is_kept(rule: str, a: str, b: str) -> None:
    events = pruned(ensue.compile(EVENTS + rule).typed).events
    assert ["".join(events[name].attributes) for name in "ab"] == [a, b]
