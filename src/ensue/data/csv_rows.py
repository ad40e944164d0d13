"""Events from CSV: columns of the types that are declared, or else all as text, with the malformed lines set apart.

Arrow reads large pieces of a file. Of one with a value that is not of its declared type, smaller pieces are read; of
the smallest such a column is read as text, and where a row has the wrong length all columns are, with such rows taken
out. Only where some row is bad are lines counted.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from itertools import chain, groupby

import pyarrow as pa
import pyarrow.csv

from ensue.data.content import Content
from ensue.data.errors import DataError, first_line
from ensue.data.input_part import InputPart, headless, moved, named_columns
from ensue.data.lines import record_lines
from ensue.data.wanted import Wanted, heads
from ensue.records import dataclass

_LARGEST_BLOCK = 2**31 - 1
_PIECE = 2**23
"""Bytes for each core that are read at once."""
_LEAST = 2**20
"""Bytes of the smallest piece that is looked at for bad rows."""
_SMALLER = 16
"""Number of smaller pieces of one that has a bad row."""
_ZERO = ord("0")
_FEW = 1000
_SEPARATORS = ",;\t|"
_OF_COLUMN = re.compile(r"In CSV column #(\d+): CSV conversion error")
"""Arrow's message about a value that is not of its column's type. Columns are named by their numbers."""

_TYPED = {"int": pa.int64(), "float": pa.float64(), "string": pa.string(), "bool": pa.bool_()}


def read_csv(content: Content, separator: str | None = None, wanted: Wanted | None = None) -> list[InputPart]:
    """Read a file with a header; empty fields are null.

    A quoted empty field is an empty string, so that written values come back. Programs that quote everything mean a
    missing value by it, which it is for all attributes but strings. The default separator is the comma, or the one
    other sign that the header has. Pieces that are read in different ways are parts of their own.
    """
    data = content.text()
    if not data or data.isspace():
        return [InputPart(content.name, {}, 0, lambda position: content.name, text=True)]
    separator = separator or _separator(data)
    names = [name.strip() for name in _header(data, separator, content.name)]
    # A column without a name is no attribute: it is the index that pandas writes.
    known = None if wanted is None else heads(wanted)
    named = [index for index, name in enumerate(names) if name]
    if not named:
        raise DataError(f"{content.name} has a header in which no column has a name.")
    titled = [index for index in named if known is None or names[index] in known] or named
    file = _File(content.name, data, separator, len(names), titled, _types(names, titled, data, wanted))
    hint = headless(names)
    others = tuple(names[index] for index in named if index not in set(titled))
    place = _place(content, separator)
    parts: list[InputPart] = []
    position = 0
    for piece in _joined(_pieces(file)):
        columns = named_columns([names[index] for index in titled], piece.rows.columns, content.name, hint)
        part = InputPart(
            content.name, columns, piece.rows.num_rows, moved(place, position), text=True, malformed=piece.malformed,
            others=others, continued=position > 0,
        )  # fmt: skip
        parts.append(part)
        position += part.total
    return parts


# --- pieces


@dataclass(frozen=True)
class _File:
    """A file, and how to read it: its columns that have a name, and the types of those that are declared."""

    name: str
    data: bytes
    separator: str
    width: int
    titled: list[int]
    types: Mapping[str, pa.DataType]
    """By the number of the column; none if all are read as text."""

    @cached_property
    def quoted(self) -> bool:
        """True if there may be line ends inside of values."""
        return b'"' in self.data


@dataclass(frozen=True)
class _Piece:
    """Rows that follow each other, and the malformed ones, with their positions among all of them."""

    rows: pa.Table
    malformed: tuple[tuple[int, str], ...] = ()


def _pieces(file: _File) -> Iterator[_Piece]:
    """The rows below the header, piece by piece."""
    end = len(file.data)
    if not file.types or file.quoted:
        yield _read_leniently(file, 0, end)
        return
    yield from chain.from_iterable(
        _read(file, *place) for place in _places(file.data, 0, end, _PIECE * max(2, pa.cpu_count()))
    )


def _places(data: bytes, begin: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Where pieces of about some size begin and end, each with whole lines."""
    while begin < end:
        cut = data.find(b"\n", begin + size, end)
        past = end if cut < 0 or end - cut < size // 2 else cut + 1
        yield begin, past
        begin = past


def _read(file: _File, begin: int, end: int) -> Iterator[_Piece]:
    """A piece as it should be; where it is not, smaller ones."""
    try:
        yield _Piece(_parse(file, begin, end, file.types, None))
        return
    except pa.ArrowInvalid:
        pass
    size = max(_LEAST, (end - begin) // _SMALLER)
    places = list(_places(file.data, begin, end, size)) if end - begin > _LEAST else []
    if len(places) > 1:
        for place in places:
            yield from _read(file, *place)
    else:
        yield _read_leniently(file, begin, end)


def _joined(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Pieces of the same types as one, if no row of them is malformed."""
    for (_, malformed), same in groupby(pieces, lambda piece: (piece.rows.schema, piece.malformed)):
        if malformed:
            yield from same
        else:
            yield _Piece(pa.concat_tables([piece.rows for piece in same]))


def _read_leniently(file: _File, begin: int, end: int) -> _Piece:
    """A piece in which columns are text where they have to be, and rows may be malformed."""
    header = 1 if begin == 0 else 0
    malformed: list[pyarrow.csv.InvalidRow] = []
    rows = _parse_typed(file, begin, end) if file.types else None
    if rows is None:
        try:
            table = _parse(file, begin, end, {}, None)
        except pa.ArrowInvalid:
            table = _parse_again(file, begin, end, malformed)
        rows = table.slice(header)
    # The first record has the number 1: the header, if the piece has it.
    faults = [(row.number - 1 - header, _wrong_length(row.actual_columns, file.width)) for row in malformed]
    lost = _never_closed(file.data, file.separator) if end == len(file.data) else 0
    last = rows.num_rows + len(malformed) - 1
    if lost and any(number == last for number, _ in faults):
        faults = [(number, _open_quote(lost) if number == last else fault) for number, fault in faults]
    elif lost and rows.num_rows:
        faults.append((last, _open_quote(lost)))
        rows = rows.slice(0, rows.num_rows - 1)
    return _Piece(rows, tuple(faults))


def _never_closed(data: bytes, separator: str) -> int:
    """Number of lines in the last record if its quote is never closed; else 0."""
    if b'"' not in data or data.count(b'"') % 2 == 0:  # most files have none, which is seen sooner
        return 0
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")
    begun = 0
    with _fields_of_any_length():
        reader = csv.reader(lines, delimiter=separator, strict=True)
        try:
            for _ in reader:
                begun = reader.line_num
        except csv.Error as error:
            return reader.line_num - begun if "unexpected end" in str(error) else 0
    return 0


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Let Python's reader take fields of more than 128 kB, as one whose quote is never closed may be."""
    usual = csv.field_size_limit(_LARGEST_BLOCK)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


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
    return any(_follows_zero(sign, data) for sign in (b"x", b"X"))


def _follows_zero(sign: bytes, data: bytes) -> bool:
    """True if a sign stands after a zero. Most files have few of it, and one sign is found much faster than two."""
    at = data.find(sign)
    for _ in range(_FEW):
        if at < 0:
            return False
        if at > 0 and data[at - 1] == _ZERO:
            return True
        at = data.find(sign, at + 1)
    return b"0" + sign in data


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
    file: _File, begin: int, end: int, types: Mapping[str, pa.DataType],
    skip: Callable[[pyarrow.csv.InvalidRow], str] | None,
) -> pa.Table:  # fmt: skip
    """The columns that have a name; as text with the header as first row, or of some types without it."""
    names = [str(index) for index in range(file.width)]
    everything = min(end - begin + 1, _LARGEST_BLOCK)
    return pyarrow.csv.read_csv(
        pa.BufferReader(pa.py_buffer(file.data).slice(begin, end - begin)),
        read_options=pyarrow.csv.ReadOptions(
            column_names=names,  # as text the header is then the first row, whatever stands in it
            skip_rows_after_names=1 if types and begin == 0 else 0,
            use_threads=skip is None,  # row numbers are known without threads only
            block_size=None if skip is None else everything,
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=file.separator, newlines_in_values=file.quoted, invalid_row_handler=skip
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types or dict.fromkeys(names, pa.string()),
            include_columns=[str(index) for index in file.titled],
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["true", "True", "TRUE", "1"],
            false_values=["false", "False", "FALSE", "0"],
            check_utf8=False,  # the whole of it has been checked
        ),
    )


def _parse_typed(file: _File, begin: int, end: int) -> pa.Table | None:
    """The rows below the header; a column with a value of another type is text. None where a row has another length."""
    types = dict(file.types)
    while True:
        try:
            return _parse(file, begin, end, types, None)
        except pa.ArrowInvalid as error:
            column = _OF_COLUMN.match(str(error))
            if column is None or types.get(column[1], pa.string()) == pa.string():
                return None
            types[column[1]] = pa.string()


def _parse_again(file: _File, begin: int, end: int, malformed: list[pyarrow.csv.InvalidRow]) -> pa.Table:
    def skip(row: pyarrow.csv.InvalidRow) -> str:
        malformed.append(row)
        return "skip"

    try:
        table = _parse(file, begin, end, {}, skip)
    except pa.ArrowException as error:
        raise DataError(f"{file.name} cannot be read as CSV: {first_line(error)}") from error
    if begin == 0 and malformed and malformed[0].number == 1:
        raise DataError(f"{file.name} has no header that can be read.")
    return table


def _wrong_length(actual: int, width: int) -> str:
    return f"has {actual} field{'' if actual == 1 else 's'}, the header has {width}"


def _place(content: Content, separator: str) -> Callable[[int], str]:
    @cache
    def lines() -> Sequence[int]:
        data = content.text()
        found = record_lines(data)
        return list(_first_lines(data, separator)) if found is None else found.tolist()

    def place(position: int) -> str:
        known = lines()
        # Where Python's reader gives up, which Arrow's does not, rows are counted.
        at = known[position + 1] if position + 1 < len(known) else None
        return f"{content.name}, row {position}" if at is None else f"{content.name}:{at}"

    return place


def _first_lines(data: bytes, separator: str) -> Iterator[int]:
    """The line on which each record begins, the header's included."""
    before = 0
    with _fields_of_any_length():
        reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline=""), delimiter=separator)
        with suppress(csv.Error):
            for record in reader:
                if record:
                    yield before + 1
                before = reader.line_num
