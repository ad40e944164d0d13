"""The bytes of a file, unpacked where it is compressed."""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from ensue.data.errors import DataError, first_line
from ensue.data.text_file import utf8
from ensue.records import dataclass

COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz", ".lz4": "lz4"}


@dataclass(frozen=True)
class Content:
    """The content of a file. It is read again if needed, rather than kept."""

    name: str
    read: Callable[[], bytes]

    def text(self) -> bytes:
        """The bytes, known to be UTF-8, without a byte order mark."""
        return utf8(self.read(), self.name)

    def decoded(self) -> bytes:
        """The bytes as UTF-8, with a sign for each that is none: a log may hold anything."""
        data = self.read().removeprefix(b"\xef\xbb\xbf")
        return data if data.isascii() else data.decode(errors="replace").encode()


def file_content(path: Path) -> Content:
    return Content(str(path), lambda: _unpacked(path))


def inner_suffix(path: Path) -> str:
    """The suffix that determines the format, without the one of a compressed file.

    >>> inner_suffix(Path("events.jsonl.gz")), inner_suffix(Path("events.CSV"))
    ('.jsonl', '.csv')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_compressed(path: Path) -> bool:
    return path.suffix.lower() in COMPRESSED


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    codec = COMPRESSED.get(path.suffix.lower())
    if codec is None:
        return data
    try:
        if codec == "xz":
            return lzma.decompress(data)
        if codec == "bz2":
            return bz2.decompress(data)
        with pa.CompressedInputStream(pa.BufferReader(data), codec) as stream:
            return bytes(stream.read())
    except (OSError, EOFError, lzma.LZMAError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be unpacked: {first_line(error)}") from error
