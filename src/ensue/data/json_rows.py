"""Events from JSON lines: one object a line.

Arrow reads the file at once wherever that gives exactly what the lines say. Where it does not, they are read one by
one: for columns of several types, nested values, integers that a float would round, and to find lines that are no JSON.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from ensue.data.dict_rows import rows_part
from ensue.data.part import Part, named_columns
from ensue.data.python_values import is_text
from ensue.data.raw import any_of
from ensue.data.text_file import read_text_file, utf8

_SAMPLE = 100  # lines looked at to learn which columns are text
_DECODER = json.JSONDecoder()
_LARGEST_EXACT = 2.0**53  # every integer up to here is a float of its own


def read_json(path: Path) -> Part:
    """Read a file; lines that are blank do not count, a file without lines has no events."""
    return _read(str(path), partial(read_text_file, path))


def read_json_lines(lines: bytes, name: str) -> Part:
    """Read lines as those of a file; `name` is what a message calls them."""
    data = utf8(lines, name)
    return _read(name, lambda: data)


def _read(name: str, read: Callable[[], bytes]) -> Part:
    """Read what `read` gives, which is asked again where need be rather than kept."""
    data = read()
    table = _read_at_once(data)
    if table is None:
        return _read_lines(name, read, data)
    columns = named_columns(table.column_names, table.columns, name)
    again = partial(_read_lines, name, read, None)
    return Part(name, columns, table.num_rows, _place(name, read), exactly=again)


def _read_at_once(data: bytes) -> pa.Table | None:
    """The file as a table, or None where the table would not be what the lines say."""
    sampled = _sample(data)
    if sampled is None:
        return None
    texts = {name for name, is_string in sampled.items() if is_string}
    first = _parse(data, texts)
    if first is None:
        return None
    # Arrow reads strings that look like timestamps as such, and a number after many strings as one of them; not so
    # in columns that it is told are text.
    more = {f.name for f in first.schema if pa.types.is_string(f.type) or pa.types.is_timestamp(f.type)}
    table = first if more <= texts else _parse(data, texts | more)
    if table is None or not _is_faithful(table, data):
        return None
    # Columns stand in the order in which they first occur; Arrow has those that it was told of in front.
    return table.select(list(dict.fromkeys([*sampled, *first.column_names])))


def _sample(data: bytes) -> dict[str, bool] | None:
    """The names on the first lines, and which of them have strings; None where one of those lines is bad anyway."""
    names: dict[str, bool] = {}
    lines = (match.group() for match in re.finditer(rb"[^\n]*\S[^\n]*", data))
    for line in islice(lines, _SAMPLE):
        row = _row(line.decode())
        if isinstance(row, str):
            return None
        for name, value in row.items():
            names[name] = names.get(name, False) or isinstance(value, str)
    return names


def _parse(data: bytes, texts: set[str]) -> pa.Table | None:
    options = pyarrow.json.ParseOptions(explicit_schema=pa.schema([(name, pa.string()) for name in sorted(texts)]))
    try:
        return pyarrow.json.read_json(pa.BufferReader(data), parse_options=options)
    except pa.ArrowException:
        return None


def _is_faithful(table: pa.Table, data: bytes) -> bool:
    if any(pa.types.is_nested(field.type) for field in table.schema):
        return False
    for column in table.columns:
        if pa.types.is_floating(column.type) and pc.any(pc.greater_equal(pc.abs(column), _LARGEST_EXACT)).as_py():
            return False
    # An object over two lines, and two objects on one line, are none to us; nor is a null, which Arrow takes for one.
    return table.num_rows == _line_count(data) and not _has_empty_row(table)


def _has_empty_row(table: pa.Table) -> bool:
    if table.num_rows == 0 or any(column.null_count == 0 for column in table.columns):
        return False
    filled = [pc.is_valid(column) for column in table.columns]
    return not filled or not pc.all(any_of(filled)).as_py()


def _line_count(data: bytes) -> int:
    """How many lines are not blank."""
    if data[:1].isspace() or any(b"\n" + space in data for space in (b"\n", b"\r", b" ", b"\t")):
        return len(_line_numbers(data))
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)


def _line_numbers(data: bytes) -> list[int]:
    """The lines that are not blank, counted from 1."""
    return [number for number, line in enumerate(data.split(b"\n"), 1) if line and not line.isspace()]


def _read_lines(name: str, read: Callable[[], bytes], data: bytes | None) -> Part:
    lines = (read() if data is None else data).decode().split("\n")
    rows: list[Mapping[str, Any]] = []
    malformed: list[tuple[int, str]] = []
    filled = (line for line in lines if line and not line.isspace())
    for position, line in enumerate(filled):
        row = _row(line)
        if isinstance(row, str):
            malformed.append((position, row))
        else:
            rows.append(row)
    return rows_part(rows, name, _place(name, read), tuple(malformed))


def _row(line: str) -> Mapping[str, Any] | str:
    """The object on a line, or what is wrong with it."""
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


def _place(name: str, read: Callable[[], bytes]) -> Callable[[int], str]:
    @cache
    def lines() -> list[int]:
        return _line_numbers(read())

    return lambda position: f"{name}:{lines()[position]}"
