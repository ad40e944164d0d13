"""Times in other units and formats, in zones, without a year, and in several columns."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ensue
from ensue.data import DataError
from ensue.data.known_times import KNOWN
from ensue.data.time_patterns import DIRECTIVES, time_pattern

PROGRAM = ensue.compile("event a(k: int).  b(k) <- a(k).")
MOMENT = datetime(2015, 10, 18, 18, 1, 47, 978000)
MICROS = int(MOMENT.replace(tzinfo=UTC).timestamp()) * 10**6 + 978_000


def found(when, **options):
    """When one event was found, in every form that it may come in."""
    row = {"type": "a", "time": when, "k": 1} if not isinstance(when, dict) else {"type": "a", "k": 1, **when}
    forms = [[row], pa.Table.from_pylist([row]), pd.DataFrame([row]), pl.DataFrame([row])]
    moments = [_first(PROGRAM.detect(form, **options)) for form in forms]
    moments += [_first(PROGRAM.start(**options).send(sent)) for sent in (row, [row], forms[1])]
    session = PROGRAM.start(**options)
    session.send({**row, "k": 2})
    moments.append(_first(session.send(row)))
    moments.append(_first(PROGRAM.detect([row], engine="reference", **options)))
    assert len({moment.astimezone(UTC) if moment.tzinfo else moment for moment in moments}) == 1, moments
    return moments[0]


def _first(detections):
    if isinstance(detections, pd.DataFrame):
        return detections["end"].iloc[0].to_pydatetime()
    if isinstance(detections, pl.DataFrame):
        return detections["end"][0]
    return (detections if isinstance(detections, list) else detections.to_pylist())[0]["end"]


@pytest.mark.parametrize(
    ("unit", "number"),
    [
        ("s", 1_445_191_307.978),
        ("s", "1445191307.978"),
        ("ms", 1_445_191_307_978),
        ("ms", "1445191307978"),
        ("ms", 1_445_191_307_978.0),
        ("us", 1_445_191_307_978_000),
        ("ns", 1_445_191_307_978_000_999),
    ],
)
def test_units(unit, number):
    assert found(number, time_unit=unit) == MOMENT.replace(tzinfo=UTC)
    berlin = found(number, time_unit=unit, timezone="Europe/Berlin")
    assert berlin == MOMENT.replace(tzinfo=UTC) and berlin.utcoffset() == timedelta(hours=2)


def test_nanoseconds_before_1970_are_rounded_down():
    assert found(-1, time_unit="ns") == datetime(1970, 1, 1, tzinfo=UTC) - timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("2015-10-18 18:01:47,978", {}),
        ("2015-10-18T18:01:47.978", {}),
        ("2015/10/18 18:01:47.978", {}),
        ("20151018-18:01:47:978", {}),
        ("2015-10-18-18.01.47.978000", {}),
        ("18-Oct-2015 18:01:47.978", {}),
        ("18 October 2015 18:01:47,978", {}),
        ("Sun Oct 18 18:01:47.978 2015", {}),
        ("Oct 18 18:01:47.978", {"year": 2015}),
        ("18.10.2015 18:01:47.978", {"time_format": "%d.%m.%Y %H:%M:%S.%f"}),
        ("10/18/15 06:01:47.978 pm", {"time_format": "%m/%d/%y %I:%M:%S.%f %p"}),
        ({"Date": "2015-10-18", "Time": "18:01:47,978"}, {"time": "Date+Time"}),
        ({"Month": "Oct", "Date": 18, "Time": "18:01:47.978"}, {"time": "Month+Date+Time", "year": 2015}),
        ({"@timestamp": "2015-10-18T18:01:47.978"}, {"columns": {"time": "@timestamp"}}),
        ({"event": {"created": "2015-10-18T18:01:47.978"}}, {"time": "event.created"}),
    ],
)
def test_formats(text, options):
    assert found(text, **options) == MOMENT
    there = found(text, timezone="Asia/Kolkata", **options)
    assert there == MOMENT.replace(tzinfo=ZoneInfo("Asia/Kolkata"))


@pytest.mark.parametrize(
    "text",
    ["18/Oct/2015:20:01:47 +0200", "Sun, 18 Oct 2015 18:01:47 GMT", "2015-10-18 18:01:47 +00:00", "20151018T180147Z"],
)
def test_text_that_says_its_zone(text):
    assert found(text) == MOMENT.replace(tzinfo=UTC, microsecond=0)
    assert found(text, timezone="Asia/Kolkata") == MOMENT.replace(tzinfo=UTC, microsecond=0)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("10/2/2017 10:56", {}, r"as 2017-10-02 with '%m/%d/%Y %H:%M' or as 2017-02-10 with '%d/%m/%Y %H:%M'"),
        ("17/06/09 20:10:40", {}, r"as 2009-06-17 with '%d/%m/%y %H:%M:%S' or as 2017-06-09 with '%y/%m/%d %H:%M:%S'"),
        ("Dec 10 06:55:46", {}, "has no year. Add year="),
        (1, {"time_unit": "h"}, "The unit of times is 'h'; it is one of s, ms, us, ns"),
        (1, {"time_unit": "s", "time_format": "%Y"}, "give one or the other"),
        ("x", {"time_format": "%Q"}, "has %Q, which is not known here"),
        ("x", {"time_format": "%H:%M"}, "has no day"),
        ("x", {"time_format": "%d %b"}, "has no year"),
        ("x", {"time_format": "%Y-%m-%d %d"}, "has %d twice"),
        ("x", {"timezone": "Europe/Berln"}, "Did you mean 'Europe/Berlin'?"),
        ("x", {"year": 20_000}, "it is a number such as 2026"),
        (1, {"columns": ["x"]}, "it is a dict of columns by the names that rules have"),
        (1, {"time": 3}, "it is the name of a column"),
    ],
)
def test_what_is_asked_for(text, options, message):
    with pytest.raises(DataError) as raised:
        PROGRAM.detect([{"type": "a", "time": text, "k": 1}], **options)
    assert message in str(raised.value)


def test_other_rows_settle_which_is_the_day():
    rows = [{"type": "a", "time": f"{day}/2/2017 10:56", "k": 1} for day in (10, 13)]
    assert [row["end"] for row in PROGRAM.detect(rows)] == [datetime(2017, 2, day, 10, 56) for day in (10, 13)]


def test_times_that_are_not_of_the_format_are_bad_rows():
    bad = []
    rows = [{"type": "a", "time": text, "k": 1} for text in ("18.10.2015", "30.2.2015", "soon", None, 5)]
    assert len(PROGRAM.detect(rows, time_format="%d.%m.%Y", on_bad_row=bad.append)) == 1
    assert [row.reason for row in bad] == [
        "column 'time' is '30.2.2015', not a time of the format '%d.%m.%Y'",
        "column 'time' is 'soon', not a time of the format '%d.%m.%Y'",
        "column 'time' is empty, and an event needs a time",
        "column 'time' is 5, not a time of the format '%d.%m.%Y'",
    ]


def test_fractions_without_a_unit_are_told():
    bad = []
    PROGRAM.detect([{"type": "a", "time": 1.5, "k": 1}, {"type": "a", "time": 2, "k": 1}], on_bad_row=bad.append)
    assert "say time_unit='s'" in bad[0].reason


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"])
def test_a_column_is_read_as_its_values_are(zone):
    """Also in hours that clocks leave out, or show twice."""
    rng = random.Random(zone)
    start = datetime(2026, 3, 28, 12)
    clocks = [start + timedelta(minutes=rng.randrange(60 * 24 * 250)) for _ in range(300)]
    clocks += [datetime(2026, 3, 29, 2, 30), datetime(2026, 10, 25, 2, 30)]
    rows = [{"type": "a", "time": f"{clock:%d.%m.%Y %H:%M}", "k": k} for k, clock in enumerate(clocks)]
    options = {"time_format": "%d.%m.%Y %H:%M", "timezone": zone}
    session = PROGRAM.start(in_order=True, lateness="1000d", **options)
    one_by_one = [each for row in rows for each in session.send(row)] + session.close()
    assert {(row["k"], row["end"]) for row in one_by_one} == {
        (row["k"], row["end"]) for row in PROGRAM.detect(pa.Table.from_pylist(rows), **options).to_pylist()
    }


@pytest.mark.parametrize("format", KNOWN)
def test_known_formats_as_columns_and_as_values(format):
    pattern = time_pattern(format, 2016)
    rng = random.Random(format)
    texts = []
    for _ in range(50):
        moment = datetime(2016, 1, 1, tzinfo=UTC) + timedelta(seconds=rng.randrange(366 * 86_400), milliseconds=250)
        texts.append(moment.strftime(format))
    texts += [texts[0].replace("0", "x"), "", "99" + texts[1]]
    column = pattern.micros_of_column(pa.chunked_array([texts])).to_pylist()
    assert column == [pattern.micros(text) for text in texts]
    assert None not in column[:50]


def test_a_session_goes_on_with_how_times_are_read():
    session = PROGRAM.start(time_unit="ms", columns={"k": "key.id"})
    session.send({"type": "a", "time": 1000, "key": {"id": 1}})
    session = PROGRAM.resume(session.save())
    (row,) = session.send({"type": "a", "time": 2000, "key": {"id": "2"}})
    assert (row["k"], row["end"]) == (2, datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC))


def test_one_list_of_directives():
    assert f"`{DIRECTIVES}`" in Path("docs/data.md").read_text(encoding="utf-8")
    for directive in DIRECTIVES.split():
        try:
            time_pattern(f"%Y-%m-%d {directive}")
        except ensue.DataError as error:
            assert "twice" in str(error)
