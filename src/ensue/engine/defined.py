"""Functions that are defined from source while Ensue runs: a loop would take several times as long."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType
from typing import Any


def defined(source: str, name: str, names: dict[str, Any]) -> Any:
    """The function of a name that a source defines, with other names as given.

    >>> defined("def add(x): return x + n", "add", {"n": 1})(2)
    3
    """
    exec(_compiled(source, name), names)
    return names.pop(name)


@lru_cache(maxsize=1024)
def _compiled(source: str, name: str) -> CodeType:
    """The code of a source. It is cached: to compile it takes longer than a session with few events."""
    return compile(source, f"<ensue {name}>", "exec")
