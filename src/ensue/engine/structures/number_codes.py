"""Codes of numbers in the dictionary, for attributes whose values have any type.

A number lies in ``first`` as 64 bits, where strings have the place of their letters; ``length`` is its type. Columns of
numbers are looked up in the same table as strings, by a hash of type and bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ensue.engine.structure import Array, Column, Layout
from ensue.engine.structures.hashing import mixed_text
from ensue.engine.structures.kernel import Kernel
from ensue.engine.subset.builtin import bits, floor, from_bits, truncated, unsigned_shift, wrap
from ensue.engine.subset.source import source_of

INT, FLOAT = -2, -3
"""Types of numbers, where strings have a length."""

NUMBERS = Layout(
    ("rows", "at", "nulls", "kind", "mask", "places"),
    (
        ("state", Column("state")),
        ("number", Column("given")),
        ("there", Column("valid", "u8")),
        ("code", Column("found")),
        ("slot", Column("slots")),
        ("first", Column("first")),
        ("length", Column("length")),
        ("same", Column("same")),
        ("free", Column("free")),
    ),
)
"""Bits of numbers of one type and their codes; the table, the values that have codes, and free codes."""

numbers: Any = None
"""The structure, as kernels see it: generated code finds it by this name."""


def find_numbers() -> int:
    """Find the code of each number, from ``at`` on, and give new ones a code; returns 1 when there is no room."""
    while numbers.at < numbers.rows:
        row = numbers.at
        if numbers.nulls == 0 or numbers.there[row] != 0:
            code = held_number(numbers.kind, numbers.number[row])
            if code < 0:
                if 2 * numbers.state[2] >= numbers.mask or (
                    numbers.state[3] == 0 and numbers.state[0] == numbers.places
                ):
                    return 1
                code = new_number(numbers.kind, numbers.number[row])
            numbers.code[row] = code
        numbers.at += 1
    return 0


def number_hash(kind: int, number: int) -> int:
    """The hash of a number. Those of one type all differ; high bits, in which floats differ, are moved to low ones."""
    return mixed_text(kind, number ^ unsigned_shift(number, 32))


def held_number(kind: int, number: int) -> int:
    """The code of a number, or -1. Numbers of one type have different hashes, so bits are not compared."""
    hashed = number_hash(kind, number)
    at = hashed & numbers.mask
    while numbers.slot[2 * at] != 0:
        code = numbers.slot[2 * at] - 1
        if numbers.slot[2 * at + 1] == hashed and numbers.length[code] == kind:
            return code
        at = (at + 1) & numbers.mask
    return -1


def new_number(kind: int, number: int) -> int:
    """Give a number a code."""
    equal = equal_number(kind, number)
    if numbers.state[3] > 0:
        numbers.state[3] -= 1
        code = numbers.free[numbers.state[3]]
    else:
        code = numbers.state[0]
        numbers.state[0] += 1
    numbers.state[4] = 0
    hashed = number_hash(kind, number)
    at = hashed & numbers.mask
    while numbers.slot[2 * at] != 0:
        at = (at + 1) & numbers.mask
    numbers.slot[2 * at] = code + 1
    numbers.slot[2 * at + 1] = hashed
    numbers.state[2] += 1
    numbers.first[code] = number
    numbers.length[code] = kind
    numbers.same[code] = code if equal == -1 else numbers.same[equal] if equal >= 0 else -1
    return code


def equal_number(kind: int, number: int) -> int:
    """The code of the number of the other type that equals a number; -1 if there is none, -2 for NaN."""
    if kind == -2:
        value = float(number)
        if value < 9223372036854775808.0 and truncated(value) == number:
            return held_number(-3, bits(value))
        return -1
    value = from_bits(number)
    if value != value:
        return -2
    if value == floor(value) and value >= -9223372036854775808.0 and value < 9223372036854775808.0:
        return held_number(-2, truncated(value))
    return -1


FIND_NUMBERS = Kernel(
    "find_numbers", "numbers", NUMBERS,
    "\n\n".join(map(source_of, (mixed_text, number_hash, held_number, equal_number, new_number, find_numbers))),
)  # fmt: skip


def number_of(value: Any) -> tuple[int, int] | None:
    """The type and the bits of a number that fits in 64 bits; None for other values.

    >>> number_of(3), number_of(0.0), number_of(True), number_of(2**70)
    ((-2, 3), (-3, 0), None, None)
    """
    match value:
        case bool():
            return None
        case int() if wrap(value) == value:
            return INT, value
        case float():
            return FLOAT, bits(NAN if value != value else value + 0.0)
    return None


def number(kind: int, held: int) -> int | float:
    """The number of some bits."""
    return held if kind == INT else from_bits(held)


NAN = float("nan")


def bits_of(column: pa.Array) -> tuple[int, Array] | None:
    """The type and the bits of each value of a column of numbers; None for other columns."""
    if column.type not in (pa.int64(), pa.float64()):
        return None
    given = (column.fill_null(0) if column.null_count else column).to_numpy(zero_copy_only=False)
    if column.type == pa.int64():
        return INT, np.ascontiguousarray(given)
    values = given + 0.0  # the sign of zero is never visible
    values[np.isnan(values)] = NAN
    return FLOAT, values.view(np.int64)
