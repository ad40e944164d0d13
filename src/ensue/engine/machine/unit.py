"""A unit of code: the functions and constants of its texts.

Texts are Python modules. Their function definitions and their constants (names assigned numbers or truth values) make
up the unit, across texts; imports, docstrings and everything else at module level are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ensue.engine.machine.errors import TranslateError
from ensue.engine.machine.types import NOTHING, SCALARS

Constant = bool | int | float


@dataclass(frozen=True, eq=False)
class Function:
    """A function as written. The type of a parameter that is a structure is None."""

    name: str
    node: ast.FunctionDef
    lines: Sequence[str]
    parameters: tuple[tuple[str, str | None], ...]
    results: tuple[str, ...]
    result: str
    """The type that is returned; of several `results`, the aggregate."""

    def error(self, node: ast.AST, message: str) -> TranslateError:
        return _error(self.name, node, self.lines, message)


@dataclass(frozen=True)
class Unit:
    """All functions and constants by name."""

    functions: dict[str, Function]
    constants: dict[str, Constant]


def parsed(texts: Sequence[str]) -> Unit:
    """Read texts into one unit."""
    functions: dict[str, Function] = {}
    constants: dict[str, Constant] = {}
    for text in texts:
        lines = text.splitlines()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                if node.name in functions:
                    raise _error(node.name, node, lines, "the unit has two functions of this name")
                functions[node.name] = _function(node, lines)
            else:
                constants.update(_constants(node))
    return Unit(functions, constants)


def definitions(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a module that belong to the unit."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) or any(True for _ in _constants(node)):
            yield node


def _constants(node: ast.stmt) -> Iterator[tuple[str, Constant]]:
    match node:
        case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
            match value:
                case ast.Constant(bool() | int() | float() as number):
                    yield name, number
                case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
                    yield name, -number


def _function(node: ast.FunctionDef, lines: Sequence[str]) -> Function:
    arguments = node.args
    if (
        arguments.vararg
        or arguments.kwarg
        or arguments.kwonlyargs
        or arguments.posonlyargs
        or arguments.defaults
        or node.decorator_list
    ):
        raise _error(node.name, node, lines, "a function has plain parameters, without defaults, and no decorators")
    parameters = []
    for argument in arguments.args:
        if argument.annotation is None:
            raise _error(node.name, node, lines, f"parameter {argument.arg} has no type")
        given = argument.annotation
        parameters.append((argument.arg, SCALARS.get(given.id) if isinstance(given, ast.Name) else None))
    results: tuple[str, ...]
    match node.returns:
        case ast.Constant(None):
            results, result = (), NOTHING
        case ast.Name(name) if name in SCALARS:
            results, result = (SCALARS[name],), SCALARS[name]
        case ast.Subscript(ast.Name("tuple"), ast.Tuple(items)) if all(_is_scalar(item) for item in items):
            results = tuple(SCALARS[item.id] for item in items if isinstance(item, ast.Name))
            result = f"{{ {', '.join(results)} }}"
        case _:
            raise _error(node.name, node, lines, "a function returns int, float, bool, None or a tuple of such types")
    return Function(node.name, node, lines, tuple(parameters), results, result)


def _is_scalar(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in SCALARS


def _error(function: str, node: ast.AST, lines: Sequence[str], message: str) -> TranslateError:
    line = getattr(node, "lineno", 1)
    return TranslateError(message, function, line, lines[line - 1] if line <= len(lines) else "")
