"""Events that open a scope: negated or gathered events matter only after one of their key has come.

Everything in a scope starts after the scope begins. If an event of the match always ends before that, an instance of
the negated or gathered pattern is useless until such an event of its key has come.
"""

from __future__ import annotations

from ensue.language import typed
from ensue.language.contained import Apart
from ensue.language.walk import constituents, visible_variables
from ensue.records import dataclass
from ensue.temporal.constraints import Events
from ensue.temporal.lifetimes import Frame, scope_points


@dataclass(frozen=True)
class Opener:
    """The atom whose events open a scope, and how long after such an event the scope can last (None: for ever)."""

    atom: int
    reach: int | None


def opener_of(part: Apart, frame: Frame, events: Events) -> Opener | None:
    """The opener of a scope that closes first; None if there is none."""
    points = scope_points(part.scope, frame.body)
    if points is None:
        return None
    begin, end = points
    distances = frame.distances(begin[0], events)
    least = 1 if typed.includes_start(part.scope) else 0
    found = []
    for atom in constituents(frame.body.pattern):
        if set(part.shared) <= visible_variables(atom):
            gap = distances.shortest((atom.id, True), begin)
            if gap is not None and gap >= least:
                found.append(Opener(atom.id, distances.longest((atom.id, True), end)))
    bounded = [opener for opener in found if opener.reach is not None]
    return min(bounded, key=lambda opener: opener.reach or 0) if bounded else next(iter(found), None)
