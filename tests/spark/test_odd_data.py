"""Times in any format, nested and renamed columns, values that nearly fit: Spark agrees with other executions."""

import warnings

import pyarrow as pa
import pytest

import ensue
from ensue.errors import BadRowsWarning
from ensue.spark.batch import OnePartitionWarning
from tests.spark.detecting import as_frame
from tests.spark.streaming import all_found, put, stream_of

PAIR = "event a(k: int). event b(k: int).  ab(k) <- a(k) seq b(k) within 1h."
MOMENTS = {
    "%d/%b/%Y:%H:%M:%S %z": ["18/Oct/2015:18:01:47 +0200", "18/Oct/2015:16:31:48 +0000", "30/Feb/2015:16:31:48 +0000"],
    "%a %b %e %H:%M:%S %Y": ["Sun Oct  1 18:01:47 2017", "Sunday October 1 18:31:48 2017", "soon"],
    "%m/%d/%y %I:%M:%S.%f %p": ["10/2/17 12:01:47.5 am", "10/02/17 12:30:47.123456789 AM", "13/02/17 12:30:47.1 AM"],
    "%Y%m%d-%H:%M:%S:%f": ["20171223-22:15:29:606", "20171223-22:45:0:6", "20171223"],
    "%Y-%m-%d %H": ["2026-03-29 02", "2026-03-29 3", "2026-03-29 25"],
}
TEXTS = {
    "iso": ["2015-10-18 18:01:47,978", "2015-10-18T18:31:47", "soon"],
    "zones": ["2015-10-18 18:01:47Z", "2015-10-18T20:31:47+02:00", "2015-10-18T18:31:47"],
}


def moments(found):
    """Detections as plain values, in order."""
    rows = [tuple((name, row[name]) for name in row) for row in found.to_pylist()]
    return sorted(map(repr, rows))  # NaN is the same as NaN in text


def same(spark, program, table, **options):
    program = ensue.compile(program) if isinstance(program, str) else program
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BadRowsWarning)
        warnings.simplefilter("ignore", OnePartitionWarning)
        wanted = program.detect(table, **options)
        found = program.detect(as_frame(spark, table), **options).toArrow()
    assert moments(found.cast(wanted.schema)) == moments(wanted)
    return wanted


def pairs_of(times, column="time"):
    """An `a` at the first time, a `b` at the others."""
    return pa.table({"type": ["a", "b", "b"], column: times, "k": [1, 1, 1]})


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "Asia/Kolkata"])
@pytest.mark.parametrize("format", MOMENTS)
def test_formats(spark, format, zone):
    found = same(spark, PAIR, pairs_of(MOMENTS[format]), time_format=format, timezone=zone)
    left_out = zone == "Europe/Berlin" and format == "%Y-%m-%d %H"  # there is no hour from 2 to 3, so it is the next
    assert found.num_rows == (0 if left_out else 1)


@pytest.mark.parametrize("texts", TEXTS)
def test_text_in_a_zone(spark, texts):
    assert same(spark, PAIR, pairs_of(TEXTS[texts]), timezone="Europe/Berlin").num_rows == 1


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("type_", [pa.int64(), pa.float64(), pa.string()])
def test_units(spark, unit, type_):
    factor = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    times = pa.array([1_445_184_107 * factor, 1_445_184_108 * factor + 1, -3], pa.int64()).cast(type_, safe=False)
    assert same(spark, PAIR, pairs_of(times), time_unit=unit, timezone="UTC").num_rows == 1


def test_clocks_without_a_zone(spark):
    times = pa.array([1_774_749_600_000_000, 1_774_751_400_000_000, 1_774_753_200_000_000], pa.timestamp("us"))
    assert same(spark, PAIR, pairs_of(times), timezone="Europe/Berlin").num_rows


def test_times_in_two_columns_and_other_names(spark):
    table = pa.table(
        {
            "What": ["a", "b", "b"], "Date": ["2026-01-01", "2026-01-01", None],
            "Time": ["10:00", "10:30", "10:40"], "Key": ["7", "7.0", "7"],
        }
    )  # fmt: skip
    options = {"time": "Date+Time", "columns": {"type": "What", "k": "Key"}, "timezone": "UTC"}
    assert same(spark, PAIR, table, **options).num_rows == 1


NESTED = (
    "unit s. event a(user.id: int, user.home.city: string). event b(user.id: int).  "
    'ab(u, c) <- a(u, c) seq b(user.id = u) within 1h.  c(u) <- x: a(user.id = u) where x.user.home.city = "B".'
)
USER = pa.struct([("id", pa.int64()), ("home", pa.struct([("city", pa.string())]))])


def test_nested_values(spark):
    users = [{"id": 1, "home": {"city": "B"}}, {"id": 1, "home": None}, None, {"id": None, "home": {"city": "C"}}]
    table = pa.table(
        {
            "type": ["a", "b", "b", "a"], "time": [1, 2, 3, 4], "user": pa.array(users, USER),
            "user.id": pa.array([None, 9, 1, 4], pa.int64()),
        }
    )  # fmt: skip
    assert same(spark, NESTED, table).num_rows == 3


def test_a_stream(spark, tmp_path):
    """Nested keys, times of a unit, and values that nearly fit, as they arrive."""
    users = [{"id": "1", "home": {"city": "B"}}, {"id": "1", "home": None}, {"id": "x", "home": None}, None]
    kinds = pa.struct([("id", pa.string()), ("home", pa.struct([("city", pa.string())]))])
    times = [1000, 2000, 3000, 9000]
    table = pa.table({"type": ["a", "b", "b", "tick"], "at": times, "user": pa.array(users, kinds)})
    put(table, tmp_path / "in", 0)
    program = ensue.compile(NESTED.removeprefix("unit s. "))
    options = {"time": "at", "time_unit": "ms"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BadRowsWarning)
        wanted = program.detect(table, **options)
    found, _ = all_found(program.detect(stream_of(spark, tmp_path / "in"), **options), tmp_path / "state")
    assert moments(found.select(wanted.column_names).cast(wanted.schema)) == moments(wanted)
    assert wanted.num_rows == 2


def test_values_that_nearly_fit(spark):
    rules = (
        "event a(i: int, f: float, s: string, b: bool, unread: int). event b(i: int).  "
        "all_of(i, f, s, b) <- a(i, f, s, b, _).  ab(i) <- a(i, _, _, _, _) seq b(i)."
    )
    table = pa.table(
        {
            "type": ["a", "a", "a", "a", "b"], "time": [1, 2, 3, 4, 5],
            "i": ["443", " 7.0 ", "x", "9", "443"], "f": ["1.5", "nan", "1", "1,5", None],
            "s": [443, 1, None, 2, 3], "b": [1.0, 0.0, 1.0, 2.0, None], "unread": ["x", "1", None, "y", "z"],
        }
    )  # fmt: skip
    found = same(spark, rules, table)
    assert found.num_rows == 3
    assert found["s"].to_pylist()[:2] == ["443", "1"]


def test_one_column_declared_as_two_types(spark):
    table = pa.table({"type": ["a", "b", "c"], "time": [1, 2, 3], "k": ["7", "7", "7"]})
    rules = "event a(k: int). event b(k: string). event c(k: int).  ac(k) <- a(k) seq c(k).  d(s) <- b(s)."
    assert same(spark, rules, table).num_rows == 2


def test_types_that_are_integers(spark):
    rules = "event `4624`(u: int). event `4625`(u: int).  both(u) <- `4624`(u) seq `4625`(u)."
    for type_ in (pa.int64(), pa.float64()):
        table = pa.table({"type": pa.array([4624, 4625], type_), "time": [1, 2], "u": [1, 1]})
        assert same(spark, rules, table).num_rows == 1


def test_what_is_said_of_files_is_refused(spark):
    frame = as_frame(spark, pairs_of([1, 2, 3]))
    with pytest.raises(ensue.DataError, match="are for files"):
        ensue.compile(PAIR).detect(frame, lines="(?P<a>.)")


def test_text_that_nothing_is_said_of(spark):
    with pytest.raises(ensue.DataError, match="time_format="):
        ensue.compile(PAIR).detect(as_frame(spark, pairs_of(["1", "2", "3"])))
