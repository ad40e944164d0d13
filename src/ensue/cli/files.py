"""A file written whole or not at all."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def replace_file(path: Path, texts: Iterable[str], newline: str = "\n") -> None:
    """Writes texts to a file as UTF-8. One of that name is replaced once all is written, and its permissions are kept.

    A link stays a link: its target is replaced. A file that may not be written is not replaced either, though its
    folder would allow that.
    """
    with _replacing(path) as beside, beside.open("w", encoding="utf-8", newline=newline) as file:
        file.writelines(texts)


def replace_bytes(path: Path, data: bytes) -> None:
    """The same for bytes."""
    with _replacing(path) as beside:
        beside.write_bytes(data)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file to write beside another one, which it replaces if nothing fails."""
    target = path.resolve()
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied", str(path))
    if target.exists() and not target.is_file():  # a device or a pipe, which must not become a file
        yield target
        return
    beside = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        with beside.open("wb"):
            pass
    except OSError as error:  # names the output, not the file beside it
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        yield beside
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
