"""The notebook on Spark runs, and shows its stored outputs."""

import tempfile

from tests.notebooks import run_notebook


def test_the_notebook_on_spark(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run_notebook("on-spark")
