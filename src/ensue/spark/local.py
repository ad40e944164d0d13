"""A Spark session on this machine, for the command line, tests and benchmarks."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ensue.spark.java import provide_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
PARTITIONS = "spark.sql.shuffle.partitions"
UNSET = "200"
"""Partitions after a shuffle where nobody has set their number."""
PANDAS_WARNING = "PySpark does not yet fully support pandas"
"""Begins a warning of PySpark's that says nothing about ensue, which passes nothing through pandas."""
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def local_session(
    name: str = "ensue", cores: int | None = None, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """The session there is, or a new one on this machine; Java comes along where there is none.

    A new one has a task for each core after a shuffle, and at least two, unless `settings` or Spark's own configuration
    say how many.
    """
    from pyspark.sql import SparkSession

    warnings.filterwarnings("ignore", PANDAS_WARNING, FutureWarning)
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    if not os.environ.get("SPARK_REMOTE"):
        provide_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    if not os.environ.get("SPARK_REMOTE") and "spark.master" not in (settings or {}):
        builder = builder.master(f"local[{cores or '*'}]")
    usual = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        STATE_STORE: ROCKS,
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),  # else Spark looks at it after each row
        "spark.log.level": "ERROR",
    }
    for key, value in {**usual, **(settings or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    if not os.environ.get("SPARK_REMOTE"):
        here = re.match(r"local\[(\d+|\*)", session.conf.get("spark.master") or "")
        if here and session.conf.get(PARTITIONS) == UNSET and PARTITIONS not in (settings or {}):
            session.conf.set(PARTITIONS, str(max(2, os.cpu_count() or 2 if here[1] == "*" else int(here[1]))))
    return session
