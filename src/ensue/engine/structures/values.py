"""Values that are no numbers, each with a code: strings, lists, and values of types that change from row to row.

There is one dictionary for the life of a state; the code of a value is its place in it. Two values that are equal (1
and 1.0) may have two codes; ``same`` gives one of them for both, and -1 for what equals nothing. ``rank`` is the place
of each in the order of values, for the first ``ranked`` codes. Every unit of a run sees the same dictionary (`Values`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ensue.data.errors import DataError, shortened
from ensue.data.raw import decoded
from ensue.engine.machine.builtin import ask
from ensue.engine.structures.capacity import USUAL, Capacity
from ensue.engine.structures.structure import Array, Column, Frame, Layout, Structure
from ensue.values import equality, order

FIRST = 64


class Dictionary:
    """Gives each value a code. The place of a value that was forgotten waits for another."""

    def __init__(self, capacity: Capacity = USUAL) -> None:
        self._least = capacity.values
        self.codes: dict[Any, int] = {}
        self.held: list[Any] = []
        self.same = np.zeros(FIRST, np.int64)
        self.rank = np.zeros(FIRST, np.int64)
        self.ranked = 0
        self._free: list[int] = []
        self._equal: dict[Any, int] = {}
        self._enough = self._least
        self._views: list[Values] = []

    def attach(self, view: Values) -> None:
        """Has a unit see the dictionary."""
        self._views.append(view)
        view.show(self)

    def detach(self, view: Values) -> None:
        """Forget a unit that sees the dictionary."""
        self._views = [each for each in self._views if each is not view]

    def code(self, value: Any) -> int:
        """The code of a value that is not null."""
        if type(value) is float:
            value += 0.0  # nobody sees the sign of zero
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
        if found >= len(self.same):
            self.same = np.concatenate([self.same, np.zeros_like(self.same)])
            self.rank = np.concatenate([self.rank, np.zeros_like(self.rank)])
            for view in self._views:
                view.show(self)
        if type(value) is str:
            self.same[found] = found
        else:
            equal = equality(value)
            self.same[found] = -1 if equal is None else self._equal.setdefault(equal, found)
        if found < self.ranked:
            self._set_ranked(found)
        return found

    def _set_ranked(self, count: int) -> None:
        self.ranked = count
        for view in self._views:
            view.ranked = count

    def rank_all(self) -> None:
        """Finds the place of each value in the order of values; equal ones have the same."""
        if set(map(type, self.held)) == {str}:
            try:
                texts = pa.array(self.held, pa.string())
            except (pa.ArrowException, UnicodeError):  # text that is no Unicode
                texts = None
            if texts is not None:
                self.rank[: len(texts)] = pc.rank(texts, tiebreaker="dense").to_numpy()
                self._set_ranked(len(texts))
                return
        keys = [order(value) for value in self.held]
        places = {key: place for place, key in enumerate(sorted(set(keys)))}
        self.rank[: len(keys)] = [places[key] for key in keys]
        self._set_ranked(len(keys))

    # --- columns

    def encode(self, column: pa.Array, name: str = "") -> Array:
        """The codes of a column; that of a null is 0, and means nothing. `name` is what a message calls it."""
        if not len(column):
            return np.empty(0, np.int64)
        if pa.types.is_dictionary(column.type):
            encoded = column
        elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            encoded = column.dictionary_encode()
        else:
            lists = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
            held = [_plain(v) if lists else v for v in column.to_pylist()]
            return np.array([0 if v is None else self.code(v) for v in held], np.int64)
        try:
            held = encoded.dictionary.to_pylist()
        except UnicodeDecodeError:
            raise DataError(_not_text(column, name)) from None
        codes = np.array([self.code(value) for value in held] or [0], np.int64)
        found: Array = codes[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
        return found

    def decode(self, codes: Array, valid: Array) -> pa.Array:
        """The strings of codes."""
        if not valid.any():
            return pa.nulls(len(codes), pa.string())
        used, places = np.unique(np.where(valid, codes, codes[np.argmax(valid)]), return_inverse=True)
        texts = pa.array([self.held[code] for code in used.tolist()], pa.string())
        return texts.take(pa.array(places, mask=None if valid.all() else ~valid))

    # --- what is forgotten

    @property
    def many(self) -> bool:
        """Whether it is time to forget some."""
        return len(self.codes) > self._enough

    def forget(self, used: Iterable[Array]) -> None:
        """Forgets all values but those whose codes are still used."""
        held = np.zeros(len(self.held), bool)
        for codes in used:
            held[codes[(codes >= 0) & (codes < len(held))]] = True
        same = self.same[: len(held)]
        held[same[held & (same >= 0)]] = True
        for key, code in list(self.codes.items()):
            if not held[code]:
                del self.codes[key]
                self.held[code] = None
                self._free.append(code)
        self._equal = {key: code for key, code in self._equal.items() if held[code]}
        self._set_ranked(0)
        self._enough = max(self._least, 2 * len(self.codes))

    # --- state

    def saved(self) -> list[Any]:
        return [list(self.held), sorted(self._free)]

    def restore(self, state: Sequence[Any]) -> None:
        """Takes the values of a saved state; their codes are those they had."""
        held, free = state
        self.codes, self.held, self._free, self._equal = {}, [], [], {}
        gone = set(free)
        for code, value in enumerate(held):
            if code in gone:
                self.held.append(None)
            elif self.code(value) != code:
                raise ValueError("a value that is there twice")
        self._free = sorted(gone)
        self._set_ranked(0)


def values_layout() -> Layout:
    return Layout(("ranked",), (("same", Column("same_")), ("rank", Column("rank_"))))


class Values(Structure):
    """The dictionary as a unit sees it."""

    keeps = counted = False
    dictionary: Dictionary

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.put("same_", np.zeros(FIRST, np.int64))
        self.put("rank_", np.zeros(FIRST, np.int64))

    def show(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.put("same_", dictionary.same)
        self.put("rank_", dictionary.rank)
        self.ranked = dictionary.ranked


def exactly(value: Any) -> Any:
    """A key for values that are the same in type, too."""
    match value:
        case tuple():
            types = set(map(type, value))
            if len(types) == 1 and not types.isdisjoint((int, str, bool)):
                return (tuple, *types, value)
            if types == {float} and (total := sum(value)) == total:  # none of them is no number
                return (tuple, float, value)
            return (tuple, *map(exactly, value))
        case int() | float() | str() | bool():
            return (type(value), "nan" if value != value else value)
        case _:
            return (type(value), repr(value))


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def rank_of(values: Values, code: int) -> int:
    """The place of a value in the order of values."""
    if code >= values.ranked:
        ask(values, 0)
    return values.rank[code]


def _not_text(column: pa.Array, name: str) -> str:
    """What is wrong with a column that holds text which is not UTF-8."""
    whole = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    values = map(decoded, whole.cast(pa.binary()).to_pylist())
    row, value = next((row, value) for row, value in enumerate(values) if isinstance(value, bytes))
    return (
        f"Column {name!r} holds text that is not UTF-8: {shortened(value)}, in row {row} of those that were read at "
        "once. Write it as UTF-8; a session leaves such rows out."
    )
