"""Questions that are asked again and again, with other values: whether a static predicate has a row with them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from ensue.engine.knowledge.goals import Goals
from ensue.engine.knowledge.plans import Call
from ensue.engine.knowledge.relations import NAN, NULL, Codes, Values


class Question:
    """A predicate and the columns that are asked for; null and NaN are in no row.

    `rows` is what all rows have in these columns, where that is known; else it is a goal.
    """

    __slots__ = ("_call", "_goals", "_known", "_last", "_rows", "_values")

    def __init__(self, values: Values, goals: Goals, call: Call, rows: Container[Codes] | None) -> None:
        self._values, self._known, self._goals, self._call, self._rows = values, values.known, goals, call, rows
        self._last: Codes = ()

    def holds(self, values: Sequence[Any]) -> bool:
        """Whether there is a row with these values."""
        codes = self._last = self._known(values)
        if self._rows is not None:
            return codes in self._rows
        return NULL not in codes and NAN not in codes and self._goals.holds(self._call, codes)

    def ahead(self) -> tuple[int, list[Any]]:
        """If there is a row with the values asked for last, others: a place, and what else may stand there."""
        if self._rows is not None:
            return 0, []
        place, answers = self._goals.ahead(self._call, self._last)
        return place, [self._values.values[code] for (code,) in answers] if answers else answers
