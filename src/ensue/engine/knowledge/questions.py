"""Repeated queries for a row of a static predicate, each with other values."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from ensue.engine.knowledge.goals import Goals
from ensue.engine.knowledge.plans import Call
from ensue.engine.knowledge.relations import NAN, NULL, Codes, Values


class Question:
    """A predicate and the columns of a query; null and NaN are in no row.

    `rows` are the values of all rows in these columns, where they are known; else the query is a goal.
    """

    __slots__ = ("_call", "_goals", "_known", "_rows")

    def __init__(self, values: Values, goals: Goals, call: Call, rows: Container[Codes] | None) -> None:
        self._known, self._goals, self._call, self._rows = values.known, goals, call, rows

    def holds(self, values: Sequence[Any]) -> bool:
        """True if there is a row with these values."""
        codes = self._known(values)
        if self._rows is not None:
            return codes in self._rows
        return NULL not in codes and NAN not in codes and self._goals.holds(self._call, codes)
