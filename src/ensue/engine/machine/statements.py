"""Statements of the subset as LLVM IR."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ensue.engine.machine.arithmetic import binary
from ensue.engine.machine.body import Body
from ensue.engine.machine.calls import CALLBACKS
from ensue.engine.machine.expressions import condition, of_type, value
from ensue.engine.machine.memory import column_of, element, number_cell, read_element, write_element, write_number
from ensue.engine.machine.types import INT, NOTHING, NUMBER, SCALARS, Value, described
from ensue.engine.machine.unit import Constant


def block(body: Body, statements: Sequence[ast.stmt]) -> None:
    """Translate statements up to the first that is never reached."""
    for node in statements:
        if not body.is_reachable:
            return
        statement(body, node)


def statement(body: Body, node: ast.stmt) -> None:
    match node:
        case ast.Assign(targets, given):
            _assign(body, node, targets, given)
        case ast.AugAssign(target, operator, given):
            _augment(body, node, target, operator, given)
        case ast.If(test, then, otherwise):
            _if(body, test, then, otherwise)
        case ast.Expr(ast.Call() as called):
            value(body, called)
        case ast.Return(given):
            _return(body, node, given)
        case ast.While(test, inner, []):
            _while(body, test, inner)
        case ast.For(ast.Name(name), ast.Call(ast.Name("range"), bounds, []), inner, []):
            _for(body, node, name, bounds, inner)
        case ast.Continue() if body.loops:
            body.jump(body.loops[-1][0])
        case ast.Break() if body.loops:
            body.jump(body.loops[-1][1])
        case ast.AnnAssign(ast.Name(name), ast.Name(type_), given) if type_ in SCALARS:
            body.declare(name, SCALARS[type_], node)
            if given is not None:
                body.assign(name, value(body, given), node)
        case ast.Pass() | ast.Assert() | ast.Expr(ast.Constant()):
            pass
        case _:
            raise body.error(node, f"{type(node).__name__} of this form is not a statement of machine code")


def _assign(body: Body, node: ast.Assign, targets: Sequence[ast.expr], given: ast.expr) -> None:
    match targets, given:
        case [ast.Tuple(names)], ast.Tuple(items):
            if len(names) != len(items):
                raise body.error(node, f"{len(items)} values for {len(names)} targets")
            values = [value(body, item) for item in items]
        case [ast.Tuple(names)], _:
            type_, whole = value(body, given)
            types = type_.strip("{ }").split(", ")
            if not type_.startswith("{") or len(types) != len(names):
                raise body.error(node, f"{ast.unparse(given)} is no tuple of {len(names)}")
            values = [(part, body.let(f"extractvalue {type_} {whole}, {i}")) for i, part in enumerate(types)]
        case _:
            single = value(body, given)
            if single[0] == NOTHING:
                raise body.error(node, f"{ast.unparse(given)} has no value")
            names, values = list(targets), [single] * len(targets)
    for target, one in zip(names, values, strict=True):
        _write(body, target, one)


def _write(body: Body, target: ast.expr, given: Value) -> None:
    match target:
        case ast.Name(name):
            body.assign(name, given, target)
        case ast.Attribute():
            write_number(body, target, given)
        case ast.Subscript(field, index):
            structure, column = column_of(body, field)
            place = of_type(body, index, INT)
            write_element(body, target, column, element(body, structure, column, place), given)
        case _:
            raise body.error(target, f"{ast.unparse(target)} cannot be assigned")


def _augment(body: Body, node: ast.AugAssign, target: ast.expr, operator: ast.operator, given: ast.expr) -> None:
    match target:
        case ast.Name():
            old = value(body, ast.Name(target.id, ast.Load(), lineno=node.lineno))
            body.assign(target.id, binary(body, node, operator, old, value(body, given)), node)
            return
    for called in ast.walk(node):
        if isinstance(called, ast.Call) and isinstance(called.func, ast.Name):
            name = called.func.id
            if name in body.functions or name in CALLBACKS:
                raise body.error(node, f"{name} may change what is augmented; assign its result to a name first")
    match target:
        case ast.Attribute():
            cell = number_cell(body, target)
            old = (INT, body.let(f"load i64, ptr {cell}, {NUMBER}"))
            write_number(body, target, binary(body, node, operator, old, value(body, given)))
        case ast.Subscript(field, index):
            structure, column = column_of(body, field)
            pointer = element(body, structure, column, of_type(body, index, INT))
            old = read_element(body, column, pointer)
            write_element(body, target, column, pointer, binary(body, node, operator, old, value(body, given)))
        case _:
            raise body.error(target, f"{ast.unparse(target)} cannot be assigned")


def _if(body: Body, test: ast.expr, then: Sequence[ast.stmt], otherwise: Sequence[ast.stmt]) -> None:
    yes, done = body.label(), body.label()
    no = body.label() if otherwise else done
    condition(body, test, yes, no)
    body.start(yes)
    block(body, then)
    body.jump(done)
    if otherwise:
        body.start(no)
        block(body, otherwise)
        body.jump(done)
    body.start(done)


def _while(body: Body, test: ast.expr, inner: Sequence[ast.stmt]) -> None:
    head, on, done = body.label(), body.label(), body.label()
    body.jump(head)
    body.start(head)
    condition(body, test, on, done)
    body.start(on)
    _repeated(body, inner, head, done)
    body.jump(head)
    body.start(done)


def _for(body: Body, node: ast.For, name: str, bounds: Sequence[ast.expr], inner: Sequence[ast.stmt]) -> None:
    if not 1 <= len(bounds) <= 3:
        raise body.error(node, "range takes one to three numbers")
    step = _step(body, bounds[2]) if len(bounds) == 3 else 1
    start = of_type(body, bounds[0], INT) if len(bounds) > 1 else "0"
    stop = of_type(body, bounds[1 if len(bounds) > 1 else 0], INT)
    head, on, after, done = body.label(), body.label(), body.label(), body.label()
    body.declare(name, INT, node)
    counter = f"%{head}.counter"
    body.stack.append(f"{counter} = alloca i64")
    body.do(f"store i64 {start}, ptr {counter}")
    body.jump(head)
    body.start(head)
    count = body.let(f"load i64, ptr {counter}")
    body.branch(body.let(f"icmp {'slt' if step > 0 else 'sgt'} i64 {count}, {stop}"), on, done)
    body.start(on)
    body.do(f"store i64 {count}, ptr %{name}")
    _repeated(body, inner, after, done)
    body.jump(after)
    body.start(after)
    body.do(f"store i64 {body.let(f'add i64 {count}, {step}')}, ptr {counter}")
    body.jump(head)
    body.start(done)


def _repeated(body: Body, inner: Sequence[ast.stmt], again: str, done: str) -> None:
    body.loops.append((again, done))
    block(body, inner)
    body.loops.pop()


def _step(body: Body, node: ast.expr) -> int:
    match node:
        case ast.Constant(int() as step) if not isinstance(step, bool) and step:
            return step
        case ast.UnaryOp(ast.USub(), ast.Constant(int() as step)) if not isinstance(step, bool) and step:
            return -step
        case ast.Name(name) if name not in body.names:
            known: Constant | None = body.constants.get(name)
            if isinstance(known, int) and not isinstance(known, bool) and known:
                return known
    raise body.error(node, "the step of a range is a constant other than 0")


def _return(body: Body, node: ast.Return, given: ast.expr | None) -> None:
    function = body.function
    match given:
        case None | ast.Constant(None):
            type_, operand = NOTHING, ""
        case ast.Tuple(items):
            found = [value(body, item) for item in items]
            type_ = f"{{ {', '.join(part for part, _ in found)} }}"
            operand = "poison"
            if type_ == function.result:
                for i, (part, one) in enumerate(found):
                    operand = body.let(f"insertvalue {type_} {operand}, {part} {one}, {i}")
        case _:
            type_, operand = value(body, given)
    if type_ != function.result:
        raise body.error(node, f"{function.name} returns {described(function.result)}, not {described(type_)}")
    body.give(operand)
