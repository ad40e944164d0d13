"""Values that are no numbers, each with a code: strings, lists, and values of types that change from row to row.

The code of a value is its place. Two values that are equal (1 and 1.0) may have two codes; ``same`` gives one of them for
both, and -1 for what equals nothing. ``rank`` is the place of each in the order of values, for the first ``ranked`` codes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.structures.structure import Array, Column, Frame, Layout, Structure
from ensue.values import equality, order

MANY = 1 << 16
"""From how many values on it is worth while to look for those that nothing refers to."""

FIRST = 64


def values_layout() -> Layout:
    return Layout(("ranked", "count"), (("same", Column("same_")), ("rank", Column("rank_"))))


class Values(Structure):
    """Gives each value a code. The place of a value that was forgotten waits for another."""

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.codes: dict[Any, int] = {}
        self.held: list[Any] = []
        self._free: list[int] = []
        self._equal: dict[Any, int] = {}
        self._enough = MANY
        self.put("same_", np.zeros(FIRST, np.int64))
        self.put("rank_", np.zeros(FIRST, np.int64))

    def code(self, value: Any) -> int:
        """The code of a value; None has none."""
        key = value if type(value) is str else exactly(value)
        found = self.codes.get(key)
        if found is not None:
            return found
        if self._free:
            found = self._free.pop()
            self.held[found] = value
        else:
            found = len(self.held)
            self.held.append(value)
        self.codes[key] = found
        if found >= len(self.arrays["same_"]):
            for name in ("same_", "rank_"):
                self.put(name, np.concatenate([self.arrays[name], np.zeros_like(self.arrays[name])]))
        if type(value) is str:
            self.same[found] = found
        else:
            equal = equality(value)
            self.same[found] = -1 if equal is None else self._equal.setdefault(equal, found)
        self.count = len(self.held)
        self.ranked = min(self.ranked, found)
        return found

    def rank_all(self) -> None:
        """Finds the place of each value in the order of values; equal ones have the same."""
        keys = [order(value) for value in self.held]
        places = {key: place for place, key in enumerate(sorted(set(keys)))}
        self.arrays["rank_"][: len(keys)] = [places[key] for key in keys]
        self.ranked = len(keys)

    def encode(self, column: pa.Array) -> Array:
        """The codes of a column; that of a null is 0, and means nothing."""
        if not len(column):
            return np.empty(0, np.int64)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            if not pa.types.is_dictionary(column.type):
                return np.array([0 if v is None else self.code(plain(v)) for v in column.to_pylist()], np.int64)
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        codes = np.array([self.code(value) for value in encoded.dictionary.to_pylist()] or [0], np.int64)
        found: Array = codes[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
        return found

    @property
    def many(self) -> bool:
        """Whether it is time to forget some."""
        return len(self.codes) > self._enough

    def forget(self, used: Iterable[Array]) -> None:
        """Forgets all values but those whose codes are still used."""
        held = np.zeros(len(self.held), bool)
        for codes in used:
            held[codes[(codes >= 0) & (codes < len(held))]] = True
        same = self.arrays["same_"][: len(held)]
        held[same[held & (same >= 0)]] = True
        for key, code in list(self.codes.items()):
            if not held[code]:
                del self.codes[key]
                self.held[code] = None
                self._free.append(code)
        self._equal = {key: code for key, code in self._equal.items() if held[code]}
        self.ranked = 0
        self._enough = max(MANY, 2 * len(self.codes))

    def restore(self, held: Iterable[Any], free: Iterable[int]) -> None:
        """Takes the values of a saved state; their codes are those they had."""
        self.codes, self.held, self._free, self._equal = {}, [], [], {}
        self.count = self.ranked = 0
        gone = set(free)
        for code, value in enumerate(held):
            if code in gone:
                self.held.append(None)
            else:
                self.code(value)
        self._free = sorted(gone)


def exactly(value: Any) -> Any:
    """A key for values that are the same in type, too."""
    match value:
        case tuple():
            return (tuple, *map(exactly, value))
        case int() | float() | str() | bool():
            return (type(value), "nan" if value != value else value)
        case _:
            return (type(value), repr(value))


def plain(value: Any) -> Any:
    return tuple(map(plain, value)) if isinstance(value, list) else value


def rank_of(values: Values, code: int) -> int:
    """The place of a value in the order of values."""
    if code >= values.ranked:
        ask(values, 0)
    return values.rank[code]
