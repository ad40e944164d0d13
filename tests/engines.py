"""The executions that run every case, and what one of them cannot do yet, with the reason."""

from ensue.program import ENGINES

GAPS: dict[tuple[str, str], str] = {}
"""(engine, case file): why that engine cannot run it."""

NAMES = tuple(ENGINES)
