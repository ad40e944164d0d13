"""A unit of code: the functions and constants of its texts.

Texts are Python modules. Their function definitions and their constants (names assigned numbers or truth values) make
up the unit, across texts; imports, docstrings and everything else at module level are left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from threading import Lock

from ensue.engine.machine.errors import TranslateError
from ensue.engine.machine.types import NOTHING, SCALARS
from ensue.records import dataclass

Constant = bool | int | float

WORD = re.compile(r"\w+")

parsing = Lock()
"""Held while Python parses a text or compiles a tree: CPython 3.11 fails where two threads do this at once."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function as written. The type of a parameter that is a structure is None."""

    name: str
    node: ast.FunctionDef
    lines: Sequence[str]
    parameters: tuple[tuple[str, str | None], ...]
    result: str
    """The type that is returned; of several, the aggregate."""

    words: frozenset[str]
    """All words of its text: among them the names of the functions it calls."""

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
        found, known = _parsed(text)
        for function in found:
            if function.name in functions:
                raise function.error(function.node, "the unit has two functions of this name")
            functions[function.name] = function
        constants.update(known)
    return Unit(functions, constants)


@lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[tuple[Function, ...], tuple[tuple[str, Constant], ...]]:
    """The functions and constants of a text. Kernels are in many units, and read once."""
    lines = text.splitlines()
    with parsing:
        nodes = ast.parse(text).body
    return (
        tuple(_function(node, lines) for node in nodes if isinstance(node, ast.FunctionDef)),
        tuple(constant for node in nodes for constant in _constants(node)),
    )


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
    match node.returns:
        case ast.Constant(None):
            result = NOTHING
        case ast.Name(name) if name in SCALARS:
            result = SCALARS[name]
        case ast.Subscript(ast.Name("tuple"), ast.Tuple(items)) if all(_is_scalar(item) for item in items):
            result = f"{{ {', '.join(SCALARS[item.id] for item in items if isinstance(item, ast.Name))} }}"
        case _:
            raise _error(node.name, node, lines, "a function returns int, float, bool, None or a tuple of such types")
    words = frozenset(WORD.findall("\n".join(lines[node.lineno - 1 : node.end_lineno])))
    return Function(node.name, node, lines, tuple(parameters), result, words)


def _is_scalar(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in SCALARS


def _error(function: str, node: ast.AST, lines: Sequence[str], message: str) -> TranslateError:
    line = getattr(node, "lineno", 1)
    return TranslateError(message, function, line, lines[line - 1] if line <= len(lines) else "")
