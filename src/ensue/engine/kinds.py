"""Kinds of values in generated code."""

from __future__ import annotations

KINDS = {"int": "i", "time": "i", "timestamp": "i", "bool": "b", "float": "f", "string": "s", "null": "i"}
"""Kinds of values by type: integers, truth values, floats, codes of strings; others are codes of any value (o)."""


def kind_of(type_: str) -> str:
    """The kind of a type: i, b, f, s, or o for values that Python alone understands.

    >>> kind_of("timestamp"), kind_of("list<int>"), kind_of("any")
    ('i', 'o', 'o')
    """
    return KINDS.get(type_, "o")
