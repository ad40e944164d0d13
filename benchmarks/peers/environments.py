"""Environments for peers that want other versions of libraries than we do; each is made when it is first needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.measure import ROOT, ChildError


def provide(name: str, package: str, module: str) -> Path:
    """The Python of an environment that has a package; a `ChildError` says why there is none."""
    home = ROOT / f".venv-{name}"
    python = home / "bin" / "python"
    if python.exists() and subprocess.run([python, "-c", f"import {module}"], check=False).returncode == 0:
        return python
    for command in ([sys.executable, "-m", "venv", home], [python, "-m", "pip", "install", "-q", package]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ChildError(
                f"{package} could not be installed: {(done.stderr or done.stdout).strip().splitlines()[-1]}"
            )
    return python
