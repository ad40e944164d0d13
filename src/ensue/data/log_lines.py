"""Events from lines of text that a regular expression takes apart: each named group is a column."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ensue.data.content import Content
from ensue.data.errors import shortened
from ensue.data.part import Part


def read_lines(content: Content, regex: str) -> Part:
    """Read a file; blank lines do not count, lines that do not match are bad. What is empty is missing."""
    lines = _lines(content)
    columns = _by_arrow(lines, regex)
    if columns is None:
        columns = _by_python(lines, regex)
    matched = columns.pop("")
    bad = pc.indices_nonzero(pc.invert(matched)).to_pylist()
    malformed = tuple((index, f"does not match --lines: {shortened(lines[index].as_py())}") for index in bad)
    kept = {name: pa.chunked_array([column.filter(matched)]) for name, column in columns.items()}
    return Part(content.name, kept, len(lines) - len(bad), _place(content), text=True, malformed=malformed)


def _lines(content: Content) -> pa.Array:
    """The lines that are not blank."""
    texts = content.decoded().decode().split("\n")
    return pa.array([text.rstrip("\r") for text in texts if text and not text.isspace()], pa.string())


def _by_arrow(lines: pa.Array, regex: str) -> dict[str, pa.Array] | None:
    """The columns, and where lines match under no name; None for an expression that Arrow does not know."""
    try:
        found = pc.extract_regex(lines, regex)
    except pa.ArrowInvalid:
        return None
    columns = {found.type.field(i).name: pc.struct_field(found, i) for i in range(found.type.num_fields)}
    return {
        "": found.is_valid(),
        **{name: pc.if_else(pc.equal(column, ""), None, column) for name, column in columns.items()},
    }


def _by_python(lines: pa.Array, regex: str) -> dict[str, pa.Array]:
    compiled = re.compile(regex)
    found = [compiled.search(line) for line in lines.to_pylist()]
    columns = {
        name: pa.array([None if match is None else match[name] or None for match in found], pa.string())
        for name in compiled.groupindex
    }
    return {"": pa.array(np.array([match is not None for match in found], bool)), **columns}


def _place(content: Content) -> Callable[[int], str]:
    @cache
    def numbers() -> list[int]:
        texts = content.decoded().decode().split("\n")
        return [number for number, text in enumerate(texts, 1) if text and not text.isspace()]

    return lambda position: f"{content.name}:{numbers()[position]}"
