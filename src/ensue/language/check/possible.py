"""Temporal conditions that can never hold together, and events that may stand in two places at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from ensue.language import typed
from ensue.language.diagnostics import Report
from ensue.language.source import Span
from ensue.temporal.constraints import bodies, constrain


def check_possible(rule: typed.Rule, events: Mapping[str, typed.EventType], report: Report) -> None:
    """Reports what can never happen in a rule, and warns where one event may be matched twice."""
    for body in bodies(rule.body):
        _check_contradiction(body, events, report)
    _warn_of_twins(rule.body, events, report)


def _check_contradiction(body: typed.Body, events: Mapping[str, typed.EventType], report: Report) -> None:
    reasons = constrain(body, events).contradiction()
    if reasons is None:
        return
    spans = sorted({span for reason in reasons for span in _spans(reason)})
    text = report.source.text
    parts = list(dict.fromkeys(" ".join(text[s.start : s.end].split()) for s in spans))
    shown = "; ".join(f"`{part}`" for part in parts)
    place = spans[-1] if spans else body.span
    if len(parts) > 1:
        message = f"these temporal conditions can never hold together: {shown}"
    else:
        message = f"this can never happen: {shown}"
    report.error("E501", place, message, "change one of them, or the rule will never find anything")


def _spans(reason: object) -> Iterator[Span]:
    match reason:
        case typed.Body(span=span) | typed.Related(span=span) | typed.Pair(span=span) | typed.Timer(span=span) | typed.Atom(span=span):  # fmt: skip
            if span.end:
                yield span


def _warn_of_twins(body: typed.Body, events: Mapping[str, typed.EventType], report: Report) -> None:
    """`a(x) and a(y)` may be matched by one event, once on each side."""
    for one, other, in_context in _same_type(body):
        if in_context or any(
            isinstance(value, typed.Constant) and isinstance(values.get(name), typed.Constant) and values[name] != value
            for values in (dict(other.fields),)
            for name, value in one.fields
        ):
            continue
        distances = constrain(body, events)
        distances.require((one.id, False), (other.id, False), 0, 0)
        distances.require((one.id, True), (other.id, True), 0, 0)
        if distances.contradiction() is None:
            report.warning(
                "W001", other.span, f"one event `{one.event}` can stand in both places",
                "relate the two in time (`seq`), or compare what makes them different, if that is not meant",
            )  # fmt: skip


def _same_type(body: typed.Body) -> Iterator[tuple[typed.Atom, typed.Atom, bool]]:
    atoms = list(_atoms(body.pattern)) if body.pattern is not None else []
    for (one, first), (other, second) in combinations(atoms, 2):
        if one.event == other.event:
            yield one, other, first or second


def _atoms(pattern: typed.Pattern, in_context: bool = False) -> Iterator[tuple[typed.Atom, bool]]:
    match pattern:
        case typed.Atom():
            yield pattern, in_context
        case typed.Pair(left=left, right=right, left_context=context):
            yield from _atoms(left, in_context or context is not None)
            yield from _atoms(right, in_context or context is not None)
        case typed.Lacking(pattern=inner):
            yield from _atoms(inner, in_context)
        case typed.Nested(body=typed.Body(pattern=inner)) if inner is not None:
            yield from _atoms(inner, in_context)
