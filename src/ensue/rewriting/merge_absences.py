"""`(p without q) without q` becomes `p without q`: an absence that stands twice in one place is checked once."""

from __future__ import annotations

from dataclasses import replace

from ensue.language import typed
from ensue.rewriting.unnumbered import unnumbered
from ensue.temporal.constraints import Events


def merge_absences(body: typed.Body, events: Events) -> typed.Body:
    """Merge equal absences. Under a policy a pattern has just one absence of its own, so these stay."""
    if body.restricted:
        return body
    same = _same_places(body.pattern)
    kept: dict[object, typed.Absence] = {}
    for absence in body.absences:
        scope = absence.scope
        if isinstance(scope, typed.Inside):
            scope = typed.Inside(same.get(scope.pattern, scope.pattern))
        kept.setdefault((scope, unnumbered(absence.pattern), absence.shared), absence)
    return body if len(kept) == len(body.absences) else replace(body, absences=tuple(kept.values()))


def _same_places(pattern: typed.Pattern | None) -> dict[int, int]:
    """For each ``without`` around another one, the inner one: both apply to the same interval."""
    match pattern:
        case typed.Lacking(id=id_, pattern=typed.Lacking() as inner):
            found = _same_places(inner)
            return found | {id_: found.get(inner.id, inner.id)}
        case typed.Lacking(pattern=inner_):
            return _same_places(inner_)
        case typed.Pair(left=left, right=right):
            return _same_places(left) | _same_places(right)
        case _:
            return {}
