"""A cache folder of the user's, for results that take long to make and are always the same.

``ENSUE_CACHE_DIR`` names another one. Its content can be deleted at any time. A file is named after a digest of its
inputs, and a damaged file is not used.
"""

from __future__ import annotations

import atexit
import hashlib
import os
from functools import cache
from pathlib import Path


def usual_folder() -> Path:
    """Folder of the cache, whether or not it exists yet."""
    chosen = os.environ.get("ENSUE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA")
        if local:
            return Path(local) / "ensue" / "cache"
        import tempfile

        return Path(tempfile.gettempdir()) / "ensue" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ensue"


@cache
def cache_folder() -> Path:
    """The folder, which can be written to: if the usual one cannot, a temporary one, as long as the process lasts."""
    import tempfile

    folder = usual_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        temporary = Path(tempfile.mkdtemp(prefix="ensue-"))
        atexit.register(_remove, temporary, os.getpid())
        return temporary


def _remove(folder: Path, process: int) -> None:
    """Removes a temporary folder when the process ends that made it, and not when one that it started does."""
    import shutil

    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def key_of(*parts: str) -> str:
    """A name for a result, by a digest of its inputs."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def keep(name: str, data: bytes) -> None:
    """Keeps some bytes if that is possible; a file is there whole or not at all."""
    import tempfile

    folder = usual_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        Path(temporary).replace(folder / name)
    except OSError:
        return


def kept(name: str) -> bytes | None:
    """The bytes that were kept under a name; None if there are none or they have changed."""
    try:
        held = (usual_folder() / name).read_bytes()
    except OSError:
        return None
    size = hashlib.sha256().digest_size
    return held[size:] if hashlib.sha256(held[size:]).digest() == held[:size] else None
