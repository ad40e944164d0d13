"""Where the language ends: what is deeper, larger or longer than this is refused with a clear error."""

from __future__ import annotations

from collections.abc import Iterable

DEEPEST = 150
"""How deeply patterns and expressions may nest."""

MOST_TIMERS = 500
"""How many timers a body may have."""

MOST_TURNS = 1_000
"""How many turns a derivation may take at one end time before it is taken for one without end."""

MOST_ROWS = 100_000
"""How many rows static rules that compute may derive from what they derived, before that is taken for one without
end."""

MOST_OCCURRENCES = 1_000_000
"""How often a periodic timer may occur while the events of one detection last."""

FARTHEST = 2**61
"""How far from 0 the times of events may be, so that lengths can be added to them; a row beyond that is a bad one."""

LONGEST = 2**60
"""How long a length of time may be, and all timers together of which one refers to the next, so that a few of them
added to a time fit into 64 bits."""

EARLIEST = -(2**63)
LATEST = 2**63 - 1
"""The first and the last point in time; what lies beyond is cut off there."""


def no_end(predicates: Iterable[str]) -> str:
    """The message about static rules that derive more than `MOST_ROWS` rows from what they derived."""
    return (
        f"The static rules for {', '.join(sorted(predicates))} derive row after row and do not come to an end: there "
        f"are more than {MOST_ROWS:,}. Bound what they compute with a condition, as in `y < 10`."
    )
