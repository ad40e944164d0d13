"""What is found out about the columns of a table before rules see them: the type of each row, and whether rows are in
order.

It is machine code where there are many rows, the same functions as Python where there are few.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from inspect import getsource
from typing import Any

import numpy as np

from ensue.engine import machine
from ensue.engine.structures.structure import Array, Column, Frame, Layout, Structure, class_of

MANY = 2_000
"""From how many rows on it is worth while to load machine code."""

FIRST_CELL = 8

TYPES = Layout(
    ("rows", "types"),
    (
        ("offset", Column("offsets", "i32")),
        ("letter", Column("letters", "u8")),
        ("name", Column("names", "u8")),
        ("name_end", Column("name_ends")),
        ("head", Column("heads")),
        ("code", Column("codes", "i32")),
        ("kind", Column("kinds", "i32")),
    ),
)
"""The texts of rows as Arrow holds them, the names of types one after the other, and the code of each row's type."""

TIMES = Layout(("rows",), (("start", Column("starts")), ("end", Column("ends"))))


TIES = Layout(("rows", "width"), (("key", Column("keys")), ("by", Column("order")), ("alike", Column("alike_", "u8"))))
"""Rows of keys, the order of rows, and which are the same as the one before."""

MANY_ALIKE = 256
"""Up to how many rows with one end are sorted by putting each in its place."""


ties: Any = None
"""Rows with the same end, as `sort_ties` sees them: generated code finds it by this name."""


times: Any = None
"""The times of rows, as `look_at_order` sees them: generated code finds it by this name."""


types: Any = None
"""The texts of rows, as `find_kinds` sees them: generated code finds it by this name."""


class Read(Structure):
    """Columns of a table."""


def find_kinds() -> int:
    """Writes for each row the code of the name that its text is, or -1; gives 1 if a row has no text.

    Lengths and first letters are compared without a branch, as rows of several types come in no order that could be
    foreseen.
    """
    empty = 0
    for k in range(types.types):
        first = types.name_end[k - 1] if k > 0 else 0
        types.head[k] = (types.name_end[k] - first) * 256 + types.name[first]
    for row in range(types.rows):
        begin = types.offset[row]
        length = types.offset[row + 1] - begin
        if length == 0:
            empty = 1
            types.kind[row] = -1
        else:
            head = length * 256 + types.letter[begin]
            found = -1
            times = 0
            for k in range(types.types):
                same = types.head[k] == head
                found = k if same else found
                times += int(same)
            if times > 1 or (times == 1 and length > 1):
                found = -1
                for k in range(types.types):
                    if types.head[k] == head:
                        first = types.name_end[k] - length
                        alike = True
                        for letter in range(1, length):
                            if types.letter[begin + letter] != types.name[first + letter]:
                                alike = False
                                break
                        if alike:
                            found = k
            types.kind[row] = types.code[found] if found >= 0 else -1
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


def before(one: int, other: int) -> int:
    """1 if a row comes before another, 0 if all their keys are the same, else -1."""
    for c in range(ties.width):
        if ties.key[one * ties.width + c] != ties.key[other * ties.width + c]:
            return 1 if ties.key[one * ties.width + c] < ties.key[other * ties.width + c] else -1
    return 0


@dataclass(frozen=True)
class Kernel:
    """A function without parameters that works on one structure, which it knows by a name."""

    name: str
    structure: str
    layout: Layout
    source: str


FIND_KINDS = Kernel("find_kinds", "types", TYPES, getsource(find_kinds))
SORT_TIES = Kernel("sort_ties", "ties", TIES, getsource(before) + "\n\n" + getsource(sort_ties))
LOOK_AT_ORDER = Kernel("look_at_order", "times", TIMES, getsource(look_at_order))


@cache
def _compiled(kernel: Kernel) -> Any:
    ir = machine.translate([kernel.source], {kernel.structure: (kernel.layout, FIRST_CELL)}, [kernel.name])
    return machine.load(machine.cached_object(ir, machine.FULL), [kernel.name])[kernel.name]


def call(kernel: Kernel, rows: int, arrays: Mapping[str, Array], numbers: Mapping[str, int]) -> tuple[int, Structure]:
    """Runs a kernel on arrays; gives what it returns, and the structure as it is then."""
    frame = Frame(FIRST_CELL + kernel.layout.cells)
    columns = class_of(Read, kernel.layout)(frame, FIRST_CELL)
    for name, array in arrays.items():
        columns.put(name, array)
    for name, value in numbers.items():
        setattr(columns, name, value)
    if rows > MANY and machine.available():
        return int(_compiled(kernel)(frame.address)), columns
    return int(machine.plain([kernel.source], {kernel.structure: columns})[kernel.name]()), columns


def kinds_of(offsets: Array, letters: Array, names: list[bytes], codes: Array, kinds: Array) -> bool:
    """Writes into `kinds` the code of each row's type, given the texts of rows; gives whether a row has no text."""
    arrays = {
        "offsets": offsets,
        "letters": letters,
        "names": np.frombuffer(b"".join(names) or b"\0", np.uint8),
        "name_ends": np.cumsum([len(name) for name in names], dtype=np.int64),
        "heads": np.zeros(len(names), np.int64),
        "codes": codes,
        "kinds": kinds,
    }
    return bool(call(FIND_KINDS, len(kinds), arrays, {"rows": len(kinds), "types": len(names)})[0])


def in_order(start: Array, end: Array) -> int:
    """Tells the order of rows: see `look_at_order`."""
    arrays = {"starts": np.ascontiguousarray(start), "ends": np.ascontiguousarray(end)}
    return call(LOOK_AT_ORDER, len(end), arrays, {"rows": len(end)})[0]


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
