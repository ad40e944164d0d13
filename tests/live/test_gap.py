"""Sessions of events by inactivity, as time passes in a live session."""

import ensue

RULES = """
event click(user: string).
visit(user, n = count(c)) <- while gap 300: collect c: click(user).
"""
VISIT = {"type": "visit", "start": 0, "end": 500, "user": "a", "n": 2}


def _begun():
    session = ensue.compile(RULES).start()
    assert session.send({"type": "click", "time": 0, "user": "a"}) == []
    assert session.send({"type": "click", "time": 200, "user": "a"}) == []
    return session


def test_a_visit_is_over_when_time_has_passed():
    session = _begun()
    assert session.advance(499) == []
    assert session.advance(500) == [VISIT]
    assert session.advance(5000) == []


def test_a_click_of_another_user_lets_time_pass():
    session = _begun()
    assert session.send({"type": "click", "time": 501, "user": "b"}) == [VISIT]
    assert session.close(801) == [{"type": "visit", "start": 501, "end": 801, "user": "b", "n": 1}]


def test_a_visit_goes_on_after_a_state_was_saved():
    program = ensue.compile(RULES)
    resumed = program.resume(_begun().save())
    assert resumed.send({"type": "click", "time": 500, "user": "a"}) == []
    assert resumed.advance(800) == [{**VISIT, "end": 800, "n": 3}]


def test_nothing_is_kept_of_a_visit_that_is_over():
    session = ensue.compile(RULES).start()
    for number in range(100):
        session.send({"type": "click", "time": 1000 * number, "user": str(number)})
    assert sum(size.tuples for size in session.sizes()) <= 1
