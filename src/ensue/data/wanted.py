"""Columns that are wanted of a file, so that others need not be read, and the types that rules declare for them."""

from __future__ import annotations

from collections.abc import Mapping

from ensue.data.columns import TOGETHER, USUAL, Columns, is_path
from ensue.data.convert import Schema
from ensue.records import dataclass


@dataclass(frozen=True)
class Wanted:
    """The columns of a file by the names that they have there.

    Those with a point may be such columns, or fields of nested values.
    """

    types: Mapping[str, str | None]
    """The declared types of attributes; None where there are several, or none."""


def wanted_columns(schema: Schema, columns: Columns) -> Wanted:
    """The columns that events of declared types need.

    >>> wanted_columns({"a": {"x": "int", "u.id": "int"}}, Columns(renamed=(("x", "X"),))).types
    {'type': None, 'time': None, 'start': None, 'end': None, 'X': 'int', 'x': 'int', 'u.id': 'int'}
    """
    types: dict[str, str | None] = {}
    parts = (part.strip() for outside in columns.outside for part in (outside, *outside.split(TOGETHER)))
    for name in (*USUAL, *parts):
        types[name] = None
    for attributes in schema.values():
        for name, kind in attributes.items():
            types[name] = kind if types.get(name, kind) == kind else None
    sources = {source: types.get(name) for name, source in columns.renamed}
    outside = {name: None for name in types if name in (*USUAL, *columns.outside)}
    return Wanted({**outside, **sources, **{name: kind for name, kind in types.items() if name not in sources}})


def heads(wanted: Wanted) -> set[str]:
    """The names of columns that may hold something wanted: of a path each beginning, too."""
    found = set(wanted.types)
    for name in wanted.types:
        if is_path(name):
            parts = name.split(".")
            found |= {".".join(parts[:cut]) for cut in range(1, len(parts))}
    return found
