"""What is found out about the columns of a table before rules see them: the type of each row, and whether rows are in
order.

It is machine code where there are many rows, the same functions as Python where there are few.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


KERNELS: Mapping[str, tuple[str, Layout, Callable[[], int]]] = {
    "find_kinds": ("types", TYPES, find_kinds),
    "look_at_order": ("times", TIMES, look_at_order),
}


@cache
def _compiled(name: str) -> Any:
    structure, layout, function = KERNELS[name]
    ir = machine.translate([getsource(function)], {structure: (layout, FIRST_CELL)}, [name])
    return machine.load(machine.cached_object(ir, machine.FULL), [name])[name]


def _call(name: str, rows: int, arrays: Mapping[str, Array], numbers: Mapping[str, int]) -> int:
    structure, layout, function = KERNELS[name]
    frame = Frame(FIRST_CELL + layout.cells)
    columns = class_of(Read, layout)(frame, FIRST_CELL)
    for array_name, array in arrays.items():
        columns.put(array_name, array)
    for number, value in numbers.items():
        setattr(columns, number, value)
    if rows > MANY and machine.available():
        return int(_compiled(name)(frame.address))
    return int(machine.plain([getsource(function)], {structure: columns})[name]())


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
    return bool(_call("find_kinds", len(kinds), arrays, {"rows": len(kinds), "types": len(names)}))


def in_order(start: Array, end: Array) -> int:
    """Tells the order of rows: see `look_at_order`."""
    arrays = {"starts": np.ascontiguousarray(start), "ends": np.ascontiguousarray(end)}
    return _call("look_at_order", len(end), arrays, {"rows": len(end)})
