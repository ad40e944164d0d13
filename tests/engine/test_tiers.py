"""Better machine code is made for code that is used long, however the events come."""

import pyarrow as pa
import pytest

import ensue
from ensue.engine import machine
from ensue.engine.machine import tiers

pytestmark = pytest.mark.skipif(not machine.available(), reason="llvmlite is not installed")

RULES = "event a(k: int).\nevent b(k: int).\nw(k) <- a(k) seq b(k) within 3."


@pytest.fixture
def noted(monkeypatch):
    """The numbers of events that code was used for."""
    found, original = [], tiers.Tiers.note

    def spy(self, events):
        found.append(events)
        original(self, events)

    monkeypatch.setattr(tiers.Tiers, "note", spy)
    return found


def table_of(n):
    return pa.table({"type": ["ab"[t % 2] for t in range(n)], "time": range(n), "k": [t // 2 % 9 for t in range(n)]})


@pytest.mark.parametrize("compiled", (None, True))
def test_events_of_each_table_count(noted, compiled):
    program = ensue.compile(RULES)
    for _ in range(3):
        program.detect(table_of(5_000), compiled=compiled)
    assert sum(noted) == 15_000


def test_events_of_each_batch_count_once(noted):
    session = ensue.compile(RULES).start(compiled=True)
    table = table_of(3_000)
    for begin in (0, 1_000, 2_000):
        session.send(table.slice(begin, 1_000))
    session.close()
    assert sum(noted) == 3_000
