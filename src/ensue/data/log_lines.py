"""Events from lines of text that a regular expression takes apart: each named group is a column.

The expressions are those of RE2 (`ensue.regex`), whose time is linear in the text, for any expression.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pyarrow as pa

from ensue import compute as pc
from ensue.data.content import Content
from ensue.data.errors import shortened
from ensue.data.input_part import InputPart
from ensue.regex import named_groups_all


def read_lines(content: Content, regex: str) -> InputPart:
    """Read a file; blank lines do not count, lines that do not match are bad. An empty group is a missing value."""
    lines = _lines(content)
    matched, columns = named_groups_all(lines, regex)
    bad = pc.indices_nonzero(pc.invert(matched)).to_pylist()
    malformed = tuple((index, f"does not match --lines: {shortened(lines[index].as_py())}") for index in bad)
    kept = {
        name: pa.chunked_array([pc.if_else(pc.equal(column, ""), None, column).filter(matched)])
        for name, column in columns.items()
    }
    return InputPart(content.name, kept, len(lines) - len(bad), _place(content), text=True, malformed=malformed)


def _lines(content: Content) -> pa.Array:
    """The lines that are not blank."""
    texts = content.decoded().decode().split("\n")
    return pa.array([text.rstrip("\r") for text in texts if text and not text.isspace()], pa.string())


def _place(content: Content) -> Callable[[int], str]:
    @cache
    def numbers() -> list[int]:
        texts = content.decoded().decode().split("\n")
        return [number for number, text in enumerate(texts, 1) if text and not text.isspace()]

    return lambda position: f"{content.name}:{numbers()[position]}"
