"""`e: a(x), f: b(x), e before f` becomes `e: a(x) before f: b(x)`: a relation is checked where its events meet.

Else all pairs would be made first. Where instances are chosen, relations between names take part in it as they are.
"""

from __future__ import annotations

from dataclasses import replace

from ensue.language import typed
from ensue.temporal.constraints import Events, labelled, selects


def relate_sides(body: typed.Body, events: Events) -> typed.Body:
    if body.pattern is None or not body.related or selects(body):
        return body
    labels = dict(labelled(body.pattern))
    pattern, left = body.pattern, []
    for related in body.related:
        ids = (labels.get(related.left), labels.get(related.right))
        moved = _related(pattern, ids, related.relation)
        if moved is None:
            left.append(related)
        else:
            pattern = moved
    return replace(body, pattern=pattern, related=tuple(left))


def _related(
    pattern: typed.Pattern, ids: tuple[int | None, int | None], relation: typed.Relation
) -> typed.Pattern | None:
    """The pattern with a relation added to the pairing whose sides are the two events; None if there is none."""
    match pattern:
        case typed.Pair(left=left, right=right, relation=own):
            if (left.id, right.id) in (ids, ids[::-1]):
                mirrored = (left.id, right.id) != ids
                more = [_mirrored(each) if mirrored else each for each in relation.distances]
                word = relation.word if own.word == "and" and not mirrored else own.word
                return replace(pattern, relation=typed.Relation(word, (*own.distances, *more)))
            for name, side in (("left", left), ("right", right)):
                found = _related(side, ids, relation)
                if found is not None:
                    return replace(pattern, left=found) if name == "left" else replace(pattern, right=found)
            return None
        case typed.Lacking(pattern=inner):
            found = _related(inner, ids, relation)
            return None if found is None else replace(pattern, pattern=found)
        case _:
            return None


def _mirrored(distance: typed.Distance) -> typed.Distance:
    (earlier, earlier_end), (later, later_end) = distance.earlier, distance.later
    return replace(distance, earlier=(1 - earlier, earlier_end), later=(1 - later, later_end))
