"""Object code on disk: used when it is whole and the user's own, compiled again otherwise."""

from __future__ import annotations

import os

import pytest

from ensue.engine.machine import Texts, build, cached_object, load, store
from ensue.engine.structure import Frame, Layout
from tests.engine.test_machine_units import STORE  # skips without llvmlite  # noqa: F401


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ENSUE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def built(monkeypatch):
    """The levels at which something is built from here on."""
    levels = []

    def noted(ir, level):
        levels.append(level)
        return build(ir, level)

    monkeypatch.setattr(store, "build", noted)
    return levels


def unit(added: int) -> Texts:
    return Texts([f"def run(a: int) -> int:\n    return a + {added}\n"], {}, ["run"])


UNIT = unit(1)


def works(code: bytes) -> bool:
    return load(code, ["run"])["run"](Frame(3).address, 4) == 5


def test_the_second_time_nothing_is_built(folder, built):
    first = cached_object(UNIT, 0)
    assert cached_object(UNIT, 0) == first
    assert built == [0]
    assert works(first)
    assert len(list(folder.iterdir())) == 1


def test_levels_and_texts_are_told_apart(folder, built):
    for each, level in ((UNIT, 0), (UNIT, 2), (unit(2), 0), (UNIT, 0)):
        cached_object(each, level)
    assert built == [0, 2, 0]


def test_layouts_are_told_apart(folder, built):
    texts = ["def run(a: int) -> int:\n    return a + store.high\n"]
    for base in (8, 9, 8):
        cached_object(Texts(texts, {"store": (Layout(("low", "high"), ()), base)}, ["run"]), 0)
    assert built == [0, 0]


def test_what_was_kept_is_not_translated_again(folder, monkeypatch):
    first = cached_object(unit(3), 0)
    monkeypatch.setattr(Texts, "ir", property(lambda _: pytest.fail("it was translated")))
    assert cached_object(unit(3), 0) == first


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:-1], lambda data: data[:40] + b"x" + data[41:]]
)
def test_a_damaged_file_is_ignored_and_replaced(folder, built, damage):
    first = cached_object(UNIT, 0)
    (path,) = folder.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert cached_object(UNIT, 0) == first
    assert cached_object(UNIT, 0) == first
    assert built == [0, 0]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such owners")
def test_a_file_that_others_may_write_is_ignored(folder, built):
    cached_object(UNIT, 0)
    (path,) = folder.iterdir()
    path.chmod(0o666)
    cached_object(UNIT, 0)
    assert built == [0, 0]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such owners")
def test_a_file_of_another_user_is_ignored(folder, built, monkeypatch):
    cached_object(UNIT, 0)
    monkeypatch.setattr(os, "getuid", lambda: 123456)
    cached_object(UNIT, 0)
    assert built == [0, 0]


def test_an_unwritable_folder_is_fine(tmp_path, monkeypatch, built):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ENSUE_CACHE_DIR", str(tmp_path / "file"))
    assert works(cached_object(UNIT, 0))
    assert works(cached_object(UNIT, 0))
    assert built == [0, 0]
