"""Recursion limit for plans, which are as deep as bodies are long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

DEEPEST = 50_000
"""Nested calls: a body of a thousand items is a plan of a thousand operators, one inside the other."""


@contextmanager
def deep_plans() -> Iterator[None]:
    """Raise the recursion limit for functions that follow a plan down to its events."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
