"""The session that we make on this machine, in a process of its own."""

import subprocess
import sys

SESSIONS = """
from ensue.spark.local import PARTITIONS, local_session
for cores, settings in ((1, {}), (3, {}), (1, {PARTITIONS: "7"})):
    session = local_session(cores=cores, settings=settings)
    print(session.conf.get(PARTITIONS), session.conf.get("spark.ui.showConsoleProgress"))
    session.stop()
"""


def test_a_session_has_a_task_for_each_core_unless_told_otherwise() -> None:
    done = subprocess.run([sys.executable, "-c", SESSIONS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["2 false", "3 false", "7 false"]
