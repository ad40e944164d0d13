"""Infer the types of undeclared attributes from their values.

An attribute becomes one of the five types where its values allow it. Values of two types together become text, as they
would in CSV; numbers whole and fractional are floats. Nested and other types without a counterpart are carried along.
"""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa

from ensue import compute as pc
from ensue.data.convert import ARROW_TYPES, blanks_as_null, convert, ints_of_text, nulls
from ensue.data.iso import micros_of_column
from ensue.data.json_text import to_text
from ensue.data.python_values import FLOAT_WORDS, is_text
from ensue.data.raw import Raw, has_values, unwrapped

Inferred = Literal["int", "float", "string", "bool", "timestamp", "text", "carried"]

_DIGITS = r"^\s*[+-]?[0-9]+\s*$"
_TRUTH = r"(?i)^\s*(true|false)\s*$"


def infer(pieces: Sequence[tuple[Raw, bool]]) -> Inferred | None:
    """The type of an attribute whose values came in several pieces, each with whether it is CSV text.

    None where there is no value at all.

    >>> infer([(pa.chunked_array([["1", "2"]]), True), (pa.chunked_array([["2.5"]]), True)])
    'float'
    >>> infer([([1, "x"], False)])
    'text'
    """
    filled = [(raw, text) for raw, text in pieces if has_values(raw)]
    typed: set[Inferred] = {_infer_typed(raw) for raw, text in filled if not text}
    texts: list[pa.ChunkedArray] = [raw for raw, text in filled if text]
    if not texts:
        return _together(typed)
    column = pa.chunked_array([chunk for raw in texts for chunk in raw.chunks], pa.string())
    if not typed:
        return _infer_text(column)
    inferred = _together(typed)
    if inferred in ARROW_TYPES and _all_are(column, str(inferred)):
        return inferred
    return _together(typed | {_infer_text(column)})


def as_inferred(pieces: Sequence[tuple[Raw, bool]], inferred: Inferred) -> list[pa.ChunkedArray]:
    """The pieces, all of one type; a value is null where it does not fit (an integer of more than 64 bits)."""
    if inferred == "carried":
        carried = _carried([raw for raw, _ in pieces])
        if carried is not None:
            return carried
    if inferred in ("carried", "text"):
        return [_texts(raw, text) for raw, text in pieces]
    return [convert(unblanked(raw, inferred, text), inferred, text) for raw, text in pieces]


def own_values(column: pa.Array) -> pa.Array:
    """A column of an undeclared attribute that has a value, as the type that it has in rules."""
    pieces = [(pa.chunked_array([column]), False)]
    inferred = infer(pieces)
    assert inferred is not None
    (values,) = as_inferred(pieces, inferred)
    return pa.concat_arrays(values.chunks)


def unblanked(raw: Raw, kind: str, text: bool) -> Raw:
    """The raw column as `kind` sees it: to all but strings, blank text is a missing value."""
    return blanks_as_null(raw) if text and kind not in ("string", "text") else raw


def _together(kinds: set[Inferred]) -> Inferred | None:
    if not kinds:
        return None
    if kinds == {"int", "float"}:
        return "float"
    return next(iter(kinds)) if len(kinds) == 1 else "text"


def _infer_typed(raw: Raw) -> Inferred:
    if isinstance(raw, list):
        return _infer_values(raw)
    return inferred_type(unwrapped(raw).type)


def inferred_type(kind: pa.DataType) -> Inferred:
    """Type that values of an Arrow type have in rules, if it is not declared."""
    if pa.types.is_integer(kind):
        return "int"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "float"
    if pa.types.is_string(kind):
        return "string"
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return "timestamp"
    return "carried"


def _infer_values(values: list[Any]) -> Inferred:
    kinds = {_infer_value(value) for value in values if value is not None}
    if kinds & {"int", "float"} and kinds <= {"int", "float", "string"}:
        strings = {value for value in values if isinstance(value, str)}
        if strings <= set(FLOAT_WORDS):
            kinds = kinds - {"string"} | ({"float"} if strings else set())
    return _together(kinds) or "carried"


def _infer_value(value: object) -> Inferred:
    match value:
        case bool():
            return "bool"
        case int():
            return "int"
        case float() | Decimal():
            return "float"
        case str():
            return "string"
        case date():
            return "timestamp"
        case _:
            return "carried"


def _infer_text(column: pa.ChunkedArray) -> Inferred:
    filled = blanks_as_null(column).drop_null()
    if len(filled) == 0:
        return "string"
    digits = pc.match_substring_regex(filled, _DIGITS)
    if pc.all(digits).as_py():
        # Digits that no 64-bit integer holds are a name for something: as floats, two of them might become equal.
        return "int" if ints_of_text(filled).null_count == 0 else "string"
    if convert(filled, "float", text=True).null_count == 0:
        return "float" if ints_of_text(filled.filter(digits)).null_count == 0 else "string"
    if pc.all(pc.match_substring_regex(filled, _TRUTH)).as_py():
        return "bool"
    return "timestamp" if micros_of_column(filled).null_count == 0 else "string"


def _all_are(column: pa.ChunkedArray, kind: str) -> bool:
    seen = column if kind == "string" else blanks_as_null(column)
    return bool(convert(seen, kind, text=True).null_count == seen.null_count)


def _carried(pieces: Sequence[Raw]) -> list[pa.ChunkedArray] | None:
    """The pieces as Arrow has them, brought to one type; None where it knows none."""
    try:
        columns = [pa.chunked_array([pa.array(raw)]) if isinstance(raw, list) else raw for raw in pieces]
        table = pa.concat_tables([pa.table({"": column}) for column in columns], promote_options="permissive")
        common = table.schema.field(0).type
        carried = [column if column.type == common else column.cast(common) for column in columns]
        for column in carried:
            column.validate()  # Arrow casts a list of nothing but nulls to one that is too short
        return carried
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def _texts(raw: Raw, text: bool) -> pa.ChunkedArray:
    if not isinstance(raw, list) and pa.types.is_string(unwrapped(raw).type):
        return unwrapped(raw)
    if not isinstance(raw, list) and pa.types.is_null(raw.type):
        return nulls(len(raw), pa.string())
    values = raw if isinstance(raw, list) else raw.to_pylist()
    written = [_text(value) for value in values]
    return pa.chunked_array([pa.array(written, pa.string())])


def _text(value: object) -> str | None:
    if value is None:
        return None
    text = to_text(value)
    return text if is_text(text) else None
