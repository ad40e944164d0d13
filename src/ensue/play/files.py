"""The files of a session: those named on the command line, and names in the current folder that people choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from pathlib import Path

from ensue.data.errors import DataError
from ensue.records import dataclass

ENDINGS = {"rules": (".ensue",), "events": (".jsonl", ".ndjson")}
"""The suffixes of saved files, the usual one first."""

Write = Callable[[Path, Iterable[str], str], None]
"""Writes texts to a file, whole or not at all, with a line ending."""


@dataclass
class Document:
    """A text that is edited: where it is saved, and its text there when it was last read or written."""

    path: Path | None = None
    saved: str | None = None
    newline: str = "\n"


class AlreadyThereError(DataError):
    """Saving would replace a text that the page does not know; it is done only if that is wanted."""


@dataclass
class Files:
    """The two documents of a session, and the folder in which new files may be made."""

    folder: Path
    write: Write
    documents: dict[str, Document] = field(default_factory=lambda: {"rules": Document(), "events": Document()})

    def save(self, which: str, text: str, name: str | None, replace: bool) -> str:
        """Writes a document to its file, or to a new one in the folder; gives the name of that file.

        A file whose content is not the one that was read or written last is replaced only with `replace`.
        """
        if which not in ENDINGS:
            raise DataError("Rules and events can be saved, nothing else.")
        document = self.documents[which]
        path = document.path if name is None else self._new(which, name)
        if path is None:
            raise DataError(f"The {which} have no file yet: give a name that ends in {ENDINGS[which][0]}.")
        known = document.saved if path == document.path else None
        there = _read(path)
        if there is not None and there != known and there != text and not replace:
            changed = "was changed by someone else" if path == document.path else "is there already"
            raise AlreadyThereError(f"{path.name} {changed}. Replace it?")
        try:
            self.write(path, [text], document.newline)
        except OSError as error:
            raise DataError(f"{path.name} cannot be written: {error.strerror or error}.") from None
        document.path, document.saved = path, text
        return path.name

    def _new(self, which: str, name: str) -> Path:
        """The path of a name in the folder; refused if it leads anywhere else.

        >>> Files(Path("."), print)._new("rules", "../shop.ensue")
        Traceback (most recent call last):
        ensue.data.errors.DataError: '../shop.ensue' is not the name of a file in this folder.
        """
        if (
            not name
            or len(name) > 200
            or name.startswith(".")
            or not name.isprintable()
            or set(name) & set('/\\:*?"<>|')
        ):
            raise DataError(f"{name[:200]!r} is not the name of a file in this folder.")
        if not name.endswith(ENDINGS[which]):
            raise DataError(f"The name of a file of {which} ends in {' or '.join(ENDINGS[which])}.")
        path = self.folder / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise DataError(f"{name} is not a plain file, so it is not replaced.")
        return path


def _read(path: Path) -> str | None:
    """The text of a file with line feeds; None if there is none."""
    try:
        return path.read_bytes().decode("utf-8-sig", "replace").replace("\r\n", "\n")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror or error}.") from None
