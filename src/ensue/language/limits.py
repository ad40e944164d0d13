"""Where the language ends: what is deeper, larger or longer than this is refused with a clear error."""

DEEPEST = 150
"""How deeply patterns and expressions may nest."""

MOST_TURNS = 1_000
"""How many turns a derivation may take at one end time before it is taken for one without end."""

MOST_OCCURRENCES = 1_000_000
"""How often a periodic timer may occur while the events of one detection last."""

EARLIEST = -(2**63)
LATEST = 2**63 - 1
"""The first and the last point in time; what lies beyond is cut off there."""
