"""Compiled code is kept in a folder: used again if it is what is wanted, made anew if not, done without if need be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ensue

pytest.importorskip("numba")

SCRIPT = """
import sys
import ensue
from ensue.engine.compiled.code import cache_folder
program = ensue.compile("event a(k: int, x: int).  d(k, y = x + 1) <- a(k, x).")
events = [{"type": "a", "time": t, "k": 1, "x": t} for t in range(3)]
found = program.detect(events, compiled=True)
assert [row["y"] for row in found] == [1, 2, 3], found
print(cache_folder())
"""


def run(folder):
    """Runs rules in a process of its own; gives the folder that it used."""
    environment = {**os.environ, "ENSUE_CACHE_DIR": str(folder)}
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT], env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    return Path(ended.stdout.strip())


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    assert run(folder) == folder
    return folder


@pytest.fixture
def folder(filled, tmp_path):
    """A folder with what was compiled before."""
    copy = tmp_path / "cache"
    for path in filled.rglob("*"):
        if path.is_file():
            to = copy / path.relative_to(filled)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(path.read_bytes())
            os.utime(to, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    return copy


def files(folder, pattern):
    found = sorted(folder.rglob(pattern))
    assert found, [path.name for path in folder.rglob("*")]
    return found


def test_what_was_compiled_is_used_again(folder):
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}
    assert run(folder) == folder
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")} == before


@pytest.mark.parametrize("left", [b"", b"raise SystemExit('not mine')\n", b"\xff\xfe\x00 no text"])
def test_a_source_that_is_another_is_not_used(folder, left):
    for path in files(folder, "ensue_*.py"):
        path.write_bytes(left)
    assert run(folder) == folder
    assert all(path.read_bytes() != left for path in files(folder, "ensue_*.py"))


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("damage", ["emptied", "cut short", "overwritten"])
def test_damaged_files_are_not_used(folder, pattern, damage):
    for path in files(folder, pattern):
        data = path.read_bytes()
        path.write_bytes(
            {"emptied": b"", "cut short": data[: len(data) // 2], "overwritten": b"\0" * len(data)}[damage]
        )
    assert run(folder) == folder


def test_files_of_others_do_no_harm(folder):
    (folder / "ensue_rules_0.py").write_text("raise SystemExit('not mine')")
    (folder / "notes.txt").write_text("mine")
    (folder / "__pycache__" / "ensue_rules_0.run-1.py311.nbi").write_bytes(b"?")
    assert run(folder) == folder


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("no folder can be in a file")
    used = run(tmp_path / "file" / "cache")
    assert used.is_dir()
    assert tmp_path not in used.parents


def test_without_numba_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    program = ensue.compile("event a(k: int, z: int).  d(k, y = z + 7) <- a(k, z).")
    with pytest.raises(ensue.DetectError, match="pip install numba"):
        program.detect([{"type": "a", "time": 1, "k": 1, "z": 1}], compiled=True)
    assert len(program.detect([{"type": "a", "time": 1, "k": 1, "z": 1}])) == 1
