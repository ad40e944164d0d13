"""Switches of optimisations. They never change detections: tests run with and without, benchmarks compare."""

from __future__ import annotations

from dataclasses import fields

from ensue.records import dataclass


@dataclass(frozen=True)
class Options:
    """A flag for each optimisation of plans, for rewriting, and for rules that run as one."""

    lengths: bool = True
    """Lengths of derived events are taken from their rules."""
    lifetimes: bool = True
    """Tuples that can no longer match are dropped."""
    streaming: bool = True
    """A side of a join that can only match earlier events is not stored."""
    suppressing: bool = True
    """Matches that nothing of their key could use are not stored."""
    ending: bool = True
    """A forbidden event between instants drops the tuples that wait before it."""
    rewriting: bool = True
    """Rules are rewritten before they are run."""
    ordering: bool = True
    """The joins of rules that are rewritten are ordered."""
    sharing: bool = True
    """Rules of one shape run as one, with a table of their constants."""
    parts: bool = True
    """Equal parts of rules are built, and their state is kept, once."""


ALL = Options()
NONE = Options(**{field.name: False for field in fields(Options)})
