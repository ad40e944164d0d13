"""Events from JSON: one object a line, an array of objects, or one object that holds such an array.

Arrow reads all lines at once where that gives exactly their values, and only the wanted columns. Elsewhere the file is
read block by block, and only the lines of blocks that Arrow cannot read are read one by one: for columns of several
types, integers that a float would round, and to find lines that are no JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from ensue import compute as pc
from ensue.data.content import Content
from ensue.data.dict_rows import read_rows, rows_part
from ensue.data.input_part import InputPart, named_columns
from ensue.data.json_schema import wanted_schema
from ensue.data.python_values import is_text
from ensue.data.raw import any_of
from ensue.data.wanted import Wanted

_SAMPLE = 100  # lines from which types of columns are guessed
_DECODER = json.JSONDecoder()
_LARGEST_EXACT = 2.0**53  # every integer up to here is exact as a float
_BLOCK = 2**20  # bytes
_CACHED = 2**18  # bytes
_LINE_END = ord("\n")


def read_json_lines(content: Content, wanted: Wanted | None = None) -> list[InputPart]:
    """Read lines; those that are blank do not count, a file without lines has no events."""
    data = content.text()
    place = _place(content)
    table, names = _read_at_once(data, wanted)
    if table is not None:
        return [_part(content, table, names, place, partial(_exactly, content, 0, None))]
    return _together(_blocks(content, data, wanted, place))


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
    content: Content, table: pa.Table, names: Iterable[str], place: Callable[[int], str],
    exactly: Callable[[], InputPart] | None,
) -> InputPart:  # fmt: skip
    columns = named_columns(table.column_names, table.columns, content.name)
    others = tuple(name for name in names if name not in columns)
    return InputPart(content.name, columns, table.num_rows, place, exactly=exactly, sparse=True, others=others)


# --- at once


def _read_at_once(data: bytes, wanted: Wanted | None) -> tuple[pa.Table | None, Iterable[str]]:
    """The lines as a table, or None where it would not have exactly their values; and the names of columns seen."""
    rows = _sample(data)
    if rows is None:
        return None, ()
    names = list(dict.fromkeys(name for row in rows for name in row))
    if wanted is not None:
        schema = wanted_schema(wanted, rows)
        table = None if schema is None else _parse_wanted(data, schema, names)
        if table is not None and _is_faithful(table, data, nested=True):
            return table.select([name for name in table.column_names if _is_seen(table, name)]), names
    return _as_inferred(data, rows, names), names


def _parse_wanted(data: bytes, schema: pa.Schema, names: Collection[str]) -> pa.Table | None:
    """The columns of a schema. One that no line has takes Arrow as long as any, so it is left out if that is safe."""
    if set(names) < set(schema.names):
        table = _parse(data, pa.schema([schema.field(name) for name in names]), "error")
        if table is not None:  # else some line has another column, or there is another fault
            return table
    return _parse(data, schema, "ignore")


def _is_seen(table: pa.Table, name: str) -> bool:
    """False for a requested column that no line has."""
    return bool(table.column(name).null_count < table.num_rows)


def _as_inferred(data: bytes, rows: list[Mapping[str, Any]], names: list[str]) -> pa.Table | None:
    texts = {name for row in rows for name, value in row.items() if isinstance(value, str)}
    first = _parse(data, _texts(texts), "infer")
    if first is None:
        return None
    # Arrow reads strings that look like timestamps as such, and a number after many strings as one of them; not so
    # in columns that are declared as text.
    more = {f.name for f in first.schema if pa.types.is_string(f.type) or pa.types.is_timestamp(f.type)}
    table = first if more <= texts else _parse(data, _texts(texts | more), "infer")
    if table is None or not _is_faithful(table, data, nested=False):
        return None
    # Columns stand in the order in which they first occur; Arrow puts declared ones in front.
    return table.select(list(dict.fromkeys([*names, *first.column_names])))


def _texts(names: set[str]) -> pa.Schema:
    return pa.schema([(name, pa.string()) for name in sorted(names)])


def _sample(data: bytes) -> list[Mapping[str, Any]] | None:
    """The first lines; None where one of them is bad anyway."""
    rows = []
    lines = (match.group() for match in re.finditer(rb"[^\n]*\S[^\n]*", data))
    for line in islice(lines, _SAMPLE):
        row = _row(line.decode())
        if isinstance(row, str):
            return None
        rows.append(row)
    return rows


def _parse(data: bytes, schema: pa.Schema, others: str) -> pa.Table | None:
    """The lines as a table; `others` is Arrow's option for columns that the schema lacks."""
    import pyarrow.json

    options = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others)
    try:
        return pyarrow.json.read_json(pa.BufferReader(data), parse_options=options)
    except pa.ArrowException:
        return None


def _is_faithful(table: pa.Table, data: bytes, nested: bool) -> bool:
    if not nested and any(pa.types.is_nested(field.type) for field in table.schema):
        return False
    for column in table.columns:
        if pa.types.is_floating(column.type) and pc.any(pc.greater_equal(pc.abs(column), _LARGEST_EXACT)).as_py():
            return False
    # An object over two lines, and two objects on one line, are none to us; nor is a null, which Arrow takes for one.
    return _has_lines_of(data, table.num_rows) and not _has_empty_row(table)


def _has_empty_row(table: pa.Table) -> bool:
    if table.num_rows == 0 or any(column.null_count == 0 for column in table.columns):
        return False
    filled = [pc.is_valid(column) for column in table.columns]
    return not filled or not pc.all(any_of(filled)).as_py()


def _has_lines_of(data: bytes, count: int) -> bool:
    """True if exactly `count` lines are not blank."""
    ends = _ends_of_lines(data) + (1 if data and not data.endswith(b"\n") else 0)
    if ends == count and not data[:1].isspace():
        return True  # an object over two lines and two on another: then there is no telling, and no harm
    return len(_line_numbers(data)) == count


def _ends_of_lines(data: bytes) -> int:
    """Number of line ends, counted in pieces that stay in a cache: much faster than `bytes.count`."""
    letters = np.frombuffer(data, np.uint8)
    pieces = (letters[begin : begin + _CACHED] for begin in range(0, len(letters), _CACHED))
    return sum(int(np.count_nonzero(piece == _LINE_END)) for piece in pieces)


def _line_numbers(data: bytes) -> list[int]:
    """The lines that are not blank, counted from 1."""
    return [number for number, line in enumerate(data.split(b"\n"), 1) if line and not line.isspace()]


# --- block by block


def _blocks(content: Content, data: bytes, wanted: Wanted | None, place: Callable[[int], str]) -> Iterator[InputPart]:
    """The parts of a file that cannot be read at once."""
    begin = position = 0
    while begin < len(data):
        cut = data.find(b"\n", begin + _BLOCK)
        end = len(data) if cut < 0 else cut + 1
        block = data[begin:end]
        whole = begin == 0 and end == len(data)
        table, names = (None, ()) if whole else _read_at_once(block, wanted)
        where = _moved(place, position)
        if table is None:
            part = _lines_part(content.name, block, where)
        else:
            again = partial(_exactly, content, position, (begin, end))
            part = _part(content, table, names, where, again)
        if part.total:
            yield replace(part, continued=position > 0)
        begin, position = end, position + part.total


def _together(parts: Iterable[InputPart]) -> list[InputPart]:
    """The parts of one file, all with the same columns."""
    found = list(parts)
    names = dict.fromkeys(name for part in found for name in part.columns)
    if len(found) < 2:
        return found
    return [replace(part, columns={n: part.columns.get(n, _nothing(part.length)) for n in names}) for part in found]


def _nothing(length: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(length)])


def _moved(place: Callable[[int], str], offset: int) -> Callable[[int], str]:
    return place if offset == 0 else lambda position: place(offset + position)


def _exactly(content: Content, position: int, block: tuple[int, int] | None) -> InputPart:
    """The lines again, value by value."""
    data = content.text()
    part = _lines_part(content.name, data if block is None else data[slice(*block)], _moved(_place(content), position))
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
    def lines() -> list[int]:
        return _line_numbers(content.text())

    return lambda position: f"{content.name}:{lines()[position]}"
