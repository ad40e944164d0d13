"""Operators of two operands: arithmetic as in Python, on 64-bit integers that wrap and on floats of IEEE 754."""

from __future__ import annotations

import ast

from ensue.engine.machine.body import Body
from ensue.engine.machine.types import BOOL, FLOAT, INT, Value, described

ARITHMETIC: dict[type[ast.operator], dict[str, str]] = {
    ast.Add: {INT: "add", FLOAT: "fadd"},
    ast.Sub: {INT: "sub", FLOAT: "fsub"},
    ast.Mult: {INT: "mul", FLOAT: "fmul"},
    ast.Div: {FLOAT: "fdiv"},
    ast.FloorDiv: {INT: "sdiv"},
    ast.Mod: {INT: "srem"},
    ast.BitAnd: {INT: "and", BOOL: "and"},
    ast.BitOr: {INT: "or", BOOL: "or"},
    ast.BitXor: {INT: "xor", BOOL: "xor"},
    ast.LShift: {INT: "shl"},
    ast.RShift: {INT: "ashr"},
}

COMPARISONS: dict[type[ast.cmpop], dict[str, str]] = {
    ast.Lt: {INT: "icmp slt", FLOAT: "fcmp olt", BOOL: "icmp ult"},
    ast.LtE: {INT: "icmp sle", FLOAT: "fcmp ole", BOOL: "icmp ule"},
    ast.Gt: {INT: "icmp sgt", FLOAT: "fcmp ogt", BOOL: "icmp ugt"},
    ast.GtE: {INT: "icmp sge", FLOAT: "fcmp oge", BOOL: "icmp uge"},
    ast.Eq: {INT: "icmp eq", FLOAT: "fcmp oeq", BOOL: "icmp eq"},
    ast.NotEq: {INT: "icmp ne", FLOAT: "fcmp une", BOOL: "icmp ne"},
}


def binary(body: Body, node: ast.AST, operator: ast.operator, left: Value, right: Value) -> Value:
    (type_, a), (other, b) = left, right
    instruction = ARITHMETIC.get(type(operator), {}).get(type_)
    if instruction is None or type_ != other:
        raise body.error(
            node, f"{type(operator).__name__} is not defined for {described(type_)} and {described(other)}"
        )
    match instruction:
        case "sdiv" | "srem":
            return INT, _divided(body, instruction, a, b)
        case "shl" | "ashr":
            b = str(int(b) & 63) if _is_constant(b) else body.let(f"and i64 {b}, 63")
    return type_, body.let(f"{instruction} {type_} {a}, {b}")


def _divided(body: Body, instruction: str, a: str, b: str) -> str:
    """Floor division or its remainder. No divisor traps: the lowest number // -1 is itself, and x // 0 is -x."""
    if _is_constant(b):
        divisor = int(b)
        if divisor > 0 and divisor & (divisor - 1) == 0:
            if instruction == "srem":
                return body.let(f"and i64 {a}, {divisor - 1}")
            return body.let(f"ashr i64 {a}, {divisor.bit_length() - 1}")
        special, safe = ("true", "1") if divisor in (0, -1) else ("false", b)
    else:
        special = body.let(f"icmp ult i64 {body.let(f'add i64 {b}, 1')}, 2")
        safe = body.let(f"select i1 {special}, i64 1, i64 {b}")
    rest = body.let(f"srem i64 {a}, {safe}")
    uneven = body.let(f"icmp ne i64 {rest}, 0")
    differ = body.let(f"icmp slt i64 {body.let(f'xor i64 {rest}, {safe}')}, 0")
    down = body.let(f"and i1 {uneven}, {differ}")
    if instruction == "srem":
        return body.let(f"add i64 {rest}, {body.let(f'select i1 {down}, i64 {safe}, i64 0')}")
    quotient = body.let(f"sdiv i64 {a}, {safe}")
    quotient = body.let(f"add i64 {quotient}, {body.let(f'sext i1 {down} to i64')}")
    negated = body.let(f"sub i64 0, {a}")
    return body.let(f"select i1 {special}, i64 {negated}, i64 {quotient}")


def _is_constant(operand: str) -> bool:
    return not operand.startswith("%")


def compared(body: Body, node: ast.AST, operator: ast.cmpop, left: Value, right: Value) -> str:
    (type_, a), (other, b) = left, right
    instruction = COMPARISONS.get(type(operator), {}).get(type_)
    if instruction is None or type_ != other:
        hint = "; write float(x)" if {type_, other} == {INT, FLOAT} else ""
        raise body.error(
            node, f"{type(operator).__name__} does not compare {described(type_)} and {described(other)}{hint}"
        )
    return body.let(f"{instruction} {type_} {a}, {b}")
