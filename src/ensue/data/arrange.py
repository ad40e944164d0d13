"""Columns under the names that rules have for them: renamed, combined, and taken out of nested values.

It is done once, before anything is read, for tables as for single rows; after it every attribute is a column.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from ensue import compute as pc
from ensue.data.columns import TOGETHER, Columns, is_path
from ensue.data.errors import DataError, did_you_mean, listed
from ensue.data.input_part import InputPart
from ensue.data.json_text import to_text
from ensue.data.paths import at_path, in_fields, with_names_of_rules
from ensue.data.raw import Raw, settle, unwrapped

Row = Mapping[str, Any]


def paths_of(schema: Mapping[str, Iterable[str]], columns: Columns) -> tuple[str, ...]:
    """The names that may lead into nested values: those with a point.

    >>> paths_of({"logon": ["user.id", "ok"]}, Columns(time="event.created"))
    ('user.id', 'event.created')
    """
    names = [name for attributes in schema.values() for name in attributes]
    return tuple(dict.fromkeys(name for name in (*names, *columns.outside) if is_path(name)))


def arranged(
    held: Mapping[str, Raw], columns: Columns, paths: Collection[str], table: str | None, others: Sequence[str] = ()
) -> dict[str, Raw]:
    """The columns of a table, arranged. If `table`, its name in messages, is given, a column to be renamed must exist.

    `others` are columns that were not read.
    """

    def missing(source: str) -> None:
        if table is not None:
            raise no_column(table, source, [*held, *others])

    return with_names_of_rules(held, columns, paths, column_at, _joined, missing)


def no_column(table: str, source: str, names: Sequence[str]) -> DataError:
    """The error about a column that is to be renamed and does not exist."""
    return DataError(f"{table} has no column {source!r}, it has {listed(names)}.{did_you_mean(source, names)}")


def arranged_part(part: InputPart, columns: Columns, paths: Collection[str]) -> InputPart:
    """A part with its columns arranged."""
    if not needs_arranging(columns, paths) or not part.columns:
        return part
    called = None if part.sparse or part.event_type is not None else part.name
    lacking = lacking_columns(part, columns) if part.sparse and part.event_type is None else []
    if lacking:  # as a key that a row lacks, not the value under the name that rules have
        nulls = {name for name, source in columns.renamed if source in lacking}
        others = tuple(pair for pair in columns.renamed if pair[0] not in nulls)
        read = {source for _, source in others}
        kept = {name: column for name, column in part.columns.items() if name not in nulls or name in read}
        part, columns = replace(part, columns=kept), replace(columns, renamed=others)
    exactly = part.exactly
    again = None if exactly is None else (lambda: arranged_part(exactly(), columns, paths))
    return replace(part, columns=arranged(part.columns, columns, paths, called, part.others), exactly=again)


def lacking_columns(part: InputPart, columns: Columns) -> list[str]:
    """The columns that are to be renamed and that a part has in no row."""
    return [
        source for _, source in columns.renamed if source not in part.others and column_at(part.columns, source) is None
    ]


def arranged_parts(
    parts: Iterable[InputPart], columns: Columns, paths: Collection[str], whole: bool
) -> Iterator[InputPart]:
    """Parts with their columns arranged. If they are the `whole` input, one has each column that is to be renamed.

    Tables are looked at one by one; rows of JSON and dicts may lack what others have.
    """
    lacking: set[str] | None = None
    names: dict[str, None] = {}
    first = None
    for part in parts:
        if whole and columns.renamed and part.length:
            found = set(lacking_columns(part, columns))
            lacking = found if lacking is None else lacking & found
            names |= dict.fromkeys([*part.columns, *part.others])
            first = first or part
        yield arranged_part(part, columns, paths)
    if lacking and first is not None:
        source = next(source for _, source in columns.renamed if source in lacking)
        raise no_column(first.name, source, list(names))


def needs_arranging(columns: Columns, paths: Collection[str]) -> bool:
    """False where columns are as rules have them."""
    return bool(columns.renamed or paths or any(TOGETHER in name for name in columns.outside))


def row_arranger(columns: Columns, paths: Collection[str]) -> Callable[[Row], Row] | None:
    """The same for one row that is a dict; None where there is nothing to do.

    >>> arrange = row_arranger(Columns("Date+Time", renamed=(("user", "who.name"),)), ["a.b"])
    >>> row = arrange({"Date": "2026-01-01", "Time": "12:00", "who": {"name": "Zoë"}, "a": {"b": 3}})
    >>> row["Date+Time"], row["user"], row["a.b"]
    ('2026-01-01 12:00', 'Zoë', 3)
    """
    if not needs_arranging(columns, paths):
        return None
    together = [(name, [p.strip() for p in name.split(TOGETHER)]) for name in columns.outside if TOGETHER in name]
    dropped = {source for _, source in columns.renamed}

    def arrange(row: Row) -> Row:
        found = dict(row) if not dropped else {key: value for key, value in row.items() if key not in dropped}
        for name, source in columns.renamed:
            value = value_at_path(row, source)
            if value is not None or source in row:
                found[name] = value
            else:
                found.pop(name, None)  # the row lacks it, whatever it has under the name that rules have
        for path in paths:
            value = value_at_path(found, path)
            if value is not None:
                found[path] = value
        for name, parts in together:
            values = [value_at_path(found, part) for part in parts]
            if name not in found and all(value is not None for value in values):
                found[name] = " ".join(map(part_of_time, values))
        return found

    return arrange


def value_at_path(row: Row, path: str) -> Any:
    """The value to which a path leads, or else the one of that very name.

    >>> value_at_path({"a": {"b": 1}, "a.b": 2}, "a.b"), value_at_path({"a": 3, "a.b": 2}, "a.b")
    (1, 2)
    """
    nested = _nested_value(row, path.split(".")) if "." in path else None
    return row.get(path) if nested is None else nested


def _nested_value(value: Any, names: list[str]) -> Any:
    """The value inside; a name of several may be one with points itself."""
    if not names:
        return value
    return in_fields(names, value.get, _nested_value) if isinstance(value, Mapping) else None


def part_of_time(value: object) -> str:
    """A value as a part of a time that stands in several columns: of midnight the date alone."""
    if isinstance(value, datetime) and (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0):
        return value.date().isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return to_text(value).strip() if not isinstance(value, date) or isinstance(value, datetime) else value.isoformat()


# --- columns


def leaf_paths(name: str, column: Raw) -> list[str]:
    """The paths to the values inside a column; its own name where nothing is nested.

    >>> leaf_paths("user", [{"id": 1, "home": {"city": "B"}}, {"name": "Zoë"}])
    ['user.id', 'user.home.city', 'user.name']
    """
    if isinstance(column, list):
        found: dict[str, None] = {}
        for value in column[:1000]:
            if isinstance(value, Mapping):
                for key, inner in value.items():
                    found |= dict.fromkeys(leaf_paths(f"{name}.{key}", [inner]))
            elif value is not None:
                found[name] = None
        return list(found) or [name]
    if pa.types.is_struct(column.type):
        return [
            path
            for index in range(column.type.num_fields)
            for path in leaf_paths(f"{name}.{column.type.field(index).name}", pc.struct_field(column, index))
        ]
    return [name]


def column_at(held: Mapping[str, Raw], name: str) -> Raw | None:
    """The column to which a path leads, or else, in rows where that leads to nothing, the one of that very name."""
    return at_path(held, name, _inside, _first_of)


def _inside(column: Raw, names: list[str]) -> Raw | None:
    """The values inside a column of structs, maps or dicts; None where it holds no such things."""
    if not names:
        return column
    if isinstance(column, list):
        if not any(isinstance(value, Mapping) for value in column):
            return None
        return settle([_nested_value(value, names) for value in column])
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        return _inside(unwrapped(column), names)
    if pa.types.is_struct(kind):
        return in_fields(names, lambda name: _field(column, name), _inside)
    if pa.types.is_map(kind) and pa.types.is_string(kind.key_type) and len(names) == 1:
        return pc.map_lookup(column, names[0], "first")
    return None


def _field(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray | None:
    index = column.type.get_field_index(name)
    return pc.struct_field(column, index) if index >= 0 else None


def _first_of(one: Raw, other: Raw) -> Raw:
    """The values of a column, and those of another where it has none."""
    if not isinstance(one, list) and one.null_count == 0:
        return one
    if not isinstance(one, list) and not isinstance(other, list) and one.type == other.type:
        return pc.coalesce(one, other)
    lists = [column if isinstance(column, list) else column.to_pylist() for column in (one, other)]
    return settle([second if first is None else first for first, second in zip(*lists, strict=True)])


def _joined(columns: list[Raw]) -> pa.ChunkedArray:
    """Parts of a time that stand in several columns, with a space between them."""
    return pc.binary_join_element_wise(*map(_texts, columns), " ")


def _texts(column: Raw) -> pa.ChunkedArray:
    if not isinstance(column, list):
        column = unwrapped(column)
        if pa.types.is_string(column.type):
            trimmed = pc.utf8_trim_whitespace(column)
            return pc.if_else(pc.equal(trimmed, ""), None, trimmed)
        if pa.types.is_integer(column.type):
            return column.cast(pa.string())
        column = column.to_pylist()
    values = [None if value is None else part_of_time(value) for value in column]
    return pa.chunked_array([pa.array(values, pa.string())])
