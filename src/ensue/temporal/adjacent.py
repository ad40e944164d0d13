"""Absences that end waiting tuples: where `not p in [q, r]` is about instants, a `p` rules out every `q` before it.

A forbidden event after a left side lies strictly between it and every later right side. So its arrival drops the left
side, the absence stores nothing, and no check is left.
"""

from __future__ import annotations

from collections.abc import Iterable

from ensue.language import typed
from ensue.language.walk import atoms
from ensue.temporal.constraints import Events, constrain
from ensue.temporal.joins import ends_earlier
from ensue.temporal.lifetimes import Frame, distances_of


def ended_by(frame: Frame, pair: typed.Pair, events: Events) -> tuple[typed.Absence, ...]:
    """The absences between the sides of a pairing that end tuples waiting on its left side.

    The forbidden pattern is a single event with the key of the pairing; it and the right side have one time each.
    """
    found = [a for a in frame.body.absences if a.scope == typed.Between(pair.id) and _ends(a, pair, events)]
    if not found:
        return ()
    distances = distances_of(frame, pair, events)
    instant = distances.longest((pair.right.id, False), (pair.right.id, True)) == 0
    return tuple(found) if instant and ends_earlier(pair.left, pair.right, distances) else ()


def _ends(absence: typed.Absence, pair: typed.Pair, events: Events) -> bool:
    pattern = absence.pattern
    alone = constrain(typed.Body(pattern), events)
    return (
        isinstance(pattern, typed.Atom)
        and absence.self_contained
        and absence.shared == pair.shared
        and all(_has_one_type(name, (pair, pattern), events) for name in pair.shared)
        and alone.longest((pattern.id, False), (pattern.id, True)) == 0
    )


def _has_one_type(name: str, patterns: Iterable[typed.Pattern], events: Events) -> bool:
    """True if a variable has one type wherever it stands; else equal keys may have several representations."""
    types = {
        events[atom.event].attributes.get(attribute, "any")
        for pattern in patterns
        for atom in atoms(typed.Body(pattern))
        for attribute, term in atom.fields
        if isinstance(term, typed.Variable) and term.name == name
    }
    return len(types) == 1
