"""Events from CSV: columns of the types that are declared, or else all as text, with the malformed lines set apart.

Arrow reads the file at once. A column where a value is not of its declared type is read as text; where a row has the
wrong length all columns are, with such rows taken out. Only where some row is bad are lines counted.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pyarrow as pa
import pyarrow.csv

from ensue.data.content import Content
from ensue.data.errors import DataError, first_line
from ensue.data.input_part import InputPart, headless, named_columns
from ensue.data.wanted import Wanted, heads

_LARGEST_BLOCK = 2**31 - 1
_SEPARATORS = ",;\t|"
_OF_COLUMN = re.compile(r"In CSV column #(\d+): CSV conversion error")
"""Arrow's message about a value that is not of its column's type. Columns are named by their numbers."""

_TYPED = {"int": pa.int64(), "float": pa.float64(), "string": pa.string(), "bool": pa.bool_()}


def read_csv(content: Content, separator: str | None = None, wanted: Wanted | None = None) -> InputPart:
    """Read a file with a header; empty fields are null.

    A quoted empty field is an empty string, so that written values come back. Programs that quote everything mean a
    missing value by it, which it is for all attributes but strings. The default separator is the comma, or the one
    other sign that the header has.
    """
    data = content.text()
    if not data or data.isspace():
        return InputPart(content.name, {}, 0, lambda position: content.name, text=True)
    separator = separator or _separator(data)
    names = [name.strip() for name in _header(data, separator, content.name)]
    width = len(names)
    # A column without a name is no attribute: it is the index that pandas writes.
    known = None if wanted is None else heads(wanted)
    named = [index for index, name in enumerate(names) if name]
    if not named:
        raise DataError(f"{content.name} has a header in which no column has a name.")
    titled = [index for index in named if known is None or names[index] in known] or named
    types = _types(names, titled, data, wanted)
    malformed: list[pyarrow.csv.InvalidRow] = []
    rows = _parse_typed(data, width, separator, titled, types) if types else None
    if rows is None:
        try:
            table = _parse(data, width, separator, titled, {}, None)
        except pa.ArrowInvalid:
            table = _parse_again(data, width, separator, titled, malformed, content.name)
        rows = table.slice(1)
    # The header is record 1, so the row at position 0 is record 2.
    faults = [(row.number - 2, _wrong_length(row.actual_columns, width)) for row in malformed]
    lost = _never_closed(data, separator)
    if lost and rows.num_rows and all(number < rows.num_rows + len(malformed) - 1 for number, _ in faults):
        faults.append((rows.num_rows + len(malformed) - 1, _open_quote(lost)))
        rows = rows.slice(0, rows.num_rows - 1)
    hint = headless(names)
    columns = named_columns([names[index] for index in titled], rows.columns, content.name, hint)
    others = tuple(names[index] for index in named if index not in set(titled))
    place = _place(content, separator)
    return InputPart(content.name, columns, rows.num_rows, place, text=True, malformed=tuple(faults), others=others)


def _never_closed(data: bytes, separator: str) -> int:
    """Number of lines in the last record if its quote is never closed; else 0."""
    if b'"' not in data or data.count(b'"') % 2 == 0:  # most files have none, which is seen sooner
        return 0
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    begun = 0
    try:
        for _ in reader:
            begun = reader.line_num
    except csv.Error as error:
        return reader.line_num - begun if "unexpected end" in str(error) else 0
    return 0


def _open_quote(lines: int) -> str:
    if lines == 1:
        return "has a quote that is never closed"
    return f"has a quote that is never closed, so the {lines:,} lines from there to the end of the file are lost"


def _separator(data: bytes) -> str:
    header = data[: data.find(b"\n") if b"\n" in data else len(data)].decode()
    if "," in header:
        return ","
    found = [sign for sign in _SEPARATORS if sign in header]
    return found[0] if len(found) == 1 else ","


def _types(names: list[str], titled: list[int], data: bytes, wanted: Wanted | None) -> dict[str, pa.DataType]:
    """The types of declared columns; none where Arrow would read text as a number that is none in rules (0x1F)."""
    if wanted is None or _has_hexadecimal(data) or data[:1] in (b"\r", b"\n"):
        return {}
    types = {str(index): _TYPED.get(wanted.types.get(names[index]) or "string", pa.string()) for index in titled}
    return types if any(type_ != pa.string() for type_ in types.values()) else {}


def _has_hexadecimal(data: bytes) -> bool:
    return any(sign in data and b"0" + sign in data for sign in (b"x", b"X"))  # most files lack the sign alone


def _header(data: bytes, separator: str, name: str) -> list[str]:
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")
    try:
        header = next((record for record in csv.reader(lines, delimiter=separator) if record), None)
    except csv.Error as error:
        raise DataError(f"{name} has no header that can be read: {error}.") from None
    if header is None:
        raise DataError(f"{name} has no header that can be read.")
    return header


def _parse(
    data: bytes, width: int, separator: str, titled: list[int], types: Mapping[str, pa.DataType],
    skip: Callable[[pyarrow.csv.InvalidRow], str] | None,
) -> pa.Table:  # fmt: skip
    """The columns that have a name; as text with the header as first row, or of some types without it."""
    names = [str(index) for index in range(width)]
    everything = min(len(data) + 1, _LARGEST_BLOCK)
    return pyarrow.csv.read_csv(
        pa.BufferReader(data),
        read_options=pyarrow.csv.ReadOptions(
            column_names=names,  # as text the header is then the first row, whatever stands in it
            skip_rows_after_names=1 if types else 0,
            use_threads=skip is None,  # row numbers are known without threads only
            block_size=None if skip is None else everything,
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=separator, newlines_in_values=b'"' in data, invalid_row_handler=skip
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types or dict.fromkeys(names, pa.string()),
            include_columns=[str(index) for index in titled],
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["true", "True", "TRUE", "1"],
            false_values=["false", "False", "FALSE", "0"],
            check_utf8=False,  # the whole of it has been checked
        ),
    )


def _parse_typed(
    data: bytes, width: int, separator: str, titled: list[int], types: Mapping[str, pa.DataType]
) -> pa.Table | None:
    """The rows below the header; a column with a value of another type is text. None where a row has another length."""
    types = dict(types)
    while True:
        try:
            return _parse(data, width, separator, titled, types, None)
        except pa.ArrowInvalid as error:
            column = _OF_COLUMN.match(str(error))
            if column is None or types.get(column[1], pa.string()) == pa.string():
                return None
            types[column[1]] = pa.string()


def _parse_again(
    data: bytes, width: int, separator: str, titled: list[int], malformed: list[pyarrow.csv.InvalidRow], name: str
) -> pa.Table:
    def skip(row: pyarrow.csv.InvalidRow) -> str:
        malformed.append(row)
        return "skip"

    try:
        table = _parse(data, width, separator, titled, {}, skip)
    except pa.ArrowException as error:
        raise DataError(f"{name} cannot be read as CSV: {first_line(error)}") from error
    if malformed and malformed[0].number == 1:
        raise DataError(f"{name} has no header that can be read.")
    return table


def _wrong_length(actual: int, width: int) -> str:
    return f"has {actual} field{'' if actual == 1 else 's'}, the header has {width}"


def _place(content: Content, separator: str) -> Callable[[int], str]:
    @cache
    def lines() -> list[int]:
        return list(_first_lines(content.text(), separator))

    def place(position: int) -> str:
        known = lines()
        # Python's reader gives up on a field of more than 128 kB; from there on rows are counted.
        at = known[position + 1] if position + 1 < len(known) else None
        return f"{content.name}, row {position}" if at is None else f"{content.name}:{at}"

    return place


def _first_lines(data: bytes, separator: str) -> Iterator[int]:
    """The line on which each record begins, the header's included."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline=""), delimiter=separator)
    before = 0
    try:
        for record in reader:
            if record:
                yield before + 1
            before = reader.line_num
    except csv.Error:
        return
