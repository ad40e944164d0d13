"""A condition that does not hold: its values, and by how much."""

from __future__ import annotations

from ensue.language import typed
from ensue.language.semantics import is_number
from ensue.reasons.answer import Stop
from ensue.reasons.study import Study
from ensue.reference.expressions import evaluate
from ensue.reference.matches import Match

_COMPARED = ("=", "!=", "<", "<=", ">", ">=")


def condition_stop(condition: typed.Expression, match: Match, study: Study, body: typed.Body) -> Stop | None:
    """Stop of a condition that does not hold; None if it holds, or if it depends on missing events."""
    held = study.knowledge.held
    if not _is_decided(condition, match):
        return None
    value = evaluate(condition, match, held)
    if value is True:
        return None
    said = study.phrases.condition(condition, match, held, body)
    outcome = "is null" if value is None else "is false"
    amount = _amount(condition, match, study)
    if amount is None:
        return Stop("condition", f"{said} {outcome}", 0.6)
    left, right = amount
    off = abs(left - right)
    weight = off / (off + abs(right) + 1) if off == off else 0.6
    type_ = condition.arguments[0].type if isinstance(condition, typed.Operation) else "any"
    shown = study.phrases.length(int(off)) if type_ in ("time", "timestamp") else _shown(off)
    by = f", by {shown}" if off and isinstance(condition, typed.Operation) and condition.name != "!=" else ""
    return Stop("condition", f"{said} {outcome}{by}", min(weight, 0.99))


def _is_decided(expression: typed.Expression | None, match: Match) -> bool:
    """True if everything that an expression aggregates has been gathered."""
    match expression:
        case typed.Aggregate(path=path):
            return path[0] in match.gathered
        case typed.Operation(arguments=terms) | typed.Holds(arguments=terms):
            return all(_is_decided(term, match) for term in terms)
        case _:
            return True


def _amount(condition: typed.Expression, match: Match, study: Study) -> tuple[float, float] | None:
    """Both sides of a comparison of numbers."""
    if not isinstance(condition, typed.Operation) or condition.name not in _COMPARED:
        return None
    left, right = (evaluate(term, match, study.knowledge.held) for term in condition.arguments)
    return (left, right) if is_number(left) and is_number(right) else None


def _shown(number: float) -> str:
    """A difference without digits that only rounding made.

    >>> _shown(0.30000000000000004), _shown(3), _shown(1e300)
    ('0.3', '3', '1e+300')
    """
    return str(number) if isinstance(number, int) else f"{number:.12g}"
