"""The changes that mutation testing makes: one comparison, constant or operator of a source at a time.

A change is named by its file and its number within it, so that it can be made again. In `engine/operators` the texts
that become generated code are changed, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDERS = ("src/ensue/temporal", "src/ensue/reference", "src/ensue/engine/operators")

SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip

IN_TEXT = {
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " + ": " - ",
    " - ": " + ", " and ": " or ", " or ": " and ", "if not ": "if ", "min(": "max(", "max(": "min(",
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """One change of a file: the outermost function that it is in, empty outside, and the lines of its statement."""

    file: str
    number: int
    line: int
    description: str
    function: str
    inside: range
    """The lines of the function."""
    statement: range

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.description}"


def mutations(only: str = "") -> list[Mutation]:
    """All changes of all files with `only` in their name."""
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if only in name:
                tree = ast.parse(path.read_text())
                around = _surroundings(tree)
                for number, (node, description, _) in enumerate(_changes(tree, "operators" in name)):
                    found.append(Mutation(name, number, node.lineno, description, *around[id(node)]))
    return found


def mutated(file: str, number: int) -> str:
    """The text of a file with one change."""
    tree = ast.parse((ROOT / file).read_text())
    _, _, change = list(_changes(tree, "operators" in file))[number]
    change()
    return ast.unparse(ast.fix_missing_locations(tree))


def _changes(tree: ast.Module, texts: bool) -> Iterator[tuple[Any, str, Callable[[], None]]]:
    """Each possible change: the node that says where, a description, and the change itself."""
    skipped = _skipped(tree)
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        match node:
            case ast.Compare(ops=ops):
                for at, operator in enumerate(ops):
                    if (other := SWAPPED.get(type(operator))) is not None:
                        yield _item(node, f"{type(operator).__name__} -> {other.__name__}", ops, at, other())
            case ast.BoolOp(op=operator) | ast.BinOp(op=ast.Add() | ast.Sub() as operator):
                other = SWAPPED[type(operator)]
                yield _field(node, f"{type(operator).__name__} -> {other.__name__}", "op", other())
            case ast.UnaryOp(op=ast.Not()):
                yield _field(node, "Not -> Not not", "operand", ast.UnaryOp(ast.Not(), node.operand))
            case ast.Constant(value=bool(value)):
                yield _field(node, f"{value} -> {not value}", "value", not value)
            case ast.Constant(value=int(value)):
                yield _field(node, f"{value} -> {value + 1}", "value", value + 1)
            case ast.Constant(value=str(value)) if texts:
                for old, new in IN_TEXT.items():
                    for found in re.finditer(re.escape(old), value):
                        text = value[: found.start()] + new + value[found.end() :]
                        yield _field(node, f"{value!r} -> {text!r}", "value", text)


def _item(node: Any, description: str, items: list[Any], at: int, new: Any) -> tuple[Any, str, Callable[[], None]]:
    return node, description, lambda: items.__setitem__(at, new)


def _field(node: Any, description: str, name: str, new: Any) -> tuple[Any, str, Callable[[], None]]:
    return node, description, lambda: setattr(node, name, new)


def _skipped(tree: ast.Module) -> set[int]:
    """Docstrings, annotations and messages: no behaviour, or none that a test should hold word by word.

    Nor has `strict` of `zip`: it only guards against mistakes.
    """
    roots: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                roots.append(node)
            case ast.AnnAssign(annotation=annotation):
                roots.append(annotation)
            case ast.FunctionDef(args=arguments, returns=returns):
                roots += [
                    each.annotation for each in ast.walk(arguments) if isinstance(each, ast.arg) and each.annotation
                ]
                roots += [returns] if returns is not None else []
                roots += node.decorator_list
            case ast.ClassDef():
                roots += node.decorator_list
            case ast.Raise() | ast.Import() | ast.ImportFrom() | ast.keyword(arg="strict"):
                roots.append(node)
    return {id(inner) for root in roots for inner in ast.walk(root)}


def _surroundings(tree: ast.Module) -> dict[int, tuple[str, range, range]]:
    """For each node the outermost function or method with its lines, and the lines of its statement alone."""
    found: dict[int, tuple[str, range, range]] = {}

    def visit(node: ast.AST, names: tuple[str, ...], function: str, inside: range, statement: range) -> None:
        if isinstance(node, ast.stmt):
            body, last = getattr(node, "body", None), node.end_lineno or node.lineno
            statement = range(node.lineno, max(node.lineno, body[0].lineno - 1 if body else last) + 1)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = (*names, node.name)
            if isinstance(node, ast.FunctionDef) and not function:
                function, inside = ".".join(names), range(node.lineno, (node.end_lineno or node.lineno) + 1)
        found[id(node)] = function, inside, statement
        for child in ast.iter_child_nodes(node):
            visit(child, names, function, inside, statement)

    visit(tree, (), "", range(0), range(0))
    return found
