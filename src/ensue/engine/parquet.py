"""One Parquet file as a plain table: only the columns that the rules use are read, and in pieces if it is large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ensue.data.columns import Columns as Names
from ensue.data.errors import DataError, first_line
from ensue.engine.mixed import fit, times_of
from ensue.engine.structures.capacity import current
from ensue.language import typed

if TYPE_CHECKING:
    import pyarrow.parquet as pq


@dataclass(frozen=True)
class RowGroup:
    """A row group: its number, its rows, and their first and last end."""

    index: int
    rows: int
    first: int
    last: int


class PlainParquet:
    """A file whose columns need no conversion."""

    def __init__(
        self, file: pq.ParquetFile, columns: Sequence[str], end: str, instant: bool, only: str | None, path: str | Path
    ) -> None:
        self.file = file
        self.path = path
        self.columns = list(columns)
        self.end = end
        self.instant = instant
        self.only = only

    @property
    def large(self) -> bool:
        """Whether it should not be read at once, and need not: its row groups follow each other in time."""
        metadata = self.file.metadata
        sizes = [metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups)]
        groups = self.groups if sum(sizes) >= current().file else ()
        return bool(groups) and all(one.last <= other.first for one, other in pairwise(groups))

    @cached_property
    def groups(self) -> tuple[RowGroup, ...]:
        """The row groups that are not empty; none if the file does not say which times they have."""
        metadata, schema = self.file.metadata, self.file.schema_arrow
        place, type_ = schema.names.index(self.end), schema.field(self.end).type
        found = []
        for index in range(metadata.num_row_groups):
            group = metadata.row_group(index)
            known = group.column(place).statistics
            if not group.num_rows:
                continue
            if known is None or not known.has_min_max:
                return ()
            times = times_of(pa.chunked_array([pa.array([known.min, known.max], type_)]))
            if times is None:
                return ()
            found.append(RowGroup(index, group.num_rows, int(times[0]), int(times[1])))
        return tuple(found)

    def read(self) -> pa.Table:
        with self._readable():
            return self.file.read(columns=self.columns)

    def pieces(self, groups: Sequence[RowGroup] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows one piece after the other; of some row groups only, if these are given, for a thread of its own."""
        if groups is None:
            batches = self.file.iter_batches(current().piece, columns=self.columns)
        else:
            import pyarrow.parquet as pq

            file, size = pq.ParquetFile(self.path), max(1, current().piece // 8)
            batches = file.iter_batches(size, [each.index for each in groups], self.columns, use_threads=False)
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
    if found is None:
        return None
    instant = found.layout.start == found.layout.end
    return PlainParquet(file, found.columns, found.layout.end, instant, only, source)
