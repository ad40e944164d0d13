"""Draws numbers from a seed, the same on every platform and in every version of Python.

Python promises that for `random()` alone, so all draws are made of it; none needs a function of the platform's own
mathematics.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A source of draws.

    >>> draw = Draw(7)
    >>> draw.between(1, 6), draw.pick("abc"), draw.around(100.0, 5.0)
    (2, 'a', 90.4)
    """

    def __init__(self, seed: int) -> None:
        self._next = Random(seed).random

    def between(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        return low + int(self._next() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.between(0, len(items) - 1)]

    def chance(self, share: float) -> bool:
        """True for this share of the calls."""
        return self._next() < share

    def around(self, mean: float, spread: float, digits: int = 1) -> float:
        """A number near the mean, mostly within the spread and never further away than 3.5 times of it."""
        twelve = sum(self._next() for _ in range(12)) - 6.0  # nearly normal, by the central limit theorem
        return round(mean + spread * max(-3.5, min(3.5, twelve)), digits)
