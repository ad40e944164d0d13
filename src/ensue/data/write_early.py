"""Detections written to a file while others are still found.

A thread writes what is final; Arrow holds no lock of the interpreter meanwhile. The file gets its name when it is known
to have all that was found, and otherwise none is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import TypeAlias

import pyarrow as pa

from ensue.data.write import PIECEWISE, Pieces, name_beside

Tables: TypeAlias = "Mapping[str, pa.Table]"


class EarlyFile:
    """A file of detections that a thread writes as they come; nothing is created before the first ones.

    Whatever fails here only means that the file is not written early: writing it as a whole reports the reason.
    """

    def __init__(self, path: Path, arranged: Callable[[Tables], pa.Table]) -> None:
        self._path, self._arranged = path.expanduser(), arranged
        self._writing: _Writing | None = None
        self._whole: Tables | None = None

    @staticmethod
    def can_write(path: Path) -> bool:
        """True if the format of a file can be written in pieces."""
        return path.suffix.lower() in PIECEWISE

    def begin(self) -> None:
        """Forget what came before: detection begins anew."""
        self._discard()
        self._whole = None

    def take(self, tables: Tables) -> None:
        """Have more detections written, which follow all those before."""
        if not any(table.num_rows for table in tables.values()):
            return
        if self._writing is None:
            self._writing = _Writing(self._path, self._arranged)
        self._writing.tables.put(tables)

    def end(self, whole: Tables) -> None:
        """Note that all that was taken since the beginning is `whole`."""
        self._whole = whole

    def finish(self, found: Tables) -> bool:
        """Give the file its name if it has exactly what was found; False if it has not, and is to be written."""
        if self._writing is None or self._whole is not found or not self._writing.finished():
            return False
        try:
            self._writing.beside.replace(self._path)
        except OSError:
            return False
        return True

    def __enter__(self) -> EarlyFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._discard()

    def _discard(self) -> None:
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.stop()


class _Writing:
    """A thread that writes tables to a file beside another."""

    def __init__(self, path: Path, arranged: Callable[[Tables], pa.Table]) -> None:
        self.beside = name_beside(path)
        self.tables: SimpleQueue[Tables | None] = SimpleQueue()
        self._open, self._arranged = PIECEWISE[path.suffix.lower()], arranged
        self._stopped = False
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._run, name="ensue-writing")
        self._thread.start()

    def finished(self) -> bool:
        """Wait until everything is written; False if that failed."""
        self.tables.put(None)
        self._thread.join()
        return self._failure is None

    def stop(self) -> None:
        """Stop writing, and remove the file unless it has got its name."""
        self._stopped = True
        self.tables.put(None)
        self._thread.join()
        self.beside.unlink(missing_ok=True)

    def _run(self) -> None:
        try:
            with ExitStack() as stack:
                file: Pieces | None = None
                while (tables := self.tables.get()) is not None:
                    if self._stopped:
                        break
                    table = self._arranged(tables)
                    if file is None:
                        file = stack.enter_context(self._open(self.beside, table.schema))
                    file.write_table(table)
        except BaseException as error:
            self._failure = error
