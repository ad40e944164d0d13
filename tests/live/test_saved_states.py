"""States of versions that were: each must still be resumed and go on as it did, or be refused with a sentence.

`python -m tests.live.test_saved_states` writes that of the version at hand, beside those that are there.
"""

from pathlib import Path

import pytest

import ensue
from ensue.engine.state import FORMAT, VERSION

FOLDER = Path(__file__).parent / "states"
RULES = FOLDER / "rules.ensue"

BEFORE = [
    {"type": "order", "time": 1, "id": 1, "product": "tea", "qty": 2.0},
    {"type": "order", "time": 2, "id": 2, "product": "tea", "qty": 1.5},
    {"type": "order", "time": 2, "id": 3, "product": "é", "qty": None},
    {"type": "shipped", "time": 5, "id": 2, "at": "2026-01-01T00:00:00Z"},
]
AFTER = [
    {"type": "order", "time": 7, "id": 4, "product": "tea", "qty": 4.0},
    {"type": "shipped", "time": 9, "id": 1, "at": None},
    {"type": "order", "time": 40, "id": 5, "product": "é", "qty": 1.0},
]


def found_after(session):
    found = session.send(AFTER) + session.close(60)
    return sorted(repr(sorted((name, value) for name, value in row.items())) for row in found)


def begun():
    session = ensue.compile(RULES).start(lateness=1, tables={"vip": [(1,), (3,)]}, compiled=False)
    session.send(BEFORE)
    return session


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.state")), ids=lambda path: path.stem)
def test_a_state_of_a_version_that_was(path):
    try:
        resumed = ensue.compile(RULES).resume(path.read_bytes())
    except ensue.StateError as refused:
        assert path.stem != f"{FORMAT}.{VERSION}", f"{refused} Raise VERSION where what is kept has changed."
        assert "written by another version of ensue" in str(refused)
        return
    assert found_after(resumed) == found_after(begun())


def test_there_is_a_state_of_this_version():
    assert (FOLDER / f"{FORMAT}.{VERSION}.state").exists(), "python -m tests.live.test_saved_states"


if __name__ == "__main__":
    (FOLDER / f"{FORMAT}.{VERSION}.state").write_bytes(begun().save())
