"""Numbers and columns of structures: reading, writing, prefetching."""

from __future__ import annotations

import ast

from ensue.engine.machine.body import Body, Reference
from ensue.engine.machine.types import ADDRESS, INT, NUMBER, ColumnPlace, Value, described


def number_cell(body: Body, node: ast.Attribute) -> str:
    """A pointer to the cell of ``structure.number``."""
    pointer, shape, base = body.structure(node.value)
    cell = shape.numbers.get(node.attr)
    if cell is None:
        kind = "a column, which needs an index" if node.attr in shape.columns else "no field of the structure"
        raise body.error(node, f"{node.attr} is {kind}")
    return body.cell(pointer, base + cell)


def read_number(body: Body, node: ast.Attribute) -> Value:
    return INT, body.let(f"load i64, ptr {number_cell(body, node)}, {NUMBER}")


def write_number(body: Body, node: ast.Attribute, value: Value) -> None:
    if value[0] != INT:
        raise body.error(node, f"{node.attr} is of type int and cannot be {described(value[0])}")
    body.do(f"store i64 {value[1]}, ptr {number_cell(body, node)}, {NUMBER}")


def column_of(body: Body, node: ast.expr) -> tuple[Reference, ColumnPlace]:
    """The structure and column of ``structure.column``."""
    if not isinstance(node, ast.Attribute):
        raise body.error(node, f"{ast.unparse(node)} is not a column of a structure")
    structure = body.structure(node.value)
    column = structure[1].columns.get(node.attr)
    if column is None:
        kind = "a number and has no index" if node.attr in structure[1].numbers else "no field of the structure"
        raise body.error(node, f"{node.attr} is {kind}")
    return structure, column


def element(body: Body, structure: Reference, column: ColumnPlace, index: str) -> str:
    """A pointer to an element of a column."""
    pointer, _, base = structure
    cell = base + column.cell
    array = body.addresses.get((pointer, cell))
    if array is None:
        array = body.addresses[pointer, cell] = body.let(f"load ptr, ptr {body.cell(pointer, cell)}, {ADDRESS}")
    memory = column.element.memory
    if column.width == 1:
        return body.let(f"getelementptr {memory}, ptr {array}, i64 {index}")
    row = f"[{column.width} x {memory}]"
    return body.let(f"getelementptr {row}, ptr {array}, i64 {index}, i64 {column.place}")


def read_element(body: Body, column: ColumnPlace, pointer: str) -> Value:
    kind = column.element
    value = body.let(f"load {kind.memory}, ptr {pointer}, {kind.alias}")
    if kind.widen:
        value = body.let(f"{kind.widen} {kind.memory} {value} to i64")
    return kind.type, value


def write_element(body: Body, node: ast.expr, column: ColumnPlace, pointer: str, value: Value) -> None:
    kind, (type_, written) = column.element, value
    if type_ != kind.type:
        raise body.error(node, f"the column's elements are {described(kind.type)} and cannot be {described(type_)}")
    if kind.widen:
        written = body.let(f"trunc i64 {written} to {kind.memory}")
    body.do(f"store {kind.memory} {written}, ptr {pointer}, {kind.alias}")
