"""Reads the columns of a table before rules see them: finds the type of each row, and checks and sorts rows.

The functions run as machine code where there are many rows, and as Python where there are few.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.structure import Array, Column, Layout
from ensue.engine.structures.kernel import Kernel, call
from ensue.engine.structures.keys import spread
from ensue.engine.subset.builtin import unsigned_shift, wrap
from ensue.engine.subset.source import source_of

TYPES = Layout(
    ("rows", "types"),
    (
        ("offset", Column("offsets", "i32")),
        ("letter", Column("letters", "u8")),
        ("name", Column("names", "u8")),
        ("name_end", Column("name_ends")),
        ("head", Column("heads")),
        ("place", Column("places")),
        ("code", Column("codes", "i32")),
        ("kind", Column("kinds", "i32")),
    ),
)
"""The texts of rows as Arrow stores them, the names of types one after the other, and the code of each row's type."""

SPLIT = Layout(("rows", "parts"), (("key", Column("keys")), ("part", Column("part_", "u8"))))
"""A key for each row, and its partition."""

DEALT = Layout(
    ("rows",),
    (("value", Column("values")), ("part", Column("part_", "u8")), ("at", Column("places")), ("out", Column("outs"))),
)
DEALT_KINDS = Layout(
    ("rows",),
    (
        ("value", Column("values", "i32")),
        ("part", Column("part_", "u8")),
        ("at", Column("places")),
        ("out", Column("outs", "i32")),
    ),
)
"""The values of rows, the partition of each row, and the place for the next value of each partition."""

TEXTS = Layout(
    ("rows",), (("offset", Column("offsets", "i32")), ("letter", Column("letters", "u8")), ("hash", Column("hashes")))
)
"""The texts of rows as Arrow stores them, and a hash for each."""

TIMES = Layout(("rows",), (("start", Column("starts")), ("end", Column("ends"))))


TIES = Layout(
    ("rows", "width"),
    (
        ("key", Column("keys")),
        ("by", Column("order")),
        ("alike", Column("alike_", "u8")),
        ("aside", Column("asides")),
    ),
)
"""Rows of keys, the order of rows, flags for rows equal to the one before, and room for half of them."""


ties: Any = None
"""Rows with the same end, as `sort_ties` sees them: generated code finds it by this name."""


times: Any = None
"""The times of rows, as `look_at_order` sees them: generated code finds it by this name."""


split: Any = None
"""The keys of rows, as `choose_parts` sees them: generated code finds it by this name."""


dealt: Any = None
"""The values of rows and their parts, as `deal_values` sees them: generated code finds it by this name."""


texts: Any = None
"""The texts of rows, as `hash_letters` sees them: generated code finds it by this name."""


types: Any = None
"""The texts of rows, as `find_kinds` sees them: generated code finds it by this name."""


def find_kinds() -> int:
    """Write for each row the code of the name that its text equals, or -1; returns 1 if a row has no text.

    A row's length and first letter lead to the one name it may be, or to none, without a branch: the processor cannot
    predict the order of types. Where several names share a place, each is compared.
    """
    for k in range(types.types):
        first = types.name_end[k - 1] if k > 0 else 0
        length = types.name_end[k] - first
        types.head[k] = length * 256 + types.name[first]
        place = (length * 37 + types.name[first]) & 255
        types.place[place] = k if types.place[place] == types.types else types.types + 1
    types.head[types.types] = -1
    types.code[types.types] = -1
    empty = 0
    end = types.offset[0]
    for row in range(types.rows):
        begin = end
        end = types.offset[row + 1]
        length = end - begin
        if length == 0:
            empty = 1
            types.kind[row] = -1
        else:
            letter = types.letter[begin]
            found = types.place[(length * 37 + letter) & 255]
            if length == 1 and found <= types.types:
                types.kind[row] = types.code[found if types.head[found] == 256 + letter else types.types]
            else:
                only = found <= types.types
                head = length * 256 + letter
                name = types.types
                for k in range(found if only else 0, found + 1 if only else types.types):
                    if types.head[k] == head:
                        first = types.name_end[k] - length
                        at = 1
                        while at < length and types.letter[begin + at] == types.name[first + at]:
                            at += 1
                        if at == length:
                            name = k
                types.kind[row] = types.code[name]
    return empty


def look_at_order() -> int:
    """Return 0 if ends never fall and no start is after its end, 1 if moreover no two ends are equal, else 2."""
    unique = 1
    for k in range(times.rows):
        if times.start[k] > times.end[k]:
            return 2
        if k > 0:
            if times.end[k] < times.end[k - 1]:
                return 2
            if times.end[k] == times.end[k - 1]:
                unique = 0
    return unique


def sort_ties() -> int:
    """Sort rows with a rising first key by their other keys, and mark each that equals the one before it."""
    first = 0
    while first < ties.rows:
        past = first + 1
        while past < ties.rows and ties.key[past * ties.width] == ties.key[first * ties.width]:
            past += 1
        begin = first
        while begin < past:
            end = min(begin + 8, past)
            insert_rows(begin, end)
            begin = end
        size = 8
        while size < past - first:
            begin = first
            while begin + size < past:
                merge_rows(begin, begin + size, min(begin + 2 * size, past))
                begin += 2 * size
            size = 2 * size
        for k in range(first + 1, past):
            if before(ties.by[k - 1], ties.by[k]) == 0:
                ties.alike[k] = 1
        first = past
    return 0


def insert_rows(begin: int, end: int) -> None:
    """Sort few rows by insertion."""
    for k in range(begin + 1, end):
        row = ties.by[k]
        at = k
        while at > begin and before(row, ties.by[at - 1]) > 0:
            ties.by[at] = ties.by[at - 1]
            at -= 1
        ties.by[at] = row


def merge_rows(begin: int, middle: int, end: int) -> None:
    """Merge two sorted runs; of equal rows, those of the first run come first."""
    for k in range(begin, middle):
        ties.aside[k - begin] = ties.by[k]
    left = 0
    right = middle
    at = begin
    while left < middle - begin:
        if right < end and before(ties.by[right], ties.aside[left]) > 0:
            ties.by[at] = ties.by[right]
            right += 1
        else:
            ties.by[at] = ties.aside[left]
            left += 1
        at += 1


def before(one: int, other: int) -> int:
    """Return 1 if a row comes before another with the same first key, 0 if all their keys are equal, else -1."""
    for c in range(1, ties.width):
        if ties.key[one * ties.width + c] != ties.key[other * ties.width + c]:
            return 1 if ties.key[one * ties.width + c] < ties.key[other * ties.width + c] else -1
    return 0


def hash_letters() -> int:
    """Write a hash for each row's text, equal for equal texts."""
    end = texts.offset[0]
    for row in range(texts.rows):
        begin = end
        end = texts.offset[row + 1]
        found = end - begin
        for at in range(begin, end):
            found = wrap((found ^ texts.letter[at]) * 1099511628211)
        texts.hash[row] = found
    return 0


def choose_parts() -> int:
    """Write for each row the number of its key's partition."""
    for row in range(split.rows):
        high = unsigned_shift(spread(split.key[row]), 32)
        split.part[row] = unsigned_shift(high * split.parts, 32)
    return 0


def deal_values() -> int:
    """Write the values of rows partition after partition, those of one partition in their order."""
    for row in range(dealt.rows):
        part = dealt.part[row]
        dealt.out[dealt.at[part]] = dealt.value[row]
        dealt.at[part] += 1
    return 0


FIND_KINDS = Kernel("find_kinds", "types", TYPES, source_of(find_kinds))
SORT_TIES = Kernel("sort_ties", "ties", TIES, "\n\n".join(map(source_of, (before, insert_rows, merge_rows, sort_ties))))
HASH_LETTERS = Kernel("hash_letters", "texts", TEXTS, source_of(hash_letters))
CHOOSE_PARTS = Kernel("choose_parts", "split", SPLIT, source_of(spread) + "\n\n" + source_of(choose_parts))
DEAL_VALUES = Kernel("deal_values", "dealt", DEALT, source_of(deal_values))
DEAL_KINDS = Kernel("deal_values", "dealt", DEALT_KINDS, source_of(deal_values))
LOOK_AT_ORDER = Kernel("look_at_order", "times", TIMES, source_of(look_at_order))


def kinds_of(offsets: Array, letters: Array, names: tuple[bytes, ...], codes: tuple[int, ...], kinds: Array) -> bool:
    """Write the code of each row's type into `kinds`, given the texts of rows; returns True if a row has no text."""
    arrays = {
        "offsets": offsets,
        "letters": letters,
        **_of_types(names, codes),
        "heads": np.empty(len(names) + 1, np.int64),
        "places": np.full(256, len(names), np.int64),
        "kinds": kinds,
    }
    return bool(call(FIND_KINDS, len(kinds), arrays, {"rows": len(kinds), "types": len(names)})[0])


@lru_cache(maxsize=64)
def _of_types(names: tuple[bytes, ...], codes: tuple[int, ...]) -> dict[str, Array]:
    """Names of types and their codes as `find_kinds` reads them. It writes -1 after the last code."""
    return {
        "names": np.frombuffer(b"".join(names) or b"\0", np.uint8),
        "name_ends": np.cumsum([len(name) for name in names], dtype=np.int64),
        "codes": np.array([*codes, -1], np.int32),
    }


def hash_texts(column: pa.Array) -> Array:
    """A hash for each text of a column, equal for equal texts; nulls have one, too."""
    filled = column.fill_null("") if column.null_count else column
    _, offsets, data = filled.buffers()
    arrays: dict[str, Array] = {
        "offsets": np.frombuffer(offsets, np.int32, len(filled) + 1, filled.offset * 4),
        "letters": np.frombuffer(data if data is not None and data.size else b"\0", np.uint8),
        "hashes": np.empty(len(filled), np.int64),
    }
    return call(HASH_LETTERS, len(filled), arrays, {"rows": len(filled)})[1].arrays["hashes"]


def parts_of_keys(keys: Array, parts: int) -> Array:
    """The partition of each key: equal for equal keys, with about as many keys in each."""
    arrays = {"keys": np.ascontiguousarray(keys), "part_": np.empty(len(keys), np.uint8)}
    return call(CHOOSE_PARTS, len(keys), arrays, {"rows": len(keys), "parts": parts})[1].arrays["part_"]


def deal(values: Array, parts: Array, begins: Array) -> Array:
    """Integers of 64 or 32 bits partition after partition; `begins` is the place where each partition begins."""
    arrays = {
        "values": np.ascontiguousarray(values),
        "part_": parts,
        "places": begins.astype(np.int64),
        "outs": np.empty(len(values), values.dtype),
    }
    kernel = DEAL_VALUES if values.dtype == np.int64 else DEAL_KINDS
    return call(kernel, len(values), arrays, {"rows": len(values)})[1].arrays["outs"]


def in_order(start: Array, end: Array) -> int:
    """The order of rows: see `look_at_order`."""
    arrays = {"starts": np.ascontiguousarray(start), "ends": np.ascontiguousarray(end)}
    return call(LOOK_AT_ORDER, len(end), arrays, {"rows": len(end)})[0]


def order_by(ends: Array) -> tuple[Array, Array]:
    """The order of rows by their ends, stable; and the ends in that order.

    An end and its row are packed into one number, so that plain integers are sorted. Of ends that are too far apart
    only the high bits have room; then rows are nearly in order, and the rest of the sort is linear.
    """
    if not len(ends):
        return np.arange(0), ends
    room = len(ends).bit_length()
    least, most = int(ends.min()), int(ends.max())
    shift = max(0, (most - least).bit_length() + room - 62)
    packed = (ends >> shift) - (least >> shift)
    packed <<= room
    packed |= np.arange(len(ends))
    packed.sort()
    by = packed & ((1 << room) - 1)
    if not shift:
        packed >>= room
        packed += least
        return by, packed
    ordered = ends[by]
    again = np.argsort(ordered, kind="stable")
    return by[again], ordered[again]


def sorted_ties(keys: Array) -> tuple[Array, Array]:
    """The order of rows with a rising first key by all their keys, and flags for those equal to the one before."""
    arrays = {
        "keys": np.ascontiguousarray(keys),
        "order": np.arange(len(keys)),
        "alike_": np.zeros(len(keys), np.uint8),
        "asides": np.empty(len(keys), np.int64),
    }
    call(SORT_TIES, len(keys), arrays, {"rows": len(keys), "width": keys.shape[1]})
    return arrays["order"], arrays["alike_"] != 0
