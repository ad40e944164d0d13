"""Messages of commands on Spark: those before Spark starts, and those that they make of Spark's own."""

import sys
from types import SimpleNamespace

import pytest

from ensue.cli.spark.failures import sentence_of
from ensue.cli.spark.micro_batches import line_of
from ensue.cli.spark.reading import format_of
from ensue.data import DataError
from ensue.spark.clock import Clock
from tests.cli.conftest import Command

STREAM = ("stream", "shop.ensue", "--checkpoint", "state")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "shop.ensue", "events.jsonl", "--master", "local"], "--engine spark"),
        (["run", "shop.ensue", "events.jsonl", "--option", "a=b"], "--engine spark"),
        (["run", "shop.ensue", "events.jsonl", "--engine", "spark", "--mode", "append"], "go with -o"),
        (["run", "shop.ensue", "-", "--engine", "spark"], "not standard input"),
        (["run", "shop.ensue", "events.jsonl", "--engine", "spark", "-o", "a.csv", "--mode", "append"], "is a file"),
        ([*STREAM, "--source", "events", "--sink", "-"], "FORMAT:WHERE"),
        ([*STREAM, "--source", "s3a://events", "--sink", "-"], "FORMAT:WHERE"),
        ([*STREAM, "--source", "json:a", "--source", "json:b", "--sink", "-"], "order=json:orders"),
        ([*STREAM, "--source", "json:a", "--sink", "kafka:host"], "servers and topic"),
        ([*STREAM, "--source", "json:a", "--sink", "parquet:"], "has no path"),
        ([*STREAM, "--source", "json:a", "--sink", "-", "--trigger", "often"], "--trigger takes 10s"),
        ([*STREAM, "--source", "json:a", "--sink", "-", "--option", "x"], "KEY=VALUE"),
    ],
)
def test_what_makes_no_sense_is_said_at_once(ensue: Command, arguments: list[str], said: str) -> None:
    result = ensue(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.startswith("ensue: ") and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "shop.ensue", "events.jsonl", "--engine", "spark"],
        [*STREAM, "--source", "json:a", "--sink", "-"],
        ["state", "checkpoint"],
    ],
)
def test_without_spark_it_says_what_to_install(
    ensue: Command, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    result = ensue(*arguments)
    assert result.exit_code == 2
    assert "pip install 'ensue[spark]'" in result.stderr


def test_a_format_that_nothing_tells() -> None:
    with pytest.raises(DataError, match="--format"):
        format_of("s3a://bucket/events")


def test_an_error_of_ours_in_a_worker_is_one_sentence() -> None:
    said = """[STREAM_FAILED] Query [id = 3, runId = 4] terminated with exception: Job aborted due to stage failure:
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 5, in main
ensue.engine.state.StateError: The checkpoint has 4 buckets, not 8: their number
cannot change.

\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1)
Driver stacktrace: SQLSTATE: XXKST"""
    wanted = "The checkpoint has 4 buckets, not 8: their number cannot change."
    assert sentence_of(said) == wanted


def test_the_line_of_a_micro_batch() -> None:
    operator = SimpleNamespace(memoryUsedBytes=10, customMetrics={"rocksdbSstFileSize": 2_500})
    sources = [
        SimpleNamespace(description="FileStreamSource[file:/a]", numInputRows=1),
        SimpleNamespace(description="RateStreamV2[rowsPerSecond=1]", numInputRows=7),
    ]
    progress = SimpleNamespace(
        batchId=3, sources=sources, stateOperators=[operator, operator], durationMs={"triggerExecution": 1234},
        eventTime={"watermark": "2026-03-01T08:00:00.000Z"},
        observedMetrics={"ensue": SimpleNamespace(asDict=lambda: {"found": 2, "late": 1, "bad": 0, "suppressed": 4})},
    )  # fmt: skip
    line = line_of(progress, Clock(timestamps=True), heartbeat=True)
    counts = "1 event in, 2 found, 1 late, 0 bad, 4 suppressed"
    assert line == f"batch 3: {counts}, state 5.0 kB, watermark 2026-03-01 08:00:00, 1.2 s"
