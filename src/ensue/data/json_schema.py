"""The Arrow types in which wanted columns of JSON lines are read, by the rules' declarations and the first lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ensue.data.arrange import value_at_path
from ensue.data.columns import is_path
from ensue.data.wanted import Wanted

_DECLARED = {"int": pa.int64(), "float": pa.float64(), "string": pa.string(), "bool": pa.bool_()}

Nested = dict[str, Any]
"""Arrow types by name; a dict for nested values."""


def wanted_schema(wanted: Wanted, rows: Sequence[Mapping[str, Any]]) -> pa.Schema | None:
    """The schema to read lines by, as which some rows were the first; None where their values are of several types.

    >>> print(wanted_schema(Wanted({"time": None, "u.id": "int", "u.id.x": "int"}), [{"time": 3}]))
    None
    >>> wanted_schema(Wanted({"time": None, "u.id": "int"}), [{"time": 3, "u": {"id": 1}}])
    time: int64
    u.id: int64
    u: struct<id: int64>
      child 0, id: int64
    """
    found: Nested = {}
    for name, kind in wanted.types.items():
        names = name.split(".") if is_path(name) else [name]
        plain = _type_of([row.get(name) for row in rows], kind)
        if plain is None or (name in found and isinstance(found[name], dict)):
            return None
        found[name] = plain
        if len(names) > 1:
            inside = _type_of([value_at_path(row, name) for row in rows], kind)
            if inside is None or not _put(found, names, inside):
                return None
    return pa.schema([(name, _struct(type_)) for name, type_ in found.items()])


def _put(found: Nested, names: Sequence[str], type_: pa.DataType) -> bool:
    """Put a type where a path leads; False where something else is there."""
    for name in names[:-1]:
        inner = found.setdefault(name, {})
        if not isinstance(inner, dict):
            return False
        found = inner
    return bool(found.setdefault(names[-1], type_) == type_)


def _struct(type_: Any) -> pa.DataType:
    if not isinstance(type_, dict):
        return type_
    return pa.struct([(name, _struct(inner)) for name, inner in type_.items()])


def _type_of(values: Sequence[Any], kind: str | None) -> pa.DataType | None:
    """The type that holds values as they are; where there are none, the declared one."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return _DECLARED.get(kind or "string", pa.string())
    if kinds <= {int, float} and kind == "float":
        return pa.float64()
    if kinds == {int, float}:
        return pa.float64()
    if len(kinds) > 1:
        return None
    return {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}.get(kinds.pop())
