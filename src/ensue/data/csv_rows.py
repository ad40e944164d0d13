"""Events from CSV: every column as text, with the malformed lines set apart.

Arrow reads the file at once. Only where that fails is it read again with the rows of the wrong length taken out, and
only where some row is bad are lines counted.
"""

import csv
import io
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from ensue.data.errors import DataError, first_line
from ensue.data.part import Part, named_columns
from ensue.data.text_file import read_text_file

_LARGEST_BLOCK = 2**31 - 1


def read_csv(path: Path) -> Part:
    """Read a file with a header; empty fields are null.

    A quoted empty field is an empty string, so that what was written comes back. Programs that quote everything mean a
    missing value by it, which it is for all attributes but strings.
    """
    data = read_text_file(path)
    width = len(_header(data, path))
    malformed: list[pyarrow.csv.InvalidRow] = []
    try:
        table = _parse(data, width, None)
    except pa.ArrowInvalid:
        table = _parse_again(data, width, malformed, path)
    names = [(name or "").strip() for name in table.slice(0, 1).to_pylist()[0].values()]
    rows = table.slice(1)
    # The header is record 1, so the row at position 0 is record 2.
    faults = tuple((row.number - 2, _wrong_length(row.actual_columns, width)) for row in malformed)
    # A column without a name is no attribute: it is the index that pandas writes.
    titled = [index for index, name in enumerate(names) if name]
    columns = named_columns([names[index] for index in titled], [rows.column(index) for index in titled], str(path))
    return Part(str(path), columns, rows.num_rows, _place(path), text=True, malformed=faults)


def _header(data: bytes, path: Path) -> list[str]:
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")
    try:
        header = next((record for record in csv.reader(lines) if record), None)
    except csv.Error as error:
        raise DataError(f"{path} has no header that can be read: {error}.") from None
    if header is None:
        raise DataError(f"{path} is empty, without even a header.")
    return header


def _parse(data: bytes, width: int, skip: "Callable[[pyarrow.csv.InvalidRow], str] | None") -> pa.Table:
    names = [str(index) for index in range(width)]
    everything = min(len(data) + 1, _LARGEST_BLOCK)
    return pyarrow.csv.read_csv(
        pa.BufferReader(data),
        read_options=pyarrow.csv.ReadOptions(
            column_names=names,  # the header is then the first row, whatever stands in it
            use_threads=skip is None,  # row numbers are known without threads only
            block_size=None if skip is None else everything,
        ),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _parse_again(data: bytes, width: int, malformed: "list[pyarrow.csv.InvalidRow]", path: Path) -> pa.Table:
    def skip(row: pyarrow.csv.InvalidRow) -> str:
        malformed.append(row)
        return "skip"

    try:
        table = _parse(data, width, skip)
    except pa.ArrowException as error:
        raise DataError(f"{path} cannot be read as CSV: {first_line(error)}") from error
    if malformed and malformed[0].number == 1:
        raise DataError(f"{path} has no header that can be read.")
    return table


def _wrong_length(actual: int, width: int) -> str:
    return f"has {actual} field{'' if actual == 1 else 's'}, the header has {width}"


def _place(path: Path) -> Callable[[int], str]:
    @cache
    def lines() -> list[int]:
        return list(_first_lines(read_text_file(path)))

    def place(position: int) -> str:
        known = lines()
        # Python's reader gives up on a field of more than 128 kB; from there on rows are counted.
        return f"{path}:{known[position + 1]}" if position + 1 < len(known) else f"{path}, row {position}"

    return place


def _first_lines(data: bytes) -> Iterator[int]:
    """The line on which each record begins, the header's included."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline=""))
    before = 0
    try:
        for record in reader:
            if record:
                yield before + 1
            before = reader.line_num
    except csv.Error:
        return
