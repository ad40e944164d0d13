"""The CPU time of a process and of all that it started: Spark is a Java process with Python workers, which come and go.

Read from `/proc`, so on Linux only. What a process has waited for counts as its own, so a worker that has ended is
counted with the one that started it.
"""

from __future__ import annotations

import os
from pathlib import Path

_PARENT, _TIMES = 1, slice(11, 15)
"""The fields of `/proc/N/stat`, from the state on: the parent; user and system time, own and of children waited for."""


def tree_cpu(program: str | None = None) -> float:
    """The seconds of CPU that this process and its descendants have taken so far; of one program, where it is named."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            before, _, after = (folder / "stat").read_text().rpartition(")")
        except OSError:  # it has ended in the meantime
            continue
        fields = after.split()
        parents[int(folder.name)] = int(fields[_PARENT])
        if program is None or before.endswith(f"({program}"):
            ticks[int(folder.name)] = sum(map(int, fields[_TIMES]))
    return sum(n for process, n in ticks.items() if _is_ours(process, parents)) / os.sysconf("SC_CLK_TCK")


def _is_ours(process: int, parents: dict[int, int]) -> bool:
    while process != os.getpid() and process in parents:
        process = parents[process]
    return process == os.getpid()
