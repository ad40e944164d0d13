"""Short runs of `make endure` and `make fuzz`."""

import subprocess
import sys
from pathlib import Path

import pytest

import ensue
from tests.endure.__main__ import main as endure
from tests.endure.damage import DamagedStates
from tests.endure.memory import DECLARED, STRUCTURES, tables


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "count"), [("sessions", 20), ("rule files", 60), ("states", 500), ("files of events", 200)]
)
def test_damage_is_an_answer_or_an_error_of_ours(kind, count):
    said = []
    assert endure(["--only", kind, "--count", str(count), "--seed", "5", "--minutes", "2"], said.append) == 0
    assert said[-1].endswith(f"{count} {kind}: nothing found")


@pytest.mark.slow
@pytest.mark.parametrize("machine", [[], ["--machine"]], ids=["plain", "machine"])
def test_random_programs_on_every_execution(machine):
    command = [sys.executable, "-m", "tests.fuzz", "--seed", "5", "--minutes", "0.5", *machine]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "comparisons" in ran.stdout


def test_a_state_that_is_damaged_at_any_byte_is_refused():
    states = DamagedStates()
    for place in range(len(states.state)):
        state = bytearray(states.state)
        state[place] ^= 1 << (place % 8)
        with pytest.raises(ensue.StateError):
            states.program.resume(bytes(state))


@pytest.mark.slow
def test_killed_sessions_lose_nothing():
    said = []
    assert endure(["--only", "kills", "--count", "10", "--seed", "5", "--minutes", "2"], said.append) == 0
    assert said[-1].endswith("nothing found")


@pytest.mark.slow
def test_weeks_of_simulated_time():
    said = []
    assert endure(["--only", "soak", "--days", "9"], said.append) == 0, said


@pytest.mark.parametrize("name", STRUCTURES)
def test_no_structure_keeps_what_never_comes_back(name):
    session = ensue.compile(DECLARED + STRUCTURES[name]).start(compiled=True)
    kept = []
    for table in tables(600_000):
        session.send(table)
        kept.append(sum(size.tuples for size in session.sizes()))
    assert max(kept[3:]) <= 2 * max(kept[:3])
    assert max(kept) < 20_000


def test_strings_that_never_come_back_leave_the_dictionary():
    session = ensue.compile(DECLARED + STRUCTURES["strings as keys"]).start(compiled=True)
    kept = []
    for table in tables(1_000_000):
        session.send(table)
        kept.append(len(session.save()))
    assert max(kept[5:]) < 2 * max(kept[:5])
