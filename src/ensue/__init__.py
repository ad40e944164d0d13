"""Ensue: composite event detection. Write a situation made of several events as a rule, and find it.

>>> import ensue
>>> program = ensue.compile('''
...     event order(id: int, product: string).
...     event shipped(id: int).
...     done(id, product) <- order(id, product) seq shipped(id).
... ''')
>>> program.detect([
...     {"type": "order", "time": 3, "id": 42, "product": "muffins"},
...     {"type": "shipped", "time": 7, "id": 42},
... ])
[{'type': 'done', 'start': 3, 'end': 7, 'id': 42, 'product': 'muffins'}]
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensue.data import BadRow, DataError
    from ensue.engine.state import StateError
    from ensue.errors import DetectError
    from ensue.language.diagnostics import Diagnostic, RuleError, Severity
    from ensue.live.notices import LateEventsWarning
    from ensue.program import BadRowsWarning, EmptyAttributeWarning, Program, check_rules, compile
    from ensue.reactions import ActionError
    from ensue.session import Session, SessionError

__version__ = "0.1.0"

__all__ = [
    "ActionError",
    "BadRow",
    "BadRowsWarning",
    "DataError",
    "DetectError",
    "Diagnostic",
    "EmptyAttributeWarning",
    "LateEventsWarning",
    "Program",
    "RuleError",
    "Session",
    "SessionError",
    "Severity",
    "StateError",
    "check_rules",
    "compile",
]

_HOMES = {
    "ActionError": "ensue.reactions",
    "BadRow": "ensue.data",
    "BadRowsWarning": "ensue.program",
    "DataError": "ensue.data",
    "DetectError": "ensue.errors",
    "Diagnostic": "ensue.language.diagnostics",
    "EmptyAttributeWarning": "ensue.program",
    "LateEventsWarning": "ensue.live.notices",
    "Program": "ensue.program",
    "RuleError": "ensue.language.diagnostics",
    "Session": "ensue.session",
    "SessionError": "ensue.session",
    "Severity": "ensue.language.diagnostics",
    "StateError": "ensue.engine.state",
    "check_rules": "ensue.program",
    "compile": "ensue.program",
}


def __getattr__(name: str) -> Any:
    """What the package offers is imported when it is first asked for, so that `ensue --version` answers at once."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ensue' has no attribute {name!r}")
    import importlib

    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value
