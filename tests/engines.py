"""The executions that run every case, and what one of them cannot do yet, with the reason."""

from ensue.program import ENGINES

NAMES = tuple(ENGINES)
