"""Which optimisations are on. They never change what is found: tests run with and without, benchmarks compare."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Options:
    """A flag for each optimisation of plans, for rewriting, and for rules that run as one."""

    lengths: bool = True
    """How long derived events last is taken from their rules."""
    lifetimes: bool = True
    """What can no longer match is forgotten."""
    streaming: bool = True
    """A side of a join that can only match what came before is not stored."""
    suppressing: bool = True
    """What comes while nothing of its key could use it is not stored."""
    ending: bool = True
    """What is forbidden between instants ends what waits before it."""
    rewriting: bool = True
    """Rules are rewritten before they are run."""
    ordering: bool = True
    """Where rules are rewritten, their joins are ordered."""
    sharing: bool = True
    """Rules of one shape run as one, with a table of their constants."""
    parts: bool = True
    """Equal parts of rules are built, and what they keep is kept, once."""


ALL = Options()
NONE = Options(**{field.name: False for field in fields(Options)})
