"""`hash(x)`: a number for a value, the same in every process, on every machine and in every version to come.

The hash is the first eight bytes of BLAKE2b, as a signed integer, of the value's text behind a letter for its kind.
Values that are equal have the same: 1 and 1.0, 0.0 and -0.0. A timestamp is its microseconds since 1970.
"""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import Any


def stable_hash(value: Any) -> int | None:
    """The hash of a value; null for NaN, which equals nothing.

    >>> stable_hash(1) == stable_hash(1.0), stable_hash("1") == stable_hash(1), stable_hash(math.nan)
    (True, False, None)
    """
    if isinstance(value, float) and math.isnan(value):
        return None
    written = _written(value)
    if written is None:
        return None
    return int.from_bytes(blake2b(written.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


def _written(value: Any) -> str | None:
    match value:
        case bool():
            return f"b{int(value)}"
        case int():
            return f"n{value}"
        case float():
            return f"n{int(value)}" if math.isfinite(value) and value == int(value) else f"n{value!r}"
        case str():
            return f"s{value}"
        case _:
            return None
