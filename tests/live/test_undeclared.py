"""Undeclared events in tables: values are those of the columns, whose types may change from one table to the next."""

from datetime import datetime
from random import Random

import pyarrow as pa
import pytest

import ensue
from ensue.engine.capacity import SMALL, USUAL, using

RULES = """
pair(k, x = v, y = w) <- a(k = k, v = v) seq b(k = k, v = w) within 20.
less(k, x = v) <- a(k = k, v = v) seq b(k = k, v = w) within 20 where v < w.
same(v) <- a(v = v) seq b(v = v) within 20.
sum(k, s = v + w) <- a(k = k, v = v) seq b(k = k, v = w) within 20.
again(x) <- pair(x = x) seq pair(y = x) within 20.
"""

COLUMNS = {
    "integers": (lambda rng: rng.randrange(-2, 4), pa.int64()),
    "narrow": (lambda rng: rng.randrange(-2, 4), pa.int8()),
    "floats": (lambda rng: rng.choice([-2.0, -0.0, 0.0, 1.0, 1.5, 2.0**53, float("nan")]), pa.float64()),
    "large": (lambda rng: rng.choice([2**53, 2**53 + 1, -(2**63)]), pa.int64()),
    "strings": (lambda rng: rng.choice(["1", "a", "longer than eight"]), pa.string()),
    "large strings": (lambda rng: rng.choice(["1", "a", ""]), pa.large_string()),
    "dictionary": (lambda rng: rng.choice(["1", "a"]), pa.dictionary(pa.int32(), pa.string())),
    "truth": (lambda rng: rng.random() < 0.5, pa.bool_()),
    "times": (lambda rng: rng.randrange(3), pa.timestamp("us")),
    "lists": (lambda rng: [rng.randrange(2)], pa.list_(pa.int64())),
    "nothing": (lambda rng: None, pa.null()),
}


def column(rng, kind, count):
    make, type_ = COLUMNS[kind]
    return pa.array([None if rng.random() < 0.1 else make(rng) for _ in range(count)], type_)


def tables(rng):
    """Tables one after the other in time; a column may be missing."""
    begin = 0
    for _ in range(rng.randrange(2, 6)):
        count = rng.choice([1, 3, 40, 100])
        times = sorted(rng.randrange(begin, begin + 60) for _ in range(count))
        begin = times[-1] + rng.randrange(2)
        made = {
            "type": pa.array([rng.choice("abc") for _ in range(count)]),
            "time": pa.array(times, pa.int64()),
            "k": column(rng, rng.choice(list(COLUMNS)), count),
            "v": column(rng, rng.choice(list(COLUMNS)), count),
            "beside": column(rng, rng.choice(list(COLUMNS)), count),
        }
        if rng.random() < 0.2:
            del made[rng.choice(["k", "v"])]
        yield pa.table(made)


def detected(program, pieces, rng=None, **how):
    """All detections of a session, as functions see them; with `rng` it is saved and resumed now and then."""
    found = []
    names = {rule.event for rule in program.typed.rules}
    functions = [(name, found.append) for name in sorted(names)]
    session = program.start(emit=["same"], **how)  # one table cannot hold all
    for piece in [None, *pieces, None]:
        if rng is not None and rng.random() < 0.3:
            session = program.resume(session.save())
            functions = [(name, found.append) for name in sorted(names)]
        for name, function in functions:
            session.on(name, function)
        functions = []
        session.send([] if piece is None else piece)
    session.close()
    return sorted(str(sorted((name, repr(value)) for name, value in row.items())) for row in found)


@pytest.mark.parametrize("seed", range(40))
def test_tables_mean_the_same_as_their_rows(seed):
    rng = Random(seed)
    program, sent = ensue.compile(RULES), list(tables(rng))
    rows = [{name: value for name, value in row.items() if value is not None}
            for table in sent for row in table.to_pylist()]  # fmt: skip
    with using(rng.choice([USUAL, SMALL])):
        found = detected(program, sent, rng, in_order=rng.random() < 0.5, compiled=rng.choice([True, False, None]))
    assert found == detected(program, rows, compiled=False)


def test_late_events_have_all_their_columns():
    late = []
    session = ensue.compile("c(k) <- a(k = k) seq b(k = k).").start(on_late=late.append)
    session.send(pa.table({"type": ["a", "b"], "time": [5, 9], "k": [1, 2]}))
    columns = {"k": [1, None, 3], "v": pa.array([1, 2, 3], pa.int8()), "w": pa.array([None, None, [1]])}
    session.send(pa.table({"type": ["a", "b", "d"], "time": [1, 2, 10], **columns}))
    assert late == [
        {"type": "a", "start": 1, "end": 1, "k": 1, "v": 1},
        {"type": "b", "start": 2, "end": 2, "v": 2},
    ]


def test_detections_of_several_tables_are_of_their_types():
    session = ensue.compile("c(v) <- a(v = v).").start()
    types = []
    for time, values in enumerate([[1, 2], [0.5, 1.0], ["x", "y"], [1, 2]]):
        found = session.send(pa.table({"type": ["a", "a"], "time": [2 * time, 2 * time + 1], "v": values}))
        types.append(found.schema.field("v").type)
        assert found["v"].to_pylist() == values
    assert types == [pa.int64(), pa.float64(), pa.string(), pa.int64()]


def test_a_column_of_values_of_several_types_is_text():
    session = ensue.compile("c(v) <- a(v = v).").start(in_order=True)
    for value in (1, "x", 0.5):
        session.send(pa.table({"type": ["a"], "time": [0], "v": [value]}))
    assert session.advance(1)["v"].to_pylist() == ["0.5", "1", "x"]


def test_lists_are_the_same_in_rows_and_in_tables():
    program = ensue.compile("c(k) <- a(k = k) seq b(k = k).")
    table = pa.table({"type": ["b"] * 100, "time": range(1, 101), "k": [[1]] * 100})
    session = program.start()
    session.send({"type": "a", "time": 0, "k": [1]})
    assert len(session.send(table)) + len(session.close()) == 100


def test_lists_and_times_are_not_comparable():
    program = ensue.compile("c(k, l) <- a(k = k) and b(k = l) where k < l.\nd(k) <- a(k = k).\nd(k) <- b(k = k).")
    moment = datetime(2026, 3, 1)
    session = program.start(in_order=True)
    session.send([{"type": "a", "time": 0, "k": [1]}, {"type": "b", "time": 0, "k": moment}])
    assert [(row["type"], row["k"]) for row in session.close()] == [("d", [1]), ("d", moment)]


@pytest.mark.parametrize("view", [pa.string_view(), pa.binary_view()])
def test_columns_of_views_in_any_order(view):
    program = ensue.compile("event a(x: int). d(x) <- a(x).\ne(v) <- b(v = v).")
    values = pa.array([None, "p" * 20, "q"]).cast(view)
    table = pa.table({"type": ["a", "b", "b"], "time": [3, 1, 2], "x": [1, 2, 3], "v": values})
    session = program.start(lateness=5)
    wanted = [each for each in values.to_pylist() if each is not None]
    assert [row["v"] for row in program.detect(table).to_pylist() if row["type"] == "e"] == wanted
    found = [*session.send(table).to_pylist(), *session.close().to_pylist()]
    assert [row["v"] for row in found if row["type"] == "e"] == wanted


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("aggregate", ["max", "min", "first"])
def test_new_values_are_compared_with_those_that_already_have_a_place(compiled, aggregate):
    """A new value moves the places of others, also in the middle of a comparison."""
    program = ensue.compile(f"d(t = {aggregate}(v)) <- while last 1: collect a(v = v).")
    session = program.start(compiled=compiled)
    rows = [(0, 2), (0, 2), (4, -1), (8, 1), (8, 2)]
    found = [d for time, value in rows for d in session.send({"type": "a", "time": time, "v": value})]
    found += session.close()
    assert sorted((d["end"], d["t"]) for d in found) == [(0, 2), (4, -1), (8, 1), (8, 2)]


def batch(**columns):
    return pa.record_batch({"type": ["a"], "time": columns.pop("time"), **columns})


def test_a_reader_has_the_types_of_the_first_detections():
    program = ensue.compile("event a(k: int). d(v = w) <- other(w = w). d(v = 0) <- a(1).")
    batches = [batch(time=[1], k=[0]), batch(time=[2], k=[1])]
    found = program.detect(iter(batches))
    assert found.schema.field("v").type == pa.int64()
    assert found.read_all().column("v").to_pylist() == [0]


def test_values_that_fit_the_columns_of_a_reader():
    program = ensue.compile("d(v, k = k) <- a(v = v, k = k).")
    batches = [batch(time=[n], v=v, k=[n]) for n, v in enumerate([[1.5], [2], pa.nulls(1)])]
    assert program.detect(iter(batches)).read_all().column("v").to_pylist() == [1.5, 2.0, None]


TEXTS = {
    "string": pa.array(["x"]),
    "large": pa.array(["x"], pa.large_string()),
    "view": pa.array(["x"], pa.string_view()),
    "dictionary": pa.array(["x"]).dictionary_encode(),
}


@pytest.mark.parametrize("one", TEXTS)
@pytest.mark.parametrize("other", TEXTS)
def test_the_layout_of_text_may_change_from_batch_to_batch(one, other):
    program = ensue.compile("d(v) <- a(v = v).")
    found = program.detect(iter([batch(time=[1], v=TEXTS[one]), batch(time=[2], v=TEXTS[other])]))
    assert found.read_all().column("v").to_pylist() == ["x", "x"]


def test_the_width_of_numbers_may_change_from_batch_to_batch():
    program = ensue.compile("d(v) <- a(v = v).")
    for first in (pa.array([2], pa.int32()), pa.array([2.0], pa.float32())):
        batches = [batch(time=[1], v=first), batch(time=[2], v=[2**40])]
        assert program.detect(iter(batches)).read_all().column("v").to_pylist() == [2, 2**40]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1], ["text"]], "`v` had values of the type int64 in the first batch, and now has some of the type string"),
        ([[1], [2.5]], "`v` had values of the type int64 in the first batch, and now has some of the type double"),
        ([pa.nulls(1), [1]], "`v` had only null in the first detections, and now has some of the type int64"),
    ],
)
def test_values_that_do_not_fit_the_columns_of_a_reader(values, message):
    program = ensue.compile("d(v, k = k) <- a(v = v, k = k).")
    batches = [batch(time=[n], v=v, k=[n]) for n, v in enumerate(values)]
    with pytest.raises(ensue.DataError, match=message):
        program.detect(iter(batches)).read_all()
