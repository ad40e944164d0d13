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

`compile` gives a `Program`. `Program.detect` answers for events that are all there, `Program.start` gives a `Session`,
to which events are sent as they happen:

>>> session = program.start()
>>> session.send({"type": "order", "time": 3, "id": 42, "product": "muffins"})
[]
>>> session.send({"type": "shipped", "time": 7, "id": 42})
[{'type': 'done', 'start': 3, 'end': 7, 'id': 42, 'product': 'muffins'}]

`backtest` runs rules on events of the past, and compares them with other rules. `why` explains why something was
detected, or why it was not. `ensue.datasets` has events and rules to try. `check_rules` returns the diagnostics of
rules without raising an error. `RuleError` is raised for wrong rules, and `DataError` for events that cannot be used.
The command is `ensue`; see `ensue --help`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensue import datasets
    from ensue.backtesting import backtest
    from ensue.data import BadRow, DataError
    from ensue.engine.state import StateError
    from ensue.errors import (
        BadRowsWarning,
        DetectError,
        EmptyAttributeWarning,
        FunctionWarning,
        LateEventsWarning,
        LimitError,
        MissingTableWarning,
        NoEffectWarning,
        OnePartitionWarning,
        PlainCodeWarning,
        PlainLengthWarning,
        UnusedTypeWarning,
    )
    from ensue.language.diagnostics import Diagnostic, RuleError, Severity
    from ensue.live.guard import SessionError
    from ensue.live.reactions import ActionError
    from ensue.live.session import Session
    from ensue.program import (
        Program,
        check_rules,
        compile,
    )
    from ensue.reasons import Why, why
    from ensue.view.timeline import Timeline, timeline

__version__ = "0.1.0"

__all__ = [
    "ActionError",
    "BadRow",
    "BadRowsWarning",
    "DataError",
    "DetectError",
    "Diagnostic",
    "EmptyAttributeWarning",
    "FunctionWarning",
    "LateEventsWarning",
    "LimitError",
    "MissingTableWarning",
    "NoEffectWarning",
    "OnePartitionWarning",
    "PlainCodeWarning",
    "PlainLengthWarning",
    "Program",
    "RuleError",
    "Session",
    "SessionError",
    "Severity",
    "StateError",
    "Timeline",
    "UnusedTypeWarning",
    "Why",
    "backtest",
    "check_rules",
    "compile",
    "datasets",
    "timeline",
    "why",
]

_HOMES = {
    "ActionError": "ensue.live.reactions",
    "BadRow": "ensue.data",
    "BadRowsWarning": "ensue.errors",
    "DataError": "ensue.data",
    "DetectError": "ensue.errors",
    "Diagnostic": "ensue.language.diagnostics",
    "EmptyAttributeWarning": "ensue.errors",
    "FunctionWarning": "ensue.errors",
    "LateEventsWarning": "ensue.errors",
    "LimitError": "ensue.errors",
    "MissingTableWarning": "ensue.errors",
    "NoEffectWarning": "ensue.errors",
    "OnePartitionWarning": "ensue.errors",
    "PlainCodeWarning": "ensue.errors",
    "PlainLengthWarning": "ensue.errors",
    "Program": "ensue.program",
    "RuleError": "ensue.language.diagnostics",
    "Session": "ensue.live.session",
    "SessionError": "ensue.live.guard",
    "Severity": "ensue.language.diagnostics",
    "StateError": "ensue.engine.state",
    "Timeline": "ensue.view.timeline",
    "UnusedTypeWarning": "ensue.errors",
    "Why": "ensue.reasons",
    "backtest": "ensue.backtesting",
    "check_rules": "ensue.program",
    "compile": "ensue.program",
    "load_ipython_extension": "ensue.editors.notebook",  # what `%load_ext ensue` calls
    "timeline": "ensue.view.timeline",
    "why": "ensue.reasons",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `ensue --version` answers at once."""
    import importlib

    if name == "datasets":
        return importlib.import_module("ensue.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module 'ensue' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """All public names, imported or not, for `help` and completion."""
    return sorted({*globals(), *__all__})
