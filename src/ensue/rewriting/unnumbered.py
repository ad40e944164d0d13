"""Patterns that differ in nothing but their numbers."""

from __future__ import annotations

from dataclasses import replace

from ensue.language import typed


def unnumbered(pattern: typed.Pattern) -> typed.Pattern:
    """An event, or a choice of events, without the number that distinguishes it from equal ones; others as they are."""
    match pattern:
        case typed.Atom():
            return replace(pattern, id=0)
        case typed.Either(alternatives=alternatives):
            return replace(pattern, id=0, alternatives=tuple(map(unnumbered, alternatives)))
        case _:
            return pattern
