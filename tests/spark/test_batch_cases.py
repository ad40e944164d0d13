"""Every case file, and random programs, on Spark tables: they agree with the reference.

Of each file the longest tests, with and without an end of time, and values of parameters; a job takes half a second.
"""

from collections import Counter
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ensue
from ensue.testing import run_test
from tests.agreement import as_tables, from_tables, meaning, suppressed
from tests.random_programs import compiled, given_types, programs, streams
from tests.spark.detecting import difference_in_sets, found_on_spark
from tests.test_cases import PROGRAMS

MOST = 2
"""Number of tests of one kind that run of a file."""


def longest(program):
    """The tests with the most events, a few of each kind."""
    found = {}
    for test in sorted(program.typed.tests, key=lambda test: -len(test.given)):
        found.setdefault((test.until is None, bool(test.settings), test.timestamps), []).append(test)
    return [test for tests in found.values() for test in tests[:MOST]]


CASES = [(name, test) for name, program in PROGRAMS.items() for test in longest(program)]


@pytest.mark.parametrize(("name", "test"), CASES, ids=[f"{name}:{test.title}" for name, test in CASES])
def test_case(spark, name, test):
    outcome = run_test(PROGRAMS[name], test, partial(found_on_spark, spark))
    assert outcome.passed, outcome.error or outcome.differences


@settings(
    max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate], database=None
)
@given(programs(most_rules=2), st.data())
def test_random_programs(spark, text, data):
    try:
        program = compiled(data.draw, text)
    except ensue.RuleError:
        return
    events = data.draw(streams(20, types=given_types(program)))
    if not events:
        return
    wanted = meaning(program, events, None)
    if isinstance(wanted, type):
        return
    counts = Counter()
    try:
        found = from_tables(found_on_spark(spark, program, as_tables(program, events), counts=counts))
    except ensue.DataError as error:  # a column of nulls
        assert "cannot be told from the rules" in str(error)
        return
    assert difference_in_sets(wanted, found) is None, text
    assert not counts or counts == suppressed(program, events), text
