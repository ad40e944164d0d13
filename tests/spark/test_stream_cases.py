"""Every case file, and random programs, on streams of Spark: several micro-batches, cut anywhere, with rows as late as
they may be.

Of each file the test with the most events, and few programs, since a query takes seconds to start; all tests and many
programs run in `test_stream_simulated`, on what runs in Spark's workers.
"""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ensue
from ensue import testing
from tests.agreement import as_tables, from_tables, meaning
from tests.random_programs import compiled, given_types, programs, streams
from tests.spark.detecting import difference_in_sets
from tests.spark.streaming import found_on_stream
from tests.test_cases import FILES

PROGRAMS = [(path, ensue.compile(path)) for path in FILES]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "program"), PROGRAMS, ids=[path.stem for path in FILES])
def test_cases(spark, tmp_path, path, program):
    tests = [test for test in program.typed.tests if test.given]
    test = max(tests, key=lambda test: len(test.given))
    rng = Random(path.stem)
    lateness = rng.choice((0, 3)) * (1_000_000 if test.timestamps else 1)

    def execution(program, tables, until, emit):
        return found_on_stream(spark, tmp_path, program, tables, until, emit, rng, lateness)

    outcome = testing.run_test(program, test, execution)
    assert outcome.passed, (test.title, outcome)


@pytest.mark.slow
@settings(
    max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate], database=None
)
@given(programs(most_rules=2), st.data(), st.integers(0, 9999))
def test_random_programs(spark, text, data, seed):
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
    rng = Random(seed)
    tables, emit = as_tables(program, events), [name for name, event in program.typed.events.items() if event.derived]
    with TemporaryDirectory() as folder:
        found = found_on_stream(spark, Path(folder), program, tables, None, emit, rng, rng.choice((0, 2, 5)))
    assert difference_in_sets(wanted, from_tables(found)) is None, text
