"""The types of the first events of a source, for a message on types that rules do not use."""

from __future__ import annotations

from ensue import compute as pc
from ensue.data.columns import Columns
from ensue.data.plain import read_parts
from ensue.data.stamp import stamp


def types_of(source: object, columns: Columns) -> list[str]:
    """The types in the first part that has events, the one that occurs first in front.

    >>> types_of([{"type": "b", "time": 1}, {"type": "a", "time": 2}, {"type": "b", "time": 3}], Columns())
    ['b', 'a']
    """
    for part in read_parts(source, columns, {}, {}, None).parts:
        types = stamp(part, columns).types if part.length else None
        if types is not None:
            return [str(name) for name in pc.unique(types.drop_null()).to_pylist()]
    return []
