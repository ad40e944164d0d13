"""One Parquet file as a plain table: only the columns that the rules use are read, and in pieces if it is large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ensue.data.columns import Columns as Names
from ensue.data.errors import DataError, first_line
from ensue.engine.mixed import fit
from ensue.language import typed

if TYPE_CHECKING:
    import pyarrow.parquet as pq

LARGE = 2**28
"""From how many bytes on, uncompressed, a file is read in pieces."""

PIECE = 2**20
"""Rows of a piece."""


class PlainParquet:
    """A file whose columns need no conversion."""

    def __init__(
        self, file: pq.ParquetFile, columns: Sequence[str], end: str, only: str | None, path: str | Path
    ) -> None:
        self.file = file
        self.path = path
        self.columns = list(columns)
        self.end = end
        self.only = only

    @property
    def large(self) -> bool:
        """Whether it should not be read at once, and need not: its row groups follow each other in time."""
        metadata = self.file.metadata
        groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
        if sum(group.total_byte_size for group in groups) < LARGE:
            return False
        place = metadata.schema.to_arrow_schema().names.index(self.end)
        ranges = [group.column(place).statistics for group in groups if group.num_rows]
        if any(r is None or not r.has_min_max for r in ranges):
            return False
        return all(one.max <= other.min for one, other in pairwise(ranges))

    def read(self) -> pa.Table:
        with self._readable():
            return self.file.read(columns=self.columns)

    def pieces(self) -> Iterator[pa.RecordBatch]:
        batches = self.file.iter_batches(PIECE, columns=self.columns)
        while True:
            with self._readable():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Say that a file is damaged where its columns cannot be read."""
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{self.path} is not a Parquet file that can be read: {first_line(error)}") from error


def plain_parquet(source: object, names: Names, events: Mapping[str, typed.EventType]) -> PlainParquet | None:
    """The one file that is named, None if it is something else or must be read with more care."""
    only = None
    if isinstance(source, dict) and len(source) == 1:
        ((only, source),) = source.items()
    if isinstance(source, list) and len(source) == 1:
        (source,) = source
    if not isinstance(source, str | Path) or Path(source).suffix.lower() not in (".parquet", ".pq"):
        return None
    if not Path(source).is_file():
        return None
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source)
    except (OSError, pa.ArrowException):
        return None  # what is wrong with it is said where files are read
    found = fit(file.schema_arrow, names, events, only)
    return None if found is None else PlainParquet(file, found.columns, found.layout.end, only, source)
