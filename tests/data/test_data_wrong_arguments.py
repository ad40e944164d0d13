"""Arguments that are nothing of the kind: a sentence each, and no error of another library."""

import pandas as pd
import pyarrow as pa
import pytest

import ensue

PROGRAM = ensue.compile("event a(k: int). table t(k: int). r(k) <- a(k) where t(k).")

WRONG = {
    "a series": (lambda: PROGRAM.detect(pd.Series([1])), "is a pandas.* that gives no Arrow table"),
    "a series that is sent": (lambda: PROGRAM.start().send(pd.Series([1])), "is a pandas.* that gives no Arrow table"),
    "tables in a list": (lambda: PROGRAM.detect([], tables=[1]), r"`tables` is \[1\]; pass a dict"),
    "a number for types": (
        lambda: PROGRAM.detect([], emit=5),
        "`emit` is 5; it is the name of a type that rules derive",
    ),
    "bytes for types": (lambda: PROGRAM.start(emit=b"r"), "`emit` is b'r'; it is the name of a type"),
    "a number for a column": (lambda: PROGRAM.detect([], time=5), "`time` is 5; it is the name of a column"),
    "actions": (lambda: PROGRAM.start(actions=5), "`actions` is 5; pass a dict"),
    "two columns of a name": (
        lambda: PROGRAM.detect(pd.DataFrame([["a", 1, 2, 3]], columns=["type", "time", "k", "k"])),
        "^The given table has more than one column 'k'",
    ),
}


@pytest.mark.parametrize(("call", "said"), WRONG.values(), ids=WRONG)
def test_it_is_said_what_is_wrong(call, said):
    with pytest.raises(ensue.DataError, match=said):
        call()


@pytest.mark.parametrize("time", [2**62, -(2**62), 2**61 + 1])
def test_a_time_that_is_too_far_is_a_bad_row(time):
    program, bad = ensue.compile("event a(k: int). r(k) <- a(k)."), []
    rows = [{"type": "a", "time": time, "k": 1}, {"type": "a", "time": 3, "k": 1}]
    found = [{"type": "r", "start": 3, "end": 3, "k": 1}]
    assert program.detect(rows, on_bad_row=bad.append) == found
    assert program.detect(pa.Table.from_pylist(rows), on_bad_row=bad.append).to_pylist() == found
    session = program.start(on_bad_row=bad.append)
    assert [*session.send(rows[0]), *session.send(rows[1]), *session.close()] == found
    assert len(bad) == 3
    assert all("times lie within" in str(row) for row in bad)


@pytest.mark.parametrize(
    "body",
    [
        "d(k) seq a(k) seq u(k = k)",
        "d(k) seq (a(k) or u(k = k))",
        "not a(k) in [d(k), u(k = k)]",
        "d(k) seq e: a(k)+ seq u(k = k)",
    ],
)
def test_events_that_are_not_declared_have_the_keys_of_others_in_sessions_too(body):
    program = ensue.compile(f"event d(k: int). event a(k: int). r(k) <- {body}.")
    rows = [{"type": type_, "time": time, "k": 2} for time, type_ in enumerate("dau")]
    session = program.start(in_order=True)
    sent = [*session.send(rows[0]), *session.send(rows[1]), *session.send(rows[2]), *session.close()]
    assert sent == program.detect(rows) == program.detect(rows, engine="reference")
