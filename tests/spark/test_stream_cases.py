"""Case files, and random programs, on streams of Spark: several micro-batches, cut anywhere, with rows as late as they
may be.

A query takes seconds to start. So there are a few files, which have every kind of stage, of each the test with the most
events, and few programs; all tests and many programs run in `test_stream_simulated`, on what runs in Spark's workers.
"""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ensue
from ensue import testing
from ensue.data.columns import is_path
from ensue.spark.job import Job
from tests.agreement import as_tables, from_tables, meaning
from tests.random_programs import compiled, given_types, programs, streams
from tests.spark.detecting import difference_in_sets
from tests.spark.streaming import found_on_stream
from tests.test_cases import FILES


def largest_test(program):
    return max((test for test in program.typed.tests if test.given), key=lambda test: len(test.given))


def kinds_of(program):
    """Tell queries apart: times, stages, how many of these follow each other, columns, tables, and rules that count."""
    timestamps = largest_test(program).timestamps
    derived = tuple(name for name, event in program.typed.events.items() if event.derived)
    stages = Job(program.file.source.text, "case", derived, timestamps, False).stages
    kinds = {
        (timestamps, type(stage.parting), bool(stage.duplicates), stage.ends_by_itself, stage.from_first_end)
        for stage in stages
    }
    types = {type_ for event in program.typed.events.values() for type_ in event.attributes.values()}
    names = {name for event in program.typed.events.values() if event.declared for name in event.attributes}
    held = {
        "paths": any(map(is_path, names)),
        "tables": bool(program.typed.predicates),
        "quiet": any(rule.quiet is not None for rule in program.typed.rules),
    }
    return kinds | types | {min(len(stages), 3)} | {name for name, there in held.items() if there}


def with_every_kind(paths):
    """Few files that together have every kind: always the one with most that no other has had."""
    programs = {path: ensue.compile(path) for path in paths}
    kinds = {path: kinds_of(program) for path, program in programs.items()}
    chosen, missing = [], set().union(*kinds.values())
    while missing:
        chosen.append(max(paths, key=lambda path: len(kinds[path] & missing)))
        missing -= kinds[chosen[-1]]
    return [(path, programs[path]) for path in chosen]


PROGRAMS = with_every_kind(FILES)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "program"), PROGRAMS, ids=[path.stem for path, _ in PROGRAMS])
def test_cases(spark, tmp_path, path, program):
    test, rng = largest_test(program), Random(path.stem)
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
        try:
            found = found_on_stream(spark, Path(folder), program, tables, None, emit, rng, rng.choice((0, 2, 5)))
        except ensue.DataError as error:  # a column of nulls
            assert "cannot be told from the rules" in str(error)
            return
    assert difference_in_sets(wanted, from_tables(found)) is None, text
