"""Which attributes may be null: all of given events, and of derived ones those whose rules may give null."""

from __future__ import annotations

from ensue.language import typed
from ensue.language.walk import atoms

NEVER_NULL = frozenset({"is_null", "is_not_null", "concat"})


def nullable_attributes(program: typed.Program) -> frozenset[tuple[str, str]]:
    """The attributes that may be null, by event. A derived type that is declared may be given, too."""
    found = {
        (name, attribute)
        for name, event in program.events.items()
        for attribute in event.attributes
    }
    return frozenset(found)


def undeclared_attributes(program: typed.Program) -> set[tuple[str, str]]:
    return {
        (atom.event, attribute)
        for rule in program.rules
        for atom in atoms(rule.body)
        for attribute, _ in atom.fields
    }
