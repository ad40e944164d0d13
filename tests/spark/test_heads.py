"""Parameters, descriptions of rules, detections by type and matches kept apart, on Spark tables."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

import ensue
from tests.spark.detecting import as_frame

RULES = """
param limit: int.
event login(ip: string, user: string, n: int).
rule seen "Seen" [severity = "low"]: seen(ip) <- login(ip, _, n) where n > limit.
all each_one(ip) <- login(ip, _, n) where n > limit.
calm(ip) <- login(ip, _, _) once per ip in 5.
"""
TABLE = pa.table(
    {"time": [1, 1, 1, 2, 7], "ip": ["x", "x", "y", "x", "x"], "user": list("abcde"), "n": [5, 6, 7, 1, 9]}
)


def ends(frame):
    return sorted((row["ip"], row["end"]) for row in frame.toArrow().to_pylist())


def test_frames_by_type(spark):
    program = ensue.compile(RULES)
    frames = {"login": as_frame(spark, TABLE)}
    with pytest.raises(ensue.DataError, match="need a value for the parameter 'limit'"):
        program.detect(frames)
    found = program.detect(frames, params={"limit": 3}, by_type=True)
    assert list(found) == ["seen", "each_one", "calm"]
    assert ends(found["seen"]) == [("x", 1), ("x", 7), ("y", 1)]
    assert ends(found["each_one"]) == [("x", 1), ("x", 1), ("x", 7), ("y", 1)]
    assert ends(found["calm"]) == [("x", 1), ("x", 7), ("y", 1)]
    whole = program.detect(frames, params={"limit": 3}, emit=["seen", "each_one"]).toArrow().to_pylist()
    assert sorted((row["type"], row["ip"], row["end"]) for row in whole) == [
        ("each_one", "x", 1), ("each_one", "x", 1), ("each_one", "x", 7), ("each_one", "y", 1),
        ("seen", "x", 1), ("seen", "x", 7), ("seen", "y", 1),
    ]  # fmt: skip


def test_what_is_said_about_rules(spark):
    from ensue.cli.about import frame_with_about

    program = ensue.compile(RULES, params={"limit": 3})
    found = program.detect({"login": as_frame(spark, TABLE)}, emit=["seen", "each_one"])
    rows = frame_with_about(found, program, ["severity", "rule"], lists=False).toArrow().to_pylist()
    assert {(row["type"], row["severity"], row["rule"]) for row in rows} == {
        ("seen", "low", "seen"),
        ("each_one", None, None),
    }


def describe_test_what_is_refused_or(spark):
    program = ensue.compile(RULES, params={"limit": 3})
    frames = {"login": as_frame(spark, TABLE)}
    with pytest.raises(ensue.DataError, match="`on_suppressed` cannot be called on Spark"):
        program.detect(frames, on_suppressed=print)
    with pytest.raises(ensue.DataError, match="leave `by_type` out"):
        program.detect(frames, by_type=True, rejected=True)
    once = ensue.compile("event login(ip: string, user: string).  calm(ip) <- login(ip, _) once in 5.")
    with pytest.warns(ensue.OnePartitionWarning, match="all that it derives is counted together"):
        assert ends(once.detect(frames)) == [("x", 1), ("x", 7)]
    asks = ensue.compile("event login(ip: string, user: string).  table t(ip: string).  b(ip) <- login(ip, _), t(ip).")
    with pytest.warns(ensue.MissingTableWarning, match="'t', which was not passed"):
        asks.detect(frames)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ensue.MissingTableWarning)
        asks.detect(frames, tables={"t": []})
