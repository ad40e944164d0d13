"""Object code kept in the user's cache folder, so that the same rules are compiled once.

A file is named after all that its code depends on, and is used only if it is whole and belongs to the user: it is run
as it is.
"""

from __future__ import annotations

import hashlib
import os
import stat

from ensue.cache import keep, key_of, usual_folder
from ensue.engine.machine.compilation import PASSES, build, processor, version


def cached_object(ir: str, level: int) -> bytes:
    """Object code for LLVM IR, see `build`; made anew unless it was kept."""
    found = kept_object(ir, level)
    if found is None:
        found = build(ir, level)
        keep(_name(ir, level), found)
    return found


def kept_object(ir: str, level: int) -> bytes | None:
    """Object code for LLVM IR if it was kept."""
    return _kept(_name(ir, level))


def _name(ir: str, level: int) -> str:
    return f"machine_{key_of(ir, version() or '', *processor(), str(level), *PASSES)}.object"


def _kept(name: str) -> bytes | None:
    """The bytes kept under a name, if nobody else can have written them and they are whole."""
    try:
        with (usual_folder() / name).open("rb") as file:
            if not _is_own(os.fstat(file.fileno())):
                return None
            held = file.read()
    except OSError:
        return None
    size = hashlib.sha256().digest_size
    return held[size:] if hashlib.sha256(held[size:]).digest() == held[:size] else None


def _is_own(file: os.stat_result) -> bool:
    """Whether the file is the user's, and no one else may write to it. Windows says so by the folder."""
    if not hasattr(os, "getuid"):
        return True
    return file.st_uid == os.getuid() and not file.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
