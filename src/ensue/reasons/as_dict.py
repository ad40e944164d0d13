"""An answer as plain data: every node is a dict by the names of its fields, without empty ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from ensue.reasons.answer import Answer


def dict_of(why: Answer) -> dict[str, Any]:
    """The answer as dicts and lists; `detected` distinguishes the two kinds of answers."""
    return {"detected": why.detected, **_plain(why)}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        found = {each.name: getattr(value, each.name) for each in fields(value)}
        return {name: _plain(each) for name, each in found.items() if each is not None and each != ()}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
