"""Answers on random programs and streams: what was detected is explained by its events, and nothing else is.

An attempt that lacks nothing is a match, so there is none where nothing was detected: the search for attempts and the
reference agree on what a match is.
"""

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.plan.certain import certain_types
from ensue.reasons.answer import Detected, Missing
from tests.agreement import meaning, same_value
from tests.random_programs import given_types, programs, streams

MOST_ASKED = 6
QUESTIONS = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def lines_of(found):
    """All lines of a detection, those of what it was derived from, too."""
    for derivation in found.derivations:
        for line in derivation.lines:
            yield line
            for inner in line.inner:
                yield from lines_of(inner)


def followed(found):
    """True if all that a detection was derived from is shown."""
    if found.more < 0 or (not found.derivations):
        return False
    return all(followed(inner) for d in found.derivations for line in d.lines for inner in line.inner)


def attempts_of(missing):
    for tried in missing.rules:
        for attempt in tried.attempts:
            yield attempt
            for stop in attempt.stops:
                for inner in stop.inner:
                    if isinstance(inner, Missing):
                        yield from attempts_of(inner)


@st.composite
def cases(draw):
    try:
        program = ensue.compile(draw(programs(most_rules=2)))
    except ensue.RuleError:
        assume(False)
    events = draw(streams(most_events=9, values=("plain", "plain", "nulls"), types=given_types(program)))
    assume(events)
    found = meaning(program, events)
    assume(not isinstance(found, type))
    return program, events, found


@given(cases())
@QUESTIONS
def test_what_was_detected_is_explained_by_events_that_are_there(case):
    program, events, found = case
    certain = certain_types(program.typed)
    for each in found[:MOST_ASKED]:
        row = {"type": each.type, "start": each.start, "end": each.end, **each.attributes}
        answer = ensue.why(program, events, row, limit=1)
        assert answer.detected, (each, str(answer))
        (explained,) = answer.found
        assert explained.derivations, (each, str(answer))
        shown = [line.event for line in lines_of(explained) if line.event is not None and line.event.row is not None]
        for event in shown:
            given_event = events[event.row]
            assert (event.type, event.start, event.end) == tuple(given_event[n] for n in ("type", "start", "end"))
            for name, value in event.attributes.items():
                assert same_value(value, given_event.get(name)), (name, event)
        rows = {event.row for event in shown}
        if each.sources is not None:
            assert {events_alike(events, row) for row in rows} <= {events_alike(events, row) for row in each.sources}
        if each.type in certain and followed(explained) and explained.more == 0:
            again = meaning(program, [events[row] for row in sorted(rows)], each.end)
            assert any(_same(each, other) for other in again), (each, again)


def events_alike(events, row):
    """The first of the events that are like one; the reference counts them as one source."""
    return min(place for place, event in enumerate(events) if repr(event) == repr(events[row]))


def _same(one, other):
    return (one.type, one.start, one.end) == (other.type, other.start, other.end) and all(
        same_value(value, other.attributes.get(name)) for name, value in one.attributes.items()
    )


@given(cases(), st.data())
@QUESTIONS
def test_what_was_not_detected_is_never_said_to_be(case, data):
    program, events, found = case
    for type_, declared in program.typed.events.items():
        names = [name for name, kind in declared.attributes.items() if kind in ("int", "string")]
        if not declared.derived:
            continue
        key = {}
        if names and data.draw(st.booleans()):
            name = data.draw(st.sampled_from(names))
            key[name] = data.draw(st.sampled_from([0, 1, 2, 3] if declared.attributes[name] == "int" else ["p", "q"]))
        fitting = [
            each for each in found
            if each.type == type_ and all(same_value(each.attributes.get(n), v) for n, v in key.items())
        ]  # fmt: skip
        answer = ensue.why(program, events, type=type_, key=key)
        assert answer.detected == bool(fitting), str(answer)
        assert len(answer.found) + answer.more == len(fitting)
        assert all(isinstance(each, Detected) for each in answer.found)
        if answer.missing is not None:
            for attempt in attempts_of(answer.missing):
                assert attempt.stops, str(answer)
                assert all(stop.kind != "unknown" for stop in attempt.stops), str(answer)
        assert str(answer)
        assert answer._repr_html_()
        assert answer.to_dict()
