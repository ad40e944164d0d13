"""Which optimisations are on. They never change what is found: tests run with and without, benchmarks compare."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Options:
    """A flag for each optimisation of the network, for rewriting, and for rules that run as one."""

    lifetimes: bool = True
    """What can no longer match is forgotten."""
    partners: bool = True
    """What lacks a partner in another join of its body, which can no longer come, is forgotten."""
    streaming: bool = True
    """A side of a join that can only match what came before is not stored."""
    suppressing: bool = True
    """A side of a join is not evaluated while nothing waits for it, and rules that only feed it are not run."""
    ending: bool = True
    """What is forbidden between instants ends what waits before it."""
    latest: bool = True
    """Under a policy a sequence keeps one left side for each key where the right one is instantaneous."""
    rewriting: bool = True
    """Rules are rewritten before they are run."""
    ordering: bool = True
    """Where rules are rewritten, their joins are ordered."""
    sharing: bool = True
    """Rules of one shape that are compiled run as one, with a table of their constants."""


ALL = Options()
NONE = Options(**{field.name: False for field in fields(Options)})
