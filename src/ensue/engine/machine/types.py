"""Types of machine code, and the places of a structure's fields.

The types of the subset are written as in LLVM; a tuple of scalars is an aggregate such as ``{ i64, double }``.
"""

from __future__ import annotations

from functools import cache

from ensue.engine.structure import Layout
from ensue.records import dataclass

INT, FLOAT, BOOL, NOTHING = "i64", "double", "i1", "void"

SCALARS = {"int": INT, "float": FLOAT, "bool": BOOL}
"""Annotations of scalars. Any other annotation of a parameter makes it a structure."""

ZERO = {INT: "0", FLOAT: "0.0", BOOL: "false"}

Value = tuple[str, str]
"""The type of a value and its operand: a constant, or the name of a register."""


def described(type_: str) -> str:
    """The type as Python writes it, for messages."""
    if type_.startswith("{"):
        return f"tuple[{', '.join(map(described, type_.strip('{ }').split(', ')))}]"
    return {INT: "int", FLOAT: "float", BOOL: "bool", NOTHING: "None"}[type_]


def passed(type_: str) -> str:
    """The type of an argument, with its passing convention."""
    return "i1 zeroext" if type_ == BOOL else type_


def returned(type_: str) -> str:
    """The type of a result, with its return convention."""
    return "zeroext i1" if type_ == BOOL else type_


def flagged(type_: str) -> str:
    """The type of a result with a flag behind it, which is set if a call back has raised an exception."""
    return BOOL if type_ == NOTHING else f"{{ {type_}, i1 }}"


@dataclass(frozen=True)
class Element:
    """Elements of a column in memory: their LLVM type, their alias class, and the type that code sees."""

    memory: str
    alias: str
    type: str
    widen: str = ""


ELEMENTS = {
    "i64": Element("i64", "!tbaa !4", INT),
    "code": Element("i64", "!tbaa !4", INT),
    "chain": Element("i64", "!tbaa !4", INT),
    "source": Element("i64", "!tbaa !4", INT),
    "f64": Element("double", "!tbaa !4", FLOAT),
    "i32": Element("i32", "!tbaa !6", INT, "sext"),
    "u8": Element("i8", "!tbaa !8", INT, "zext"),
}

NUMBER, ADDRESS = "!tbaa !2", "!tbaa !10"
"""Alias classes of the frame's cells: numbers, and addresses, which machine code never writes."""

METADATA = """\
!0 = !{!"ensue"}
!1 = !{!"number", !0, i64 0}
!2 = !{!1, !1, i64 0}
!3 = !{!"word", !0, i64 0}
!4 = !{!3, !3, i64 0}
!5 = !{!"i32", !0, i64 0}
!6 = !{!5, !5, i64 0}
!7 = !{!"u8", !0, i64 0}
!8 = !{!7, !7, i64 0}
!9 = !{!"address", !0, i64 0}
!10 = !{!9, !9, i64 0}
!11 = !{!"branch_weights", i32 1, i32 100000}
"""
"""Alias classes (`i64` and `f64` share one: rows are copied as integers) and the weight of an unlikely branch."""


@dataclass(frozen=True)
class ColumnPlace:
    """A column: the cell of its array's address, its element, the row's width in elements, and its place in a row."""

    cell: int
    element: Element
    width: int
    place: int


@dataclass(frozen=True, eq=False)
class Shape:
    """The fields of a layout by name. Equal layouts have the same shape, see `shape_of`."""

    cells: int
    numbers: dict[str, int]
    columns: dict[str, ColumnPlace]


@cache
def shape_of(layout: Layout) -> Shape:
    arrays = {name: len(layout.numbers) + i for i, name in enumerate(layout.arrays)}
    return Shape(
        layout.cells,
        {name: i for i, name in enumerate(layout.numbers)},
        {
            name: ColumnPlace(arrays[column.array], ELEMENTS[column.element], column.width, column.place)
            for name, column in layout.columns
        },
    )
