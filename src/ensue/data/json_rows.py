"""Events from JSON: one object a line, an array of objects, or one object that holds such an array.

Arrow reads large pieces of a file, and only the wanted columns, where that gives exactly their values; elsewhere it
reads smaller pieces, and only the lines of the smallest that it cannot read are read one by one: for columns of several
types, integers that a float would round, and to find lines that are no JSON. Where it has to guess types, it reads all
lines at once, if it can.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import chain, groupby, islice
from typing import Any, TypeAlias

import pyarrow as pa

from ensue import compute as pc
from ensue.data.content import Content
from ensue.data.dict_rows import read_rows, rows_part
from ensue.data.input_part import InputPart, moved, named_columns
from ensue.data.json_schema import wanted_schema
from ensue.data.lines import Places, count_ends, filled_lines
from ensue.data.python_values import is_text
from ensue.data.raw import any_of
from ensue.data.wanted import Wanted
from ensue.records import dataclass

Table: TypeAlias = "tuple[pa.Table, Iterable[str]]"
"""Lines as a table, and the names of all their columns, read or not."""

_SAMPLE = 100  # lines from which types of columns are guessed
_DECODER = json.JSONDecoder()
_LARGEST_EXACT = 2.0**53  # every integer up to here is exact as a float
_LINE = re.compile(rb"[^\n]*\S[^\n]*")
_PIECE = 2**23
"""Bytes for each core that are read at once."""
_BLOCK = 2**20
"""Bytes of the blocks of a file of which not all can be read at once, if Arrow guesses types."""
_LEAST = 2**16
"""Bytes of the smallest piece that Arrow reads."""
_SMALLER = 16
"""Number of smaller pieces of one that Arrow cannot read."""


@dataclass(frozen=True)
class _Lines:
    """Some whole lines of a file."""

    data: bytes
    begin: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.begin

    @property
    def buffer(self) -> pa.Buffer:
        return pa.py_buffer(self.data).slice(self.begin, self.size)

    @property
    def text(self) -> bytes:
        """The lines alone, copied unless they are all."""
        return self.data[self.begin : self.end]

    def pieces(self, size: int) -> Iterator[_Lines]:
        """The lines in pieces of some size."""
        begin = self.begin
        while begin < self.end:
            cut = self.data.find(b"\n", begin + size, self.end)
            end = self.end if cut < 0 else cut + 1
            yield _Lines(self.data, begin, end)
            begin = end


def read_json_lines(content: Content, wanted: Wanted | None = None) -> list[InputPart]:
    """Read lines; those that are blank do not count, a file without lines has no events."""
    data = content.text()
    place = _place(content)
    lines = _Lines(data, 0, len(data))
    read: Iterable[tuple[_Lines, Table | None]]
    if wanted is None or len(data) <= _LEAST:
        found = _read_at_once(lines, wanted)
        if found is not None:
            return [_part(content, found, place, partial(_exactly, content, 0, None))]
        blocks = list(lines.pieces(_BLOCK))
        read = [(lines, None)] if len(blocks) < 2 else ((block, _read_at_once(block, wanted)) for block in blocks)
    else:
        large = lines.pieces(_PIECE * max(2, pa.cpu_count()))
        read = _joined(chain.from_iterable(_read(piece, wanted, _LEAST) for piece in large))
    return _together(_parts(content, read, place))


def read_json(content: Content, wanted: Wanted | None = None) -> list[InputPart]:
    """Read a file that holds an array of objects, an object with such an array, or lines."""
    data = content.text()
    opening = data[:100].lstrip()[:1]
    if opening == b"[" or (opening == b"{" and not _has_lines(data)):
        rows = _records(data)
        if rows is not None:
            return [read_rows(rows, content.name, lambda position: f"{content.name}, row {position}")]
    return read_json_lines(content, wanted)


def _has_lines(data: bytes) -> bool:
    """True if the first line is a whole object, and not the beginning of a longer text."""
    end = data.find(b"\n")
    if end < 0 or not data[end:].strip():
        return False
    return not isinstance(_row(data[:end].decode()), str)


def _records(data: bytes) -> list[Any] | None:
    """The objects of an array, of the one array that an object holds, or the one object."""
    try:
        found = _DECODER.decode(data.decode().strip())
    except (json.JSONDecodeError, RecursionError, ValueError):
        return None
    if isinstance(found, dict):
        lists = [value for value in found.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        found = lists[0] if len(lists) == 1 else [found]
    return found if isinstance(found, list) else None


def _part(
    content: Content, read: Table, place: Callable[[int], str], exactly: Callable[[], InputPart] | None
) -> InputPart:
    table, names = read
    columns = named_columns(table.column_names, table.columns, content.name)
    others = tuple(name for name in names if name not in columns)
    return InputPart(content.name, columns, table.num_rows, place, exactly=exactly, sparse=True, others=others)


# --- at once


def _read_at_once(lines: _Lines, wanted: Wanted | None) -> Table | None:
    """Lines as a table, with the names of columns seen; or None where it would not have exactly their values."""
    rows = _sample(lines)
    if rows is None:
        return None
    names = list(dict.fromkeys(name for row in rows for name in row))
    if wanted is not None:
        schema = wanted_schema(wanted, rows)
        table = None if schema is None else _parse_wanted(lines, schema, names)
        if table is not None and _is_faithful(table, lines, nested=True):
            return table.select([name for name in table.column_names if _is_seen(table, name)]), names
    table = _as_inferred(lines, rows, names)
    return None if table is None else (table, names)


def _parse_wanted(lines: _Lines, schema: pa.Schema, names: Collection[str]) -> pa.Table | None:
    """The columns of a schema. One that no line has takes Arrow as long as any, so it is left out if that is safe."""
    if set(names) < set(schema.names):
        table = _parse(lines, pa.schema([schema.field(name) for name in names]), "error")
        if table is not None:  # else some line has another column, or there is another fault
            return table
    return _parse(lines, schema, "ignore")


def _is_seen(table: pa.Table, name: str) -> bool:
    """False for a requested column that no line has."""
    return bool(table.column(name).null_count < table.num_rows)


def _as_inferred(lines: _Lines, rows: list[Mapping[str, Any]], names: list[str]) -> pa.Table | None:
    texts = {name for row in rows for name, value in row.items() if isinstance(value, str)}
    first = _parse(lines, _texts(texts), "infer")
    if first is None:
        return None
    # Arrow reads strings that look like timestamps as such, and a number after many strings as one of them; not so
    # in columns that are declared as text.
    more = {f.name for f in first.schema if pa.types.is_string(f.type) or pa.types.is_timestamp(f.type)}
    table = first if more <= texts else _parse(lines, _texts(texts | more), "infer")
    if table is None or not _is_faithful(table, lines, nested=False):
        return None
    # Columns stand in the order in which they first occur; Arrow puts declared ones in front.
    return table.select(list(dict.fromkeys([*names, *first.column_names])))


def _texts(names: set[str]) -> pa.Schema:
    return pa.schema([(name, pa.string()) for name in sorted(names)])


def _sample(some: _Lines) -> list[Mapping[str, Any]] | None:
    """The first lines; None where one of them is bad anyway."""
    rows = []
    lines = (match.group() for match in _LINE.finditer(some.data, some.begin, some.end))
    for line in islice(lines, _SAMPLE):
        row = _row(line.decode())
        if isinstance(row, str):
            return None
        rows.append(row)
    return rows


def _parse(lines: _Lines, schema: pa.Schema, others: str) -> pa.Table | None:
    """The lines as a table; `others` is Arrow's option for columns that the schema lacks."""
    import pyarrow.json

    options = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others)
    try:
        return pyarrow.json.read_json(pa.BufferReader(lines.buffer), parse_options=options)
    except pa.ArrowException:
        return None


def _is_faithful(table: pa.Table, lines: _Lines, nested: bool) -> bool:
    if not nested and any(pa.types.is_nested(field.type) for field in table.schema):
        return False
    for column in table.columns:
        if pa.types.is_floating(column.type) and pc.any(pc.greater_equal(pc.abs(column), _LARGEST_EXACT)).as_py():
            return False
    # An object over two lines, and two objects on one line, are none to us; nor is a null, which Arrow takes for one.
    return _has_lines_of(lines, table.num_rows) and not _has_empty_row(table)


def _has_empty_row(table: pa.Table) -> bool:
    if table.num_rows == 0 or any(column.null_count == 0 for column in table.columns):
        return False
    filled = [pc.is_valid(column) for column in table.columns]
    return not filled or not pc.all(any_of(filled)).as_py()


def _has_lines_of(lines: _Lines, count: int) -> bool:
    """True if exactly `count` lines are not blank."""
    last = lines.data[lines.end - 1 : lines.end]
    ends = count_ends(lines.data, lines.begin, lines.end) + (1 if lines.size and last != b"\n" else 0)
    if ends == count and not lines.data[lines.begin : lines.begin + 1].isspace():
        return True  # an object over two lines and two on another: then there is no telling, and no harm
    return len(filled_lines(lines.text)) == count


# --- piece by piece


def _read(lines: _Lines, wanted: Wanted | None, least: int) -> Iterator[tuple[_Lines, Table | None]]:
    """Lines as a table; if they cannot be read at once, in smaller pieces; without a table where these are small."""
    found = _read_at_once(lines, wanted)
    pieces = list(lines.pieces(max(least, lines.size // _SMALLER))) if found is None and lines.size > least else []
    if len(pieces) > 1:
        for piece in pieces:
            yield from _read(piece, wanted, least)
    else:
        yield lines, found


def _joined(read: Iterable[tuple[_Lines, Table | None]]) -> Iterator[tuple[_Lines, Table | None]]:
    """Pieces that follow each other as one, if their tables have the same columns."""
    for schema, same in groupby(read, lambda each: None if each[1] is None else each[1][0].schema):
        lines, tables = zip(*same, strict=True)
        whole = _Lines(lines[0].data, lines[0].begin, lines[-1].end)
        if schema is None:
            yield whole, None
        else:
            names = dict.fromkeys(chain.from_iterable(names for _, names in tables))
            yield whole, (pa.concat_tables([table for table, _ in tables]), names)


def _parts(
    content: Content, read: Iterable[tuple[_Lines, Table | None]], place: Callable[[int], str]
) -> Iterator[InputPart]:
    """The parts of a file; lines without a table are read one by one."""
    position = 0
    for lines, table in read:
        where = moved(place, position)
        if table is None:
            part = _lines_part(content.name, lines.text, where)
        else:
            part = _part(content, table, where, partial(_exactly, content, position, (lines.begin, lines.end)))
        if part.total:
            yield replace(part, continued=position > 0)
        position += part.total


def _together(parts: Iterable[InputPart]) -> list[InputPart]:
    """The parts of one file, all with the same columns."""
    found = list(parts)
    names = dict.fromkeys(name for part in found for name in part.columns)
    if len(found) < 2:
        return found
    return [replace(part, columns={n: part.columns.get(n, _nothing(part.length)) for n in names}) for part in found]


def _nothing(length: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(length)])


def _exactly(content: Content, position: int, block: tuple[int, int] | None) -> InputPart:
    """The lines again, value by value."""
    data = content.text()
    part = _lines_part(content.name, data if block is None else data[slice(*block)], moved(_place(content), position))
    return replace(part, continued=position > 0)


def _lines_part(name: str, data: bytes, where: Callable[[int], str]) -> InputPart:
    rows: list[Mapping[str, Any]] = []
    malformed: list[tuple[int, str]] = []
    filled = (line for line in data.decode().split("\n") if line and not line.isspace())
    for position, line in enumerate(filled):
        row = _row(line)
        if isinstance(row, str):
            malformed.append((position, row))
        else:
            rows.append(row)
    return rows_part(rows, name, where, tuple(malformed))


def _row(line: str) -> Mapping[str, Any] | str:
    """The object on a line, or the reason why there is none."""
    try:
        row = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        return f"not JSON: {error.msg.lower()} at column {error.colno}"
    except RecursionError:
        return "not JSON: nested too deeply"
    except ValueError:
        return "not JSON: a number of thousands of digits"
    if not isinstance(row, dict):
        return "not a JSON object"
    if ("\\ud" in line or "\\uD" in line) and not is_text(json.dumps(row, ensure_ascii=False)):
        return "not JSON: half a surrogate pair is no character"
    return row


def _place(content: Content) -> Callable[[int], str]:
    @cache
    def lines() -> Places:
        return filled_lines(content.text())

    return lambda position: f"{content.name}:{lines()[position]}"
