"""A raw column as a column of one of the five attribute types.

Values are converted where that loses nothing: `"443"` to an `int`, 1 and 1.0 to a `bool`, an integer to a `string`.
Every conversion gives null where it cannot read a value, so a bad value is one that was there and has become null.
"""

import re
from collections.abc import Mapping

import pyarrow as pa

from ensue import compute as pc
from ensue.data.errors import DataError, shortened
from ensue.data.iso import micros_of_column
from ensue.data.python_values import LARGEST, READERS, SMALLEST, as_int_text
from ensue.data.raw import Raw, present, unwrapped
from ensue.language.types import is_list, item_of

AttributeTypes = Mapping[str, str]
Schema = Mapping[str, AttributeTypes]

ARROW_TYPES = {
    "int": pa.int64(),
    "float": pa.float64(),
    "string": pa.string(),
    "bool": pa.bool_(),
    "timestamp": pa.timestamp("us"),
}
DERIVED = {"time": pa.int64(), "any": pa.null(), "null": pa.null()}
"""Further types of attributes of derived events, where such events are given, too."""

_SHORT_INT_TEXT = r"^[+-]?[0-9]{1,18}$"
_FIRST = 8
_LONG_INT_TEXT = r"^[+-]?[0-9]{19,}$"
_FLOAT_TEXT = r"(?i)^[+-]?([0-9]+\.?[0-9]*(e[+-]?[0-9]+)?|\.[0-9]+(e[+-]?[0-9]+)?|nan|inf|infinity)$"

_DAY = 86_400_000_000
_MICROS = {"s": 1_000_000, "ms": 1_000, "us": 1}


def convert(raw: Raw, kind: str, text: bool) -> pa.ChunkedArray:
    """The column as `kind`, null where a value is missing or is not one; `text` says that it comes from CSV.

    There an integer may be a timestamp, too.

    >>> convert(pa.chunked_array([["1", "x", " 3"]]), "int", text=True).to_pylist()
    [1, None, 3]
    >>> convert(pa.chunked_array([[443, None]]), "string", text=False).to_pylist()
    ['443', None]
    >>> convert([1, 2.0, 2.5, True], "int", text=False).to_pylist()
    [1, 2, None, None]
    """
    arrow_type = arrow_type_of(kind)
    if kind not in ARROW_TYPES:
        return _derived(raw, kind, arrow_type)
    if isinstance(raw, list):
        read = READERS[kind]
        values = pa.array([None if value is None else read(value) for value in raw], _stored(kind))
        return pa.chunked_array([values.cast(arrow_type)])
    column = unwrapped(raw)
    match kind:
        case "int":
            converted = _ints(column)
        case "float":
            converted = _floats(column)
        case "string":
            converted = _strings(column)
        case "bool":
            converted = _bools(column)
        case _:
            micros = micros_of(column, text)
            converted = None if micros is None else micros.cast(pa.timestamp("us"))
    return nulls(len(column), arrow_type) if converted is None else converted


def _derived(raw: Raw, kind: str, arrow_type: pa.DataType) -> pa.ChunkedArray:
    """A column of an event that rules derive too: times and those in lists as integers, other values unchanged.

    >>> _derived(pa.chunked_array([pa.array([1, None], pa.timestamp("us"))]), "time", pa.int64()).to_pylist()
    [1, None]
    >>> _derived(pa.chunked_array([[[1, 2]]]), "list<int>", pa.list_(pa.int64())).to_pylist()
    [[1, 2]]
    """
    if isinstance(raw, list):
        try:
            column = pa.chunked_array([pa.array(raw)])
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return nulls(len(raw), arrow_type)
    else:
        column = unwrapped(raw)
    if kind in ("any", "null"):
        return column
    if kind == "time":
        read = micros_of(column, text=False)
        return nulls(len(column), arrow_type) if read is None else read
    if pa.types.is_list(column.type) and pa.types.is_timestamp(column.type.value_type):
        return column.cast(pa.list_(pa.int64()))
    try:
        return column.cast(arrow_type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return nulls(len(column), arrow_type)


def arrow_type_of(kind: str) -> pa.DataType:
    """The Arrow type of one of the five, or of an attribute that rules derive.

    >>> arrow_type_of("list<int>")
    ListType(list<item: int64>)
    """
    if is_list(kind):
        return pa.list_(arrow_type_of(item_of(kind)))
    if kind in DERIVED:
        return DERIVED[kind]
    if kind not in ARROW_TYPES:
        raise DataError(f"There is no attribute type {kind!r}; there are {', '.join(ARROW_TYPES)}.")
    return ARROW_TYPES[kind]


def nulls(length: int, arrow_type: pa.DataType) -> pa.ChunkedArray:
    """A column without any value."""
    return pa.chunked_array([pa.nulls(length, arrow_type)])


def blanks_as_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of CSV text with null for blanks: a quoted empty field is no number, and no bad one either."""
    if not pa.types.is_string(column.type):
        return column
    blank = pc.or_(pc.utf8_is_space(column), pc.equal(column, ""))
    return pc.if_else(blank, None, column) if pc.any(blank).as_py() else column


def bad_values(raw: Raw, converted: pa.ChunkedArray) -> pa.ChunkedArray:
    """Mask of rows whose value could not be converted."""
    return pc.and_(present(raw), pc.is_null(converted))


def wrong_value(name: str, value: object, kind: str) -> str:
    """Reason why an attribute's value is rejected.

    >>> wrong_value("qty", "abc", "int")
    "attribute 'qty' is 'abc', not an int"
    >>> wrong_value("id", 2**63, "int")
    "attribute 'id' is 9223372036854775808, outside the 64 bits of an int"
    """
    what = f"attribute {name!r} is {shortened(value)}"
    if kind == "int" and _is_too_large(value):
        return f"{what}, outside the 64 bits of an int"
    return f"{what}, not {'an' if kind == 'int' else 'a'} {kind}"


def _is_too_large(value: object) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"[+-]?[0-9]+", value.strip()) is not None and as_int_text(value) is None
    return isinstance(value, int) and not isinstance(value, bool) and not SMALLEST <= value <= LARGEST


def micros_of(column: pa.ChunkedArray, text: bool) -> pa.ChunkedArray | None:
    """Microseconds since the epoch of timestamps, dates, ISO text, and integers taken as such; None for other types."""
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return micros_of_moments(column)
    if pa.types.is_string(kind):
        moments = micros_of_column(column)
        return pc.coalesce(moments, ints_of_text(column)) if text else moments
    return _ints(column)


def micros_of_moments(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Microseconds since the epoch of a column of timestamps or dates, nanoseconds rounded down."""
    kind = column.type
    if pa.types.is_date32(kind):
        return _times(column.cast(pa.int32()).cast(pa.int64()), _DAY)
    if pa.types.is_date64(kind):
        return _times(column.cast(pa.int64()), 1_000)
    ticks = column.cast(pa.int64())
    if kind.unit != "ns":
        return _times(ticks, _MICROS[kind.unit])
    towards_zero = pc.divide(ticks, 1_000)
    before_it = pc.less(pc.subtract(ticks, pc.multiply(towards_zero, 1_000)), 0)
    return pc.subtract(towards_zero, before_it.cast(pa.int64()))


def ints_of_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The integers that strings hold, null where one holds none or one of more than 64 bits.

    `12.0` holds one too: that is how an integer column with gaps leaves pandas.

    >>> ints_of_text(pa.chunked_array([["1", "2"], ["3", "0x1F"], ["4", "5.0"]])).to_pylist()
    [1, 2, 3, None, 4, 5]
    """
    return pa.chunked_array([_ints_of_chunk(chunk) for chunk in column.chunks], pa.int64())


def _ints_of_chunk(texts: pa.Array) -> pa.Array:
    plain = _plain_ints(texts)
    return _odd_ints(texts) if plain is None else plain


def _plain_ints(texts: pa.Array) -> pa.Array | None:
    """The integers that strings hold, as Arrow reads them; None where it rejects one, or may take it for hexadecimal.

    Each string that is none takes long, so the first ones are tried alone.
    """
    try:
        texts.slice(0, _FIRST).cast(pa.int64())
        if any(pc.any(pc.match_substring(texts, sign)).as_py() for sign in "xX"):
            return None
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _odd_ints(texts: pa.Array) -> pa.Array:
    digits = pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), r"^([+-]?[0-9]+)\.0*$", r"\1")
    short = pc.if_else(pc.match_substring_regex(digits, _SHORT_INT_TEXT), digits, None)
    converted = pc.replace_substring_regex(short, r"^\+", "").cast(pa.int64())
    long = pc.if_else(pc.match_substring_regex(digits, _LONG_INT_TEXT), digits, None)
    if long.null_count == len(long):
        return converted
    numbers = [None if text is None else as_int_text(text) for text in long.to_pylist()]
    return pc.coalesce(converted, pa.array(numbers, pa.int64()))


def _stored(kind: str) -> pa.DataType:
    return pa.int64() if kind == "timestamp" else ARROW_TYPES[kind]


def _ints(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    kind = column.type
    if pa.types.is_uint64(kind):
        return pc.if_else(pc.less_equal(column, pa.scalar(LARGEST, pa.uint64())), column, None).cast(pa.int64())
    if pa.types.is_integer(kind):
        return column.cast(pa.int64())
    if pa.types.is_floating(kind):
        numbers = column.cast(pa.float64())
        inside = pc.and_(pc.greater_equal(numbers, float(SMALLEST)), pc.less(numbers, float(2**63)))
        whole = pc.and_(inside, pc.equal(numbers, pc.floor(numbers)))
        return pc.if_else(whole, numbers, None).cast(pa.int64())
    if pa.types.is_decimal(kind):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:  # some are not whole, or too large
            return convert(column.to_pylist(), "int", text=False)
    return ints_of_text(column) if pa.types.is_string(kind) else None


def _floats(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    kind = column.type
    if pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if pa.types.is_decimal(kind):  # by way of text: Arrow's own way makes 51.410000000000004 of 51.41
        return column.cast(pa.string()).cast(pa.float64())
    if pa.types.is_integer(kind):
        return column.cast(pa.float64(), safe=False)
    return floats_of_text(column) if pa.types.is_string(kind) else None


def floats_of_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The numbers that strings hold, null where one holds none."""
    trimmed = pc.utf8_trim_whitespace(column)
    readable = pc.if_else(pc.match_substring_regex(trimmed, _FLOAT_TEXT), trimmed, None)
    return pc.replace_substring_regex(readable, r"^\+", "").cast(pa.float64())


def _strings(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    kind = column.type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_integer(kind):
        ints = _ints(column)
        return None if ints is None else ints.cast(pa.string())
    return column.cast(pa.string()) if pa.types.is_boolean(kind) else None


def _bools(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    kind = column.type
    if pa.types.is_boolean(kind):
        return column
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        wide = column.cast(pa.float64(), safe=False)  # Arrow compares neither short floats nor large unsigned integers
        true, false = pc.equal(wide, 1.0), pc.equal(wide, 0.0)
    elif pa.types.is_string(kind):
        lower = pc.utf8_lower(pc.utf8_trim_whitespace(column))
        true, false = pc.is_in(lower, pa.array(["true", "1"])), pc.is_in(lower, pa.array(["false", "0"]))
    else:
        return None
    return pc.if_else(pc.or_(true, false), true, None)


def _times(ticks: pa.ChunkedArray, factor: int) -> pa.ChunkedArray:
    """Ticks in microseconds, null where that would not fit."""
    if factor == 1:
        return ticks
    limit = LARGEST // factor
    fits = pc.and_(pc.less_equal(ticks, limit), pc.greater_equal(ticks, -limit))
    return pc.multiply(pc.if_else(fits, ticks, None), factor)
