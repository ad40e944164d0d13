"""A Spark session on this machine, for the command line, tests and benchmarks."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ensue.spark.java import provide_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def local_session(
    name: str = "ensue", cores: int | None = None, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """The session there is, or a new one on this machine; Java comes along where there is none."""
    from pyspark.sql import SparkSession

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
        "spark.sql.session.timeZone": "UTC",
        STATE_STORE: ROCKS,
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),  # else Spark looks at it after each row
        "spark.log.level": "ERROR",
    }
    for key, value in {**usual, **(settings or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
