"""A Spark session for a command, without noise: output of Java and the workers is kept away from the terminal."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ensue.cli import with_pandas
from ensue.cli.pairs import pairs
from ensue.cli.progress import progress
from ensue.cli.spark.options import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LAST_LINES = 20
"""Number of lines of Spark's log that are shown if it does not start."""


def check_installed() -> None:
    """Names the packages to install if there is no Spark; a command calls it first of all."""
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

    settings = {**(usual or {}), **pairs(cluster.conf, "--conf")}
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
        message = " ".join(" ".join(last).split())[-1000:]
        raise DataError(f"Spark does not start: {message or error}") from None


def cores_of(cluster: Cluster) -> int | None:
    """Number of cores that a local Spark uses; None on a cluster.

    >>> cores_of(Cluster(master="local[3]")), cores_of(Cluster(master="yarn"))
    (3, None)
    """
    master = cluster.master or pairs(cluster.conf, "--conf").get("spark.master", "local[*]")
    if os.environ.get("SPARK_REMOTE") or not master.startswith("local"):
        return None
    number = master.removeprefix("local").strip("[]").split(",")[0]
    return int(number) if number.isdigit() else os.cpu_count() if number == "*" else 1


def from_here(path: str, cluster: Cluster) -> str:
    """A path as Spark needs it: on this machine absolute, since Java may run in another folder.

    >>> from_here("s3a://events", Cluster()), from_here("events", Cluster(master="yarn"))
    ('s3a://events', 'events')
    """
    if cores_of(cluster) is None or re.match(r"[\w+.-]+:", path):
        return path
    return str(Path(path).absolute())


@contextmanager
def _kept_away(log: str | None, last: deque[str]) -> Iterator[None]:
    """Redirects errors of all processes that are started meanwhile to a file, or discards them.

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
    """Reads lines until all writers are gone, so that none of them blocks."""
    with os.fdopen(reading, errors="replace") as lines, Path(log or os.devnull).open("a", encoding="utf-8") as file:
        for line in lines:
            last.append(line)
            file.write(line)
            file.flush()
