"""Limits of the language; programs and rows beyond them are rejected with a clear error."""

from __future__ import annotations

from collections.abc import Iterable

DEEPEST = 150
"""Deepest nesting of patterns and expressions."""

MOST_TIMERS = 500
"""Largest number of timers in a body."""

MOST_TURNS = 1_000
"""Largest number of rounds of derivation at one end time; more count as an endless recursion."""

MOST_ROWS = 100_000
"""Largest number of rows that computing static rules may derive from their own rows; more count as an endless
recursion."""

MOST_OCCURRENCES = 1_000_000
"""Largest number of occurrences of a periodic timer over the events of one detection."""

FARTHEST = 2**61
"""Largest distance of an event's time from 0, so that lengths can be added to it; a row beyond that is a bad row."""

LONGEST = 2**60
"""Longest length of time, also of a chain of timers in total, so that a few of them added to a time fit into
64 bits."""

EARLIEST = -(2**63)
LATEST = 2**63 - 1
"""The first and the last point in time; times beyond are cut off there."""


def no_end(predicates: Iterable[str]) -> str:
    """Message about static rules that derive more than `MOST_ROWS` rows from their own rows."""
    return (
        f"The static rules for {', '.join(sorted(predicates))} derive row after row and do not come to an end: there "
        f"are more than {MOST_ROWS:,}. Bound what they compute with a condition, as in `y < 10`."
    )
