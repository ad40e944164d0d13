"""Events of a type that rules derive may be given as well: times and lists among their attributes are read as such."""

import pyarrow as pa
import pytest

import ensue

RULES = """
event a(x: int).
b(t = o.start, l = list(x)) <- o: a(_), while o: collect a(x).
c(t, l) <- b(t, l).
"""


@pytest.mark.parametrize("engine", ["embedded", "reference"])
@pytest.mark.parametrize("form", ["rows", "table"])
def test_times_and_lists(engine, form):
    rows = [{"type": "b", "time": 1, "t": 5, "l": [1, 2], "x": None}, {"type": "a", "time": 2, "x": 3}]
    given = rows if form == "rows" else pa.Table.from_pylist(rows)
    found = ensue.compile(RULES).detect(given, emit="c", engine=engine)
    found = found if form == "rows" else found.to_pylist()
    assert found == [{"type": "c", "start": 1, "end": 1, "t": 5, "l": [1, 2]}]


def test_what_is_no_list_is_a_bad_row():
    program = ensue.compile(RULES)
    with pytest.warns(ensue.BadRowsWarning):
        assert program.detect([{"type": "b", "time": 1, "t": 5, "l": 7}, {"type": "z", "time": 2}], emit="c") == []
