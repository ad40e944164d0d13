"""Options that make no sense on Spark frames are reported at once, in words for people; later errors keep their
messages."""

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import ensue
from ensue.spark.batch import OnePartitionWarning
from tests.spark.detecting import as_frame

PROGRAM = ensue.compile("event a(k: int). event b(k: int).  ab(k) <- a(k) seq b(k).")
TABLE = pa.table({"type": ["a", "b"], "time": [1, 2], "k": [1, 1]})


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"type": ["a"], "k": [1]}, "The Spark frame has no column 'time', nor 'start' and 'end', it has 'type', 'k'"),
        ({"time": [1], "k": [1]}, "The Spark frame has no column 'type', it has 'time', 'k'"),
        ({"type": ["a"], "time": ["2026-01-01"]}, "The column of times 'time' is string; times are integers"),
        ({"type": ["a"], "time": [1.5]}, "The column of times 'time' is double"),
        ({"type": ["a"], "start": [1], "end": [None]}, "Of the columns of times 'start' is bigint and 'end' is void"),
        ({"type": [True], "time": [1]}, "The column 'type' holds the event's type and is boolean, not string or"),
    ],
)
def test_columns(spark, columns, said):
    with pytest.raises(ensue.DataError) as caught:
        PROGRAM.detect(as_frame(spark, pa.table(columns)))
    assert said in str(caught.value)


def test_a_frame_of_nothing(spark):
    with pytest.raises(ensue.DataError, match="The Spark frame has no columns"):
        PROGRAM.detect(spark.createDataFrame([], "struct<>"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"time": "tiem"}, "has no column 'tiem', it has 'type', 'time', 'k'. Did you mean 'time'?"),
        ({"sequence": "n"}, "has no column 'n'"),
        ({"on_bad_row": print}, "Ask for them with rejected=True"),
        ({"engine": "reference"}, "for 'reference' pass df.toArrow()"),
        ({"provenance": "ids"}, "`provenance` names the column 'ids', and The Spark frame has 'type', 'time', 'k'"),
        ({"slices": 0}, "`slices` is 0; it is a number of slices, at least one."),
        ({"emit": "abc"}, "No rule derives 'abc'"),
        ({"until": "2026-01-01"}, "integers without a unit"),
        ({"tables": {"t": []}}, "The rules declare no table 't'"),
    ],
)
def test_options(spark, options, said):
    with pytest.raises(ensue.DataError) as caught:
        PROGRAM.detect(as_frame(spark, TABLE), **options)
    assert said in str(caught.value)


def test_options_that_are_for_spark():
    for options in ({"rejected": True}, {"slices": 3}):
        with pytest.raises(ensue.DataError, match="is for Spark frames"):
            PROGRAM.detect(TABLE, **options)


def test_lateness_has_no_effect_on_a_table(spark):
    with pytest.warns(ensue.NoEffectWarning, match="A table is put in order"):
        PROGRAM.detect(as_frame(spark, TABLE), lateness=5)


def test_frames_by_type(spark):
    frame = as_frame(spark, TABLE)
    with pytest.raises(ensue.DataError, match="in Spark frames or in none, but 'b' is a Table"):
        PROGRAM.detect({"a": frame, "b": TABLE})
    moments = as_frame(spark, TABLE.set_column(1, "time", TABLE["time"].cast(pa.timestamp("us", "UTC"))))
    with pytest.raises(ensue.DataError, match="times of the frames are of several types: bigint, timestamp"):
        PROGRAM.detect({"a": frame, "b": moments})
    with pytest.warns(ensue.UnusedTypeWarning, match="The rules use no event 'bb'"):
        PROGRAM.detect({"a": frame, "b": frame, "bb": frame})


def test_two_columns_of_one_name(spark):
    frame = as_frame(spark, TABLE)
    with pytest.raises(ensue.DataError, match="The Spark frame has more than one column 'k'"):
        PROGRAM.detect(frame.select("*", "k"))


def test_lengths_with_units_on_integers(spark):
    with pytest.raises(ensue.DataError, match="State what one of them is"):
        ensue.compile("event a(k: int).  c(k) <- o: a(k), w: extend(o, 6h).").detect(as_frame(spark, TABLE))


def test_a_misspelt_attribute(spark):
    with pytest.warns(ensue.EmptyAttributeWarning, match="No row of 'a' has a value for 'k'"):
        PROGRAM.detect(
            {"a": as_frame(spark, TABLE.rename_columns(["type", "time", "kk"])), "b": as_frame(spark, TABLE)}
        )


def test_a_column_of_another_type(spark):
    text = as_frame(spark, TABLE.set_column(2, "k", pa.array(["1", "1"])))
    truth = as_frame(spark, TABLE.set_column(2, "k", pa.array([True, True])))
    said = "The column 'k' is boolean, and the rules declare it as int of 'a'"
    with pytest.warns(ensue.BadRowsWarning, match=said):
        found = PROGRAM.detect({"a": truth, "b": as_frame(spark, TABLE)})
    assert found.count() == 0
    due = ensue.compile("event a(k: timestamp).  c(k) <- a(k).")
    with pytest.raises(ensue.DataError, match=r'Cast it first: df.withColumn\("k", to_timestamp\("k"\)\)'):
        due.detect(text)


def test_what_runs_in_one_part(spark):
    program = ensue.compile("event a(k: int). event b(k: int).\nfree(x, y) <- a(x) seq b(y).")
    with pytest.warns(OnePartitionWarning, match=r"The rule for `free` \(line 2\) runs in one part"):
        found = program.detect(as_frame(spark, TABLE))
    assert found.count() == 1


def test_what_fails_in_a_worker_keeps_its_message(spark):
    program = ensue.compile("event a(k: int).  c(k) <- a(k).  c(n = k + 1) <- c(k).".replace("c(n", "c(k"))
    with pytest.raises(ensue.DetectError) as wanted:
        program.detect(TABLE)
    with pytest.raises(PySparkException) as caught:
        program.detect(as_frame(spark, TABLE)).toArrow()
    assert f"ensue.errors.DetectError: {wanted.value}" in str(caught.value)


def test_plain_lengths_on_timestamps(spark):
    moments = as_frame(spark, TABLE.set_column(1, "time", TABLE["time"].cast(pa.timestamp("us", "UTC"))))
    program = ensue.compile("event a(k: int). event b(k: int).  ab(k) <- a(k) seq b(k) within 10.")
    with pytest.warns(ensue.PlainLengthWarning, match="^`within 10` means 10 microseconds here") as caught:
        program.detect(moments)
    told = [each for each in caught if each.category is ensue.PlainLengthWarning]
    assert [each.filename for each in told] == [__file__]
    program.detect(as_frame(spark, TABLE))
