"""Timestamps beside integer times: rules that would mix two units are refused; those with a known unit run."""

import pytest

import ensue

DECLARED = "event a(s: int, due: timestamp). "
LATER = "event b(s: int, due: timestamp, end_of: timestamp). "
LENGTHS = [
    "end_of - due > 1h", "hours(end_of - due) > 1", "case when s > 0 then end_of - due else 1h end > 7",
    "coalesce(end_of - due, o.end - o.start) > 7", "1h + (end_of - due) > 7", "abs(end_of - due) between 1h and 3h",
    "end_of - due > o.end - o.start", "case when s > 0 then due else o.end end > o.start - 1",
    "least(due, o.end) < end_of",
    "due + (o.end - o.start) < end_of", "o.end + (end_of - due) > o.start",
]  # fmt: skip
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


@pytest.mark.parametrize("condition", LENGTHS)
def test_differences_of_timestamps_beside_lengths_of_another_unit_are_refused(condition):
    program = ensue.compile(f"unit s. {LATER} r(s) <- o: b(s, due, end_of) where {condition}.")
    row = {"type": "b", "time": 1767225600, "s": 1, "due": "2026-01-01T00:00:00Z", "end_of": "2026-01-01T02:00:00Z"}
    with pytest.raises(ensue.DataError, match="relate timestamps"):
        program.detect([row])
    assert len(program.detect([row], time_unit="s")) == 1


@pytest.mark.parametrize(
    "condition", ["end_of - due > 7", "(end_of - due) // 1000000 > 1h", "due < end_of", "due = due"]
)
def test_differences_of_timestamps_alone_are_microseconds(condition):
    program = ensue.compile(f"unit s. {LATER} r(s) <- o: b(s, due, end_of) where {condition}.")
    row = {"type": "b", "time": 1767225600, "s": 1, "due": "2026-01-01T00:00:00Z", "end_of": "2026-01-01T02:00:00Z"}
    assert len(program.detect([row])) == 1


@pytest.mark.parametrize("rules", TEXTS)
def test_text_beside_integer_times_needs_a_unit(rules):
    with pytest.raises(ensue.DataError, match="State what one of them is"):
        ensue.compile(DECLARED + rules).detect(EVENTS)
    assert len(ensue.compile("unit s. " + DECLARED + rules).detect(EVENTS)) == 1


def test_timestamps_beside_microseconds_and_beside_text_need_nothing():
    micros = [{**EVENTS[0], "time": EVENTS[0]["time"] * 10**6}]
    assert ensue.compile("unit us. " + DECLARED + MIXED[0]).detect(micros)[0]["d"] == 0
    assert len(ensue.compile(DECLARED + 'r(s) <- a(s, due) where due >= "2026-01-01".').detect(EVENTS)) == 1
