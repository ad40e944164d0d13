"""The CPU time of a process and of all that it started: Spark is a Java process with Python workers, which come and go.

Read from `/proc`, so on Linux only. What a process has waited for counts as its own, so a worker that has ended is
counted with the one that started it.
"""

from __future__ import annotations

import os
from pathlib import Path

_PARENT, _TIMES = 1, slice(11, 15)
"""The fields of `/proc/N/stat`, from the state on: the parent; user and system time, own and of children waited for."""


def tree_cpu(root: int | None = None) -> float:
    """The seconds of CPU that a process (this one, where none is named) and its descendants have taken so far."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended in the meantime
            continue
        parents[int(folder.name)] = int(fields[_PARENT])
        ticks[int(folder.name)] = sum(map(int, fields[_TIMES]))
    root = root or os.getpid()
    return sum(n for process, n in ticks.items() if _descends(process, root, parents)) / os.sysconf("SC_CLK_TCK")


def _descends(process: int, root: int, parents: dict[int, int]) -> bool:
    while process != root and process in parents:
        process = parents[process]
    return process == root
