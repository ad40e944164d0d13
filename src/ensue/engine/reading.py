"""Reads the columns of a table before rules see them: finds the type of each row, and checks and sorts rows.

The functions run as machine code where there are many rows, and as Python where there are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.structure import Array, Column, Layout
from ensue.engine.structures.kernel import Kernel, call
from ensue.engine.structures.keys import spread
from ensue.engine.subset.builtin import unsigned_shift, word_at, wrap
from ensue.engine.subset.source import source_of

TYPES = Layout(
    ("rows", "types", "spread", "shift"),
    (
        ("offset", Column("offsets", "i32")),
        ("letter", Column("letters", "u8")),
        ("name", Column("names", "u8")),
        ("name_end", Column("name_ends")),
        ("length", Column("lengths")),
        ("first", Column("firsts")),
        ("last", Column("lasts")),
        ("place", Column("places")),
        ("code", Column("codes", "i32")),
        ("of_letter", Column("letter_codes", "i32")),
        ("kind", Column("kinds", "i32")),
    ),
)
"""The texts of rows as Arrow stores them, the names of types one after the other, and the code of each row's type.

`first` and `last` are the first and the last eight letters of a name as one number. With its length they lead to a
place, and `place` to the one name that has it. `of_letter` has the codes of names of one letter.
"""

RUN = 512
"""Rows that are looked at together."""

SECOND = 0x9E3779B97F4A7C15 - (1 << 64)
"""An odd number, by which the last letters of a text are multiplied."""

PLACES, TRIES = 10, 8
"""Bits of places for names, at least; and multipliers that are tried until no two names have one place."""

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
    """Write for each row the code of the name that its text equals, or -1; returns 1 if a row has no text."""
    empty = 0
    row = 0
    while row < types.rows:
        to = min(row + RUN, types.rows)
        if have_one_letter(row, to):
            shift = types.offset[row] - row
            for k in range(row, to):
                types.kind[k] = types.of_letter[types.letter[shift + k]]
        elif types.offset[to - 1] + 8 <= types.offset[types.rows]:
            empty |= find_by_words(row, to)
        else:  # eight letters from the beginning of a text on may be more than there are
            for k in range(row, to):
                length = types.offset[k + 1] - types.offset[k]
                empty |= int(length == 0)
                types.kind[k] = types.code[name_of(types.offset[k], length)]
        row = to
    return empty


def have_one_letter(row: int, to: int) -> bool:
    """Tell whether each of some texts has one letter. No branch depends on a row, so several are compared at once."""
    others = 0
    for k in range(row, to):
        others |= (types.offset[k + 1] - types.offset[k]) ^ 1
    return others == 0


def find_by_words(row: int, to: int) -> int:
    """Find the kinds of some rows by their first and last eight letters; returns 1 if a row has no text.

    No branch depends on which of the names a text is, unless names are long: the processor cannot predict the order of
    types.
    """
    empty = 0
    end = types.offset[row]
    for k in range(row, to):
        begin = end
        end = types.offset[k + 1]
        length = end - begin
        empty |= int(length == 0)
        mask = unsigned_shift(-1, 64 - 8 * min(length, 8))
        first = word_at(types.letter, begin) & mask
        last = word_at(types.letter, begin + max(length - 8, 0)) & mask
        found = types.place[unsigned_shift(wrap((first ^ wrap(last * SECOND) ^ length) * types.spread), types.shift)]
        same = int(types.first[found] == first) & int(types.last[found] == last) & int(types.length[found] == length)
        name = found if same != 0 else types.types
        if found > types.types or length > 16:
            name = name_of(begin, length)
        types.kind[k] = types.code[name]
    return empty


def name_of(begin: int, length: int) -> int:
    """The number of the name that a text equals; that of all names if it equals none."""
    for k in range(types.types):
        if types.length[k] == length:
            first = types.name_end[k] - length
            at = 0
            while at < length and types.letter[begin + at] == types.name[first + at]:
                at += 1
            if at == length:
                return k
    return types.types


def look_at_order() -> int:
    """Return 0 if ends never fall and no start is after its end, 1 if moreover no two ends are equal, else 2.

    No branch depends on a row, so several rows are compared at once.
    """
    row = 0
    unique = 1
    while row < times.rows:
        to = min(row + RUN, times.rows)
        late = 0
        for k in range(row, to):
            late |= int(times.start[k] > times.end[k])
        falling = 0
        equal = 0
        for k in range(max(row, 1), to):
            falling |= int(times.end[k] < times.end[k - 1])
            equal |= int(times.end[k] == times.end[k - 1])
        if late != 0 or falling != 0:
            return 2
        if equal != 0:
            unique = 0
        row = to
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


FIND_KINDS = Kernel(
    "find_kinds",
    "types",
    TYPES,
    f"RUN = {RUN}\nSECOND = {SECOND}\n\n"
    + "\n\n".join(map(source_of, (have_one_letter, name_of, find_by_words, find_kinds))),
)
SORT_TIES = Kernel("sort_ties", "ties", TIES, "\n\n".join(map(source_of, (before, insert_rows, merge_rows, sort_ties))))
HASH_LETTERS = Kernel("hash_letters", "texts", TEXTS, source_of(hash_letters))
CHOOSE_PARTS = Kernel("choose_parts", "split", SPLIT, source_of(spread) + "\n\n" + source_of(choose_parts))
DEAL_VALUES = Kernel("deal_values", "dealt", DEALT, source_of(deal_values))
DEAL_KINDS = Kernel("deal_values", "dealt", DEALT_KINDS, source_of(deal_values))
LOOK_AT_ORDER = Kernel("look_at_order", "times", TIMES, f"RUN = {RUN}\n\n" + source_of(look_at_order))


def kinds_of(offsets: Array, letters: Array, names: tuple[bytes, ...], codes: tuple[int, ...], kinds: Array) -> bool:
    """Write the code of each row's type into `kinds`, given the texts of rows; returns True if a row has no text."""
    numbers, arrays = _of_types(names, codes)
    given = {"offsets": offsets, "letters": letters, "kinds": kinds}
    return bool(call(FIND_KINDS, len(kinds), {**arrays, **given}, {"rows": len(kinds), **numbers})[0])


@lru_cache(maxsize=64)
def _of_types(names: tuple[bytes, ...], codes: tuple[int, ...]) -> tuple[dict[str, int], dict[str, Array]]:
    """Names of types and their codes as `find_kinds` reads them.

    After the last name comes the code of none, -1. Where names share a place whatever is tried, it leads beyond that.
    """
    firsts, lasts = ([int.from_bytes(part, "little", signed=True) for part in parts] for parts in _ends(names))
    lengths = [len(name) for name in names]
    held = [
        wrap(first ^ wrap(last * SECOND) ^ length) for first, last, length in zip(firsts, lasts, lengths, strict=True)
    ]
    bits = max(PLACES, (8 * len(names)).bit_length())
    places = np.empty(0)
    for turn in range(TRIES):
        spread = wrap((2 * turn + 1) * SECOND)
        own = [unsigned_shift(wrap(each * spread), 64 - bits) for each in held]
        places = np.full(1 << bits, len(names), np.int64)
        for number, place in enumerate(own):
            places[place] = number if places[place] == len(names) else len(names) + 1
        if len(set(own)) == len(own):
            break
    of_letter = np.full(256, -1, np.int32)
    for name, code in zip(names, codes, strict=True):
        if len(name) == 1:
            of_letter[name[0]] = code
    return {"types": len(names), "spread": spread, "shift": 64 - bits}, {
        "names": np.frombuffer(b"".join(names) or b"\0", np.uint8),
        "name_ends": np.cumsum(lengths, dtype=np.int64),
        "lengths": np.array([*lengths, -1, -1], np.int64),
        "firsts": np.array([*firsts, 0, 0], np.int64),
        "lasts": np.array([*lasts, 0, 0], np.int64),
        "places": places,
        "codes": np.array([*codes, -1], np.int32),
        "letter_codes": of_letter,
    }


def _ends(names: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The first and the last eight letters of names, filled up with zeros."""
    return [name[:8].ljust(8, b"\0") for name in names], [name[-8:].ljust(8, b"\0") for name in names]


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
