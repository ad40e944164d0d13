"""Events that rules derive and do not keep, counted on Spark: as many as elsewhere."""

from collections import Counter

import pyarrow as pa
import pytest

import ensue
from tests.spark.detecting import as_frame
from tests.spark.streaming import all_found, put, stream_of

RULES = """
event hot(m: string, v: int).
rule calm: alarm(m) <- hot(m, v) where v > 1 once per m in 10.
few(v) <- hot(m, v) at most 2 in 5.
twice(m) <- alarm(m) seq alarm(m) within 40 once per m in 30.
tick() <- every(3) once in 10.
pair() <- hot(_, 1) seq hot(_, 2) within 4.
"""
EVENTS = pa.table({
    "type": ["hot"] * 60, "time": range(60), "m": ["abc"[time % 3] for time in range(60)],
    "v": [time % 4 for time in range(60)],
})  # fmt: skip


def summed(counts):
    found = Counter()
    for each in counts.drop_null().to_pylist():
        found[each["rule"]] += each["count"]
    return found


def embedded(program, until=None):
    told = []
    found = program.detect(EVENTS, until, on_suppressed=told.append)
    return told[0], found.num_rows


@pytest.mark.filterwarnings("ignore::ensue.OnePartitionWarning")
def test_a_table_has_rows_that_add_up(spark):
    program = ensue.compile(RULES)
    counts, size = embedded(program)
    assert counts == {"calm": 15, "few": 36, "twice": 21, "tick": 15}
    found = program.detect(as_frame(spark, EVENTS), suppressed=True, rejected=True)
    assert found.columns == ["type", "start", "end", "m", "v", "suppressed", "rejected"]
    rows = found.toArrow()
    assert summed(rows.column("suppressed")) == counts
    assert len(rows.column("type").drop_null()) == len(rows.column("end").drop_null()) == size


@pytest.mark.filterwarnings("ignore::ensue.OnePartitionWarning")
def test_a_stream_has_rows_and_a_metric(spark, tmp_path):
    program = ensue.compile(RULES)
    for number, begin in enumerate(range(0, 60, 30)):
        put(EVENTS.slice(begin, 30), tmp_path / "events", number)
    found = program.detect(stream_of(spark, tmp_path / "events"), suppressed=True, buckets=2)
    rows, query = all_found(found, tmp_path / "checkpoint")
    counts, size = embedded(program, until=58)  # an instant at the end is not over
    assert summed(rows.column("suppressed")) == counts
    assert len(rows.column("type").drop_null()) == size
    metrics = [progress["observedMetrics"]["ensue"] for progress in query.recentProgress]
    assert sum(each["suppressed"] for each in metrics) == sum(counts.values())
    assert sum(each["found"] for each in metrics) == size


def test_it_is_asked_for_in_the_way_of_each(spark):
    program = ensue.compile(RULES)
    with pytest.raises(ensue.DataError, match="`suppressed` is for Spark frames"):
        program.detect(EVENTS, suppressed=True)
    frame = as_frame(spark, EVENTS)
    with pytest.raises(ensue.DataError, match="suppressed=True: it has the rule"):
        program.detect(frame, on_suppressed=print)
    with pytest.raises(ensue.DataError, match="With `suppressed` there is one frame"):
        program.detect(frame, suppressed=True, by_type=True)
    taken = ensue.compile("event hot(m: string, v: int).  a(suppressed = m) <- hot(m, _) once per suppressed in 3.")
    with pytest.raises(ensue.DataError, match="derive an attribute 'suppressed'"):
        taken.detect(frame, suppressed=True)
