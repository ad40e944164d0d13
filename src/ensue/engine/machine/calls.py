"""Calls: of the functions of the unit, of functions that every unit has, and back into Python."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ensue.engine.machine.body import Body, Reference
from ensue.engine.machine.memory import column_of, element
from ensue.engine.machine.types import (
    ADDRESS,
    BOOL,
    FLOAT,
    INT,
    NOTHING,
    Value,
    described,
    flagged,
    passed,
    returned,
)

Translate = Callable[[Body, ast.expr], Value]

SIMPLE: dict[str, tuple[tuple[str, ...], str, str]] = {
    "truncated": ((FLOAT,), INT, "fptosi double {0} to i64"),
    "bits": ((FLOAT,), INT, "bitcast double {0} to i64"),
    "from_bits": ((INT,), FLOAT, "bitcast i64 {0} to double"),
    "unsigned_less": ((INT, INT), BOOL, "icmp ult i64 {0}, {1}"),
    "is_nan": ((FLOAT,), BOOL, "fcmp uno double {0}, {0}"),
    "sqrt": ((FLOAT,), FLOAT, "call double @llvm.sqrt.f64(double {0})"),
    "floor": ((FLOAT,), FLOAT, "call double @llvm.floor.f64(double {0})"),
    "ceil": ((FLOAT,), FLOAT, "call double @llvm.ceil.f64(double {0})"),
    "trunc": ((FLOAT,), FLOAT, "call double @llvm.trunc.f64(double {0})"),
    "exp": ((FLOAT,), FLOAT, "call double @exp(double {0}) #1"),
    "log": ((FLOAT,), FLOAT, "call double @log(double {0}) #1"),
    "log10": ((FLOAT,), FLOAT, "call double @log10(double {0}) #1"),
    "pow": ((FLOAT, FLOAT), FLOAT, "call double @pow(double {0}, double {1}) #1"),
    "fmod": ((FLOAT, FLOAT), FLOAT, "call double @fmod(double {0}, double {1}) #1"),
}
"""Functions that are one instruction or one call: types of parameters, of the result, and the instruction."""

CONVERSIONS: dict[tuple[str, str], str] = {
    ("int", INT): "",
    ("int", BOOL): "zext i1 {0} to i64",
    ("float", FLOAT): "",
    ("float", INT): "sitofp i64 {0} to double",
    ("bool", BOOL): "",
    ("bool", INT): "icmp ne i64 {0}, 0",
    ("wrap", INT): "",
    ("abs", INT): "call i64 @llvm.abs.i64(i64 {0}, i1 false)",
    ("abs", FLOAT): "call double @llvm.fabs.f64(double {0})",
}
"""Functions of one argument whose type decides: the instruction, or an empty one where the value stays as it is."""

CONVERTED = {"int": INT, "float": FLOAT, "bool": BOOL, "wrap": INT}

DECLARATIONS = """\
declare double @llvm.sqrt.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.trunc.f64(double)
declare double @llvm.fabs.f64(double)
declare i64 @llvm.abs.i64(i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare double @exp(double) #1
declare double @log(double) #1
declare double @log10(double) #1
declare double @pow(double, double) #1
declare double @fmod(double, double) #1
attributes #1 = { nobuiltin nounwind willreturn memory(none) }
attributes #2 = { cold nounwind }
"""
"""Declarations of called functions. LLVM must not replace calls of libm by others, whose last bit differs."""

CALLBACKS = frozenset(("grow", "ask"))


def call(body: Body, node: ast.Call, value: Translate) -> Value:
    """Translate a call."""
    if node.keywords or not isinstance(node.func, ast.Name):
        raise body.error(node, f"only functions of the unit are called, by position: {ast.unparse(node)}")
    name, arguments = node.func.id, node.args
    if name in body.functions:
        return _of_unit(body, node, name, value)
    if name in SIMPLE:
        types, result, instruction = SIMPLE[name]
        return result, body.let(instruction.format(*_scalars(body, node, name, types, value)))
    match name, arguments:
        case "min" | "max", [_, _, *_]:
            first, *others = _scalars(body, node, name, (INT,) * len(arguments), value)
            for other in others:
                first = body.let(f"call i64 @llvm.s{name}.i64(i64 {first}, i64 {other})")
            return INT, first
        case "unsigned_shift", [_, _]:
            shifted, count = _scalars(body, node, name, (INT, INT), value)
            return INT, body.let(f"lshr i64 {shifted}, {body.let(f'and i64 {count}, 63')}")
        case "int" | "float" | "bool" | "wrap" | "abs", [argument]:
            type_, operand = value(body, argument)
            instruction_ = CONVERSIONS.get((name, type_))
            if instruction_ is None:
                hint = "; write truncated(x)" if name == "int" and type_ == FLOAT else ""
                raise body.error(node, f"{name} takes no {described(type_)}{hint}")
            result = CONVERTED.get(name, type_)
            return result, body.let(instruction_.format(operand)) if instruction_ else operand
        case "prefetch", [column_node, index]:
            structure, column = column_of(body, column_node)
            (place,) = _scalars(body, node, name, (INT,), value, [index])
            pointer = element(body, structure, column, place)
            body.do(f"call void @llvm.prefetch.p0(ptr {pointer}, i32 0, i32 3, i32 1)")
            return NOTHING, ""
        case "word_at", [column_node, index]:
            structure, column = column_of(body, column_node)
            if column.element.memory != "i8" or column.width > 1:
                raise body.error(node, f"{ast.unparse(column_node)} is no column of bytes")
            (place,) = _scalars(body, node, name, (INT,), value, [index])
            pointer = element(body, structure, column, place)
            return INT, body.let(f"load i64, ptr {pointer}, align 1, {column.element.alias}")
        case "grow", [structure_node]:
            base = _base(body, body.structure(structure_node))
            function = body.let(f"load ptr, ptr %.frame, {ADDRESS}")
            body.expect_failure()
            body.do(f"call void {function}(i64 {base}) #2")
            body.exit_if_failed()
            return NOTHING, ""
        case "ask", [structure_node, number]:
            reference = body.structure(structure_node)
            (asked,) = _scalars(body, node, name, (INT,), value, [number])
            function = body.let(f"load ptr, ptr {body.cell('%.frame', 1)}, {ADDRESS}")
            base = _base(body, reference)
            body.expect_failure()
            answer = body.let(f"call i64 {function}(i64 {base}, i64 {asked})")
            body.exit_if_failed()
            return INT, answer
    raise body.error(node, f"no function {name} takes {len(arguments)} arguments")


def _of_unit(body: Body, node: ast.Call, name: str, value: Translate) -> Value:
    function = body.functions[name]
    if len(node.args) != len(function.parameters):
        raise body.error(node, f"{name} takes {len(function.parameters)} arguments, not {len(node.args)}")
    given, shapes = ["ptr %.frame"], []
    for argument, (parameter, type_) in zip(node.args, function.parameters, strict=True):
        if type_ is None:
            pointer, shape, base = body.structure(argument)
            given.append(f"ptr {body.cell(pointer, base)}")
            shapes.append(shape)
            continue
        found, operand = value(body, argument)
        if found != type_:
            raise body.error(node, f"{parameter} of {name} is {described(type_)}, not {described(found)}")
        given.append(f"{passed(type_)} {operand}")
    tells, result = name in body.telling, ""
    type_ = flagged(function.result) if tells else returned(function.result)
    instruction = f"call {type_} {body.symbol(name, tuple(shapes))}({', '.join(given)})"
    if tells:
        held = body.let(instruction)
        if function.result == NOTHING:
            body.exit_if_failed(held)
        else:
            body.exit_if_failed(body.let(f"extractvalue {type_} {held}, 1"))
            result = body.let(f"extractvalue {type_} {held}, 0")
        return function.result, result
    if function.result == NOTHING:
        body.do(instruction)
    else:
        result = body.let(instruction)
    if name in body.failing:
        body.exit_if_failed()
    return function.result, result


def _scalars(
    body: Body,
    node: ast.Call,
    name: str,
    types: tuple[str, ...],
    value: Translate,
    given: list[ast.expr] | None = None,
) -> list[str]:
    arguments = node.args if given is None else given
    if len(arguments) != len(types):
        raise body.error(node, f"{name} takes {len(types)} arguments, not {len(arguments)}")
    found = [value(body, argument) for argument in arguments]
    for (type_, _), wanted in zip(found, types, strict=True):
        if type_ != wanted:
            raise body.error(node, f"{name} takes {described(wanted)}, not {described(type_)}")
    return [operand for _, operand in found]


def _base(body: Body, structure: Reference) -> str:
    """The structure's first cell in the frame."""
    pointer, _, base = structure
    if pointer == "%.frame":
        return str(base)
    own, frame = body.let(f"ptrtoint ptr {pointer} to i64"), body.let("ptrtoint ptr %.frame to i64")
    return body.let(f"ashr exact i64 {body.let(f'sub i64 {own}, {frame}')}, 3")
