"""Compiled code is kept in a folder: used again if it is what is wanted, made anew if not, done without if need be."""

import os
import shutil
import subprocess
import sys
from itertools import cycle

import pytest

import ensue
from ensue.engine.compiled.code import cache_folder

pytest.importorskip("numba")

SCRIPT = """
import ensue
program = ensue.compile("event a(k: int, x: int).  d(k, y = x + 1) <- a(k, x).")
events = [{"type": "a", "time": t, "k": 1, "x": t} for t in range(3)]
found = program.detect(events, compiled=True)
assert [row["y"] for row in found] == [1, 2, 3], found
"""


def run(folder):
    """Runs rules in a process of its own."""
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
    """A folder with what was compiled before."""
    return shutil.copytree(filled, tmp_path / "cache")


def files(folder, pattern):
    found = sorted(folder.rglob(pattern))
    assert found, [path.name for path in folder.rglob("*")]
    return found


@pytest.fixture
def as_numba_keeps_it(folder):
    """The same without what runs without Numba."""
    for path in files(folder, "*.object"):
        path.unlink()
    return folder


def test_what_was_compiled_is_used_again(folder):
    before = {path: path.stat().st_mtime_ns for path in files(folder, "*.[no]b*")}
    run(folder)
    assert {path: path.stat().st_mtime_ns for path in files(folder, "*.[no]b*")} == before


@pytest.mark.parametrize("left", [b"raise SystemExit('not mine')\n", b"\xff\xfe\x00 no text"])
def test_a_source_that_is_another_is_not_used(as_numba_keeps_it, left):
    folder = as_numba_keeps_it
    for path in files(folder, "ensue_*.py"):
        path.write_bytes(left)
    run(folder)
    assert all(path.read_bytes() != left for path in files(folder, "ensue_*.py"))


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_damaged_machine_code_is_made_anew(as_numba_keeps_it, pattern):
    """Emptied, cut short or overwritten: one file in this way, the next in that."""
    folder = as_numba_keeps_it
    damages = cycle((lambda data: b"", lambda data: data[: len(data) // 2], lambda data: bytes(len(data))))
    damaged = {path: damage(path.read_bytes()) for path, damage in zip(files(folder, pattern), damages, strict=False)}
    assert len(damaged) >= 3
    for path, data in damaged.items():
        path.write_bytes(data)
    run(folder)
    assert all(path.read_bytes() != data for path, data in damaged.items())


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-1], lambda data: bytes(len(data))])
def test_damaged_object_code_is_made_anew(folder, damage):
    before = {path: path.read_bytes() for path in files(folder, "*.object")}
    for path, data in before.items():
        path.write_bytes(damage(data))
    run(folder)
    assert all(path.read_bytes() != damage(data) for path, data in before.items())


def test_files_of_others_do_no_harm(folder):
    (folder / "ensue_rules_0.py").write_text("raise SystemExit('not mine')")
    (folder / "notes.txt").write_text("mine")
    (folder / "__pycache__" / "ensue_rules_0.run-1.py311.nbi").write_bytes(b"?")
    run(folder)
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder can be in a file")
    monkeypatch.setenv("ENSUE_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    used = cache_folder.__wrapped__()
    assert used.parent == tmp_path
    assert used.is_dir()


def test_without_numba_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    program = ensue.compile("event a(k: int, z: int).  d(k, y = z + 7) <- a(k, z).")
    with pytest.raises(ensue.DetectError, match="pip install numba"):
        program.detect([{"type": "a", "time": 1, "k": 1, "z": 1}], compiled=True)
    assert len(program.detect([{"type": "a", "time": 1, "k": 1, "z": 1}])) == 1
