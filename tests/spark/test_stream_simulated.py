"""The code of a stream's workers, without Spark: every case, random programs, and rare behaviour of Spark."""

from collections import Counter
from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ensue
from ensue import testing
from ensue.engine.state import StateError
from ensue.partitioning import chained
from tests.agreement import Detection, as_tables, meaning, suppressed
from tests.random_chains import chain_program, chain_rows
from tests.random_programs import compiled, given_types, programs, streams
from tests.spark import simulation
from tests.spark.detecting import difference_in_sets
from tests.test_cases import FILES

PAIRS = "event a(x: int). event b(x: int).  both(x) <- a(x) seq b(x).\n"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_cases(path):
    """Each test of a case file, with micro-batches cut anywhere and rows as late as they may be."""
    program = ensue.compile(path)
    for number, test in enumerate(program.typed.tests):
        rng = Random(number)
        lateness = rng.choice((0, 3)) * (1_000_000 if test.timestamps else 1)

        def execution(program, tables, until, emit, rng=rng, lateness=lateness):
            found = simulation.run(program, tables, until, rng, lateness) if tables else {}
            return {event: as_table(found.get(event, []), program.typed.events[event]) for event in emit}

        outcome = testing.run_test(program, test, execution)
        assert outcome.passed, (test.title, outcome)


def as_table(rows, event):
    names = ("start", "end", *event.attributes)
    return pa.table({name: pa.array([row[name] for row in rows]) for name in names})


@settings(
    max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
@given(programs(most_rules=3), st.data(), st.integers(0, 9999))
def test_random_programs(text, data, seed):
    try:
        program = compiled(data.draw, text)
    except ensue.RuleError:
        return
    events = data.draw(streams(20, types=given_types(program)))
    if not events or any("n" in event for event in events):
        return
    wanted = meaning(program, events, None)
    if isinstance(wanted, type):
        return
    rng, counts = Random(seed), Counter()
    try:
        found = simulation.run(
            program, as_tables(program, events), None, rng, rng.choice((0, 2, 5)), rng.choice((None, False)), counts
        )
    except ensue.DataError as error:
        assert "cannot be told from the rules" in str(error)
        return
    got = [Detection(name, row.pop("start"), row.pop("end"), row) for name, rows in found.items() for row in rows]
    assert difference_in_sets(wanted, got) is None, text
    assert counts == suppressed(program, events), text


@pytest.mark.parametrize("first", range(0, 90, 30))
def test_chains_of_keys(first):
    """Rules that are joined in several stages, each of which passes on its matches."""
    count = 0
    for seed in range(first, first + 30):
        rng = Random(seed)
        text = chain_program(rng)
        try:
            program = ensue.compile(text)
        except ensue.RuleError:
            continue
        if not chained(program.typed, ["d"]).joined:
            continue
        rows = [
            {"type": type_, "start": start, "end": end, **held} for type_, held, start, end, _ in chain_rows(rng, text)
        ]
        found = simulation.run(program, as_tables(program, rows), None, rng, rng.choice((0, 2, 5)), compiled=False)
        got = [Detection(name, row.pop("start"), row.pop("end"), row) for name, own in found.items() for row in own]
        assert difference_in_sets(meaning(program, rows, None), got) is None, text
        count += 1
    assert count > 2


LINKS = "event a(u: int, v: int). event b(v: int, w: int). event c(w: int, x: int).\n"
LONG = LINKS + "long(u, x) <- a(u, v) seq b(v, w) seq c(w, x) within 50.\n"


def links(query, *events):
    """Events as (type, time, first attribute, second attribute)."""
    columns = {column.name: column for column in query.stream.given.wire.columns}
    rows = [
        {"type": type_, "time": time}
        | {n: values["uvwx".index(c.attribute) - "abc".index(type_)] for n, c in columns.items() if c.holds(type_)}
        for type_, time, *values in events
    ]
    schema = pa.schema([("type", pa.string()), ("time", pa.int64()), *((name, pa.int64()) for name in columns)])
    return pa.Table.from_pylist(rows, schema)


def links_begun(rules=LONG):
    tables = {
        name: pa.table({key: pa.array([], pa.int64()) for key in ("time", *attributes)})
        for name, attributes in (("a", "uv"), ("b", "vw"), ("c", "wx"))
    }
    return simulation.query(ensue.compile(rules), tables, 0, 3, instants=True)[0]


def test_a_chain_goes_on_after_a_restart_with_another_rule_beside_it():
    query = links_begun()
    assert [stage.derives for stage in query.stream.job.stages] == [("long/b+c",), ("long",)]
    query.batch([links(query, ("a", 1, 7, 1), ("b", 3, 1, 2))])
    other = links_begun(LONG + "twice(w) <- b(_, w) seq b(_, w) within 9.\n")
    other.memories, other.watermark, other.largest = query.memories, query.watermark, query.largest
    simulation.bucket_state._sessions.clear()
    other.batch([links(other, ("c", 5, 2, 9))])
    other.batch([links(other, ("c", 500, 0, 0))])
    other.batch([])
    assert other.found == {"long": [{"start": 1, "end": 5, "u": 7, "x": 9}]}


def test_a_chain_keeps_what_its_lifetime_says_under_the_name_of_its_rule():
    query = links_begun()
    job = query.stream.job
    wire = query.stream.given.wire
    kept = job.session(0, wire, {}, fixed=False)
    kept.begin(False, None)
    kept.step_by_type({"b": pa.table({"time": [1, 2], "v": [1, 2], "w": [1, 2]})}, 2)
    assert {(size.rule, size.tuples) for size in kept.sizes() if size.tuples} == {("long", 2)}
    kept.step_by_type({"b": pa.table({"time": [90], "v": [1], "w": [2]})}, 90)
    assert {(size.rule, size.tuples) for size in kept.sizes() if size.tuples} == {("long", 1)}


# --- rare behaviour of Spark


def begun(rules=PAIRS, lateness=0, buckets=3):
    tables = {"a": pa.table({"time": pa.array([], pa.int64()), "x": pa.array([], pa.int64())})}
    tables["b"] = tables["a"]
    return simulation.query(ensue.compile(rules), tables, lateness, buckets, instants=True)[0]


def rows_of(query, *events):
    """Events as (type, time, x)."""
    columns = {column.name: column for column in query.stream.given.wire.columns}
    rows = []
    for type_, time, x in events:
        row = {name: x if column.holds(type_) else None for name, column in columns.items()}
        rows.append({"type": type_, "time": time, **row})
    schema = pa.schema([("type", pa.string()), ("time", pa.int64()), *((name, pa.int64()) for name in columns)])
    return pa.Table.from_pylist(rows, schema)


def go_on(query, rules, buckets=3):
    """The query after a restart with other rules, from Spark's state."""
    other = begun(rules, buckets=buckets)
    other.memories, other.watermark, other.largest = query.memories, query.watermark, query.largest
    simulation.bucket_state._sessions.clear()
    return other


def test_a_row_that_comes_too_late_takes_no_part_and_is_reported_once():
    query = begun(PAIRS + "c(x) <- both(x) seq a(x).\n")
    query.batch([rows_of(query, ("a", 5, 1), ("b", 20, 9))])
    query.batch([rows_of(query, ("a", 7, 1), ("b", 30, 1))])
    query.batch([])
    assert [reason for reason, _ in query.rejected] == ["it came too late: its time was over"]
    assert query.rejected[0][1] == '{"type": "a", "time": 7, "x": 1}'
    assert query.found.get("both", []) == []
    query.batch([rows_of(query, ("b", 40, 2))])
    query.batch([])
    assert query.found["both"] == [{"start": 5, "end": 30, "x": 1}]


def test_times_beyond_what_a_watermark_can_hold_are_rejected():
    query = begun()
    query.batch([rows_of(query, ("a", 2**62, 1), ("a", 3, 1))])
    assert [row for _, row in query.rejected] == ['{"type": "a", "time": 4611686018427387904, "x": 1}']


def test_an_absence_is_found_in_a_bucket_that_stays_silent():
    query = begun("event a(x: int). event b(x: int).  late(x) <- o: a(x), w: extend(o, 5), while w: not b(x).\n", 0, 50)
    query.batch([rows_of(query, ("a", 1, 1))])
    query.batch([rows_of(query, *(("b", 100, x) for x in range(2, 40)))])
    query.batch([])
    assert query.found["late"] == [{"start": 1, "end": 6, "x": 1}]


def test_rules_that_stay_keep_what_they_know():
    query = begun()
    query.batch([rows_of(query, ("a", 1, 1), ("b", 5, 9))])
    query.batch([])
    query = go_on(query, PAIRS + "twice(x) <- both(x) seq b(x).\n")
    query.batch([rows_of(query, ("b", 10, 1), ("b", 20, 1), ("b", 30, 8))])
    query.batch([])
    assert query.found["both"] == [{"start": 1, "end": 10, "x": 1}, {"start": 1, "end": 20, "x": 1}]
    assert query.found["twice"] == [{"start": 1, "end": 20, "x": 1}]
    query = go_on(query, PAIRS)
    query.batch([rows_of(query, ("b", 40, 1), ("b", 50, 8))])
    query.batch([])
    assert query.found == {"both": [{"start": 1, "end": 40, "x": 1}]}


def test_rules_alike_keep_what_they_know_when_others_come_and_go():
    """They run as one, with one state; a rule that comes later knows nothing of it."""

    def alike(*lengths):
        rules = [f"both_{length}(x) <- a(x) seq b(x) within {length}." for length in lengths]
        return "event a(x: int). event b(x: int).\n" + "\n".join(rules)

    query = begun(alike(10, 20, 30, 40))
    query.batch([rows_of(query, ("a", 1, 1), ("b", 2, 9))])
    query.batch([])
    query = go_on(query, alike(10, 30, 40, 50))
    query.batch([rows_of(query, ("b", 15, 1), ("a", 16, 2), ("b", 17, 9))])
    query.batch([])
    once = [{"start": 1, "end": 15, "x": 1}]
    assert query.found == {"both_30": once, "both_40": once}
    query = go_on(query, alike(10, 30, 40, 50))
    query.batch([rows_of(query, ("b", 25, 2), ("b", 27, 9))])
    query.batch([])
    once = [{"start": 16, "end": 25, "x": 2}]
    assert query.found == {"both_10": once, "both_30": once, "both_40": once, "both_50": once}
    query = go_on(query, alike(40, 50))
    query.batch([rows_of(query, ("b", 35, 1), ("b", 36, 2), ("b", 37, 9))])
    query.batch([])
    twice = {"start": 16, "end": 36, "x": 2}
    assert query.found == {"both_40": [{"start": 1, "end": 35, "x": 1}, twice], "both_50": [twice]}


@pytest.mark.parametrize(
    ("rules", "buckets", "said"),
    [
        (PAIRS, 4, "The checkpoint has 3 buckets, not 4"),
        (PAIRS + "event c(x: int).", 3, "new: `event c(x: int).`"),
        (
            "event a(x: int). event b(x: int).  both(x) <- a(x) seq b(y).\n",
            3,
            "no longer there: `both(x) <- a(x) seq b(x).`; new: `both(x) <- a(x) seq b(y).`",
        ),
    ],
)
def test_a_change_that_others_would_not_notice_is_refused(rules, buckets, said):
    query = begun()
    query.batch([rows_of(query, *(("a", 1, x) for x in range(30)), ("b", 5, 9))])
    query.batch([])
    query = go_on(query, rules, buckets)
    with pytest.raises(StateError) as caught:
        query.batch([rows_of(query, ("b", 9, 1))])
    assert said in str(caught.value)


def test_tests_and_reactions_and_blanks_may_change():
    query = begun()
    query.batch([rows_of(query, ("a", 1, 1), ("b", 5, 9))])
    query.batch([])
    query = go_on(query, PAIRS.replace("  ", "\n") + 'test "t" given a(1) @ 1 expect no both.\n')
    query.batch([rows_of(query, ("b", 10, 1), ("b", 20, 8))])
    query.batch([])
    assert query.found["both"] == [{"start": 1, "end": 10, "x": 1}]


def test_events_that_wait_are_kept_in_pieces_and_forgotten_in_time():
    query = begun(lateness=80)
    query.batch([rows_of(query, *(("a", time, time) for time in range(4000)))])
    query.batch([])
    memory = query.memories[0]
    kept = [len(values) for (name, _), values in memory.states.items() if name == "waiting"]
    assert 3 <= sum(kept) <= 3 * 10
    query.batch([rows_of(query, ("b", 5000, -1))])
    query.batch([])
    assert sum(len(values) for (name, _), values in memory.states.items() if name == "waiting") == 1
