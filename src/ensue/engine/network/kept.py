"""How many instances and events a node keeps."""

from __future__ import annotations

from typing import Any

from ensue.engine.network.instances import Event, Instance
from ensue.engine.network.node import Node
from ensue.engine.network.stores import Store


def kept_by(node: Node) -> int:
    """How many instances and events a node keeps."""
    return sum(_count(getattr(node, name)) for name in node.STATE)


def _count(value: Any) -> int:
    match value:
        case Instance() | Event():
            return 1
        case Store():
            return sum(map(len, value.by_value.values()))
        case dict():
            return sum(1 if isinstance(each, int) else _count(each) for each in value.values())
        case list() | tuple():
            return sum(map(_count, value))
        case _:
            return 0
