"""The executions that run every case."""

from ensue.program import ENGINES

NAMES = tuple(ENGINES)
