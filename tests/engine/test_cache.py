"""Machine code is kept in a folder: reused if it fits, compiled again if not; without a folder all still works."""

import os
import shutil
import subprocess
import sys

import pytest

import ensue
from ensue.engine import machine

SCRIPT = """
import ensue
program = ensue.compile("event a(k: int, x: int).  d(k, y = x + 1) <- a(k, x).")
events = [{"type": "a", "time": t, "k": 1, "x": t} for t in range(3)]
found = program.detect(events, compiled=True)
assert [row["y"] for row in found] == [1, 2, 3], found
"""


def run(folder):
    """Runs rules in a new process."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env={**os.environ, "ENSUE_CACHE_DIR": str(folder)}, capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    run(folder)
    return folder


@pytest.fixture
def folder(filled, tmp_path):
    """A folder with code that was compiled before."""
    return shutil.copytree(filled, tmp_path / "cache")


def objects(folder):
    found = sorted(folder.rglob("*.object"))
    assert found, [path.name for path in folder.rglob("*")]
    return found


def test_what_was_compiled_is_used_again(folder):
    before = {path: path.stat().st_mtime_ns for path in objects(folder)}
    run(folder)
    assert {path: path.stat().st_mtime_ns for path in objects(folder)} == before


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-1], lambda data: bytes(len(data))])
def test_damaged_object_code_is_made_anew(folder, damage):
    before = {path: path.read_bytes() for path in objects(folder)}
    for path, data in before.items():
        path.write_bytes(damage(data))
    run(folder)
    assert all(path.read_bytes() != damage(data) for path, data in before.items())


def test_files_of_others_do_no_harm(folder):
    (folder / "notes.txt").write_text("mine")
    (folder / "machine_0.object").write_bytes(b"?")
    run(folder)
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("no folder can be in a file")
    run(tmp_path / "file" / "cache")


def test_without_llvmlite_rules_run_as_python(monkeypatch):
    monkeypatch.setattr(machine, "available", lambda: False)
    program = ensue.compile("event a(k: int, z: int).  d(k, y = z + 7) <- a(k, z).")
    events = [{"type": "a", "time": t, "k": 1, "z": t} for t in range(2000)]
    assert len(program.detect(events)) == 2000
    with pytest.raises(ensue.DetectError, match="pip install llvmlite"):
        program.detect(events, compiled=True)
