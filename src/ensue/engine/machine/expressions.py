"""Expressions of the subset as LLVM IR."""

from __future__ import annotations

import ast
import struct

from ensue.engine.machine.arithmetic import binary, compared
from ensue.engine.machine.body import Body
from ensue.engine.machine.calls import call
from ensue.engine.machine.memory import column_of, element, read_element, read_number
from ensue.engine.machine.types import BOOL, FLOAT, INT, NOTHING, Value, described
from ensue.engine.machine.unit import Constant


def value(body: Body, node: ast.expr) -> Value:
    """Translate an expression."""
    match node:
        case ast.Name(name):
            return _named(body, node, name)
        case ast.Constant(bool() | int() | float() as number):
            return constant(body, node, number)
        case ast.Attribute():
            return read_number(body, node)
        case ast.Subscript(field, index):
            structure, column = column_of(body, field)
            return read_element(body, column, element(body, structure, column, of_type(body, index, INT)))
        case ast.BinOp(left, operator, right):
            return binary(body, node, operator, value(body, left), value(body, right))
        case ast.Compare(left, [operator], [right]):
            return BOOL, compared(body, node, operator, value(body, left), value(body, right))
        case ast.Call():
            return call(body, node, value)
        case ast.UnaryOp(operator, operand):
            return _unary(body, node, operator, operand)
        case ast.BoolOp() | ast.Compare():
            yes, no, done = body.label(), body.label(), body.label()
            condition(body, node, yes, no)
            for label in (yes, no):
                body.start(label)
                body.jump(done)
            body.start(done)
            return BOOL, body.let(f"phi i1 [ true, %{yes} ], [ false, %{no} ]")
        case ast.IfExp(test, first, second):
            return _chosen(body, node, test, first, second)
    raise body.error(node, f"{type(node).__name__} is not an expression of machine code: {ast.unparse(node)}")


def of_type(body: Body, node: ast.expr, type_: str) -> str:
    """Translate an expression that must have a type."""
    found, operand = value(body, node)
    if found != type_:
        hint = "; compare it, as in x != 0" if type_ == BOOL else ""
        raise body.error(
            node, f"{ast.unparse(node)} is of type {described(found)}, and {described(type_)} is needed{hint}"
        )
    return operand


def constant(body: Body, node: ast.expr, number: Constant) -> Value:
    if isinstance(number, bool):
        return BOOL, "true" if number else "false"
    if isinstance(number, float):
        return FLOAT, f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if not -(1 << 63) <= number < 1 << 63:
        raise body.error(node, f"{number} does not fit in 64 bits")
    return INT, str(number)


def condition(body: Body, node: ast.expr, yes: str, no: str) -> None:
    """Translate a truth value into a jump to one of two labels."""
    match node:
        case ast.BoolOp(operator, [*first, last]):
            for part in first:
                on = body.label()
                condition(body, part, *((on, no) if isinstance(operator, ast.And) else (yes, on)))
                body.start(on)
            condition(body, last, yes, no)
        case ast.UnaryOp(ast.Not(), operand):
            condition(body, operand, no, yes)
        case ast.Constant(bool() as known):
            body.jump(yes if known else no)
        case ast.Compare(left, operators, others) if len(operators) > 1:
            before = value(body, left)
            for place, (comparison, other) in enumerate(zip(operators, others, strict=True)):
                after = value(body, other)
                on = body.label() if place + 1 < len(operators) else yes
                body.branch(compared(body, node, comparison, before, after), on, no)
                if on != yes:
                    body.start(on)
                before = after
        case _:
            body.branch(of_type(body, node, BOOL), yes, no)


def _unary(body: Body, node: ast.UnaryOp, operator: ast.unaryop, operand: ast.expr) -> Value:
    match operator, operand:
        case ast.USub(), ast.Constant(int() | float() as number) if not isinstance(number, bool):
            return constant(body, node, -number)
    type_, a = value(body, operand)
    match operator, type_:
        case ast.Not(), "i1":
            return BOOL, body.let(f"xor i1 {a}, true")
        case ast.USub(), "i64":
            return INT, body.let(f"sub i64 0, {a}")
        case ast.USub(), "double":
            return FLOAT, body.let(f"fneg double {a}")
        case ast.UAdd(), "i64" | "double":
            return type_, a
        case ast.Invert(), "i64":
            return INT, body.let(f"xor i64 {a}, -1")
    raise body.error(node, f"{type(operator).__name__} is not defined for {described(type_)}")


def _chosen(body: Body, node: ast.expr, test: ast.expr, first: ast.expr, second: ast.expr) -> Value:
    yes, no, done = body.label(), body.label(), body.label()
    condition(body, test, yes, no)
    found = []
    for label, branch in ((yes, first), (no, second)):
        body.start(label)
        found.append((*value(body, branch), body.block))
        body.jump(done)
    body.start(done)
    (type_, a, from_a), (other, b, from_b) = found
    if type_ != other or type_ == NOTHING:
        raise body.error(node, f"the two branches are of types {described(type_)} and {described(other)}")
    return type_, body.let(f"phi {type_} [ {a}, %{from_a} ], [ {b}, %{from_b} ]")


def _named(body: Body, node: ast.expr, name: str) -> Value:
    type_ = body.names.get(name)
    if type_ is not None:
        return type_, body.let(f"load {type_}, ptr %{name}")
    if name in body.structures:
        raise body.error(node, f"{name} is a structure, which has no value; name one of its fields")
    if name in body.constants:
        return constant(body, node, body.constants[name])
    raise body.error(node, f"{name} is not known here; a name is assigned above the line that reads it")
