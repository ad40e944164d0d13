"""What is found out about the columns of a table before rules see them: the type of each row, and whether rows are in
order.

It is machine code where there are many rows, the same functions as Python where there are few.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine import machine
from ensue.engine.machine.builtin import unsigned_shift, wrap
from ensue.engine.machine.source import source_of
from ensue.engine.structures.kernel import MANY, Kernel, call
from ensue.engine.structures.keys import spread
from ensue.engine.structures.structure import Array, Column, Layout

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
"""The texts of rows as Arrow holds them, the names of types one after the other, and the code of each row's type."""

SPLIT = Layout(("rows", "parts"), (("key", Column("keys")), ("part", Column("part_", "u8"))))
"""A key for each row, and the part that it belongs to."""

TEXTS = Layout(
    ("rows",), (("offset", Column("offsets", "i32")), ("letter", Column("letters", "u8")), ("hash", Column("hashes")))
)
"""The texts of rows as Arrow holds them, and a number for each."""

TIMES = Layout(("rows",), (("start", Column("starts")), ("end", Column("ends"))))


TIES = Layout(("rows", "width"), (("key", Column("keys")), ("by", Column("order")), ("alike", Column("alike_", "u8"))))
"""Rows of keys, the order of rows, and which are the same as the one before."""

MANY_ALIKE = 256
"""Up to how many rows with one end are sorted by putting each in its place."""


DIGIT = 11
"""Bits by which rows are sorted at a time."""

SORTED = Layout(
    ("rows", "turns", "flip"), (("key", Column("keys")), ("by", Column("order")), ("count", Column("counts")))
)
"""Keys that are not negative and the rows they belong to, each twice; and how often there is each digit."""


keys: Any = None
"""Keys and rows, as `sort_keys` sees them: generated code finds it by this name."""


ties: Any = None
"""Rows with the same end, as `sort_ties` sees them: generated code finds it by this name."""


times: Any = None
"""The times of rows, as `look_at_order` sees them: generated code finds it by this name."""


split: Any = None
"""The keys of rows, as `choose_parts` sees them: generated code finds it by this name."""


texts: Any = None
"""The texts of rows, as `hash_letters` sees them: generated code finds it by this name."""


types: Any = None
"""The texts of rows, as `find_kinds` sees them: generated code finds it by this name."""


def find_kinds() -> int:
    """Writes for each row the code of the name that its text is, or -1; gives 1 if a row has no text.

    A row's length and first letter lead to the one name it may be, without a branch: rows of several types come in no
    order that could be foreseen. Where several names are led to one place, each is compared.
    """
    for k in range(types.types):
        first = types.name_end[k - 1] if k > 0 else 0
        length = types.name_end[k] - first
        types.head[k] = length * 256 + types.name[first]
        place = (length * 37 + types.name[first]) & 255
        types.place[place] = types.types if types.place[place] >= 0 else k
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
            if length == 1 and found < types.types:
                types.kind[row] = types.code[found if found >= 0 and types.head[found] == 256 + letter else types.types]
            elif found < 0:
                types.kind[row] = -1
            else:
                only = found < types.types
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
    """0 if ends never fall and each start is no later than its end; 1 if moreover no two ends are the same; else 2."""
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
    """Sorts rows whose first key rises by their other keys, and marks each that is the same as the one before it."""
    first = 0
    while first < ties.rows:
        past = first + 1
        while past < ties.rows and ties.key[past * ties.width] == ties.key[first * ties.width]:
            past += 1
        for k in range(first + 1, past):
            row = ties.by[k]
            at = k
            while at > first and before(row, ties.by[at - 1]) > 0:
                ties.by[at] = ties.by[at - 1]
                at -= 1
            ties.by[at] = row
        for k in range(first + 1, past):
            if before(ties.by[k - 1], ties.by[k]) == 0:
                ties.alike[k] = 1
        first = past
    return 0


def sort_keys() -> int:
    """Sorts rows by their keys, digit after digit from the last one; ``flip`` is which half they are in afterwards."""
    rows = keys.rows
    for turn in range(keys.turns):
        shift = 11 * turn
        source = keys.flip * rows
        target = (1 - keys.flip) * rows
        for digit in range(2048):
            keys.count[digit] = 0
        for k in range(rows):
            keys.count[(keys.key[source + k] >> shift) & 2047] += 1
        total = 0
        for digit in range(2048):
            own = keys.count[digit]
            keys.count[digit] = total
            total += own
        for k in range(source, source + rows):
            digit = (keys.key[k] >> shift) & 2047
            at = target + keys.count[digit]
            keys.count[digit] += 1
            keys.key[at] = keys.key[k]
            keys.by[at] = keys.by[k]
        keys.flip = 1 - keys.flip
    return keys.flip


def before(one: int, other: int) -> int:
    """1 if a row comes before another, 0 if all their keys are the same, else -1."""
    for c in range(ties.width):
        if ties.key[one * ties.width + c] != ties.key[other * ties.width + c]:
            return 1 if ties.key[one * ties.width + c] < ties.key[other * ties.width + c] else -1
    return 0


def hash_letters() -> int:
    """Writes a number for each row's text, the same for texts that are the same."""
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
    """Writes for each row the number of the part that its key belongs to."""
    for row in range(split.rows):
        high = unsigned_shift(spread(split.key[row]), 32)
        split.part[row] = unsigned_shift(high * split.parts, 32)
    return 0


FIND_KINDS = Kernel("find_kinds", "types", TYPES, source_of(find_kinds))
SORT_TIES = Kernel("sort_ties", "ties", TIES, source_of(before) + "\n\n" + source_of(sort_ties))
SORT_KEYS = Kernel("sort_keys", "keys", SORTED, source_of(sort_keys))
HASH_LETTERS = Kernel("hash_letters", "texts", TEXTS, source_of(hash_letters))
CHOOSE_PARTS = Kernel("choose_parts", "split", SPLIT, source_of(spread) + "\n\n" + source_of(choose_parts))
LOOK_AT_ORDER = Kernel("look_at_order", "times", TIMES, source_of(look_at_order))


def kinds_of(offsets: Array, letters: Array, names: list[bytes], codes: Array, kinds: Array) -> bool:
    """Writes into `kinds` the code of each row's type, given the texts of rows; gives whether a row has no text."""
    arrays = {
        "offsets": offsets,
        "letters": letters,
        "names": np.frombuffer(b"".join(names) or b"\0", np.uint8),
        "name_ends": np.cumsum([len(name) for name in names], dtype=np.int64),
        "heads": np.zeros(len(names) + 1, np.int64),
        "places": np.full(256, -1, np.int64),
        "codes": np.append(codes, np.int32(-1)),
        "kinds": kinds,
    }
    return bool(call(FIND_KINDS, len(kinds), arrays, {"rows": len(kinds), "types": len(names)})[0])


def hash_texts(column: pa.Array) -> Array:
    """A number for each text of a column, the same for those that are the same; nulls have one, too."""
    filled = column.fill_null("") if column.null_count else column
    _, offsets, data = filled.buffers()
    arrays: dict[str, Array] = {
        "offsets": np.frombuffer(offsets, np.int32, len(filled) + 1, filled.offset * 4),
        "letters": np.frombuffer(data if data is not None and data.size else b"\0", np.uint8),
        "hashes": np.empty(len(filled), np.int64),
    }
    return call(HASH_LETTERS, len(filled), arrays, {"rows": len(filled)})[1].arrays["hashes"]


def parts_of_keys(keys: Array, parts: int) -> Array:
    """The part of each key, of so many: the same for equal keys, and about as many keys in each."""
    arrays = {"keys": np.ascontiguousarray(keys), "part_": np.empty(len(keys), np.uint8)}
    return call(CHOOSE_PARTS, len(keys), arrays, {"rows": len(keys), "parts": parts})[1].arrays["part_"]


def in_order(start: Array, end: Array) -> int:
    """Tells the order of rows: see `look_at_order`."""
    arrays = {"starts": np.ascontiguousarray(start), "ends": np.ascontiguousarray(end)}
    return call(LOOK_AT_ORDER, len(end), arrays, {"rows": len(end)})[0]


def order_by(ends: Array) -> tuple[Array, Array]:
    """The order of rows by their ends, those with the same as they are; and the ends in that order."""
    rows = len(ends)
    if rows <= MANY or not machine.available():
        by = np.argsort(ends, kind="stable")
        return by, ends[by]
    least = int(ends.min())
    turns = -(-(int(ends.max()) - least).bit_length() // DIGIT)
    given, order = np.empty(2 * rows, np.int64), np.empty(2 * rows, np.int64)
    np.subtract(ends, least, out=given[:rows])
    order[:rows] = np.arange(rows)
    arrays = {"keys": given, "order": order, "counts": np.zeros(1 << DIGIT, np.int64)}
    half, _ = call(SORT_KEYS, rows, arrays, {"rows": rows, "turns": turns, "flip": 0})
    own = slice(half * rows, (half + 1) * rows)
    return order[own], given[own] + least


def sorted_ties(keys: Array) -> tuple[Array, Array]:
    """The order of rows whose first key rises by all their keys, and which are then the same as the one before."""
    ends = keys[:, 0]
    groups = np.diff(np.flatnonzero(np.concatenate([[True], ends[1:] != ends[:-1], [True]])))
    by, alike = np.arange(len(keys)), np.zeros(len(keys), np.uint8)
    if groups.max(initial=0) > MANY_ALIKE:
        by = np.lexsort(keys.T[::-1])
        alike[1:] = np.all(keys[by[1:]] == keys[by[:-1]], axis=1)
    else:
        arrays = {"keys": np.ascontiguousarray(keys), "order": by, "alike_": alike}
        call(SORT_TIES, len(keys), arrays, {"rows": len(keys), "width": keys.shape[1]})
    return by, alike != 0
