"""Frequencies of event types, as powers of ten above the rarest one: as exact as join ordering needs.

So tables that differ only in their numbers of rows run alike, and code compiled for one fits the others.
"""

from __future__ import annotations

from collections.abc import Mapping

from ensue.language import typed
from ensue.language.walk import atoms
from ensue.rewriting.conjunctions import joins_several

Rates = tuple[tuple[str, int], ...]
"""The types that are ten times as frequent as the rarest or more, with the power of ten, by name."""

UNKNOWN: Rates = ()
"""All types are taken to be equally frequent."""


def joined_types(program: typed.Program) -> set[str]:
    """The types whose rates matter: those of rules in which more than two events are joined."""
    bodies = (rule.body.pattern for rule in program.rules)
    return {atom.event for pattern in bodies if joins_several(pattern) for atom in atoms(typed.Body(pattern))}


def rates_of(program: typed.Program, counts: Mapping[str, int]) -> Rates:
    """The rates of the events that a program joins, from the number of events of each type.

    A type without a count, such as a derived one, is taken to be as frequent as the rarest counted type.
    """
    types = joined_types(program)
    return powers({name: count for name, count in counts.items() if name in types})


def powers(counts: Mapping[str, int]) -> Rates:
    """Counts as powers of ten above the smallest.

    >>> powers({"fault": 12, "start": 90, "reading": 15_000, "never": 0})
    (('reading', 3),)
    """
    smallest = min((count for count in counts.values() if count), default=1)
    found = {name: len(str(count // smallest)) - 1 for name, count in counts.items()}
    return tuple(sorted((name, power) for name, power in found.items() if power))
