"""Lines of a text, counted and found many at a time."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Places: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

_CACHED = 2**18
"""Bytes that are looked at together: they stay in a cache."""

_END = ord("\n")
_BLANK = 32
"""No sign that is blank has a larger code."""
_RETURN = ord("\r")
_LONGEST = 2**17 - 1
"""Bytes of the longest field that Python's reader of CSV takes."""


def count_ends(data: bytes, begin: int, end: int) -> int:
    """Number of line ends between two places.

    >>> count_ends(b"a\\nb\\nc", 0, 3)
    1
    """
    letters = np.frombuffer(data, np.uint8)
    pieces = (letters[place : min(place + _CACHED, end)] for place in range(begin, end, _CACHED))
    return sum(int(np.count_nonzero(piece == _END)) for piece in pieces)


def filled_lines(data: bytes) -> Places:
    """The numbers of the lines that are not blank, counted from 1.

    >>> filled_lines(b"a\\n\\n b\\n  \\nc").tolist()
    [1, 3, 5]
    """
    begins, ends = _lines(data)
    filled = begins < ends
    first = np.frombuffer(data, np.uint8)[begins[filled]]
    for line in np.flatnonzero(filled)[first <= _BLANK].tolist():
        filled[line] = not data[begins[line] : ends[line]].isspace()
    return np.flatnonzero(filled) + 1


def record_lines(data: bytes) -> Places | None:
    """The numbers of the lines that are CSV records; None if one of them may be longer than a line, or very long.

    >>> record_lines(b"a,b\\r\\n\\r\\n \\r\\n1,2").tolist()
    [1, 3, 4]
    """
    if b'"' in data or data.count(b"\r") != data.count(b"\r\n"):
        return None
    begins, ends = _lines(data)
    lengths = ends - begins
    if int(lengths.max()) > _LONGEST:
        return None
    filled = lengths > 1
    for line in np.flatnonzero(lengths == 1).tolist():
        filled[line] = data[begins[line]] != _RETURN
    return np.flatnonzero(filled) + 1


def _lines(data: bytes) -> tuple[Places, Places]:
    """Where lines begin and end; the last one may have no line end."""
    letters = np.frombuffer(data, np.uint8)
    found = [
        np.flatnonzero(letters[place : place + _CACHED] == _END) + place for place in range(0, len(letters), _CACHED)
    ]
    ends = np.concatenate([*found, [len(data)]]).astype(np.int64)
    return np.concatenate([[0], ends[:-1] + 1]).astype(np.int64), ends
