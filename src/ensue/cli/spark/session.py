"""A Spark session for a command, without the noise: what Java and the workers print is kept away from the terminal."""

from __future__ import annotations

import os
import re
import sys
import threading
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ensue.cli import with_pandas
from ensue.cli.progress import progress
from ensue.cli.spark.options import Cluster, pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LAST_LINES = 20
"""So many lines of Spark's log are shown where it does not start."""


def check_installed() -> None:
    """Says what to install where there is no Spark; comes before anything else of a command."""
    from ensue.data import DataError

    with_pandas()
    try:
        import pyspark
        import pyspark.sql  # noqa: F401
    except ModuleNotFoundError as error:
        raise DataError(f"This needs Spark for Python ({error.name} is missing): pip install 'ensue[spark]'.") from None


def spark_session(cluster: Cluster, usual: Mapping[str, str] | None = None) -> SparkSession:
    """The session that the process has, or a new one. `usual` are settings that --conf can override."""
    from ensue.data import DataError
    from ensue.spark.java import NoJavaError
    from ensue.spark.local import local_session

    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    settings = {"spark.ui.showConsoleProgress": "false", **(usual or {}), **pairs(cluster.conf, "--conf")}
    if cluster.master is not None:
        settings["spark.master"] = cluster.master
    last: deque[str] = deque(maxlen=LAST_LINES)
    try:
        with progress("Starting Spark…"), _kept_away(cluster.log, last):
            return local_session("ensue", settings=settings)
    except NoJavaError as error:
        raise DataError(str(error)) from None
    except Exception as error:
        if os.environ.get("ENSUE_TRACEBACK"):
            raise
        said = " ".join(" ".join(last).split())[-1000:]
        raise DataError(f"Spark does not start: {said or error}") from None


def cores_of(cluster: Cluster) -> int | None:
    """How many cores a local Spark uses; None on a cluster.

    >>> cores_of(Cluster(master="local[3]")), cores_of(Cluster(master="yarn"))
    (3, None)
    """
    master = cluster.master or pairs(cluster.conf, "--conf").get("spark.master", "local[*]")
    if os.environ.get("SPARK_REMOTE") or not master.startswith("local"):
        return None
    number = master.removeprefix("local").strip("[]").split(",")[0]
    return int(number) if number.isdigit() else os.cpu_count() if number == "*" else 1


def from_here(path: str, cluster: Cluster) -> str:
    """A path as Spark is told it. On this machine it begins where the command was called; Java may be elsewhere.

    >>> from_here("s3a://events", Cluster()), from_here("events", Cluster(master="yarn"))
    ('s3a://events', 'events')
    """
    if cores_of(cluster) is None or re.match(r"[\w+.-]+:", path):
        return path
    return str(Path(path).absolute())


@contextmanager
def _kept_away(log: str | None, last: deque[str]) -> Iterator[None]:
    """Has all processes that are started meanwhile write their errors to a file, or nowhere.

    With ENSUE_TRACEBACK they are written to standard error as usual.
    """
    if os.environ.get("ENSUE_TRACEBACK") or sys.stderr is None:
        yield
        return
    reading, writing = os.pipe()
    before = os.dup(2)
    os.dup2(writing, 2)
    os.close(writing)
    threading.Thread(target=_drain, args=(reading, log, last), daemon=True).start()
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def _drain(reading: int, log: str | None, last: deque[str]) -> None:
    """Takes lines as long as somebody writes them, so that nobody waits."""
    with os.fdopen(reading, errors="replace") as lines, Path(log or os.devnull).open("a", encoding="utf-8") as file:
        for line in lines:
            last.append(line)
            file.write(line)
            file.flush()
