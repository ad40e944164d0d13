"""Matches that wait for a time keep the number of their key: nothing changes where keys come and go meanwhile."""

from __future__ import annotations

import random
from typing import Any

import pytest

import ensue
from ensue.engine import machine
from ensue.engine.capacity import SMALL, USUAL, Capacity, using

RUNNING = (False, True) if machine.available() else (False,)

RULES = """event a(k: int, l: int).  event b(k: int).  event c(l: int).
one(k) <- x: a(k, _), s: extend(x, {length}), while s: not b(k).
two(k, l) <- x: a(k, l), s: extend(x, {length}), while s: not b(k), while s: not c(l).
late(k) <- x: a(k, _), s: following(x, {length}), t: extend(s, 3), while t: not b(k)."""


def _events(seed: int) -> list[dict[str, Any]]:
    """Events of keys each of which is used for a while."""
    rng = random.Random(seed)
    found = []
    for time in range(120):
        for _ in range(rng.choice((0, 1, 1, 2))):
            type_ = rng.choice("aabc")
            key = rng.choice((None, *range(time // 12, time // 12 + 4)))
            found.append({"type": type_, "time": time, "k": key, "l": rng.randrange(3)})
    return [{name: event[name] for name in ("type", "time", *FIELDS[event["type"]])} for event in found]


FIELDS = {"a": ("k", "l"), "b": ("k",), "c": ("l",)}


@pytest.mark.parametrize("compiled", RUNNING)
@pytest.mark.parametrize("capacity", [USUAL, SMALL])
@pytest.mark.parametrize("length", [2, 15])
@pytest.mark.parametrize("seed", range(4))
def test_keys_that_are_freed_while_matches_wait(seed: int, length: int, capacity: Capacity, compiled: bool) -> None:
    program = ensue.compile(RULES.format(length=length))
    events = _events(seed)
    wanted = program.detect(events, 200, engine="reference")
    with using(capacity):
        assert program.detect(events, 200, compiled=compiled) == wanted
        session = program.start(compiled=compiled)
        sent = session.send([event for event in events if event["time"] < 60])
        session = program.resume(session.save())
        sent += session.send([event for event in events if event["time"] >= 60])
        sent += session.advance(200)
    assert sorted(map(str, sent)) == sorted(map(str, wanted))
