"""Signals that stop a stream, without Spark: what the first does, and what a second does."""

import os
import signal
import subprocess
import sys

import pytest

from ensue.cli.spark.stopping import SAME, Stopping

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")

TWICE = """
import os, signal, time
from ensue.cli.spark.stopping import SAME, Stopping
with Stopping() as stopping:
    os.kill(os.getpid(), signal.SIGINT)
    assert stopping.stopped.is_set()
    print("asked", flush=True)
    time.sleep(2 * SAME)
    os.kill(os.getpid(), signal.{name})
    print("still there", flush=True)
"""


def handler_of_pyspark(*_: object) -> None:
    """Breaks a call to Java, as PySpark's does."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        raise RuntimeError("Gateway must be connected to send cancel cmd.") from None


def test_a_signal_asks_to_stop_and_no_more() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Stopping() as stopping:
        assert not stopping.stopped.is_set()
        for _ in range(2):  # at once: a terminal and a wrapper each send one
            os.kill(os.getpid(), signal.SIGTERM)
        assert stopping.stopped.is_set()
        assert stopping.caused(OSError("Java is gone"))
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_second_signal_ends_the_process_at_once(name: str, code: int) -> None:
    done = subprocess.run([sys.executable, "-c", TWICE.format(name=name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "asked\n", "")
    assert SAME < 1


def test_a_start_is_not_waited_for() -> None:
    with Stopping() as stopping, pytest.raises(KeyboardInterrupt) as caught, stopping.at_once():
        os.kill(os.getpid(), signal.SIGTERM)
    assert stopping.caused(caught.value)


def test_a_handler_that_spark_installs_is_replaced() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Stopping() as stopping:
        with stopping.at_once():
            signal.signal(signal.SIGINT, handler_of_pyspark)
        os.kill(os.getpid(), signal.SIGINT)
        assert stopping.stopped.is_set()
    assert signal.getsignal(signal.SIGINT) is before


def test_what_such_a_handler_raises_is_a_signal_too() -> None:
    with Stopping() as stopping:
        with pytest.raises(RuntimeError) as caught, stopping.at_once():
            signal.signal(signal.SIGINT, handler_of_pyspark)
            os.kill(os.getpid(), signal.SIGINT)
        assert stopping.caused(caught.value)
        assert stopping.stopped.is_set()


def test_other_failures_are_failures() -> None:
    with Stopping() as stopping:
        assert not stopping.caused(OSError("no space"))
