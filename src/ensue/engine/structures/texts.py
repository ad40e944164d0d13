"""The strings of the dictionary as bytes, for machine code.

A string with a code lies in ``letters``, as UTF-8, from ``first[code]`` on, ``length[code]`` bytes long; numbers are
there as `number_codes` says, and other values have the length -1. In UTF-8 the order of bytes is that of characters.
Columns of strings are looked up in a table by a hash of their bytes, and become columns again by copying bytes, without
Python objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.structure import Array, Column, Element, Layout
from ensue.engine.structures.hashing import ALL, hash_of, mixed_text
from ensue.engine.structures.kernel import Kernel, call
from ensue.engine.structures.number_codes import FIND_NUMBERS, FLOAT, INT, number, number_hash, number_of
from ensue.engine.subset.builtin import word_at
from ensue.engine.subset.source import source_of

FIRST = 64
"""Initial room for codes and slots, a power of two."""

LETTERS = 1 << 10
"""Initial room for letters."""

PAST, FILLED, USED, SPARE, RANKED = range(5)
"""Places of shared counters: the first code that was never used, the number of letters, the number of strings and
numbers in the table, the number of free codes, the number of codes with a rank.
"""


def texts_layout(offsets: Element) -> Layout:
    """Strings as Arrow stores them, with offsets of a size, and their codes; the table, strings with codes, free codes.

    ``size`` is the number of letters that are given; ``places`` is the room for codes, ``room`` that for letters.
    """
    columns = (
        ("state", Column("state")),
        ("offset", Column("offsets", offsets)),
        ("letter", Column("given", "u8")),
        ("there", Column("valid", "u8")),
        ("code", Column("found")),
        ("slot", Column("slots")),
        ("first", Column("first")),
        ("length", Column("length")),
        ("same", Column("same")),
        ("text", Column("letters", "u8")),
        ("free", Column("free")),
    )
    return Layout(("rows", "at", "nulls", "mask", "size", "places", "room"), columns)


texts: Any = None
"""The structure, as kernels see it: generated code finds it by this name."""

hash_given: Any = None
hash_held: Any = None
"""Functions whose source `_hash` gives."""


def _hash(name: str, letter: str, size: str) -> str:
    """Source of a function that hashes letters, eight at a time. The rest is cut out of eight, if there are as many."""
    return f"""
def {name}(begin: int, length: int) -> int:
    hashed = length
    k = begin
    past = begin + length
    while k + 8 <= past:
        hashed = mixed_text(hashed, word_at(texts.{letter}, k))
        k += 8
    word = 0
    if k + 8 <= texts.{size}:
        word = word_at(texts.{letter}, k) & ((1 << (8 * (past - k))) - 1)
    else:
        while past > k:
            past -= 1
            word = (word << 8) | texts.{letter}[past]
    return mixed_text(hashed, word)
"""


def same_text(begin: int, first: int, length: int) -> bool:
    """True if a given string of eight letters or more is one that has a code."""
    k = 0
    while k + 8 <= length:
        if word_at(texts.letter, begin + k) != word_at(texts.text, first + k):
            return False
        k += 8
    return word_at(texts.letter, begin + length - 8) == word_at(texts.text, first + length - 8)


def find_texts() -> int:
    """Find the code of each given string, from ``at`` on, and give new ones a code; returns 1 when there is no room.

    Up to eight letters are the same if their hashes are.
    """
    mask = texts.mask
    end = texts.offset[texts.at]
    for row in range(texts.at, texts.rows):
        begin = end
        end = texts.offset[row + 1]
        if texts.nulls == 0 or texts.there[row] != 0:
            length = end - begin
            hashed = hash_given(begin, length)
            at = hashed & mask
            code = -1
            while code < 0 and texts.slot[2 * at] != 0:
                if texts.slot[2 * at + 1] == hashed:
                    held = texts.slot[2 * at] - 1
                    same = texts.length[held] == length
                    if same and (length <= 8 or same_text(begin, texts.first[held], length)):
                        code = held
                at = (at + 1) & mask
            if code < 0:
                full = 2 * texts.state[2] >= mask or texts.state[1] + length > texts.room
                if full or (texts.state[3] == 0 and texts.state[0] == texts.places):
                    texts.at = row
                    return 1
                if texts.state[3] > 0:
                    texts.state[3] -= 1
                    code = texts.free[texts.state[3]]
                else:
                    code = texts.state[0]
                    texts.state[0] += 1
                texts.slot[2 * at] = code + 1
                texts.slot[2 * at + 1] = hashed
                texts.state[2] += 1
                texts.first[code] = texts.state[1]
                texts.length[code] = length
                texts.same[code] = code
                for k in range(length):
                    texts.text[texts.state[1] + k] = texts.letter[begin + k]
                texts.state[1] += length
            texts.code[row] = code
    return 0


def index_texts() -> int:
    """Put strings and numbers that have codes into the table, which has room for them."""
    for row in range(texts.rows):
        code = texts.code[row]
        first = texts.first[code]
        length = texts.length[code]
        hashed = hash_held(first, length) if length >= 0 else number_hash(length, first)
        at = hashed & texts.mask
        while texts.slot[2 * at] != 0:
            at = (at + 1) & texts.mask
        texts.slot[2 * at] = code + 1
        texts.slot[2 * at + 1] = hashed
    return 0


def copy_texts() -> int:
    """Copy the letters of strings, by their codes, to the place where each begins."""
    for row in range(texts.rows):
        if texts.nulls == 0 or texts.there[row] != 0:
            first = texts.first[texts.code[row]]
            begin = texts.offset[row]
            for k in range(texts.length[texts.code[row]]):
                texts.letter[begin + k] = texts.text[first + k]
    return 0


HASHES = _hash("hash_given", "letter", "size") + _hash("hash_held", "text", "room") + "\n\n" + source_of(mixed_text)
NUMBER_HASH = source_of(number_hash)
FINDING = "\n\n".join([HASHES, source_of(same_text), source_of(find_texts)])
FIND = Kernel("find_texts", "texts", texts_layout("i32"), FINDING)
FIND_LARGE = Kernel("find_texts", "texts", texts_layout("i64"), FINDING)
INDEX = Kernel("index_texts", "texts", texts_layout("i64"), "\n\n".join([HASHES, NUMBER_HASH, source_of(index_texts)]))
COPY = Kernel("copy_texts", "texts", texts_layout("i64"), source_of(copy_texts))

NOBODY = np.zeros(1, np.int64)
NO_LETTERS = np.zeros(1, np.uint8)


class Texts:
    """The bytes of strings by their codes, and all codes: other values have them, too."""

    def __init__(self) -> None:
        self.state = np.zeros(5, np.int64)
        self.first = np.zeros(FIRST, np.int64)
        self.length = np.full(FIRST, -1, np.int64)
        self.same = np.zeros(FIRST, np.int64)
        self.rank = np.zeros(FIRST, np.int64)
        self.letters = np.zeros(LETTERS, np.uint8)
        self.free = np.zeros(1, np.int64)
        self.odd = False
        """True if there has been a string that is not valid Unicode, which no Arrow column can hold."""
        self._index(0, np.zeros(0, np.int64))

    @property
    def mask(self) -> int:
        return len(self.slots) // 2 - 1

    @property
    def past(self) -> int:
        """The first code that was never used."""
        return int(self.state[PAST])

    # --- room

    def make_room(self, letters: int) -> bool:
        """Make room for another code and a string of so many letters; returns True if arrays have moved."""
        moved = self._make_letters(letters)
        if self.state[SPARE] == 0 and self.past == len(self.first):
            self.make_codes(2 * self.past)
            moved = True
        if 2 * self.state[USED] >= self.mask:
            self._index(4 * int(self.state[USED]), self._listed())
            moved = True
        return moved

    def make_codes(self, count: int) -> None:
        more = count - len(self.first)
        self.length = np.concatenate([self.length, np.full(more, -1, np.int64)])
        for name in ("first", "same", "rank"):
            setattr(self, name, np.concatenate([getattr(self, name), np.zeros(more, np.int64)]))

    def _make_letters(self, count: int) -> bool:
        filled = int(self.state[FILLED])
        if filled + count <= len(self.letters):
            return False
        letters = np.empty(max(2 * len(self.letters), filled + count), np.uint8)
        letters[:filled] = self.letters[:filled]
        self.letters = letters
        return True

    def take_code(self) -> int:
        """A code for another value; there must be room."""
        if self.state[SPARE]:
            self.state[SPARE] -= 1
            code = int(self.free[self.state[SPARE]])
        else:
            code = self.past
            self.state[PAST] += 1
        self.state[RANKED] = min(self.state[RANKED], code)
        return code

    # --- strings of Python

    def code(self, text: str) -> tuple[int, bool]:
        """The code of a string, which may be new, and a flag that arrays have moved."""
        try:
            raw = text.encode()
        except UnicodeError:
            raw, self.odd = text.encode("utf-8", "surrogatepass"), True
        hashed = hash_of(raw)
        for held in self._held(hashed):
            if self._raw(held) == raw:
                return held, False
        moved = self.make_room(len(raw))
        code, filled = self.take_code(), int(self.state[FILLED])
        self.letters[filled : filled + len(raw)] = memoryview(raw)
        self.first[code], self.length[code], self.same[code] = filled, len(raw), code
        self.state[FILLED] += len(raw)
        self._enter(code, hashed)
        return code, moved

    def _held(self, hashed: int) -> Iterator[int]:
        """The codes of strings and numbers with a hash."""
        at, mask, slots = hashed & self.mask, self.mask, self._view
        while held := slots[2 * at]:
            if slots[2 * at + 1] == hashed:
                yield held - 1
            at = (at + 1) & mask

    def _enter(self, code: int, hashed: int) -> None:
        """Put a new string or number into the table, which has room for it."""
        mask, slots = self.mask, self._view
        at = hashed & mask
        while slots[2 * at]:
            at = (at + 1) & mask
        slots[2 * at], slots[2 * at + 1] = code + 1, hashed
        self.state[USED] += 1

    def _raw(self, code: int) -> bytes:
        first = int(self.first[code])
        return self.letters[first : first + int(self.length[code])].tobytes()

    def text(self, code: int) -> str:
        """The string with a code."""
        return self._raw(code).decode("utf-8", "surrogatepass")

    # --- numbers of Python

    def number_code(self, kind: int, held: int) -> tuple[int, bool]:
        """The code of a number, which may be new, from its type and bits; and a flag that arrays have moved."""
        found = self._number(kind, held)
        if found is not None:
            return found, False
        moved = self.make_room(0)
        code, value = self.take_code(), number(kind, held)
        self.first[code], self.length[code] = held, kind
        self.same[code] = self._equal(value, code)
        self._enter(code, number_hash(kind, held) & ALL)
        return code, moved

    def _number(self, kind: int, held: int) -> int | None:
        codes = self._held(number_hash(kind, held) & ALL)
        return next((code for code in codes if self.length[code] == kind), None)

    def _equal(self, value: float, code: int) -> int:
        """The code that stands for all numbers that equal a new one, perhaps its own; -1 for NaN."""
        if value != value:
            return -1
        try:
            other: float = float(value) if isinstance(value, int) else int(value)
        except OverflowError:  # infinite
            return code
        asked = number_of(other) if other == value else None
        found = None if asked is None else self._number(*asked)
        return code if found is None else int(self.same[found])

    # --- columns

    def codes_of_numbers(self, kind: int, given: Array, valid: Array | None) -> Array:
        """The codes of numbers from their type and bits; that of a null is 0, a placeholder."""
        found, at = (np.empty if valid is None else np.zeros)(len(given), np.int64), 0
        while True:
            flags = NO_LETTERS if valid is None else valid
            arrays = {"given": given, "valid": flags, "found": found, **self._table}
            numbers = {
                "rows": len(given), "at": at, "nulls": int(valid is not None), "kind": kind, "mask": self.mask,
                "places": len(self.first),
            }  # fmt: skip
            full, seen = call(FIND_NUMBERS, len(given), arrays, numbers)
            if not full:
                return found
            at = seen.at
            self.make_room(0)

    def codes_of(self, column: pa.Array) -> Array:
        """The codes of a column of strings; that of a null is 0, a placeholder."""
        offsets, given, valid = _buffers(column)
        kernel = FIND if offsets.dtype == np.int32 else FIND_LARGE
        nulls = int(column.null_count > 0)
        found, at = (np.zeros if nulls else np.empty)(len(column), np.int64), 0
        while True:
            arrays = self._arrays(offsets, given, valid, found)
            numbers = {
                "rows": len(column), "at": at, "nulls": nulls, "mask": self.mask, "size": len(given),
                "places": len(self.first), "room": len(self.letters),
            }  # fmt: skip
            full, seen = call(kernel, len(column), arrays, numbers)
            if not full:
                return found
            at = seen.at
            self.make_room(int(offsets[at + 1] - offsets[at]))

    def _arrays(self, offsets: Array, given: Array, valid: Array, found: Array) -> dict[str, Array]:
        of_column = {"offsets": offsets, "given": given, "valid": valid, "found": found}
        return {**of_column, **self._table, "letters": self.letters}

    @property
    def _table(self) -> dict[str, Array]:
        return {
            "state": self.state, "slots": self.slots, "first": self.first, "length": self.length, "same": self.same,
            "free": self.free,
        }  # fmt: skip

    def column(self, codes: Array, valid: Array) -> pa.Array | None:
        """Strings by their codes as a column; None if there are too many letters, or invalid Unicode."""
        if self.odd:
            return None
        all_there = bool(valid.all())
        lengths = self.length[codes] if all_there else np.where(valid, self.length[np.where(valid, codes, 0)], 0)
        offsets = np.zeros(len(codes) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        if offsets[-1] >= 2**31:
            return None
        letters = self._copied(codes, valid, all_there, offsets)
        flags = None if all_there else pa.py_buffer(np.packbits(valid, bitorder="little"))
        return pa.StringArray.from_buffers(
            len(codes), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(letters), flags
        )

    def _copied(self, codes: Array, valid: Array, all_there: bool, offsets: Array) -> Array:
        letters = np.empty(int(offsets[-1]) or 1, np.uint8)
        arrays = self._arrays(offsets, letters, valid.view(np.uint8), np.ascontiguousarray(codes))
        call(COPY, len(codes), arrays, {"rows": len(codes), "nulls": int(not all_there)})
        return letters

    # --- the table

    def _listed(self) -> Array:
        """The codes of strings and numbers in the table."""
        return self.slots[::2][self.slots[::2] > 0] - 1

    def _index(self, size: int, codes: Array) -> None:
        """Build the table of some strings and numbers, with room for `size`."""
        self.slots = np.zeros(2 << max(FIRST, size).bit_length(), np.int64)
        self._view = memoryview(self.slots.view(np.uint64))  # type: ignore[arg-type]
        self.state[USED] = len(codes)
        if len(codes):
            arrays = self._arrays(NOBODY, NO_LETTERS, NO_LETTERS, np.ascontiguousarray(codes))
            numbers = {"rows": len(codes), "mask": self.mask, "room": len(self.letters)}
            call(INDEX, len(codes), arrays, numbers)

    # --- dropping values

    def keep(self, held: Array) -> None:
        """Drop all values except those whose codes are held: strings go, and codes become free."""
        kept = np.where(held, self.length[: len(held)], -1)
        codes, numbers = np.flatnonzero(kept >= 0), np.flatnonzero((kept == INT) | (kept == FLOAT))
        offsets = np.zeros(len(codes) + 1, np.int64)
        np.cumsum(self.length[codes], out=offsets[1:])
        letters = self._copied(codes, np.ones(len(codes), bool), True, offsets)
        self.length[:] = -1
        self.length[: len(held)] = kept
        self.first[codes] = offsets[:-1]
        self.letters, self.state[FILLED] = letters, int(offsets[-1])
        self._make_letters(LETTERS)
        self.set_free(np.flatnonzero(~held))
        listed = np.concatenate([codes, numbers])
        self._index(max(4 * len(listed), int(self.state[USED])), listed)  # as many may come back
        self.state[RANKED] = 0

    def set_free(self, codes: Array) -> None:
        """Free codes to be used again, in their order."""
        self.free = codes[::-1].copy() if len(codes) else NOBODY
        self.state[SPARE] = len(codes)


def _buffers(column: pa.Array) -> tuple[Array, Array, Array]:
    """The offsets, letters and flags of a column of strings."""
    large = pa.types.is_large_string(column.type)
    _, offsets, data = column.buffers()
    size, kind = (8, np.int64) if large else (4, np.int32)
    places = np.frombuffer(offsets, kind, len(column) + 1, column.offset * size)
    letters = np.frombuffer(data, np.uint8) if data is not None and data.size else NO_LETTERS
    valid = NO_LETTERS
    if column.null_count:
        valid = column.is_valid().to_numpy(zero_copy_only=False).view(np.uint8)
    return places, letters, valid
