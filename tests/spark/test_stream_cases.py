"""Every case file on streams of Spark: several micro-batches, cut anywhere, with rows as late as they may be.

Of each file the test with the most events, since a query takes seconds to start; all of them run in
`test_stream_simulated`, on what runs in Spark's workers.
"""

from random import Random

import pytest

import ensue
from ensue import testing
from tests.spark.streaming import found_on_stream
from tests.test_cases import FILES

PROGRAMS = [(path, ensue.compile(path)) for path in FILES]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "program"), PROGRAMS, ids=[path.stem for path in FILES])
def test_cases(spark, tmp_path, path, program, monkeypatch):
    tests = [test for test in program.typed.tests if test.given]
    test = max(tests, key=lambda test: len(test.given))
    rng = Random(path.stem)
    lateness = rng.choice((0, 3)) * (1_000_000 if test.timestamps else 1)

    def detect_tables(self, tables, until, emit, engine=None):
        return found_on_stream(spark, tmp_path, self, tables, until, emit, rng, lateness), None

    monkeypatch.setattr(ensue.Program, "detect_tables", detect_tables)
    outcome = testing.run_test(program, test)
    assert outcome.passed, (test.title, outcome)
