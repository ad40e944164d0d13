"""Data that Arrow takes on trust or that nothing can show: a sentence with column and row, or a bad row."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ensue
from ensue.testing import run_tests

TEXT = ensue.compile("event a(s: string). seen(s) <- a(s).")
UNDECLARED = ensue.compile("seen(s) <- a(s = s).")


def not_utf8():
    """The texts "a", and two that are none."""
    offsets = b"".join(number.to_bytes(4, "little") for number in (0, 1, 2, 4))
    return pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(b"a\xff\xc3\x28"))


def table(texts):
    return pa.table({"type": ["a"] * 3, "time": [1, 2, 3], "s": texts})


REASONS = (r"attribute 's' is b'\xff', not a string", r"attribute 's' is b'\xc3(', not a string")


@pytest.mark.parametrize("engine", ["embedded", "reference"])
def test_a_table_with_text_that_is_not_utf8(engine):
    bad = []
    assert TEXT.detect(table(not_utf8()), on_bad_row=bad.append, engine=engine)["s"].to_pylist() == ["a"]
    assert [row.reason for row in bad] == [*REASONS]


def test_text_that_is_not_utf8_where_nothing_is_declared():
    with pytest.raises(ensue.DataError, match=r"'s' holds text that is not UTF-8: b'\\xff', in row 1"):
        UNDECLARED.detect(table(not_utf8()))


@pytest.mark.parametrize("texts", [not_utf8(), pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), not_utf8())])
def test_a_session_leaves_text_that_is_not_utf8_out(texts):
    bad = []
    session = TEXT.start(on_bad_row=bad.append)
    assert session.send(table(texts))["s"].to_pylist() == ["a"]
    assert [str(row) for row in bad] == [
        r"row 1: attribute 's' is b'\xff', not a string",
        r"row 2: attribute 's' is b'\xc3(', not a string",
    ]
    assert session.send([{"type": "a", "time": 4, "s": "b"}]) == [{"type": "seen", "start": 4, "end": 4, "s": "b"}]


def test_a_file_with_text_that_is_not_utf8(tmp_path):
    pq.write_table(table(not_utf8()), tmp_path / "x.parquet")
    with pytest.raises(ensue.DataError, match=r"x\.parquet is not .*: Column 2: .*UTF-?8 sequence at string index 1"):
        TEXT.detect(tmp_path / "x.parquet")


def test_a_zone_that_does_not_exist():
    times = pa.array([1], pa.timestamp("us", "Mars/Olympus"))
    for run in (TEXT.detect, lambda events: TEXT.start().send(events)):
        with pytest.raises(ensue.DataError, match=r"'Mars/Olympus', which is not known here\. Convert them to UTC"):
            run(pa.table({"type": ["a"], "time": times, "s": ["a"]}))


def test_rules_may_begin_with_a_byte_order_mark():
    assert ensue.compile("\ufeffevent a(s: string). seen(s) <- a(s).").detect(table(["a", "b", "c"])).num_rows == 3
    assert ensue.check_rules("\ufeffevent a(s: string). seen(s) <- a(s).") == ()
    session = TEXT.start()
    session.add("\ufeffrule again: again(s) <- a(s).")
    assert {row["type"] for row in session.send([{"type": "a", "time": 4, "s": "b"}])} == {"seen", "again"}


def test_no_folder_is_left_behind_where_the_cache_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "temporary").mkdir()
    code = (
        "from ensue.cache import cache_folder; folder = cache_folder(); (folder / 'x').write_text('x'); print(folder)"
    )
    environment = {"ENSUE_CACHE_DIR": str(tmp_path / "file" / "cache"), "TMPDIR": str(tmp_path / "temporary")}
    path = {"PYTHONPATH": ":".join(sys.path)}
    found = subprocess.run([sys.executable, "-c", code], env=environment | path, capture_output=True, text=True)
    assert found.stdout.startswith(str(tmp_path / "temporary")), found.stderr
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_test_that_gives_values_of_several_types():
    program = ensue.compile('seen(s) <- a(s = s).\ntest "odd" given a(s = 1) @ 1, a(s = "x") @ 2 expect no seen.')
    (outcome,) = run_tests(program)
    assert "values of several types. Declare the event, as in `event a(s: string).`" in str(outcome.error)


def test_a_parquet_file_whose_columns_are_damaged(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(table(["a" * 100, "b" * 100, "c" * 100]), path, compression="snappy")
    data = bytearray(path.read_bytes())
    data[4 : len(data) // 4] = bytes(len(data) // 4 - 4)
    path.write_bytes(data)
    with pytest.raises(ensue.DataError, match=r"x\.parquet is not a Parquet file that can be read"):
        TEXT.detect(path)


@pytest.mark.parametrize("engine", ["embedded", "reference"])
def test_undeclared_moments_beyond_the_years_of_a_datetime(engine):
    """They are numbers, as in single events."""
    moments = pa.array([2**62, None, 5], pa.timestamp("us"))
    table = pa.table({"type": ["a"] * 3, "time": [1, 2, 3], "t": moments})
    program = ensue.compile("r(t) <- a(t=t).")
    if engine == "reference":
        assert program.detect(table, engine=engine).num_rows == 3
        return
    assert program.detect(table).column("t").to_pylist() == [str(2**62), None, "1970-01-01 00:00:00.000005"]
    session = program.start()
    found = [row for at in range(3) for row in session.send(table.slice(at, 1)).to_pylist()]
    session = program.resume(session.save())
    assert len(found) + session.close().num_rows == 3


@pytest.mark.parametrize(
    ("column", "wrong"),
    [
        (pa.array([2**64 - 1, 1, 0], pa.uint64()), [0]),
        (pa.array([1.0, 0.0, 3.0], pa.float32()).cast(pa.float16()), [2]),
    ],
)
def test_numbers_for_a_bool_of_any_width(column, wrong):
    program = ensue.compile("event a(b: bool). r(b) <- a(b).")
    bad = []
    table = pa.table({"type": ["a"] * 3, "time": [1, 2, 3], "b": column})
    assert program.detect(table, on_bad_row=bad.append).num_rows == 2
    assert [str(row).split(":")[0] for row in bad] == [f"row {at}" for at in wrong]
