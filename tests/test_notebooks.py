"""The notebook of first steps runs, and shows its stored outputs. The one on Spark is among the tests of Spark."""

import json
import re

import pytest

from tests.notebooks import FOLDER, run_notebook


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def test_first_steps(folder):
    run_notebook("first-steps")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_is_small_and_its_cells_have_names_of_their_own(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(names) == len(set(names)) > 5
    assert path.stat().st_size < 30_000
    for target in re.findall(r"\]\(([^)#:]+)\)", "".join("".join(cell["source"]) for cell in notebook["cells"])):
        assert (FOLDER / target).exists(), target
