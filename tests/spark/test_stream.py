"""Streams on Spark: late events, silent partitions, restarts, and reactions."""

import warnings
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

import ensue
from ensue.spark.batch import OnePartitionWarning
from ensue.spark.checkpoint import read_checkpoint
from tests.spark.detecting import in_order
from tests.spark.streaming import all_found, put, stream_of

PAIRS = "event a(x: int). event b(x: int).  both(x) <- a(x) seq b(x).\n"
CHAIN = PAIRS + "event c(y: int).  far(x, y) <- both(x) seq c(y) within 100.\n"


def table(*events):
    """Events as (type, time, x)."""
    columns = list(zip(*events, strict=True))
    kinds = (pa.string(), pa.int64(), pa.int64())
    return pa.table({n: pa.array(c, k) for n, c, k in zip(("type", "time", "x"), columns, kinds, strict=True)})


def test_rows_that_take_no_part_come_back_where_that_is_asked_for(spark, tmp_path):
    put(table(("a", 1, 1), ("b", 2, 1), (None, None, 2), ("a", 10**17, 2)), tmp_path / "in", 0)
    put(table(("a", 50, 1), ("a", 1000, 3)), tmp_path / "in", 1)
    put(table(("a", 3, 7), ("b", 1001, 8)), tmp_path / "in", 2)
    stream = stream_of(spark, tmp_path / "in")
    found, query = all_found(ensue.compile(PAIRS).detect(stream, lateness=5, rejected=True), tmp_path / "checkpoint")
    rows = found.to_pylist()
    assert [row for row in rows if row["rejected"] is None] == [
        {"type": "both", "start": 1, "end": 2, "x": 1, "rejected": None}
    ]
    reasons = {row["rejected"]["reason"]: row["rejected"]["row"] for row in rows if row["rejected"]}
    assert reasons == {
        "column 'time' is empty, and an event needs a time": '{"type":null,"time":null,"x":2}',
        "the times of a stream are from -4611686018427387 to 4611686018427387": (
            '{"type": "a", "time": 100000000000000000, "x": 2}'
        ),
        "it came too late: its time was over": '{"type": "a", "time": 3, "x": 7}',
    }
    metrics = [progress["observedMetrics"]["ensue"] for progress in query.recentProgress]
    assert [sum(each[name] for each in metrics) for name in ("found", "late", "bad")] == [1, 1, 2]


def test_an_event_of_a_wrong_clock_does_not_move_time(spark, tmp_path):
    now = datetime.now(UTC)
    far = datetime(2099, 1, 1, tzinfo=UTC)
    for number, (type_, time) in enumerate([("a", now), ("a", far), ("b", now), ("a", now)]):
        moment = pa.array([time + timedelta(seconds=number)], pa.timestamp("us", "UTC"))
        put(pa.table({"type": [type_], "time": moment, "x": [1]}), tmp_path / "in", number)
    stream = spark.readStream.schema("type string, time timestamp, x long").parquet(str(tmp_path / "in"))
    stream = ensue.compile(PAIRS).detect(stream, max_ahead="1h", rejected=True, max_matches=10, max_state="100MB")
    found, query = all_found(stream, tmp_path / "checkpoint")
    assert [row["type"] for row in found.to_pylist() if row["rejected"] is None] == ["both"]
    (reason,) = {row["rejected"]["reason"] for row in found.to_pylist() if row["rejected"]}
    assert reason.startswith("it ends more than 1h ahead of the clock (`max_ahead`)")
    metrics = [progress["observedMetrics"]["ensue"] for progress in query.recentProgress]
    assert [sum(each[name] for each in metrics) for name in ("found", "late", "bad")] == [1, 0, 1]


def test_bad_rows_are_counted_without_reading_more_than_rules_use(spark, tmp_path):
    events = table(("a", 1, 1), ("b", 2, 1), (None, None, 2), ("c", 50, 2))
    put(events.append_column("more", pa.array([1, 2, 3, 4])), tmp_path / "in", 0)
    stream = spark.readStream.schema("type string, time long, x long, more array<int>").parquet(str(tmp_path / "in"))
    found, query = all_found(ensue.compile(PAIRS).detect(stream), tmp_path / "checkpoint")
    assert found.to_pylist() == [{"type": "both", "start": 1, "end": 2, "x": 1}]
    metrics = [progress["observedMetrics"]["ensue"] for progress in query.recentProgress]
    assert sum(each["bad"] for each in metrics) == 1
    with pytest.raises(StreamingQueryException):  # the column is none of arrays, as who reads it finds out
        all_found(ensue.compile(PAIRS).detect(stream, rejected=True), tmp_path / "another")


def test_stages_follow_each_other_and_a_query_goes_on_where_it_was(spark, tmp_path):
    program = ensue.compile(CHAIN)
    pieces = [
        [("a", 1, 1), ("a", 2, 2), ("b", 3, 1)],
        [("c", 5, 70), ("b", 6, 2), ("a", 7, 3)],
        [("c", 9, 71), ("b", 500, 3), ("c", 501, 72)],
    ]
    rows = []
    for number, piece in enumerate([*pieces, [("z", 10_000, 0)]]):
        put(_with_y(table(*piece)), tmp_path / "in", number)
        if number % 2:  # the query is started again for each two files
            with pytest.warns(OnePartitionWarning, match="The rule for `far`.*runs in one part"):
                stream = program.detect(stream_of(spark, tmp_path / "in"), buckets=4)
            rows += all_found(stream, tmp_path / "checkpoint")[0].to_pylist()
    given = pa.concat_tables([_with_y(table(*piece)) for piece in pieces])
    wanted = in_order(program.detect(given))
    assert in_order(pa.Table.from_pylist(rows, program.detect(given).schema)) == wanted
    assert {row["type"] for row in wanted} == {"both", "far"}


def test_a_chain_of_keys_runs_in_stages(spark, tmp_path):
    rules = "event a(u: int, v: int). event b(v: int, w: int). event c(w: int, x: int).\n"
    program = ensue.compile(rules + "long(u, x) <- a(u, v) seq b(v, w) seq c(w, x) within 50.\n")
    events = [
        {"type": type_, "time": time, **dict(zip({"a": "uv", "b": "vw", "c": "wx"}[type_], values, strict=True))}
        for type_, time, *values in [
            ("a", 1, 7, 1), ("a", 2, 8, 1), ("b", 3, 1, 2), ("c", 9, 2, 5), ("b", 12, 1, 3), ("c", 51, 3, 6),
            ("c", 99, 3, 7),
        ]
    ]  # fmt: skip
    names = [("type", pa.string()), *((name, pa.int64()) for name in ("time", *"uvwx"))]
    rows = pa.Table.from_pylist(events, pa.schema(names))
    put(rows.slice(0, 3), tmp_path / "in", 0)
    put(rows.slice(3), tmp_path / "in", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OnePartitionWarning)
        stream = program.detect(stream_of(spark, tmp_path / "in"), buckets=4)
    found, _ = all_found(stream, tmp_path / "checkpoint")
    assert in_order(found) == in_order(program.detect(rows))
    assert [(row["u"], row["x"], row["end"]) for row in in_order(found)] == [
        (7, 5, 9),
        (8, 5, 9),
        (7, 6, 51),
        (8, 6, 51),
    ]
    kept = read_checkpoint(spark, str(tmp_path / "checkpoint"))
    assert [{size.rule for size in stage.nodes} for stage in kept] == [{"long"}, {"long"}]


def _with_y(rows):
    return rows.append_column("y", rows.column("x"))


def test_what_is_derived_twice_in_different_buckets_is_one(spark, tmp_path):
    rules = "event a(x: int). event b(x: int).  some(n = 1) <- a(x) seq b(x).  after(n) <- some(n) seq some(n).\n"
    program = ensue.compile(rules)
    first = [("a", 1, x) for x in range(9)] + [("b", 2, x) for x in range(9)]
    second = [("a", 4, 1), ("b", 5, 1), ("z", 100, 0)]
    put(table(*first), tmp_path / "in", 0)
    put(table(*second), tmp_path / "in", 1)
    found, _ = all_found(program.detect(stream_of(spark, tmp_path / "in"), buckets=4), tmp_path / "checkpoint")
    assert in_order(found) == in_order(program.detect(table(*first, *second)))


def test_other_rules_are_refused_and_said_so(spark, tmp_path):
    put(table(*(("a", 1, x) for x in range(40)), ("b", 2, 1)), tmp_path / "in", 0)
    stream = stream_of(spark, tmp_path / "in")
    all_found(ensue.compile(PAIRS).detect(stream), tmp_path / "checkpoint")
    put(table(*(("b", 9, x) for x in range(40))), tmp_path / "in", 1)
    other = ensue.compile("event a(x: int). event b(x: int).  both(x) <- a(x) seq b(y).\n")
    with pytest.warns(OnePartitionWarning), pytest.raises(StreamingQueryException) as caught:
        all_found(other.detect(stream), tmp_path / "checkpoint")
    assert "The checkpoint was written by other rules (no longer there: `both(x) <- a(x) seq b(x).`" in str(
        caught.value
    )
    with pytest.raises(StreamingQueryException) as caught:
        all_found(ensue.compile(PAIRS).detect(stream, buckets=3), tmp_path / "checkpoint")
    assert "The checkpoint has 16 buckets, not 3" in str(caught.value)
    found, _ = all_found(
        ensue.compile(PAIRS + "more(x) <- both(x) seq b(x).\n").detect(stream), tmp_path / "checkpoint"
    )
    assert found.to_pylist() == [{"type": "both", "start": 1, "end": 2, "x": 1}]  # what waited when it was refused


def test_the_state_can_be_read_where_only_some_buckets_know_of_other_rules(spark, tmp_path):
    put(table(*(("a", 1, x) for x in range(40)), ("z", 5, 0)), tmp_path / "in", 0)
    stream = stream_of(spark, tmp_path / "in")
    all_found(ensue.compile(PAIRS).detect(stream), tmp_path / "checkpoint")
    put(table(("b", 6, 1), ("z", 10, 0)), tmp_path / "in", 1)
    all_found(ensue.compile(PAIRS + "more(x) <- b(x) seq a(x).\n").detect(stream), tmp_path / "checkpoint")
    (stage,) = read_checkpoint(spark, str(tmp_path / "checkpoint"))
    assert stage.received == 41
    assert {node.rule: node.tuples for node in stage.nodes} == {"both": 40, "more": 1}


def test_a_heartbeat_has_time_pass_where_nothing_comes(spark, tmp_path):
    rules = "event a(x: int). event b(x: int).  late(x) <- o: a(x), w: extend(o, 2s), while w: not b(x).\n"
    now = datetime.now(UTC)
    schema = pa.schema([("type", pa.string()), ("time", pa.timestamp("us", "UTC")), ("x", pa.int64())])
    put(pa.Table.from_pylist([{"type": "a", "time": now, "x": 5}], schema), tmp_path / "in", 0)
    stream = ensue.compile(rules).detect(stream_of(spark, tmp_path / "in"), heartbeat="1s")
    rows = []
    query = (
        stream.writeStream.foreachBatch(lambda frame, _: rows.extend(frame.collect()))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    try:
        begun = monotonic()
        while not rows and query.isActive and monotonic() - begun < 120:
            sleep(0.2)
    finally:
        query.stop()
    assert [(row.type, row.x, row.end - row.start) for row in rows] == [("late", 5, timedelta(seconds=2))]


def test_reactions_are_called_in_the_order_of_time_with_keys_that_stay(spark, tmp_path):
    program = ensue.compile(PAIRS + "on both(x) if x > 1 do tell(x).\n")
    given = table(("a", 1, 2), ("b", 4, 2), ("a", 2, 3), ("b", 3, 3), ("a", 4, 1), ("b", 5, 1), ("z", 90, 0))
    put(given, tmp_path / "in", 0)
    called, elsewhere = [], []
    reacting = program.reacting({"tell": lambda x, key: called.append((x, key))})
    stream = program.detect(stream_of(spark, tmp_path / "in"))
    query = stream.writeStream.foreachBatch(reacting).trigger(availableNow=True)
    query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    with program.start(actions={"tell": lambda x, key: elsewhere.append((x, key))}) as session:
        session.send(given)
    assert [x for x, _ in called] == [3, 2]
    assert called == elsewhere
    assert reacting.failed == 0


def test_an_action_that_fails_is_noted_or_ends_the_query():
    program = ensue.compile(PAIRS + "on both(x) do tell(x).\n")

    class Frame:
        def toArrow(self):  # noqa: N802
            return pa.table({"type": ["both"], "start": [1], "end": [2], "x": [3]})

    reacting = program.reacting({"tell": lambda x: 1 / 0})
    reacting(Frame(), 0)
    assert str(reacting.failures[0]).startswith("do tell failed for {'type': 'both'")
    with pytest.raises(ensue.ActionError):
        program.reacting({"tell": lambda x: 1 / 0}, strict=True)(Frame(), 0)
    with pytest.raises(ensue.DataError, match="Derive an event from it"):
        ensue.compile(PAIRS + "on a(x) do tell(x).\n").reacting({"tell": print})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"slices": 3}, "`slices` is for tables"),
        ({"buckets": 0}, "`buckets` is 0"),
        ({"heartbeat": "10s"}, "State their unit"),
        ({"heartbeat": 3}, "write how often it comes"),
        ({"provenance": True}, "have no numbers"),
        ({"lateness": "3 days"}, "not a length of time"),
    ],
)
def describe_test_what_makes_no_sense_is(spark, tmp_path, options, said):
    put(table(("a", 1, 1)), tmp_path / "in", 0)
    with pytest.raises(ensue.DataError, match=said):
        ensue.compile(PAIRS).detect(stream_of(spark, tmp_path / "in"), **options)


def test_a_table_and_a_stream_do_not_mix(spark, tmp_path):
    put(table(("a", 1, 1)), tmp_path / "in", 0)
    frames = {"a": stream_of(spark, tmp_path / "in"), "b": spark.read.parquet(str(tmp_path / "in"))}
    with pytest.raises(ensue.DataError, match="The frame of 'b' is a table, and others are streams"):
        ensue.compile(PAIRS).detect(frames)
