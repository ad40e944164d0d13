"""A column before its type is settled: an Arrow one, or a list of Python values that no Arrow type holds together."""

from collections.abc import Sequence
from datetime import date, datetime
from itertools import compress
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ensue import compute as pc
from ensue.data.python_values import plain

Raw: TypeAlias = pa.ChunkedArray | list[Any]

# Rows to take at once. Arrow joins what it takes from into one array, and one array of strings holds two gigabytes.
SLICE = 2**18

VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def settle(values: list[Any]) -> Raw:
    """An Arrow column where all values are of one plain type, else the values as they are.

    Whole and fractional numbers together stay as they are: large integers are no floats.
    """
    kinds = set(map(type, values)) - {type(None)}
    arrow_type = _arrow_type(kinds, values)
    if arrow_type is None:
        values = [plain(value) for value in values]
        arrow_type = _arrow_type(set(map(type, values)) - {type(None)}, values)
    if arrow_type is None:
        return values
    try:
        return pa.chunked_array([pa.array(values, arrow_type)])
    except (OverflowError, UnicodeEncodeError, pa.ArrowException):
        return values


def _arrow_type(kinds: set[type], values: list[Any]) -> pa.DataType | None:
    if not kinds:
        return pa.null()
    if len(kinds) > 1:
        return None
    (kind,) = kinds
    if kind is datetime:
        return pa.timestamp("us", zone_of(values))
    return {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_(), date: pa.date32()}.get(kind)


def zone_of(values: list[Any]) -> str | None:
    """The zone of the first datetime that has one."""
    zoned = (value for value in values if isinstance(value, datetime) and value.tzinfo is not None)
    first = next(zoned, None)
    if first is None:
        return None
    try:
        return str(pa.array([first]).type.tz)
    except (ValueError, TypeError, pa.ArrowException):  # a zone of the caller's own making
        return "UTC"


def pick(raw: Raw, slices: Sequence[tuple[int, int, pa.Array]]) -> Raw:
    """The values at some positions: of each slice (offset, length), those at the indices within it."""
    if isinstance(raw, list):
        return [raw[offset + index] for offset, _, indices in slices for index in indices.to_pylist()]
    chunks = []
    for offset, length, indices in slices:
        piece = raw.slice(offset, length)
        chunks.extend((piece if len(indices) == length else piece.take(indices)).chunks)
    return pa.chunked_array(chunks, raw.type)


def keep(raw: Raw, mask: pa.ChunkedArray) -> Raw:
    """The values where the mask is true."""
    return list(compress(raw, mask.to_pylist())) if isinstance(raw, list) else raw.filter(mask)


def any_of(masks: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Mask of rows in which one of the masks, at least, is true."""
    first, *others = masks
    for mask in others:
        first = pc.or_(first, mask)
    return first


def present(raw: Raw) -> pa.ChunkedArray:
    """Mask of rows that have a value."""
    if isinstance(raw, list):
        return pa.chunked_array([pa.array([value is not None for value in raw], pa.bool_())])
    return pc.is_valid(raw)


def has_values(raw: Raw) -> bool:
    """True if there is any value at all."""
    if isinstance(raw, list):
        return any(value is not None for value in raw)
    return bool(raw.null_count < len(raw))


def value_at(raw: Raw | pa.Array, index: int) -> Any:
    """One value, for a message."""
    if isinstance(raw, list):
        return raw[index]
    scalar = raw[index]
    try:
        return scalar.as_py()
    except (ValueError, OverflowError, pa.ArrowException):  # a timestamp that no Python datetime holds
        return getattr(scalar, "value", f"a {scalar.type}")


def values_of(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values of a column; a moment that no Python datetime holds is its number, as in single events.

    >>> values_of(pa.array([2**62, None], pa.timestamp("us")))
    [4611686018427387904, None]
    """
    try:
        found: list[Any] = column.to_pylist()
    except OverflowError:
        return [value_at(column, row) for row in range(len(column))]
    return found


def is_readable(column: pa.ChunkedArray | pa.Array) -> bool:
    """True if all text of a column is UTF-8, which Arrow takes on trust."""
    if not has_text(column.type):
        return True
    if all(map(_is_ascii, column.chunks if isinstance(column, pa.ChunkedArray) else [column])):
        return True
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_ascii(column: pa.Array) -> bool:
    """True if a column of strings holds sound text of ASCII letters; that of another form is looked at by Arrow."""
    sizes = {pa.string(): np.int32, pa.large_string(): np.int64}
    if column.type not in sizes or not len(column):
        return False
    try:
        column.validate()
    except pa.ArrowInvalid:
        return False
    _, places, letters = column.buffers()
    if letters is None or not letters.size:
        return False
    kind = np.dtype(sizes[column.type])
    offsets = np.frombuffer(places, kind, len(column) + 1, column.offset * kind.itemsize)
    own = np.frombuffer(letters, np.int8)[offsets[0] : offsets[-1]]
    return bool(np.all(offsets[1:] >= offsets[:-1])) and (not len(own) or int(own.min()) >= 0)


def has_text(kind: pa.DataType) -> bool:
    """True if the values of a type are text, or codes of text in a dictionary."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def readable(column: pa.ChunkedArray) -> Raw:
    """A column; where some of its text is not UTF-8, its values one by one, with bytes in place of these.

    >>> half = pa.array([b"a", b"\\xff"]).cast(pa.string(), safe=False)
    >>> readable(pa.chunked_array([half]))
    ['a', b'\\xff']
    """
    if is_readable(column):
        return without_view(column)
    plain_text = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return [decoded(value) for value in plain_text.cast(pa.binary()).to_pylist()]


def without_view(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values as plain text or bytes; of views Arrow takes few functions."""
    plain = VIEWS.get(column.type)
    return column if plain is None else column.cast(plain)


def decoded(value: bytes | None) -> str | bytes | None:
    """The text of some bytes; the bytes, if they are none."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value


def unwrapped(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values without dictionary, run-end or extension types around them, and all text as `string`.

    >>> unwrapped(pa.chunked_array([pa.array(["a", "a"]).dictionary_encode()])).type
    DataType(string)
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return unwrapped(pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type))
    if pa.types.is_dictionary(kind):
        return unwrapped(column.cast(kind.value_type))
    if pa.types.is_run_end_encoded(kind):
        decoded = [pc.run_end_decode(chunk) for chunk in column.chunks]
        return unwrapped(pa.chunked_array(decoded, kind.value_type))
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    return column
