"""Positions in a rule file: its text, and spans of it."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from ensue.records import dataclass


class Span(NamedTuple):
    """A half-open range of characters, ``text[start:end]``."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the beginning of this one to the end of `other`."""
        return Span(self.start, other.end)


NOWHERE = Span(0, 0)


@dataclass(frozen=True)
class Source:
    """The text of a rule file, with the name it is reported under.

    >>> source = Source("a(x) <- b(x).\\nc(x) <- d(x).", "shop.ensue")
    >>> source.position(14)
    (2, 1)
    >>> source.line(2)
    'c(x) <- d(x).'
    """

    text: str
    name: str = "<rules>"

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(i + 1 for i, char in enumerate(self.text) if char == "\n")]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both counted from one."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, without its end."""
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[self._starts[number - 1] : end].rstrip("\r")
