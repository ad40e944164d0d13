"""Functions that cost much less for many strings at once, such as searching for a regular expression.

Code requests one string at a time, in the order of the dictionary. So the answers for the next strings of the
dictionary are computed with it, twice as many each time, and kept until they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ensue.engine.structures.values import Dictionary

MOST = 4096
"""Most strings that are computed at once."""

LINES = 64
"""Most functions, with their other arguments, whose answers are kept."""


class ManyAnswers:
    """Answers that were computed ahead, for each function and its other arguments."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._next: dict[tuple[Any, ...], int] = {}

    def answer(
        self, many: Callable[..., list[Any]], held: Dictionary | Sequence[Any], code: int, others: Sequence[Any]
    ) -> Any:
        """The function of the string with this code, where `held` are all values of the dictionary."""
        text, line = held[code], (many, *others)
        waiting = self._waiting.get(line)
        if waiting is not None and text in waiting:
            return waiting.pop(text)
        if len(self._waiting) >= LINES and line not in self._waiting:
            self._waiting.clear()
            self._next.clear()
        count = self._next.get(line, 1)
        self._next[line] = min(MOST, 2 * count) if not waiting else max(1, count // 2)
        following = (each for each in held[code + 1 : code + count] if type(each) is str)
        texts = [text, *following]
        found = dict(zip(texts, many(texts, *others), strict=True))
        self._waiting[line] = found
        return found.pop(text)
