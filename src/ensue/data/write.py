"""Detections to a file, in the format that its ending names; the file is there whole or not at all."""

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from ensue.data.errors import DataError, first_line

TIMES = ("start", "end")

ROW_GROUP = 1 << 18
"""Rows of a row group of Parquet: few enough for several threads to read a file."""

_NEEDS_QUOTES = re.compile(r'[,"\r\n]|^$')


def write_events(detections: pa.Table, path: str | Path) -> None:
    """Write detections as JSON lines, CSV, Parquet or Arrow. A file of that name is replaced once all is written."""
    path = Path(path).expanduser()
    write = WRITERS.get(path.suffix.lower())
    if write is None:
        *most, last = WRITERS
        raise DataError(f"{path} does not end in {', '.join(most)} or {last}, so Ensue cannot tell how to write it.")
    if not path.parent.is_dir():
        raise DataError(f"There is no folder {path.parent} to write {path.name} to.")
    beside = name_beside(path)
    try:
        write(detections, beside)
        beside.replace(path)
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise DataError(f"{path} cannot be written: {reason}") from error
    finally:
        beside.unlink(missing_ok=True)


def name_beside(path: Path) -> Path:
    """A name for the file that becomes `path` once it is whole."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}")


def _write_json(detections: pa.Table, path: Path) -> None:
    from ensue.data.json_lines import json_lines

    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in json_lines(detections))


def _write_csv(detections: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in csv_lines(detections))


def csv_lines(detections: pa.Table) -> Iterator[str]:
    """The detections as CSV: lists as JSON, timestamps in ISO 8601, nothing for null and `""` for an empty string.

    >>> found = pa.table({"type": ["a"], "start": [1], "end": [2], "tags": [["x", "y"]], "note": [None], "who": [""]})
    >>> for line in csv_lines(found):
    ...     print(line)
    type,start,end,tags,note,who
    a,1,2,"[""x"", ""y""]",,""
    """
    from ensue.data.json_lines import BATCH, with_moments_as_text

    yield ",".join(map(_field, detections.column_names))
    for batch in detections.to_batches(max_chunksize=BATCH):
        table = with_moments_as_text(pa.Table.from_batches([batch]))
        for fields in zip(*map(_fields, table.columns), strict=True):
            yield ",".join(fields)


def _fields(column: pa.ChunkedArray) -> list[str]:
    from ensue.data.iso import python_values

    if pa.types.is_integer(column.type):
        return ["" if value is None else str(value) for value in column.to_pylist()]
    return [_field(value) for value in python_values(column)]


def _field(value: Any) -> str:
    from ensue.data.json_text import to_text

    if value is None:
        return ""
    text = to_text(value)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def _write_parquet(detections: pa.Table, path: Path) -> None:
    with parquet_pieces(path, detections.schema) as writer:
        writer.write_table(detections)


class Pieces(Protocol):
    """A file that is written table by table."""

    def write_table(self, table: pa.Table) -> None:
        """Write some more rows."""


class _RowGroups:
    """A Parquet file whose row groups all have the same number of rows, however many rows come at once."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        import pyarrow.parquet as pq

        # Hardly any time comes twice, so a dictionary of times would only cost. Differences of times are small.
        numbered = [leaf for field in schema if field.name not in TIMES for leaf in _leaves(field)]
        packed = {name: "DELTA_BINARY_PACKED" for name in TIMES if name in schema.names}
        self._writer = pq.ParquetWriter(path, schema, use_dictionary=numbered, column_encoding=packed)
        self._rest = schema.empty_table()
        self._is_empty = True

    def write_table(self, table: pa.Table) -> None:
        table = pa.concat_tables([self._rest, table])
        past = table.num_rows // ROW_GROUP * ROW_GROUP
        if past:
            self._writer.write_table(table.slice(0, past), row_group_size=ROW_GROUP)
            self._is_empty = False
        self._rest = table.slice(past)

    def close(self, whole: bool) -> None:
        if whole and (self._rest.num_rows or self._is_empty):
            self._writer.write_table(self._rest)
        self._writer.close()


@contextmanager
def parquet_pieces(path: Path, schema: pa.Schema) -> Iterator[Pieces]:
    """A Parquet file to be written table by table."""
    groups = _RowGroups(path, schema)
    try:
        yield groups
    except BaseException:
        groups.close(whole=False)
        raise
    groups.close(whole=True)


@contextmanager
def arrow_pieces(path: Path, schema: pa.Schema) -> Iterator[Pieces]:
    """An Arrow file to be written table by table."""
    from pyarrow import ipc

    with ipc.new_file(path, schema) as writer:
        yield writer


def _leaves(field: pa.Field, before: str = "") -> Iterator[str]:
    """The names that Parquet has for the columns of a field."""
    name = f"{before}{field.name}"
    if pa.types.is_list(field.type) or pa.types.is_large_list(field.type):
        yield from _leaves(pa.field("element", field.type.value_type), f"{name}.list.")
    elif pa.types.is_struct(field.type):
        for part in field.type:
            yield from _leaves(part, f"{name}.")
    else:
        yield name


def _write_arrow(detections: pa.Table, path: Path) -> None:
    with arrow_pieces(path, detections.schema) as writer:
        writer.write_table(detections)


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".jsonl": _write_json,
    ".ndjson": _write_json,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
}

PIECEWISE: dict[str, Callable[[Path, pa.Schema], AbstractContextManager[Pieces]]] = {
    ".parquet": parquet_pieces,
    ".arrow": arrow_pieces,
    ".feather": arrow_pieces,
}
"""Formats that Arrow writes table by table, and without the lock of the interpreter."""
