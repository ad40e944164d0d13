"""Object code kept in the user's cache folder, so that the same rules are compiled once.

A file is named after everything that its code depends on, and is used only if it is intact and belongs to the user: it
runs unchecked.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter

from ensue.cache import keep, key_of, usual_folder
from ensue.engine.machine.compilation import PASSES, build, processor, version
from ensue.engine.machine.texts import Texts

compiled: Counter[int] = Counter()
"""Number of compilations in this process, by level."""


def cached_object(unit: Texts, level: int) -> bytes:
    """Object code of a unit, see `build`; made anew unless it was kept. Only then the unit is translated."""
    found = kept_object(unit, level)
    if found is None:
        compiled[level] += 1
        found = build(unit.ir, level)
        keep(_name(unit, level), found)
    return found


def kept_object(unit: Texts, level: int) -> bytes | None:
    """Object code of a unit if it was kept."""
    return _kept(_name(unit, level))


def _name(unit: Texts, level: int) -> str:
    return f"machine_{key_of(unit.digest, version() or '', *processor(), str(level), *PASSES)}.object"


def _kept(name: str) -> bytes | None:
    """The bytes kept under a name, if they are intact and only the user can have written them."""
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
    """True if the file is the user's, and no one else may write to it. On Windows the folder ensures this."""
    if not hasattr(os, "getuid"):
        return True
    return file.st_uid == os.getuid() and not file.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
