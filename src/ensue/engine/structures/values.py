"""Dictionary of values other than numbers, each with a code: strings, lists, and values of varying types.

There is one dictionary for the life of a state; the code of a value is its place in it. Two values that are equal (1
and 1.0) may have two codes; ``same`` gives one of them for both, and -1 for values that equal nothing. ``rank`` is the
place of each in the order of values, for the first ``ranked`` codes; strings are compared by their letters (`Texts`).
Every unit of a run sees the same dictionary (`Values`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.data.errors import NotTextError, shortened
from ensue.data.raw import decoded, is_readable, values_of
from ensue.engine import machine
from ensue.engine.capacity import USUAL, Capacity
from ensue.engine.limits import TEXT
from ensue.engine.structure import Array, Column, Frame, Layout, Structure
from ensue.engine.structures.number_codes import bits_of, number, number_of
from ensue.engine.structures.texts import RANKED, SPARE, Texts
from ensue.engine.subset.builtin import ask
from ensue.language.semantics import equality, order


class Dictionary:
    """Gives each value a code. The places of dropped values are used again."""

    def __init__(self, capacity: Capacity = USUAL) -> None:
        self._least, self._many_texts = capacity.values, capacity.texts
        self._codes: dict[Any, int] = {}
        """The codes of values that Python has seen; strings and numbers of columns may not be among them."""
        self._values: list[Any] = []
        """Values by code, as far as Python has needed them; None for others, and for dropped values."""
        self.texts = Texts()
        self._equal: dict[Any, int] = {}
        self._enough = self._least
        self._views: list[Values] = []

    def __len__(self) -> int:
        """Number of values with codes."""
        return self.texts.past - int(self.texts.state[SPARE])

    def attach(self, view: Values) -> None:
        """Connect a unit to the dictionary."""
        self._views.append(view)
        view.show(self)

    def detach(self, view: Values) -> None:
        """Disconnect a unit from the dictionary."""
        self._views = [each for each in self._views if each is not view]

    def show(self) -> None:
        """Give all units the current arrays."""
        for view in self._views:
            view.show(self)

    def code(self, value: Any) -> int:
        """The code of a value that is not null."""
        if type(value) is str:
            found = self._codes.get(value)
            if found is None:
                found, moved = self.texts.code(value)
                self._know(found, value, value)
                if moved:
                    self.show()
            return found
        if type(value) is float:
            value += 0.0  # the sign of zero is never visible
        key = exactly(value)
        found = self._codes.get(key)
        as_number = number_of(value) if found is None else None
        if as_number is not None:
            found, moved = self.texts.number_code(*as_number)
            self._know(found, value, key)
            if moved:
                self.show()
        if found is None:
            if self.texts.make_room(0):
                self.show()
            found = self.texts.take_code()
            self._know(found, value, key)
            equal = equality(value)
            self.texts.same[found] = -1 if equal is None else self._equal.setdefault(equal, found)
        return found

    def _know(self, code: int, value: Any, key: Any) -> None:
        if code >= len(self._values):
            self._values += [None] * (self.texts.past - len(self._values))
        self._values[code] = value
        self._codes[key] = code

    def value(self, code: int) -> Any:
        """The value of a code."""
        found = self._values[code] if code < len(self._values) else None
        if found is None and (length := int(self.texts.length[code])) != -1:
            found = self.texts.text(code) if length >= 0 else number(length, int(self.texts.first[code]))
            self._know(code, found, found if length >= 0 else exactly(found))
        return found

    def __getitem__(self, codes: Any) -> Any:
        """The value of a code, or of each in a range; None where there is none."""
        if isinstance(codes, slice):
            return [self.value(code) for code in range(*codes.indices(self.texts.past))]
        return self.value(codes)

    def others(self) -> Iterator[tuple[int, Any]]:
        """The values other than strings and numbers, with their codes."""
        for code in np.flatnonzero(self.texts.length[: len(self._values)] == -1).tolist():
            if self._values[code] is not None:
                yield code, self._values[code]

    def rank_all(self) -> None:
        """Compute the rank of each value; equal ones have the same."""
        keys = [order(self.value(code)) for code in range(self.texts.past)]
        places = {key: place for place, key in enumerate(sorted(set(keys)))}
        self.texts.rank[: len(keys)] = [places[key] for key in keys]
        self.texts.state[RANKED] = len(keys)

    # --- columns

    def encode(self, column: pa.Array, name: str = "", tuples: bool = True) -> Array:
        """The codes of a column; that of a null is 0, a placeholder. `name` is its name in messages.

        Lists are `tuples`, as in attributes that are declared as lists; else they are as single events have them.
        """
        if not len(column):
            return np.empty(0, np.int64)
        many = len(column) >= self._many_texts
        strings = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        try:
            if strings and many and machine.available():
                if not is_readable(column):
                    raise NotTextError(_not_text(column, name))
                return self._encode_texts(column)
            numbers = bits_of(column) if many and machine.available() else None
            if numbers is not None:
                return self._encode_numbers(column, *numbers)
            repeats = many and (strings or pa.types.is_primitive(column.type))
            if repeats:
                column = column.dictionary_encode()
            if not pa.types.is_dictionary(column.type):
                return self._encode_each(column, tuples)
            each = self._encode_each if repeats else self.encode
            codes = each(column.dictionary) if len(column.dictionary) else np.zeros(1, np.int64)
        except (UnicodeDecodeError, pa.ArrowInvalid):
            raise NotTextError(_not_text(column, name)) from None
        found: Array = codes[column.indices.fill_null(0).to_numpy(zero_copy_only=False)]
        return found

    def _encode_each(self, column: pa.Array, tuples: bool = False) -> Array:
        lists = tuples and (pa.types.is_list(column.type) or pa.types.is_large_list(column.type))
        held = [_plain(v) if lists else v for v in values_of(column)]
        return np.array([0 if v is None else self.code(v) for v in held], np.int64)

    def _encode_texts(self, column: pa.Array) -> Array:
        codes = self.texts.codes_of(column)
        self.texts.state[RANKED] = 0
        self.show()
        return codes

    def _encode_numbers(self, column: pa.Array, kind: int, bits: Array) -> Array:
        valid = column.is_valid().to_numpy(zero_copy_only=False).view(np.uint8) if column.null_count else None
        codes = self.texts.codes_of_numbers(kind, bits, valid)
        self.show()
        return codes

    def decode(self, codes: Array, valid: Array) -> pa.Array:
        """The strings of codes."""
        if not valid.any():
            return pa.nulls(len(codes), pa.string())
        if len(codes) >= self._many_texts and machine.available():
            column = self.texts.column(codes, valid)
            if column is not None:
                return column
        used, places = np.unique(np.where(valid, codes, codes[np.argmax(valid)]), return_inverse=True)
        texts = pa.array([self.value(code) for code in used.tolist()], pa.string())
        return texts.take(pa.array(places, mask=None if valid.all() else ~valid))

    # --- dropping values

    @property
    def many(self) -> bool:
        """True if there are so many values that some should be dropped."""
        return len(self) > self._enough

    def forget(self, used: Iterable[Array]) -> None:
        """Drop all values except those whose codes are still used."""
        held = np.zeros(self.texts.past, bool)
        for codes in used:
            held[codes[(codes >= 0) & (codes < len(held))]] = True
        same = self.texts.same[: len(held)]
        held[same[held & (same >= 0)]] = True
        for code in self._codes.values():
            if not held[code]:
                self._values[code] = None
        self._codes = {key: code for key, code in self._codes.items() if held[code]}
        self._equal = {key: code for key, code in self._equal.items() if held[code]}
        self.texts.keep(held)
        self.show()
        self._enough = max(self._least, 2 * len(self))

    # --- state

    def saved(self) -> list[Any]:
        free = self.texts.free[: self.texts.state[SPARE]]
        return [[self.value(code) for code in range(self.texts.past)], sorted(free.tolist())]

    def restore(self, state: Sequence[Any]) -> None:
        """Restore the values of a saved state, with the codes they had."""
        held, free = state
        self._codes, self._values, self._equal, self.texts = {}, [], {}, Texts()
        gone = set(free)
        for code, value in enumerate(held):
            if code in gone:
                self.texts.make_room(0)
                self.texts.take_code()
            elif self.code(value) != code:
                raise ValueError("a value that is there twice")
        self.texts.set_free(np.array(sorted(gone), np.int64))
        self.show()


def values_layout() -> Layout:
    return Layout(
        ("mask", "places", "room", "count", "wanted", "least", "longest"),
        (
            ("state", Column("state_")),
            ("same", Column("same_")),
            ("rank", Column("rank_")),
            ("first", Column("first_")),
            ("length", Column("length_")),
            ("letter", Column("letters_", "u8")),
            ("slot", Column("slots_")),
            ("free", Column("free_")),
            ("new", Column("new_", "u8")),
        ),
    )


RANKS, LONG = 0, 1
"""Requests to Python: the ranks of all values, or a check of the length of a new string."""


class Values(Structure):
    """The dictionary as a unit sees it; and a new string: ``count`` letters, room for ``least``, ``wanted`` to come."""

    keeps = counted = False
    dictionary: Dictionary

    def __init__(self, frame: Frame, base: int) -> None:
        super().__init__(frame, base)
        self.least, self.longest = frame.capacity.rows, TEXT
        self.put("new_", np.zeros(self.least, np.uint8))
        self.show(Dictionary(frame.capacity))

    def show(self, dictionary: Dictionary) -> None:
        self.dictionary, texts = dictionary, dictionary.texts
        for name in ("state", "same", "rank", "first", "length", "letters", "slots", "free"):
            self.put(f"{name}_", getattr(texts, name))
        self.mask, self.places, self.room = texts.mask, len(texts.first), len(texts.letters)

    def made(self) -> str:
        """The string that was made."""
        return self.arrays["new_"][: self.count].tobytes().decode("utf-8", "surrogatepass")

    def grow(self) -> None:
        """Make room for the string that is being made, and for it in the dictionary."""
        while self.count + self.wanted > self.least:
            self.put("new_", np.concatenate([self.arrays["new_"], np.zeros_like(self.arrays["new_"])]))
            self.least *= 2
        if self.dictionary.texts.make_room(self.count):
            self.dictionary.show()


def exactly(value: Any) -> Any:
    """A key that is equal for values equal in type, too."""
    match value:
        case tuple():
            types = set(map(type, value))
            if len(types) == 1 and not types.isdisjoint((int, str, bool)):
                return (tuple, *types, value)
            if types == {float} and (total := sum(value)) == total:  # none of them is NaN
                return (tuple, float, value)
            return (tuple, *map(exactly, value))
        case int() | float() | str() | bool():
            return (type(value), "nan" if value != value else value)
        case _:
            return (type(value), repr(value))


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def rank_order(values: Values, one: int, other: int) -> int:
    """Compare two values: negative, 0 or positive. Ranks are read together, as a new value changes those of others."""
    if one >= values.state[4] or other >= values.state[4]:
        ask(values, 0)
    return values.rank[one] - values.rank[other]


def text_order(values: Values, one: int, other: int) -> int:
    """Compare two strings: -1, 0 or 1."""
    if one == other:
        return 0
    length = min(values.length[one], values.length[other])
    at = values.first[one]
    to = values.first[other]
    for k in range(length):
        if values.letter[at + k] != values.letter[to + k]:
            return -1 if values.letter[at + k] < values.letter[to + k] else 1
    return -1 if values.length[one] < values.length[other] else 1


def _not_text(column: pa.Array, name: str) -> str:
    """The error for a column that holds text which is not UTF-8."""
    whole = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    values = map(decoded, whole.cast(pa.binary()).to_pylist())
    row, value = next((row, value) for row, value in enumerate(values) if isinstance(value, bytes))
    return (
        f"Column {name!r} holds text that is not UTF-8: {shortened(value)}, in row {row} of those that were read at "
        "once. Write it as UTF-8; a session leaves such rows out."
    )
