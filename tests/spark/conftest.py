"""One Spark session for all tests of a process: starting one takes longer than most tests."""

import os
from pathlib import Path

import pytest

from ensue.spark.local import local_session

ROOT = Path(__file__).parents[2]

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",  # a handful of rows, and a task for each partition
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",  # code that is compiled for a handful of rows is compiled in vain
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    # Java would spend more time on making its code better, and on collecting garbage side by side, than on the tests.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@pytest.fixture(scope="session")
def spark():
    """A session on two cores, whose workers import the sources of this checkout."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT), *([before] if before else [])])
    session = local_session("ensue tests", cores=2, settings=SETTINGS)
    yield session
    session.stop()


@pytest.fixture
def setting(spark):
    """Sets a setting of the session for one test."""
    before = {}

    def set_(key, value):
        before.setdefault(key, spark.conf.get(key))
        spark.conf.set(key, value)

    yield set_
    for key, value in before.items():
        spark.conf.set(key, value)
