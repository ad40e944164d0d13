"""Places in a text as editors count them: lines and columns from one, as in messages."""

from __future__ import annotations

from ensue.language.source import Source, Span
from ensue.records import dataclass


@dataclass(frozen=True)
class Range:
    """From one character up to another, which is no longer part of it; lines and columns count from one."""

    line: int
    column: int
    end_line: int
    end_column: int


def range_of(source: Source, span: Span) -> Range:
    """The range of a span; one that is empty, or beyond the text, is that of the nearest character.

    >>> range_of(Source("ab\\ncd"), Span(3, 5))
    Range(line=2, column=1, end_line=2, end_column=3)
    >>> range_of(Source("ab"), Span(2, 2))
    Range(line=1, column=2, end_line=1, end_column=3)
    """
    size = len(source.text)
    end = min(max(span.end, span.start + 1), size)
    start = max(0, min(span.start, end - 1))
    return Range(*source.position(start), *source.position(end))


def offset_of(source: Source, line: int, column: int) -> int:
    """The character at a line and a column; the nearest one where there is none.

    >>> source = Source("ab\\ncd")
    >>> offset_of(source, 2, 2), offset_of(source, 1, 9), offset_of(source, 9, 1)
    (4, 2, 5)
    """
    lines = source.text.split("\n")
    if line > len(lines):
        return len(source.text)
    before = sum(len(each) + 1 for each in lines[: max(line, 1) - 1])
    return before + min(max(column, 1) - 1, len(lines[max(line, 1) - 1]))
