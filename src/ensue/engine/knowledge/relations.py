"""Rows of static predicates as codes: small integers, equal for equal values.

Rows are joined as tuples of codes, through hash indexes; values are fetched for conditions and for results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import field
from operator import itemgetter
from typing import Any

from ensue.language import typed
from ensue.language.semantics import identity, kind
from ensue.records import dataclass

Row = tuple[Any, ...]
Term = typed.Variable | typed.Constant | None
Codes = tuple[int, ...]
"""Codes of values; those of a row in a relation are followed by the row's number."""
Pick = Callable[[Codes], Codes]
Columns = tuple[int, ...]
Alike = tuple[tuple[int, int], ...]
"""Pairs of columns that must be equal."""

NULL, NAN = 0, 1
"""The codes of values that equal nothing; all others are larger."""


def _key(value: Any) -> Any:
    """A key that is equal for equal values. Texts and numbers are their own keys, which is faster."""
    return value if type(value) in (str, int) or (type(value) is float and value == value) else identity(value)


class Values:
    """Gives each value a code. Equal values may be written in several ways: 1 and 1.0, 0.0 and -0.0."""

    def __init__(self) -> None:
        self._codes: dict[Any, int] = {identity(None): NULL, identity(math.nan): NAN}
        """Codes by the key of the value, see `_key`."""
        self.values: list[Any] = [None, math.nan]
        """Values by code, as first written."""
        self.twofold = False
        """True if a number is written both as an integer and as a float."""
        self.signed = False
        """True if there is a zero with a sign."""

    def code(self, value: Any) -> int:
        """The code of a value that a row may hold."""
        if type(value) is str and value in self._codes:
            return self._codes[value]
        code = self.constant(value)
        if type(value) is float:
            self.signed |= value == 0.0 and math.copysign(1.0, value) < 0
        self.twofold |= type(value) is not type(self.values[code])
        return code

    def constant(self, value: Any) -> int:
        """The code of a value, however it is written."""
        code = self._codes.setdefault(_key(value), len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code

    def known(self, values: Iterable[Any]) -> Codes:
        """The codes of values; a value that no row has gets the code of null."""
        return tuple([self._codes.get(_key(v), NULL) for v in values])

    def identities(self) -> list[Any]:
        """The identities of values, by code."""
        return [key if isinstance(key, tuple) else (kind(key), key) for key in self._codes]


@dataclass
class Relation:
    """The rows of one predicate in the order in which they came: as codes with their number, and as values."""

    rows: list[Codes] = field(default_factory=list)
    values: list[Row] = field(default_factory=list)
    known: set[Codes] = field(default_factory=set)
    _indexes: dict[tuple[Columns, Alike], _Index] = field(default_factory=dict)

    def add(self, codes: Codes, values: Row) -> None:
        """Add a row unless there is an equal one."""
        if codes not in self.known:
            self.known.add(codes)
            self.rows.append((*codes, len(self.rows)))
            self.values.append(values)

    def index(self, columns: Columns, alike: Alike = ()) -> dict[Codes, list[Codes]]:
        """The rows by the codes in these columns, kept from call to call and brought up to date."""
        index = self._indexes.get((columns, alike))
        if index is None:
            index = self._indexes[columns, alike] = _Index()
        if index.size < len(self.rows):
            indexed(self.rows[index.size :], columns, alike, index.rows)
            index.size = len(self.rows)
        return index.rows

    def picked(self, columns: Columns, wanted: Columns) -> dict[Codes, tuple[Codes, ...]]:
        """The values of some columns, each once, by those of others; null and NaN are left out.

        Tuples of numbers cost the garbage collector nothing, where thousands of lists would make it scan everything. So
        other containers exist only for keys with several rows, and not for long.
        """
        found: dict[Codes, tuple[Codes, ...]] = {}
        several: dict[Codes, dict[Codes, None]] = {}
        for codes, row in zip(map(pick(columns), self.rows), map(pick(wanted), self.rows), strict=True):
            own = (row,)
            first = found.setdefault(codes, own)
            if first is not own:
                several.setdefault(codes, dict.fromkeys(first))[row] = None
        found.update((codes, tuple(rows)) for codes, rows in several.items())
        for codes in [codes for codes in found if NULL in codes or NAN in codes]:
            del found[codes]
        return found

    def copy(self) -> Relation:
        """A copy with the same rows, to which others can be added."""
        return Relation(list(self.rows), list(self.values), set(self.known))


@dataclass
class _Index:
    rows: dict[Codes, list[Codes]] = field(default_factory=dict)
    size: int = 0


def indexed(
    rows: list[Codes], columns: Columns, alike: Alike, into: dict[Codes, list[Codes]] | None = None
) -> dict[Codes, list[Codes]]:
    """Rows by the codes in some columns, without those where a null or NaN would have to be equal."""
    found = {} if into is None else into
    if rows and not columns and not alike:
        found.setdefault((), []).extend(rows)
        return found
    key = pick(columns)
    for row in rows:
        codes = key(row)
        if NULL in codes or NAN in codes or (alike and not agree(row, alike)):
            continue
        found.setdefault(codes, []).append(row)
    return found


def agree(row: Codes | Mapping[int, int], alike: Alike) -> bool:
    """True if a row has equal values where it must."""
    return all(row[one] == row[other] and row[one] > NAN for one, other in alike)


def access(terms: Sequence[Term], bound: Container[Any]) -> tuple[Columns, Alike]:
    """The columns whose values are known, and those that must be equal because they have one variable."""
    known: list[int] = []
    alike: list[tuple[int, int]] = []
    first: dict[str, int] = {}
    for column, term in enumerate(terms):
        if isinstance(term, typed.Constant) or (term is not None and term.name in bound):
            known.append(column)
        elif term is not None and first.setdefault(term.name, column) != column:
            alike.append((first[term.name], column))
    return tuple(known), tuple(alike)


def value_of(term: Term, values: Mapping[str, Any]) -> Any:
    """The value of a term: a constant, or that of a variable."""
    match term:
        case typed.Constant(value=value):
            return value
        case typed.Variable(name=name):
            return values[name]


def pick(offsets: Sequence[int]) -> Pick:
    """A function that picks the items at these offsets, as a tuple."""
    if len(offsets) > 1:
        return itemgetter(*offsets)
    return itemgetter(slice(offsets[0], offsets[0] + 1) if offsets else slice(0))
