"""Every case file on every execution: rules, events and expected events are written once, in the language itself."""

from pathlib import Path

import pytest

import ensue
from ensue.testing import ALL_EXECUTIONS, EXECUTIONS, run_test

CASES = Path(__file__).parent / "cases"
FILES = sorted(CASES.rglob("*.ensue"))
PROGRAMS = {path.relative_to(CASES).as_posix(): ensue.compile(path) for path in FILES}


def _cases() -> list[object]:
    found = []
    for name, program in PROGRAMS.items():
        for execution in ALL_EXECUTIONS:
            for test in program.typed.tests:
                found.append(pytest.param(name, execution, test, id=f"{execution}:{name}:{test.title}"))
    return found


@pytest.mark.parametrize(("name", "execution", "test"), _cases())
def test_case(name, execution, test):
    outcome = run_test(PROGRAMS[name], test, EXECUTIONS[execution])
    assert outcome.passed, outcome.error or outcome.differences


def test_every_file_holds_tests():
    assert all(program.typed.tests for program in PROGRAMS.values())
