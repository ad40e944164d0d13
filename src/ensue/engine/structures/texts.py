"""The strings of the dictionary as bytes, where machine code finds them.

A string with a code lies in ``letters``, as UTF-8, from ``first[code]`` on, ``length[code]`` bytes long; a value that
is no string has the length -1. In UTF-8 the order of bytes is that of characters. Columns of strings are looked up in a
table by a hash of their bytes, and become columns again by copying bytes: no string of them is a Python object. A
string that Python has given a code comes into that table when a column is looked up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.machine.builtin import unsigned_shift, wrap
from ensue.engine.machine.source import source_of
from ensue.engine.structures.kernel import Kernel, call
from ensue.engine.structures.structure import Array, Column, Layout

FIRST = 64
"""Room for codes and slots at first, a power of two."""

LETTERS = 1 << 10
"""Room for letters at first."""

PAST, FILLED, USED, SPARE, RANKED = range(5)
"""Places of numbers that all who add strings share: the first code that was never used, how many letters there are, how
many strings are in the table, how many codes wait to be used again, how many codes have a rank."""

TEXTS = Layout(
    ("rows", "at", "nulls", "mask", "places", "room"),
    (
        ("state", Column("state")),
        ("offset", Column("offsets")),
        ("letter", Column("given", "u8")),
        ("there", Column("valid", "u8")),
        ("code", Column("found")),
        ("slot", Column("slots")),
        ("first", Column("first")),
        ("length", Column("length")),
        ("same", Column("same")),
        ("text", Column("letters", "u8")),
        ("free", Column("free")),
    ),
)
"""Strings as Arrow holds them and the codes that are found for them; the table, the strings that have codes, and codes
that are free; ``places`` is how many codes there is room for, ``room`` how many letters."""

texts: Any = None
"""All of it, as kernels see it: generated code finds it by this name."""

hash_given: Any = None
hash_held: Any = None
"""Functions that `_hash` writes."""


def _hash(name: str, letter: str) -> str:
    """Source of a function that hashes letters, eight at a time."""
    word = " | ".join(f"(texts.{letter}[k + {i}] << {8 * i})" for i in range(8))
    return f"""
def {name}(begin: int, length: int) -> int:
    hashed = length
    k = begin
    past = begin + length
    while k + 8 <= past:
        hashed = mixed(hashed, wrap({word}))
        k += 8
    word = 0
    while k < past:
        word = (word << 8) | texts.{letter}[k]
        k += 1
    return mixed(hashed, word)
"""


def mixed(hashed: int, word: int) -> int:
    """A hash with another word in it."""
    product = wrap((hashed ^ word) * -7046029254386353131)
    return product ^ unsigned_shift(product, 29)


def hash_of(raw: bytes) -> int:
    """The same hash of bytes in Python, as a number that is not signed.

    >>> hash_of(b"one, two, three") == hash_of(b"one, two, three"), hash_of(b"") == hash_of(b" ")
    (True, False)
    """
    hashed, whole = len(raw), len(raw) & ~7
    for k in range(0, whole, 8):
        hashed = (hashed ^ int.from_bytes(raw[k : k + 8], "little")) * MULTIPLIER & ALL
        hashed ^= hashed >> 29
    hashed = (hashed ^ int.from_bytes(raw[whole:], "big")) * MULTIPLIER & ALL
    return hashed ^ (hashed >> 29)


MULTIPLIER, ALL = -7046029254386353131 & (2**64 - 1), 2**64 - 1


def same_text(begin: int, first: int, length: int) -> bool:
    """Tell whether a given string is one that has a code."""
    for k in range(length):  # noqa: SIM110
        if texts.letter[begin + k] != texts.text[first + k]:
            return False
    return True


def find_texts() -> int:
    """Finds the code of each given string, from ``at`` on, and gives new ones a code; 1 when there is no room."""
    while texts.at < texts.rows:
        row = texts.at
        if texts.nulls == 0 or texts.there[row] != 0:
            begin = texts.offset[row]
            length = texts.offset[row + 1] - begin
            hashed = hash_given(begin, length)
            at = hashed & texts.mask
            code = -1
            while code < 0 and texts.slot[2 * at] != 0:
                if texts.slot[2 * at + 1] == hashed:
                    held = texts.slot[2 * at] - 1
                    if texts.length[held] == length and same_text(begin, texts.first[held], length):
                        code = held
                at = (at + 1) & texts.mask
            if code < 0:
                full = 2 * texts.state[2] >= texts.mask or texts.state[1] + length > texts.room
                if full or (texts.state[3] == 0 and texts.state[0] == texts.places):
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
        texts.at += 1
    return 0


def index_texts() -> int:
    """Puts strings that have codes into the table, which has room for them."""
    for row in range(texts.rows):
        code = texts.code[row]
        hashed = hash_held(texts.first[code], texts.length[code])
        at = hashed & texts.mask
        while texts.slot[2 * at] != 0:
            at = (at + 1) & texts.mask
        texts.slot[2 * at] = code + 1
        texts.slot[2 * at + 1] = hashed
    return 0


def copy_texts() -> int:
    """Copies the letters of strings, by their codes, to where each begins."""
    for row in range(texts.rows):
        if texts.nulls == 0 or texts.there[row] != 0:
            first = texts.first[texts.code[row]]
            begin = texts.offset[row]
            for k in range(texts.length[texts.code[row]]):
                texts.letter[begin + k] = texts.text[first + k]
    return 0


HASHES = _hash("hash_given", "letter") + _hash("hash_held", "text") + "\n\n" + source_of(mixed)
FIND = Kernel("find_texts", "texts", TEXTS, "\n\n".join([HASHES, source_of(same_text), source_of(find_texts)]))
INDEX = Kernel("index_texts", "texts", TEXTS, "\n\n".join([HASHES, source_of(index_texts)]))
COPY = Kernel("copy_texts", "texts", TEXTS, source_of(copy_texts))

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
        """True if there has been a string that is no Unicode, of which Arrow makes no column."""
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
        """Makes room for another code and a string of so many letters; gives whether anything lies elsewhere now."""
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
        """A code for another value, for which there is room."""
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
        """The code of a string, which may be new, and whether anything lies elsewhere now."""
        try:
            raw = text.encode()
        except UnicodeError:
            raw, self.odd = text.encode("utf-8", "surrogatepass"), True
        hashed = hash_of(raw)
        at, mask, slots = hashed & self.mask, self.mask, self._view
        while held := slots[2 * at]:
            if slots[2 * at + 1] == hashed and self._raw(held - 1) == raw:
                return held - 1, False
            at = (at + 1) & mask
        moved = self.make_room(len(raw))
        code, filled = self.take_code(), int(self.state[FILLED])
        self.letters[filled : filled + len(raw)] = memoryview(raw)
        self.first[code], self.length[code], self.same[code] = filled, len(raw), code
        self.state[FILLED] += len(raw)
        mask, slots = self.mask, self._view
        at = hashed & mask
        while slots[2 * at]:
            at = (at + 1) & mask
        slots[2 * at], slots[2 * at + 1] = code + 1, hashed
        self.state[USED] += 1
        return code, moved

    def _raw(self, code: int) -> bytes:
        first = int(self.first[code])
        return self.letters[first : first + int(self.length[code])].tobytes()

    def text(self, code: int) -> str:
        """The string with a code."""
        return self._raw(code).decode("utf-8", "surrogatepass")

    # --- columns

    def codes_of(self, column: pa.Array) -> Array:
        """The codes of a column of strings; that of a null is 0, and means nothing."""
        offsets, given, valid = _buffers(column)
        found, at = np.zeros(len(column), np.int64), 0
        while True:
            arrays = self._arrays(offsets, given, valid, found)
            numbers = {
                "rows": len(column), "at": at, "nulls": int(column.null_count > 0), "mask": self.mask,
                "places": len(self.first), "room": len(self.letters),
            }  # fmt: skip
            full, seen = call(FIND, len(column), arrays, numbers)
            if not full:
                return found
            at = seen.at
            self.make_room(int(offsets[at + 1] - offsets[at]))

    def _arrays(self, offsets: Array, given: Array, valid: Array, found: Array) -> dict[str, Array]:
        return {
            "state": self.state, "offsets": offsets, "given": given, "valid": valid, "found": found,
            "slots": self.slots, "first": self.first, "length": self.length, "same": self.same,
            "letters": self.letters, "free": self.free,
        }  # fmt: skip

    def column(self, codes: Array, valid: Array) -> pa.Array | None:
        """Strings by their codes as a column; None where that is not possible: letters are too many, or no Unicode."""
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
        """The codes of strings in the table."""
        return self.slots[::2][self.slots[::2] > 0] - 1

    def _index(self, size: int, codes: Array) -> None:
        """Makes the table anew, with room for so many strings, of these."""
        self.slots = np.zeros(2 << max(FIRST, size).bit_length(), np.int64)
        self._view = memoryview(self.slots.view(np.uint64))  # type: ignore[arg-type]
        self.state[USED] = len(codes)
        if len(codes):
            arrays = self._arrays(NOBODY, NO_LETTERS, NO_LETTERS, np.ascontiguousarray(codes))
            call(INDEX, len(codes), arrays, {"rows": len(codes), "mask": self.mask})

    # --- what is forgotten

    def keep(self, held: Array) -> None:
        """Forgets all values but those whose codes are held: strings go, and the codes of all are free."""
        codes = np.flatnonzero((self.length[: len(held)] >= 0) & held)
        offsets = np.zeros(len(codes) + 1, np.int64)
        np.cumsum(self.length[codes], out=offsets[1:])
        letters = self._copied(codes, np.ones(len(codes), bool), True, offsets)
        length = self.length[codes]
        self.length[:] = -1
        self.first[codes], self.length[codes] = offsets[:-1], length
        self.letters, self.state[FILLED] = letters, int(offsets[-1])
        self._make_letters(LETTERS)
        self.set_free(np.flatnonzero(~held))
        self._index(max(4 * len(codes), int(self.state[USED])), codes)  # as many may come again
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
    places = np.frombuffer(offsets, kind, len(column) + 1, column.offset * size).astype(np.int64)
    letters = np.frombuffer(data, np.uint8) if data is not None and data.size else NO_LETTERS
    valid = NO_LETTERS
    if column.null_count:
        valid = column.is_valid().to_numpy(zero_copy_only=False).view(np.uint8)
    return places, letters, valid
