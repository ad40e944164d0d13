"""Timestamps beside integer times: what would mix two units is refused, and what knows the unit runs."""

import pytest

import ensue

DECLARED = "event a(s: int, due: timestamp). "
EVENTS = [{"type": "a", "time": 1767225600, "s": 1, "due": "2026-01-01T00:00:00Z"}]
MIXED = [
    "r(d = o.end - due) <- o: a(_, due).",
    "r(s) <- o: a(s, due) where o.end >= due.",
    "r(s) <- a(s, due) where due + 1h > due.",
]
TEXTS = ['r(s) <- o: a(s, _) where o.end >= "2026-01-01".', 'r() <- at("2026-01-01").']


@pytest.mark.parametrize("engine", ["reference", "embedded"])
@pytest.mark.parametrize("rules", MIXED)
def test_timestamps_beside_integer_times_of_another_unit_are_refused(rules, engine):
    program = ensue.compile("unit s. " + DECLARED + rules)
    with pytest.raises(ensue.DataError, match='Have them read as timestamps: `time_unit="s"`'):
        program.detect(EVENTS, engine=engine)
    with pytest.raises(ensue.DataError, match="relate timestamps"), program.start() as session:
        session.send(EVENTS[0])
    assert len(program.detect(EVENTS, time_unit="s", engine=engine)) == 1


@pytest.mark.parametrize("rules", TEXTS)
def test_text_beside_integer_times_needs_a_unit(rules):
    with pytest.raises(ensue.DataError, match="State what one of them is"):
        ensue.compile(DECLARED + rules).detect(EVENTS)
    assert len(ensue.compile("unit s. " + DECLARED + rules).detect(EVENTS)) == 1


def test_timestamps_beside_microseconds_and_beside_text_need_nothing():
    micros = [{**EVENTS[0], "time": EVENTS[0]["time"] * 10**6}]
    assert ensue.compile("unit us. " + DECLARED + MIXED[0]).detect(micros)[0]["d"] == 0
    assert len(ensue.compile(DECLARED + 'r(s) <- a(s, due) where due >= "2026-01-01".').detect(EVENTS)) == 1
