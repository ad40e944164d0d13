"""Units run by Python itself: to debug and to test, and where there is no llvmlite.

Columns check indices, and integers wrap only where `wrap` is called. One thing differs from Python: ``/`` divides as in
IEEE 754.
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any

from ensue.engine.machine.unit import definitions, parsing
from ensue.engine.structure import Structure
from ensue.engine.subset import builtin

if TYPE_CHECKING:
    from ensue.engine.machine.callback import Ask

BUILTIN = {
    name: found for name, found in vars(builtin).items() if callable(found) and found.__module__ == builtin.__name__
}


def plain(
    texts: Sequence[str], structures: Mapping[str, Structure], ask: Ask | None = None
) -> dict[str, Callable[..., Any]]:
    """Run texts as Python; returns their functions by name, which take no frame."""
    names: dict[str, Any] = {**BUILTIN, **structures}
    if ask is not None:
        names["ask"] = ask
    functions: list[str] = []
    for text in texts:
        code, own = _compiled(text)
        exec(code, names)
        functions += own
    return {name: names[name] for name in functions}


@lru_cache(maxsize=4096)
def _compiled(text: str) -> tuple[CodeType, tuple[str, ...]]:
    """The code of a text, and the names of its functions. It is cached: kernels are the same for all units."""
    with parsing:
        return _compiled_alone(text)


def _compiled_alone(text: str) -> tuple[CodeType, tuple[str, ...]]:
    tree = ast.parse(text)
    tree.body = list(definitions(tree))
    names = tuple(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    if " / " in text or "/=" in text:
        tree = ast.fix_missing_locations(_Divisions().visit(tree))
    flags = __future__.annotations.compiler_flag
    return compile(tree, f"<unit {names[0] if names else ''}>", "exec", flags=flags, dont_inherit=True), names


class _Divisions(ast.NodeTransformer):
    """Write ``a / b`` as ``divide(a, b)``."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return ast.copy_location(_divided(node.left, node.right), node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            old = ast.parse(ast.unparse(node.target), mode="eval").body
            return ast.copy_location(ast.Assign([node.target], _divided(old, node.value)), node)
        return node


def _divided(left: ast.expr, right: ast.expr) -> ast.Call:
    return ast.Call(ast.Name("divide", ast.Load()), [left, right], [])
