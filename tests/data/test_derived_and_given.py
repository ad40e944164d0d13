"""A type that rules derive is given as well where it is declared; where it is not, a row of it is a bad row."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ensue
from ensue.data.errors import not_taken
from ensue.data.write import write_events

RULES = """
event a(x: int).
b(x) <- a(x).
c(x) <- b(x).
"""
DECLARED = "event b(x: int)." + RULES
ROWS = [{"type": "b", "time": 9, "x": 7}, {"type": "a", "time": 2, "x": 3}]
FORMS = {
    "rows": lambda folder: ROWS,
    "table": lambda folder: pa.Table.from_pylist(ROWS),
    "batches": lambda folder: iter(pa.Table.from_pylist(ROWS[::-1]).to_batches(1)),
    "pandas": lambda folder: pd.DataFrame(ROWS),
    "polars": lambda folder: pl.DataFrame(ROWS),
    "by type": lambda folder: {row["type"]: pa.Table.from_pylist([row]) for row in ROWS},
    "rows by type": lambda folder: {row["type"]: [row] for row in ROWS},
    "csv": lambda folder: written(folder / "events.csv"),
    "jsonl": lambda folder: written(folder / "events.jsonl"),
    "parquet": lambda folder: written(folder / "events.parquet"),
}


def written(path):
    write_events(pa.Table.from_pylist(ROWS), path)
    return path


def found_in(program, events, **more):
    """Values of the derived events, by type."""
    found = program.detect(events, **more)
    if isinstance(found, dict):
        return {name: [row["x"] for row in rows_of(each)] for name, each in found.items() if len(each)}
    values = {}
    for row in rows_of(found):
        values.setdefault(row["type"], []).append(row["x"])
    return values


def rows_of(found):
    match found:
        case list():
            return found
        case pa.RecordBatchReader():
            return found.read_all().to_pylist()
        case pa.Table():
            return found.to_pylist()
        case pd.DataFrame():
            return found.to_dict("records")
        case _:
            return found.to_dicts()


@pytest.mark.parametrize("form", FORMS)
def test_a_row_of_a_type_that_only_rules_derive_is_bad(form, tmp_path):
    bad = []
    found = found_in(ensue.compile(RULES), FORMS[form](tmp_path), on_bad_row=bad.append)
    assert found == {"b": [3], "c": [3]}
    assert [row.reason for row in bad] == [not_taken("b")]


@pytest.mark.parametrize("form", FORMS)
def test_a_declared_type_may_be_both(form, tmp_path):
    assert found_in(ensue.compile(DECLARED), FORMS[form](tmp_path)) == {"b": [3], "c": [3, 7]}


def test_the_reference_takes_the_same_rows():
    with pytest.warns(ensue.BadRowsWarning, match="the rules derive it; declare it with `event b"):
        assert found_in(ensue.compile(RULES), ROWS, engine="reference") == {"b": [3], "c": [3]}
    assert found_in(ensue.compile(DECLARED), ROWS, engine="reference") == {"b": [3], "c": [3, 7]}


def test_with_strict_it_is_an_error():
    with pytest.raises(ensue.DataError, match="row 0: rows of type b are not taken"):
        ensue.compile(RULES).detect(ROWS, strict=True)


def test_such_a_row_says_nothing_of_time():
    rules = "event a(x: int). b(x) <- o: a(x), w: extend(o, 5)."
    with pytest.warns(ensue.BadRowsWarning):
        assert ensue.compile(rules).detect(ROWS) == []
    assert ensue.compile(rules).detect([{**ROWS[0], "type": "z"}, ROWS[1]]) != []


def test_a_session_takes_none_of_them():
    bad = []
    session = ensue.compile(RULES).start(on_bad_row=bad.append, in_order=True)
    session.send(ROWS[1])
    session.send(ROWS[0])
    session.send([{**ROWS[0], "time": 3}, {**ROWS[1], "time": 4}])
    session.send(pa.Table.from_pylist([{**ROWS[0], "time": 5}, {**ROWS[1], "time": 6}]))
    found = session.close()
    assert [row.where for row in bad] == ["row 1", "row 2", "row 4"]
    assert {row.reason for row in bad} == {not_taken("b")}
    assert session.received == 6 and found.num_rows == 2


def test_the_first_event_of_a_session():
    bad = []
    session = ensue.compile(RULES).start(on_bad_row=bad.append, in_order=True)
    assert session.send(ROWS[0]) == [] and len(bad) == 1
    session.send(ROWS[1])
    assert [row["type"] for row in session.close()] == ["b", "c"]


LISTS = """
event a(x: int).
b(t = o.start, l = list(x)) <- o: a(_), while o: collect a(x).
"""


def test_times_and_lists_are_of_types_that_no_declaration_has():
    with pytest.warns(ensue.BadRowsWarning, match="rows of type b are not taken"):
        assert ensue.compile(LISTS).detect([{"type": "b", "time": 1, "t": 5, "l": [1, 2]}]) == []
