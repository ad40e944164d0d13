"""Times: integers or timestamps, from every type that can hold them."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ensue.data import Columns, DataError, Events, read_events

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 250000, tzinfo=UTC)
MICROS = int(MOMENT.timestamp() * 1_000_000)
SECONDS = MICROS // 1_000_000 * 1_000_000
DAY = 1767312000000000


def read(column: object, **more: object) -> Events:
    return read_events({"a": pa.table({"time": column, **more})}, Columns(), {})


def starts(events: Events) -> list[int]:
    return events.tables["a"]["start"].to_pylist() if "a" in events.tables else []


@pytest.mark.parametrize(
    "arrow_type",
    [
        *(getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)),
        pa.float16(),
        pa.float32(),
    ],
)
def test_integers_of_every_size(arrow_type):
    events = read(pa.array([1, 2], arrow_type))
    assert starts(events) == [1, 2]
    assert not events.timestamps and events.tables["a"]["start"].type == pa.int64()


def test_the_whole_range_of_integers():
    events = read(pa.array([-(2**61) - 1, -(2**61), 2**61, 2**61 + 1, 2**63 - 1]))
    assert starts(events) == [-(2**61), 2**61]
    assert str(events.bad[-1]) == (
        "a, row 4: column 'time' is 9223372036854775807, and times lie within 2,305,843,009,213,693,952 of 0"
    )


def test_integers_that_do_not_fit():
    assert starts(read(pa.array([1, 2**63], pa.uint64()))) == [1]


def test_floats_and_decimals_must_be_whole():
    assert starts(read(pa.array([1.0, 2.5, None, float("nan"), 1e30]))) == [1]
    assert starts(read(pa.array([Decimal("1.00"), Decimal("2.50")]))) == [1]


@pytest.mark.parametrize(("unit", "per_second"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "+02:00"])
def test_timestamps_of_every_unit_and_zone(unit, per_second, zone):
    ticks = [SECONDS // 10**6 * per_second, -1]
    events = read(pa.array(ticks, pa.timestamp(unit, zone)))
    assert starts(events) == [SECONDS, -(10**6) // per_second]
    assert (events.timestamps, events.timezone) == (True, zone)


def test_nanoseconds_are_rounded_down():
    assert starts(read(pa.array([1999, -1, -1000, -1001], pa.timestamp("ns")))) == [1, -1, -1, -2]


def test_timestamps_that_do_not_fit():
    events = read(pa.array([0, 2**60], pa.timestamp("s")))
    assert starts(events) == [0] and str(2**60) in str(events.bad[0])


@pytest.mark.parametrize("arrow_type", [pa.date32(), pa.date64()])
def test_dates(arrow_type):
    events = read(pa.array([date(2026, 1, 2)], arrow_type))
    assert starts(events) == [DAY] and events.timestamps and events.timezone is None


@pytest.mark.parametrize(
    ("text", "micros", "zone"),
    [
        ("2026-01-02T03:04:05Z", SECONDS, "UTC"),
        ("2026-01-02T03:04:05+00:00", SECONDS, "UTC"),
        ("2026-01-02T05:04:05+02:00", SECONDS, "UTC"),
        ("2026-01-02T05:04:05+0200", SECONDS, "UTC"),
        ("2026-01-02T05:04:05+02", SECONDS, "UTC"),
        ("2026-01-01T21:34:05-05:30", SECONDS, "UTC"),
        ("2026-01-02T03:04:05.25Z", MICROS, "UTC"),
        ("2026-01-02 03:04:05.250000", MICROS, None),
        ("2026-01-02T03:04:05.250000999", MICROS, None),
        ("2026-01-02T03:04", SECONDS - 5_000_000, None),
        ("2026-01-02", DAY, None),
        (" 2026-01-02 ", DAY, None),
    ],
)
@pytest.mark.parametrize("more", [[], ["2026-02-30"], ["nonsense"]])
def test_iso_text(text, micros, zone, more):
    """The same with and without texts beside it that make the columnar way fail."""
    for column in (
        [text, *more],
        pa.array([text, *more]).dictionary_encode(),
        pa.array([text, *more], pa.large_string()),
    ):
        events = read(column)
        assert starts(events) == [micros]
        assert (events.timestamps, events.timezone, events.bad_count) == (True, zone, len(more))
    events = read_events([{"type": "a", "time": value} for value in [text, 5, *more]], Columns(), {})
    assert (starts(events), events.timezone) == ([micros], zone)


@pytest.mark.parametrize(
    "text",
    [
        "2026-13-01",
        "2026-02-30T00:00:00Z",
        "2026-01-02T24:00:00",
        "2026-01-02T03:04:60",
        "2026-01-02Z",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+10:60",
        "0000-01-01",
        "2026-1-2",
        "yesterday",
        "2026-01-02T03:04:05Z\nx",
    ],
)
def test_text_that_is_no_timestamp(text):
    for more in ([], ["2026-01-01"], ["2026-01-01", "2026-02-30"]):
        assert len(starts(read([*more, text]))) == len(more[:1])


def test_naive_and_zoned_texts_together_are_utc():
    events = read(["2026-01-02", "2026-01-02T01:00:00+01:00"])
    assert starts(events) == [DAY, DAY] and events.timezone == "UTC"


@pytest.mark.parametrize("texts", [["3", "-4"], [" 3", "-4 "], ["+3", "-4"], ["003", "-4"], ["3.0", "-4.00"]])
def test_integers_as_text(texts):
    assert starts(read(texts)) == [3, -4]
    assert starts(read_events([{"type": "a", "time": value} for value in [*texts, None, True]], Columns(), {})) == [
        3,
        -4,
    ]


def test_long_integers_as_text():
    largest = 2**61
    texts = [str(largest), str(largest + 1), str(2**63), "9" * 5000, "0" * 50 + "7", str(-largest)]
    assert starts(read(texts)) == [largest, 7, -largest]


def test_the_first_readable_text_decides():
    assert starts(read(["abc", "", "2026-01-02", "3"])) == [DAY]
    assert starts(read(["abc", "3", "2026-01-02"])) == [3]
    assert starts(read(["x"] * 1000 + ["3"])) == [3]
    assert starts(read(["x"] * 1000)) == []


def test_the_first_readable_value_of_mixed_ones_decides():
    def mixed(*values: object) -> list[int]:
        return starts(read_events([{"type": "a", "time": value} for value in values], Columns(), {}))

    assert mixed("abc", 3, "4", 5.0, datetime(2026, 1, 2), "2026-01-02", True, 2.5) == [3, 4, 5]
    assert mixed(None, date(2026, 1, 2), "2026-01-02", 3, datetime(2026, 1, 2), MOMENT) == [DAY, DAY, DAY, MICROS]
    assert mixed([], {}) == []


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (UTC, "UTC"),
        (ZoneInfo("Europe/Berlin"), "Europe/Berlin"),
        (timezone(timedelta(hours=2)), "+02:00"),
        (None, None),
    ],
)
def test_python_datetimes(zone, name):
    moment = MOMENT.astimezone(zone) if zone else MOMENT.replace(tzinfo=None)
    for times in ([moment], [moment, "x"]):
        events = read_events([{"type": "a", "time": time} for time in times], Columns(), {})
        assert (starts(events), events.timezone) == ([MICROS], name)


def test_pandas_and_polars_timestamps():
    frame = pd.DataFrame({"type": ["a"], "time": [pd.Timestamp(MOMENT)]})
    for source in (
        frame,
        frame.astype({"time": object}),
        frame.astype({"time": "datetime64[ns, UTC]"}),
        pl.from_pandas(frame),
    ):
        events = read_events(source, Columns(), {})
        assert (starts(events), events.timezone) == ([MICROS], "UTC")


def test_numpy_datetimes_in_dicts():
    time = pd.Series([MOMENT.replace(tzinfo=None)]).to_numpy()[0]
    assert starts(read_events([{"type": "a", "time": time}], Columns(), {})) == [MICROS]


@pytest.mark.parametrize(
    "column", [pa.array([True]), pa.array([[1]]), pa.array([b"1"]), pa.array([1], pa.duration("s"))]
)
def test_what_is_no_time_at_all(column):
    events = read(column)
    assert events.bad_count == 1 and events.bad[0].reason.endswith("not a time")


def test_a_missing_time():
    events = read(pa.array([1, None]))
    assert [str(bad) for bad in events.bad] == ["a, row 1: column 'time' is empty, and an event needs a time"]


def test_a_column_of_missing_times_is_of_no_kind():
    table = pa.table({"start": pa.array([MOMENT]), "end": pa.array([None], pa.float64())})
    events = read_events({"a": table}, Columns(), {})
    assert events.bad_count == 1 and "'end' is empty" in events.bad[0].reason


def test_start_after_end():
    events = read_events({"a": pa.table({"start": [5, 1], "end": [4, 1]})}, Columns(), {})
    assert [str(bad) for bad in events.bad] == ["a, row 0: it starts at 5, after its end at 4"]
    moments = pa.table({"start": [MOMENT], "end": [MOMENT - timedelta(seconds=1)]})
    events = read_events({"a": moments}, Columns(), {})
    assert "it starts at 2026-01-02T03:04:05.250000Z, after its end at 2026-01-02T03:04:04.250000Z" in str(
        events.bad[0]
    )


def test_both_kinds_in_two_tables():
    with pytest.raises(DataError, match="Times are integers in 'a' but timestamps in 'b'; give all of them as one"):
        read_events({"a": [{"time": 1}], "b": [{"time": MOMENT}]}, Columns(), {})


def test_both_kinds_in_start_and_end():
    with pytest.raises(DataError, match="'a' has integers in 'end' and timestamps in 'start'"):
        read_events({"a": [{"start": MOMENT, "end": 1}]}, Columns(), {})


def test_zones_of_several_tables():
    naive, zoned = [{"time": datetime(2026, 1, 2)}], [{"time": MOMENT}]
    assert read_events({"a": naive, "b": zoned}, Columns(), {}).timezone == "UTC"


def test_beyond_the_year_9999():
    micros = 10**18
    table = pa.table(
        {"start": pa.array([micros + 1], pa.timestamp("us")), "end": pa.array([micros], pa.timestamp("us"))}
    )
    events = read_events({"a": table}, Columns(), {})
    assert str(micros) in str(events.bad[0])
