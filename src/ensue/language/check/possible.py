"""Temporal conditions that can never hold together, and events that may stand in two places at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from ensue.language import typed
from ensue.language.diagnostics import Report
from ensue.language.source import Span
from ensue.temporal.constraints import BODY, bodies, constrain, labelled, parts
from ensue.temporal.distances import Distances, Point


def check_possible(rule: typed.Rule, events: Mapping[str, typed.EventType], report: Report) -> None:
    """Reports what can never happen in a rule, and warns where one event may be matched twice."""
    for body in bodies(rule.body):
        _check_contradiction(body, events, report)
    _check_instant(rule, events, report)
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


def _check_instant(rule: typed.Rule, events: Mapping[str, typed.EventType], report: Report) -> None:
    """What is declared as `instant` must be derived at one point in time, as far as the conditions tell."""
    if not events[rule.event].instant:
        return
    body = rule.body
    ids = dict(labelled(body.pattern)) if body.pattern is not None else {}
    ids |= {timer.label: timer.id for timer in body.timers if timer.label is not None}
    covered = list(parts(body))
    starts = covered if rule.beginning is None else [ids.get(rule.beginning, BODY)]
    distances = constrain(body, events)
    apart = [distances.longest((start, False), (end, True)) for start in starts for end in covered]
    if body.window is not None or any(length is None or length > 0 for length in apart):
        report.error(
            "E410", rule.span, f"`{rule.event}` is declared as `instant`, but this rule derives it over an interval",
            "leave `instant` out of its declaration, or start it at its end: `… from e <- …`",
        )  # fmt: skip


def _spans(reason: object) -> Iterator[Span]:
    match reason:
        case (
            typed.Body(span=span) | typed.Related(span=span) | typed.Pair(span=span) | typed.Timer(span=span)
            | typed.Atom(span=span)
        ) if span.end:  # fmt: skip
            yield span


def _warn_of_twins(body: typed.Body, events: Mapping[str, typed.EventType], report: Report) -> None:
    """`a(x) and a(y)` may be matched by one event, once on each side."""
    distances = constrain(body, events)
    warned: set[int] = set()
    for one, other, in_context in _same_type(body):
        if other.id in warned or in_context or _differ(one, other) or not _can_coincide(one.id, other.id, distances):
            continue
        warned.add(other.id)
        report.warning(
            "W001", other.span, f"one event `{one.event}` can stand in both places",
            "relate the two in time (`seq`), or compare what makes them different, if that is not meant",
        )  # fmt: skip


def _differ(one: typed.Atom, other: typed.Atom) -> bool:
    """Whether two atoms ask for different constants in one attribute."""
    values = dict(other.fields)
    return any(
        isinstance(value, typed.Constant) and isinstance(values.get(name), typed.Constant) and values[name] != value
        for name, value in one.fields
    )


def _can_coincide(one: int, other: int, distances: Distances) -> bool:
    """Whether the two can have the same start and the same end: no cycle through the joined points is negative."""
    starts, ends = ((one, False), (other, False)), ((one, True), (other, True))

    def least(leave: tuple[Point, Point], arrive: tuple[Point, Point]) -> int | None:
        found = (distances.longest(a, b) for a in leave for b in arrive)
        return min((length for length in found if length is not None), default=None)

    there, back = least(starts, ends), least(ends, starts)
    around = (least(starts, starts), least(ends, ends), None if there is None or back is None else there + back)
    return all(length is None or length >= 0 for length in around)


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
