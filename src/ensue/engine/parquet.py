"""One Parquet file as a plain table: only the columns that the rules use are read, and in pieces if it is large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ensue.data.columns import Columns as Names
from ensue.data.errors import DataError, first_line
from ensue.engine.capacity import current
from ensue.engine.plain_tables import Used, fit, times_of
from ensue.language import typed
from ensue.records import dataclass

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
        self, file: pq.ParquetFile, columns: Sequence[str], used: Sequence[str], end: str, instant: bool,
        only: str | None, path: str | Path, in_dictionary: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.file = file
        self.path = path
        self.in_dictionary = list(in_dictionary)
        self.columns = list(columns)
        self.used = list(used)
        self.end = end
        self.instant = instant
        self.only = only

    @property
    def large(self) -> bool:
        """True if it is large, and can be read in pieces."""
        metadata = self.file.metadata
        sizes = [metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups)]
        return sum(sizes) >= current().file and self.ordered

    @property
    def ordered(self) -> bool:
        """True if its row groups follow each other in time."""
        return bool(self.groups) and all(one.last <= other.first for one, other in pairwise(self.groups))

    @cached_property
    def groups(self) -> tuple[RowGroup, ...]:
        """The row groups that are not empty; none if the file does not say which times they have."""
        metadata, type_ = self.file.metadata, self.file.schema_arrow.field(self.end).type
        place = _place(metadata, self.end)
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

    def read(self, every: bool, threads: int) -> pa.Table | dict[str, pa.Table]:
        """Its rows: the columns that rules use, or `every` one that is declared."""
        columns = self.columns if every else self.used
        most = min(threads, self.file.num_row_groups, self.file.metadata.num_rows // current().thread)
        with self._readable():
            table = self._read_in_threads(columns, most) if most > 1 else self.file.read(columns=columns)
            self._check_codes(table)
        return table if self.only is None else {self.only: table}

    def _read_in_threads(self, columns: Sequence[str], threads: int) -> pa.Table:
        """The rows, each row group read by one thread. Arrow gives a thread a column, of which there may be few."""
        from concurrent.futures import ThreadPoolExecutor

        def group(index: int) -> pa.Table:
            return self._opened().read_row_group(index, columns=columns, use_threads=False)

        with ThreadPoolExecutor(threads) as pool:
            return pa.concat_tables(pool.map(group, range(self.file.num_row_groups)))

    def _opened(self) -> pq.ParquetFile:
        """The file once more, for a thread of its own."""
        import pyarrow.parquet as pq

        return pq.ParquetFile(self.path, metadata=self.file.metadata, read_dictionary=self.in_dictionary)

    def pieces(self, groups: Sequence[RowGroup] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows one piece after the other; with `groups` only those of some row groups, for a thread of its own."""
        if groups is None:
            batches = self.file.iter_batches(current().piece, columns=self.columns)
        else:
            size = max(1, current().piece // 8)
            indices = [each.index for each in groups]
            batches = self._opened().iter_batches(size, indices, self.columns, use_threads=False)
        while True:
            with self._readable():
                batch = next(batches, None)
                if batch is None:
                    return
                self._check_codes(batch)
            yield batch

    def _check_codes(self, read: pa.Table | pa.RecordBatch) -> None:
        """Reject codes of types that are in no dictionary, as a damaged file may have them: Arrow does not look."""
        for name in self.in_dictionary:
            column = read.column(name)
            for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                codes = (chunk.indices.drop_null() if chunk.null_count else chunk.indices).to_numpy()
                if len(codes) and not 0 <= codes.min() <= codes.max() < len(chunk.dictionary):
                    raise pa.ArrowInvalid(f"column {name!r} has a code that is not in its dictionary")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Report a file as damaged where its columns cannot be read."""
        try:
            yield
        except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
            raise DataError(f"{self.path} is not a Parquet file that can be read: {first_line(error)}") from error


def plain_parquet(
    source: object, names: Names, events: Mapping[str, typed.EventType], used: Used
) -> PlainParquet | None:
    """The one named file; None if the source is another, or needs conversion. `used` are attributes that rules use."""
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
    except (OSError, UnicodeDecodeError, pa.ArrowException):
        return None  # the general reader reports what is wrong with it
    found = fit(file.schema_arrow, names, events, only)
    if found is None:
        return None
    instant = found.layout.start == found.layout.end
    type_ = found.layout.type if found.layout.type not in found.types else None  # an attribute is read as it is
    is_text = type_ is not None and file.schema_arrow.field(type_).type == pa.string()
    in_dictionary = _in_dictionary(file.metadata, str(type_)) if is_text else []
    if in_dictionary:
        file = pq.ParquetFile(source, metadata=file.metadata, read_dictionary=in_dictionary)
    layout = found.layout
    needed = {layout.type, layout.start, layout.end, *(name for _, name in used)}
    used_columns = [name for name in found.columns if name in needed]
    return PlainParquet(file, found.columns, used_columns, layout.end, instant, only, source, in_dictionary)


def _place(metadata: pq.FileMetaData, name: str) -> int:
    """The number of a column among those that are stored: a nested one before it counts by its fields."""
    return next(place for place in range(metadata.num_columns) if metadata.schema.column(place).path == name)


def _in_dictionary(metadata: pq.FileMetaData, name: str) -> list[str]:
    """The column of types, if its texts are stored once each: then numbers are read, in a fifth of the time."""
    place = _place(metadata, name)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return [name] if all(group.column(place).has_dictionary_page for group in groups if group.num_rows) else []
