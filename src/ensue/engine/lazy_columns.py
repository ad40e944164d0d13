"""Columns that are put together, or put in another order, on first use: most rules use few."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from ensue.engine.batch import Integers, arrow_of


class LazyColumns(Mapping[str, pa.Array]):
    """Columns of known types; each is made once."""

    def __init__(self, types: Mapping[str, pa.DataType]) -> None:
        self.types = types
        self._made: dict[str, pa.Array] = {}

    def __getitem__(self, name: str) -> pa.Array:
        if name not in self._made:
            self._made[name] = self._make(name, self.types[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)

    def __contains__(self, name: object) -> bool:
        return name in self.types

    @abstractmethod
    def _make(self, name: str, type_: pa.DataType) -> pa.Array: ...


class Taken(LazyColumns):
    """The columns of a table in another order of rows."""

    def __init__(self, columns: Mapping[str, pa.Array], by: Integers) -> None:
        super().__init__(types_of(columns))
        self._columns, self._by = columns, by

    def _make(self, name: str, type_: pa.DataType) -> pa.Array:
        return self._columns[name].take(arrow_of(self._by))

    def slice(self, begin: int, end: int) -> Taken:
        found = Taken(self._columns, self._by[begin:end])
        made = list(self._made.items())  # at once: other threads may make more
        found._made = {name: column.slice(begin, end - begin) for name, column in made}
        return found


class Joined(LazyColumns):
    """The columns of several tables one below the other; null where a table has no such column."""

    def __init__(self, tables: Sequence[tuple[Mapping[str, pa.Array], int]], types: Mapping[str, pa.DataType]) -> None:
        super().__init__(types)
        self._tables = tables

    def _make(self, name: str, type_: pa.DataType) -> pa.Array:
        pieces = [columns[name] if name in columns else pa.nulls(rows, type_) for columns, rows in self._tables]
        if pa.types.is_dictionary(type_):
            pieces = pa.chunked_array(pieces).unify_dictionaries().chunks
        elif any(piece.type != type_ for piece in pieces):
            pieces = [piece.cast(type_) for piece in pieces]
        return pa.concat_arrays(pieces)


def joined(tables: Sequence[tuple[Mapping[str, pa.Array], int]]) -> Joined | None:
    """The columns of several tables, each with its number of rows; None if a column has values of several types."""
    types = _common_types([columns for columns, _ in tables])
    return None if types is None else Joined(tables, types)


def types_of(columns: Mapping[str, pa.Array]) -> Mapping[str, pa.DataType]:
    """The types of columns, without making any."""
    if isinstance(columns, LazyColumns):
        return columns.types
    return {name: column.type for name, column in columns.items()}


def _common_types(tables: Sequence[Mapping[str, pa.Array]]) -> dict[str, pa.DataType] | None:
    """The type of each column of several tables; None if a column has values of several types.

    Texts that are codes of a dictionary in some of the tables are plain texts.
    """
    found: dict[str, pa.DataType] = {}
    for columns in tables:
        for name, type_ in types_of(columns).items():
            before = found.setdefault(name, type_)
            if before == type_:
                continue
            if _plain(before) != _plain(type_):
                return None
            found[name] = _plain(type_)
    return found


def _plain(type_: pa.DataType) -> pa.DataType:
    return type_.value_type if pa.types.is_dictionary(type_) else type_
