"""Tables in sessions: late rows, several tables, and columns that some of them lack, with the answer of one table."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

import ensue
from ensue.data import Columns
from ensue.engine.capacity import SMALL, USUAL, Capacity, using
from ensue.engine.plain_tables import mixed_of
from ensue.engine.tables_in_order import in_time_order
from ensue.live.sent import Reading

RULES = """event a(k: int, x: float, s: string).  event b(k: int).
w(k, x, s) <- recent a(k, x, s) seq b(k) within 50.
n(k, c = count(e)) <- b(k), while last 20: collect e: a(k, _, _)."""

COUNT, LATE = 900, 30


def events(seed=3):
    """Events that come up to `LATE` after others, with ties, nulls, and events that are equal."""
    rng = np.random.default_rng(seed)
    time = np.sort(rng.integers(0, 2 * COUNT, COUNT))
    order = np.argsort(time + rng.integers(0, LATE, COUNT), kind="stable")
    table = pa.table(
        {
            "type": pa.array(np.array(["a", "b", "unused"])[rng.integers(0, 3, COUNT)]),
            "time": time,
            "k": pa.array(rng.integers(0, 5, COUNT), mask=rng.random(COUNT) < 0.1),
            "x": pa.array(rng.integers(0, 3, COUNT) / 2, mask=rng.random(COUNT) < 0.3),
            "s": pa.array([f"text {number}" for number in rng.integers(0, 9, COUNT)]),
        }
    )
    return table.take(pa.array(order))


def as_it_is(table):
    return table


def by_type(table):
    rows = {name: pa.compute.equal(table["type"], name) for name in ("a", "b")}
    return {name: table.filter(own).drop_columns(["type"]) for name, own in rows.items()}


def with_codes(table):
    """Texts as codes of a dictionary, another one in each table."""
    return table.set_column(4, "s", table["s"].dictionary_encode())


FORMS = {function.__name__: function for function in (as_it_is, by_type, with_codes)}


def in_order(table):
    names = [name for name in ("type", "end", "start", "k", "x", "s", "c") if name in table.column_names]
    return sorted(table.select(names).to_pylist(), key=repr)


def sent(program, tables, **settings):
    session = program.start(time="time", lateness=LATE, **settings)
    found = [session.send(table) for table in tables] + [session.close()]
    flat = [each for one in found for each in (one.values() if isinstance(one, dict) else [one])]
    return session, [row for each in flat for row in in_order(each)]


def cut(table, size):
    return [table.slice(first, size) for first in range(0, table.num_rows, size)]


@pytest.mark.parametrize("apart", [1, USUAL.apart])
@pytest.mark.parametrize("size", [70, 250])
@pytest.mark.parametrize("form", FORMS)
def test_late_rows_in_tables_are_those_of_one_table(form, size, apart):
    program, table = ensue.compile(RULES), events()
    wanted = program.detect(table, time="time")
    with using(Capacity(apart=apart)):
        session, found = sent(program, [FORMS[form](each) for each in cut(table, size)])
    assert session.late == 0
    got = [{name: value for name, value in row.items() if value is not None and name != "type"} for row in found]
    rows = [{n: v for n, v in row.items() if v is not None and n != "type"} for row in in_order(wanted)]
    assert sorted(map(repr, got)) == sorted(map(repr, rows))
    assert len(rows) > 150


def test_a_column_that_some_tables_lack_is_null_there():
    program, table = ensue.compile(RULES), events()
    first, second, third = cut(table, COUNT // 3 + 1)
    without = second.drop_columns(["x"])
    nulls = second.set_column(3, "x", pa.nulls(len(second), pa.float64()))
    untyped = second.set_column(3, "x", pa.nulls(len(second)))
    _, wanted = sent(program, [pa.concat_tables([first, nulls, third])])
    for middle in (without, nulls, untyped):
        _, found = sent(program, [first, middle, third])
        assert sorted(map(repr, found)) == sorted(map(repr, wanted))


def test_attributes_of_one_name_and_several_types_wait_side_by_side():
    program = ensue.compile("event a(k: int, x: int).  event b(k: int, x: string).  w(k, x, y) <- a(k, x) seq b(k, y).")
    rows = range(100)
    one = pa.table({"time": [2 * row for row in rows], "k": list(rows), "x": list(rows)})
    other = pa.table({"time": [2 * row + 1 for row in rows], "k": list(rows), "x": [f"{row}" for row in rows]})
    session = program.start(time="time", lateness=1_000, emit="w")
    found = [session.send({"a": one}), session.send({"b": other}), session.close()]
    rows_found = [row for each in found for row in pa.concat_tables(each.values()).to_pylist()]
    assert [(row["k"], row["x"], row["y"]) for row in rows_found] == [(row, row, f"{row}") for row in rows]


def test_rows_that_are_too_late_are_counted_and_given_back():
    program = ensue.compile("event a(k: int).  event b(k: int).  w(k) <- a(k) seq b(k) within 5.")
    came = []
    session = program.start(time="time", lateness=10, on_late=came.append)
    times = np.arange(200)
    table = pa.table({"type": ["a", "b"] * 100, "time": times, "k": times // 2})
    session.send(table)
    late = table.slice(100, 99).take(pa.array(np.arange(98, -1, -1)))
    session.send(late)
    assert session.late == len(came) == int((late["time"].to_numpy() <= 188).sum())
    assert sorted(row["end"] for row in came) == sorted(t for t in late["time"].to_pylist() if t <= 188)


READ = {
    "late rows": lambda table: table,
    "tables by type": by_type,
    "no column": lambda table: table.drop_columns(["x"]),
    "a column of nulls": lambda table: table.set_column(3, "x", pa.nulls(len(table))),
    "pandas": lambda table: table.set_column(2, "k", table["k"].fill_null(0)).to_pandas(),
}


@pytest.mark.parametrize("form", READ)
def test_such_tables_are_read_where_they_lie(form):
    program = ensue.compile(RULES)
    reading = Reading(program.typed.events, Columns(time="time"))
    sent = reading.read(READ[form](events()), 0)
    assert sent.mixed is not None and not sent.columns
    assert np.all(np.diff(sent.mixed.end) >= 0)


def test_only_what_overlaps_is_merged():
    program = ensue.compile("event a(k: int).  w(k) <- a(k).")

    def table(times):
        found = mixed_of({"a": pa.table({"time": times, "k": times})}, Columns(time="time"), program.typed.events)
        assert found is not None
        return found

    with using(Capacity(apart=1)):
        found = in_time_order([table([3, 5]), table(list(range(0, 1000, 2))), table([6, 7])])
    assert found is not None
    before, merged, after = found
    assert before.end.tolist() == [0, 2] and after.end.tolist() == list(range(8, 1000, 2))
    assert merged.end.tolist() == merged.columns["k"].to_pylist() == [3, 4, 5, 6, 6, 7] and not merged.unique
    whole = in_time_order([table([3, 5]), table(list(range(0, 1000, 2)))])
    assert whole is not None and len(whole) == 1, "few rows are not worth a step of their own"


@pytest.mark.parametrize("seed", range(20))
def test_tables_of_one_moment_are_in_the_order_of_their_values(seed):
    rng = Random(seed)
    program = ensue.compile("""event a(s: string, n: float).
        d(s = list(q.s), n = list(q.n)) <- while each 5: collect q: a(_, _).""")
    values = [(rng.choice([None, "a", "b", "c", "ab"]), rng.choice([None, 1.0, -1.0, 2.5])) for _ in range(6)]
    whole = [{"type": "a", "time": 5, "s": s, "n": n} for s, n in values]
    wanted = program.detect(whole, 11)
    for capacity in (USUAL, SMALL):
        with using(capacity):
            session = program.start()
            rows = list(whole)
            while rows:
                count = rng.randrange(1, 4)
                piece = pa.Table.from_pylist(
                    rows[:count],
                    pa.schema({"type": pa.string(), "time": pa.int64(), "s": pa.string(), "n": pa.float64()}),
                )
                if rng.random() < 0.3:
                    piece = piece.set_column(2, "s", piece.column("s").dictionary_encode())
                session.send(piece)
                del rows[:count]
            assert session.close(11).to_pylist() == wanted
