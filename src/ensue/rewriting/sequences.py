"""A sequence as one that is joined from its last event: `a seq b seq c` becomes `a seq (b seq c)`.

Joined so, only single events are stored, and nothing is joined before an event of the last type comes: a stream in
which sequences begin and never end costs the same however long they are. An event is stored only while one that may
stand before it waits (`temporal/joins.waits_for`), so what the last event finds mostly leads to a match. As written,
each event would make and store all beginnings that it continues, and there are the more of these the longer the
sequence and its window are.

This holds for events that share the same variables, or none, and where no condition is about several of them: others
may rule out most beginnings, and then it is better to know that early. Three events with a key stay as they are
written: pairs of one key are few, and several rules may have the same (`engine/sharing/parts.py`).
"""

from __future__ import annotations

from ensue.language import typed
from ensue.language.walk import conjuncts, names_used, visible_labels, visible_variables
from ensue.rewriting.conjunctions import Conjunction, Tree
from ensue.rewriting.join_trees import Joins

FEWEST_WITH_KEY = 4
"""Fewest events, if they have a key, of a sequence that is joined from its last."""


def from_the_last(body: typed.Body, joins: Joins) -> Tree | None:
    """The order of joins from the last event of a sequence to its first; None if the body is no such sequence."""
    events = joins.conjunction.events
    if not (_in_sequence(joins.conjunction) and _share_alike(events) and _apart(body, events)):
        return None
    if len(events) < FEWEST_WITH_KEY and set.intersection(*map(visible_variables, events)):
        return None
    tree: Tree = len(events) - 1
    for place in reversed(range(len(events) - 1)):
        if not joins.possible(place, tree):
            return None
        tree = (place, tree)
    return tree


def _in_sequence(conjunction: Conjunction) -> bool:
    """Tell whether these are single events, each of which ends before the next one starts."""
    if not all(isinstance(event, typed.Atom) for event in conjunction.events):
        return False
    distances = conjunction.distances(range(len(conjunction.events)))
    gaps = [distances.shortest((one, True), (one + 1, False)) for one in range(len(conjunction.events) - 1)]
    return all(gap is not None and gap >= 1 for gap in gaps)


def _share_alike(events: tuple[typed.Pattern, ...]) -> bool:
    """Tell whether each variable that two of the events share is one of all of them."""
    variables = [visible_variables(event) for event in events]
    counts = [sum(name in each for each in variables) for name in set.union(*variables)]
    return all(count in (1, len(events)) for count in counts)


def _apart(body: typed.Body, events: tuple[typed.Pattern, ...]) -> bool:
    """True if each condition is about one event, or about variables that all of them share."""
    known = [visible_variables(event) | visible_labels(event) for event in events]
    conditions = (set(names_used(part)) for each in (*body.on, *body.where) for part in conjuncts(each))
    return all(any(names <= each for each in known) for names in conditions)
