"""JSON as it is written: timestamps in ISO 8601, and NaN and the infinities, which JSON lacks, as strings."""

import json
import math
from collections.abc import Mapping
from datetime import date, time
from typing import Any

from ensue.data.iso import text_of_moment


def to_json(value: object) -> str:
    """A value as JSON text.

    >>> to_json({"x": [1, float("nan")], "at": date(2026, 1, 2), "who": "Zoë"})
    '{"x": [1, "NaN"], "at": "2026-01-02", "who": "Zoë"}'
    """
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _ENCODER.encode(_without_odd_floats(value))


def to_text(value: object) -> str:
    """A value as text outside JSON: values that JSON can only have as strings need no quotes there.

    >>> to_text(date(2026, 1, 2)), to_text(float("inf")), to_text(["a", 1])
    ('2026-01-02', 'Infinity', '["a", 1]')
    """
    if isinstance(value, str):
        return value
    text = to_json(value)
    return text[1:-1] if text[0] == '"' else text


def _other(value: Any) -> Any:
    if isinstance(value, date):
        return text_of_moment(value)
    if isinstance(value, time):
        return value.isoformat()
    return list(value) if isinstance(value, tuple | set | frozenset) else str(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_other)


def _without_odd_floats(value: Any) -> Any:
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case float() if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        case Mapping():
            return {str(key): _without_odd_floats(item) for key, item in value.items()}
        case list() | tuple():
            return [_without_odd_floats(item) for item in value]
        case _:
            return value
