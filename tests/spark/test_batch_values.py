"""Values of every kind on Spark tables: the same detections as in the same Arrow table."""

import warnings
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

import ensue
from ensue.errors import BadRowsWarning, EmptyAttributeWarning
from ensue.spark.batch import OnePartitionWarning
from tests.spark.detecting import as_frame, in_order

PAIR = "event a(k: int). event b(k: int).  ab(k) <- a(k) seq b(k) within {}."
ZONES = ("UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kolkata")

SPRING = datetime(2026, 3, 29, 1, 30)
"""In Berlin the clock goes from 2 to 3 at 1:00 UTC: 2:30 is no local time there."""
AUTUMN = datetime(2026, 10, 25, 2, 30)
"""In Berlin this local time comes twice."""


def same_on_spark(spark, program, table, **options):
    """Detections in a table by the embedded engine; asserts that Spark finds the same."""
    program = ensue.compile(program) if isinstance(program, str) else program
    wanted = program.detect(table, **options)
    frame = (
        {name: as_frame(spark, each) for name, each in table.items()}
        if isinstance(table, dict)
        else as_frame(spark, table)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnePartitionWarning)
        found = program.detect(frame, **options).toArrow()
    if isinstance(wanted, dict):
        wanted = [{"type": name, **row} for name, each in wanted.items() for row in each.to_pylist()]
        rows = [{name: value for name, value in row.items() if value is not None} for row in found.to_pylist()]
        wanted = [{name: value for name, value in row.items() if value is not None} for row in wanted]
        assert sorted(map(repr, rows)) == sorted(map(repr, wanted))
        return wanted
    assert found.column_names == wanted.column_names
    assert in_order(found) == in_order(wanted)
    return in_order(wanted)


def events(times, **columns):
    """Events of `a` and `b` by turns."""
    return pa.table({"type": ["a", "b"] * (len(times) // 2), "time": times, **columns})


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("moment", [SPRING, AUTUMN])
def test_instants_are_the_same_in_every_zone(spark, setting, zone, moment):
    setting("spark.sql.session.timeZone", zone)
    hours = [moment.replace(tzinfo=UTC, hour=hour) for hour in range(4)]
    table = events(pa.array(hours, pa.timestamp("us", "UTC")), k=[1] * 4)
    program = ensue.compile(PAIR.format("90m") + " each_day(k) <- o: a(k), w: extend(o, 1d).")
    until = moment.replace(tzinfo=UTC, hour=1, day=moment.day + 1)
    wanted = program.detect(table, until)
    found = program.detect(as_frame(spark, table), until).toArrow()
    assert [(r["type"], r["start"], r["end"]) for r in in_order(found)] == [
        (r["type"], r["start"], r["end"]) for r in in_order(wanted)
    ]


@pytest.mark.parametrize("zone", ZONES[:2])
def test_times_without_a_zone(spark, setting, zone):
    setting("spark.sql.session.timeZone", zone)
    hours = [SPRING.replace(hour=hour) for hour in range(4)]
    table = events(pa.array(hours, pa.timestamp("us")), k=[1] * 4)
    assert len(same_on_spark(spark, PAIR.format("90m"), table)) == 2
    # Without a key, and with a bound: time is cut into slices, so times are computed with.
    free = "event a(k: int). event b(k: int).  ab(x, y) <- a(x) seq b(y) within 90m.  tick() <- every(30m)."
    assert len(same_on_spark(spark, free, table)) > 4
    assert same_on_spark(spark, free, table, until=SPRING.replace(hour=2))


def test_dates(spark, setting):
    setting("spark.sql.session.timeZone", "Europe/Berlin")
    days = pa.array([date(2026, 3, 28), date(2026, 3, 29), date(2026, 3, 30), date(2026, 4, 4)], pa.date32())
    table = events(days, k=[1] * 4, due=days)
    rules = "event a(k: int, due: timestamp). event b(k: int, due: timestamp)."
    found = same_on_spark(spark, f'{rules} ab(k, d) <- a(k, d) seq b(k, _) within 3d where d < "2026-03-30".', table)
    assert [row["d"] for row in found] == [datetime(2026, 3, 28)]
    joined = same_on_spark(spark, f"{rules} same(d) <- a(_, d) and b(_, d).", table)
    assert joined == []


def test_timestamps_as_attributes(spark, setting):
    setting("spark.sql.session.timeZone", "America/St_Johns")
    due = [datetime(2026, 3, 8, hour, 15, tzinfo=UTC) for hour in (5, 5, 6, 7)]
    table = events([1, 2, 3, 4], due=pa.array(due, pa.timestamp("us", "UTC")))
    program = ensue.compile(
        "event a(due: timestamp). event b(due: timestamp).  ab(due) <- a(due) seq b(due).  "
        'late(due) <- a(due) where due > "2026-03-08T05:30:00Z".'
    )
    found = in_order(program.detect(as_frame(spark, table)).toArrow())
    assert [(row["type"], row["due"]) for row in found] == [("ab", due[0]), ("late", due[2])]
    # The same moments, of one event with a zone and of the other without.
    by_type = {
        "a": table.filter(pa.array([True, False, True, False])),
        "b": pa.table(
            {"time": [2, 4], "due": pa.array([d.replace(tzinfo=None) for d in due[1::2]], pa.timestamp("us"))}
        ),
    }
    frames = {name: as_frame(spark, each) for name, each in by_type.items()}
    assert [row["due"] for row in program.detect(frames, emit="ab").toArrow().to_pylist()] == [due[0]]


def test_decimals(spark):
    prices = [Decimal("0.10"), Decimal("0.1"), Decimal("51.41"), Decimal("-7.25")]
    table = events([1, 2, 3, 4], k=[1] * 4, price=pa.array(prices, pa.decimal128(12, 2)))
    rules = "event a(k: int, price: float). event b(k: int, price: float)."
    found = same_on_spark(
        spark,
        f"{rules} dear(price) <- a(_, price) where price > 0.1.  "
        "sums(s = sum(price)) <- while last 3: collect a(k, price).  same(price) <- a(k, price) seq b(k, price).",
        table,
    )
    assert [row["price"] for row in found if row["type"] == "same"] == [0.1]
    assert [row["price"] for row in found if row["type"] == "dear"] == [51.41]
    doubles = {"a": table, "b": pa.table({"time": [9], "k": [1], "price": [51.41]})}
    assert len(same_on_spark(spark, f"{rules} same(price) <- a(_, price) seq b(_, price).", doubles)) == 1
    whole = events([1, 2, 3, 4], k=pa.array([1, 1, 2, 2], pa.decimal128(20, 0)))
    assert len(same_on_spark(spark, PAIR.format(5), whole)) == 2
    assert same_on_spark(spark, "x(p) <- a(price = p), b(price = p).", table)


def test_nulls(spark):
    table = pa.table(
        {
            "type": ["a", "b", "a", "b", "a"],
            "time": [1, 2, 3, 4, 5],
            "k": [None, None, 1, 1, 2],
            "s": ["x", None, None, "y", "x"],
        }
    )
    rules = "event a(k: int, s: string). event b(k: int, s: string)."
    found = same_on_spark(
        spark, f"{rules} ab(k, s) <- a(k, s) seq b(k, _).  alone(k, s) <- a(k, s).  n(n = count(k)) <- "
        "while last 9: collect a(k, _).", table,
    )  # fmt: skip
    assert len(found) == 7


def test_what_is_carried_along(spark):
    table = pa.table(
        {
            "type": ["a", "a", "b"],
            "time": [1, 2, 3],
            "k": [1, 1, 1],
            "point": pa.array(
                [{"x": 1, "y": [1.5]}, None, None], pa.struct([("x", pa.int64()), ("y", pa.list_(pa.float64()))])
            ),
            "tags": pa.array([["p", None], [], None], pa.list_(pa.string())),
            "sizes": pa.array([[("s", 1)], None, None], pa.map_(pa.string(), pa.int64())),
            "raw": pa.array([b"\x00\xff", b"", None], pa.binary()),
        }
    )
    program = ensue.compile(
        "found(k, p, t, s, r) <- a(k = k, point = p, tags = t, sizes = s, raw = r) seq b(k = k).  "
        "again(t, r) <- found(k, p, t, s, r) and b(k = k) within 9."
    )
    found = same_on_spark(spark, program, table)
    assert [row["r"] for row in found if row["type"] == "again"] == [b"\x00\xff", b""]
    assert {type(row["p"]) for row in found if row["type"] == "found"} == {dict, type(None)}


def test_integers_of_any_width(spark):
    kinds = {"a": pa.int8(), "b": pa.int32()}
    tables = {
        name: pa.table({"time": pa.array([1 + (name == "b"), 5], pa.int16()), "k": pa.array([7, None], kind)})
        for name, kind in kinds.items()
    }
    assert same_on_spark(spark, PAIR.format(5), tables) == [{"type": "ab", "start": 1, "end": 2, "k": 7}]
    floats = "event a(k: float). event b(k: int).  ab(k) <- a(k) seq b(k)."
    assert same_on_spark(spark, floats, tables) == [{"type": "ab", "start": 1, "end": 2, "k": 7.0}]
    halves = {**tables, "a": pa.table({"time": [1, 1], "k": pa.array([7.0, -0.0], pa.float32())})}
    assert same_on_spark(spark, PAIR.format(5), halves) == [{"type": "ab", "start": 1, "end": 2, "k": 7}]


def test_names_may_be_anything(spark):
    table = pa.table(
        {
            "the `type`": ["a", "b"],
            "t.s": [1, 2],
            "order id": [5, 5],
            "a.b": ["x", "y"],
            "ORDER ID": [1, 2],
            "it's": [True, False],
            "": [0, 0],
        }
    )
    program = ensue.compile(
        "event a(`order id`: int, `a.b`: string, `it's`: bool). event b(`order id`: int).  "
        "`found 'em`(i, `x.y` = s, t) <- a(i, s, t) seq b(i)."
    )
    found = same_on_spark(spark, program, table, time="t.s", type="the `type`")
    assert found == [{"type": "found 'em", "start": 1, "end": 2, "i": 5, "x.y": "x", "t": True}]


def test_a_chain_of_keys(spark):
    """Each stage has its own key, and passes on the times and attributes that the next one needs."""
    times = [datetime(2026, 3, 1, 12, minute, tzinfo=UTC) for minute in range(8)]
    table = pa.table(
        {
            "type": ["a", "a", "b", "b", "c", "c", "b", "c"],
            "time": pa.array(times, pa.timestamp("us", "UTC")),
            "p": ["x", "y", "x", "y", "k", "l", "y", "k"],
            "q": ["k", "l", "k", "l", "m", None, "k", "n"],
        }
    )
    program = ensue.compile(
        "event a(p: string, q: string). event b(p: string, q: string). event c(p: string, q: string).\n"
        "d(p, r, at = o.start) <- a(p, _), o: b(p, q), s: c(q, r) where o.start < s.start within 5m.\n"
    )
    assert [stage["derives"] for stage in program.explain().json()["stages"]] == [["d/b+c"], ["d"]]
    found = same_on_spark(spark, program, table)
    assert [(row["p"], row["r"], row["at"].minute) for row in found] == [("x", "m", 2), ("y", None, 3)]


def test_a_type_with_signs_that_mean_something_in_sql(spark):
    name = "it's $" + '{a} \\ "q"'
    table = pa.table({"type": [name, "b", name], "time": [1, 2, 3], "k": [1, 1, 2]})
    program = ensue.compile(f"event `{name}`(k: int). event b(k: int).  `y '`(k) <- `{name}`(k) seq b(k).")
    assert len(same_on_spark(spark, program, table)) == 1


def test_intervals_and_times_in_one_frame(spark):
    table = pa.table(
        {
            "kind": ["a", "b", "b"],
            "from": pa.array([1, 4, None], pa.int64()),
            "to": pa.array([3, 4, None], pa.int64()),
            "n": [1, 2, 5],
            "k": [1, 1, 1],
        }
    )
    options = {"start": "from", "end": "to", "type": "kind", "sequence": "n"}
    with pytest.warns(ensue.BadRowsWarning):
        wanted = ensue.compile(PAIR.format(9)).detect(table, **options)
    found = ensue.compile(PAIR.format(9)).detect(as_frame(spark, table), **options).toArrow()
    assert in_order(found) == in_order(wanted) != []
    both = table.rename_columns(["type", "start", "end", "time", "k"])
    assert len(same_on_spark(spark, PAIR.format(9), both)) == 2


def test_a_sequence_orders_events_of_one_moment(spark):
    table = pa.table({"type": ["a"] * 3, "time": [1, 1, 1], "n": [2, 3, 1], "x": [20, 30, 10]})
    rules = "event a(x: int).  all(l = list(x), f = first(x)) <- while last 2: collect a(x)."
    found = same_on_spark(spark, rules, table, sequence="n")
    assert sorted(row["l"] for row in found) == [[10], [10, 20], [20, 30]]


@pytest.mark.filterwarnings("ignore::ensue.spark.batch.OnePartitionWarning")
def test_static_tables(spark):
    program = ensue.compile(
        "event a(k: int). event b(k: int). table linked(p: int, q: int, day: timestamp).  "
        'ab(p, q) <- a(p) seq b(q), linked(p, q, d), d < "2026-01-01".'
    )
    rows = pa.table({"p": [1, 2], "q": [2, 3], "day": pa.array([datetime(2025, 1, 1)] * 2, pa.timestamp("us"))})
    table = events([1, 2, 3, 4], k=[1, 2, 5, 6])
    wanted = program.detect(table, tables={"linked": rows}).to_pylist()
    for handed in (rows, as_frame(spark, rows)):
        found = program.detect(as_frame(spark, table), tables={"linked": handed}).toArrow()
        assert found.to_pylist() == wanted == [{"type": "ab", "start": 1, "end": 2, "p": 1, "q": 2}]
    assert program.detect(table, tables={"linked": as_frame(spark, rows)}).to_pylist() == wanted


def test_what_to_emit_and_until_when(spark):
    program = ensue.compile(
        "event a(k: int). event b(k: int).  late(k) <- o: a(k), w: extend(o, 6), while w: not b(k).  "
        "ab(k) <- a(k) seq b(k)."
    )
    table = events([1, 2, 8, 30], k=[1, 1, 2, 3])
    assert [row["k"] for row in same_on_spark(spark, program, table, emit="late")] == [2]
    assert same_on_spark(spark, program, table, emit=["late"], until=13) == []
    assert [row["k"] for row in same_on_spark(spark, program, table, emit=["late", "ab"], until=14)] == [1, 2]
    assert same_on_spark(spark, program, table, until=1) == []


def test_no_events_at_all(spark):
    table = events([1, 2], k=[1, 1]).slice(0, 0)
    program = ensue.compile(PAIR.format(5) + " noon() <- at(12).  tick() <- every(5).")
    assert same_on_spark(spark, program, table) == []
    assert same_on_spark(spark, program, table, until=20) == [{"type": "noon", "start": 12, "end": 12, "k": None}]
    assert same_on_spark(spark, program, {"a": table, "b": table}) == []


def test_time_passes_where_nothing_happens(spark):
    table = events([1, 2], k=[1, 1])
    rules = "event a(k: int). event b(k: int).  calm() <- every(5) without b(_).  calm() <- a(x), b(y) within 3."
    assert len(same_on_spark(spark, rules, table, until=40)) == 9


NOT_NUMBERS = [
    pa.array([[1], [1]]), pa.array([{"x": 1}] * 2), pa.array([[("x", 1)]] * 2, pa.map_(pa.string(), pa.int64())),
    pa.array([b"1", b"1"]), pa.array([date(2026, 3, 1)] * 2), pa.array([SPRING] * 2),
]  # fmt: skip


@pytest.mark.parametrize("column", NOT_NUMBERS, ids=lambda column: str(column.type))
@pytest.mark.parametrize("kind", ["int", "float", "bool", "timestamp"])
def test_a_key_of_another_type_than_declared(spark, column, kind):
    program = ensue.compile(f"event a(k: {kind}). event b(k: {kind}).  ab(k) <- a(k) seq b(k) within 9.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BadRowsWarning)
        found = same_on_spark(spark, program, events([1, 2], k=column))
    assert len(found) == (kind == "timestamp" and column.type in (pa.date32(), pa.timestamp("us")))


def test_events_that_are_not_declared(spark):
    table = events([1, 2, 3, 4], k=[1, 1, 2, 2], y=[0.5, None, 2.5, 3.0], s=["p", "q", "p", None])
    rules = 'ab(k, y, s) <- a(k = k, y = y, s = s) seq b(k = k) where y > 1 and s = "p".'
    assert same_on_spark(spark, rules, table) == [{"type": "ab", "start": 3, "end": 4, "k": 2, "y": 2.5, "s": "p"}]


def test_an_attribute_without_a_column_is_null(spark):
    table = events([1, 2], k=[1, 1])
    program = ensue.compile("event a(k: int, note: string). event b(k: int).  ab(k, note) <- a(k, note) seq b(k).")
    with pytest.warns(EmptyAttributeWarning, match="No row of 'a' has a value for 'note'"):
        wanted = program.detect(table)
    with pytest.warns(EmptyAttributeWarning, match="No row of 'a' has a value for 'note'"):
        found = program.detect(as_frame(spark, table))
    assert found.toArrow().to_pylist() == wanted.to_pylist()


@pytest.mark.parametrize("zone", ["UTC", None])
def test_times_and_lists_from_stage_to_stage(spark, zone):
    times = [datetime(2026, 3, 29, hour) for hour in range(4)]
    moments = pa.array(times, pa.timestamp("us", zone))
    table = events(moments, k=[1, 2, 1, 3], due=moments)
    rules = (
        "event a(k: int, due: timestamp). event b(k: int).  "
        "two(k, at = o.end, all = list(d)) <- o: a(k, _), while last 2: collect a(k, d).  "
        "later(n, at, all, gap = r.end - at) <- two(_, at, all) seq r: b(n) within 4h."
    )
    found = same_on_spark(spark, rules, table)
    assert {row["type"] for row in found} == {"two", "later"}
