"""The answer as an object: a detection of any form as the question, HTML, plain data, rows that are bad."""

import json

import pytest

import ensue

PROGRAM = ensue.compile(
    "event order(id: int, who: string). event shipped(id: int)."
    "done(id, who) <- order(id, who) before[..1h] shipped(id)."
)
HOSTILE = "<img src=x onerror=alert(1)>"
EVENTS = [
    {"type": "order", "time": "2026-03-01T08:00:00Z", "id": 1, "who": HOSTILE},
    {"type": "shipped", "time": "2026-03-01T08:30:00Z", "id": 1},
    {"type": "order", "time": "2026-03-01T09:00:00Z", "id": 2, "who": "bob"},
    {"type": "shipped", "time": "2026-03-01T10:04:00Z", "id": 2},
    {"type": "shipped", "time": "later", "id": 3},
]


@pytest.mark.filterwarnings("ignore::ensue.BadRowsWarning")
def test_a_detection_as_detect_gives_it():
    (found,) = PROGRAM.detect(EVENTS)
    answer = ensue.why(PROGRAM, EVENTS, found)
    assert answer.detected
    assert [line.event.row for line in answer.found[0].derivations[0].lines if line.event] == [0, 1]
    assert json.loads(json.dumps(answer.to_dict()))["found"][0]["event"]["start"] == "2026-03-01T08:00:00Z"


def test_html_shows_text_as_text():
    shown = ensue.why(PROGRAM, EVENTS, type="done", id=1)._repr_html_()
    assert "<img" not in shown
    assert "&lt;img src=x onerror" in shown


def test_how_late_it_was_and_rows_that_are_bad():
    answer = ensue.why(PROGRAM, EVENTS, type="done", id=2)
    assert not answer.detected
    assert "shipped came 4m after the deadline: 1h4m after order, at most 1h" in str(answer)
    assert "1 row was left out, because it cannot be used:\nrow 4: " in str(answer)


def test_a_key_by_a_dict_and_a_row_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(EVENTS[:4])
    found = PROGRAM.detect(frame)
    assert ensue.why(PROGRAM, frame, found.iloc[0]).detected
    assert ensue.why(PROGRAM, frame, type="done", key={"who": "bob"}).missing is not None


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"type": "don"}, "Did you mean 'done'?"),
        ({"type": "order"}, "are given, not derived"),
        ({"type": "done", "whom": 1}, "Did you mean 'who'?"),
        ({"type": "done", "id": "x"}, "a value of type int"),
        ({"type": "done", "reading": {"tiem": "at"}}, "has no 'tiem'"),
    ],
)
def test_questions_that_make_no_sense(question, said):
    with pytest.raises(ensue.DataError, match=said.replace("?", r"\?")):
        ensue.why(PROGRAM, EVENTS, **question)


def test_no_events_at_all():
    assert "There are no events." in str(ensue.why(PROGRAM, [], type="done"))


def test_one_event_is_not_taken_for_two():
    program = ensue.compile("event order(id: int).  rush(id) <- order(id) seq order(id) within 60.")
    answer = ensue.why(program, [{"type": "order", "time": 8, "id": 1}], type="rush", id=1)
    assert "✗ there is no other order(id=1)" in str(answer) and str(answer).count("•") == 1
    late = ensue.why(program, [{"type": "order", "time": time, "id": 1} for time in (8, 99)], type="rush", id=1)
    assert "✗ it takes 91, 31 more than `within 60`" in str(late)


def test_no_events_up_to_a_time():
    answer = ensue.why(PROGRAM, [], type="done", id=1, until="2026-03-02T00:00:00Z")
    assert "there is no order(id=1)" in str(answer)


@pytest.mark.parametrize("function", [ensue.why, ensue.timeline])
def test_rules_that_are_text_are_refused(function):
    with pytest.raises(TypeError, match=r"takes a program, not 'event a\(\)\.': pass `ensue\.compile"):
        function("event a().", [])
