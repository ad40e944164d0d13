"""Typed nodes as trees of data: all that one consists of, and the same with parts of it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any


def nodes(node: Any) -> Iterator[Any]:
    """A node and all that it consists of."""
    yield node
    if is_dataclass(node):
        for each in fields(node):
            if each.name != "span":
                yield from nodes(getattr(node, each.name))
    elif isinstance(node, tuple):
        for part in node:
            yield from nodes(part)


def rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    """A node in which all that it consists of has been changed, the innermost first."""
    if isinstance(node, tuple):
        return tuple(rebuilt(part, change) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    new = {e.name: rebuilt(getattr(node, e.name), change) for e in fields(node) if e.name != "span"}
    return change(replace(node, **new))
