"""Dependencies between rules and their times: the order of evaluation, and recursion that has no meaning.

A rule's head at one end time may depend on an event at the same end time or only on earlier ones; this follows from the
closure of the distances. A construct that is not monotone (negation, aggregation, windows, contexts, policies) must not
depend on its own result at the same end time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ensue.language import typed
from ensue.language.contained import Apart, closed_outside, needs_whole_step
from ensue.language.diagnostics import Report
from ensue.language.graphs import components
from ensue.language.source import Span
from ensue.records import dataclass
from ensue.temporal.constraints import BODY, constrain
from ensue.temporal.distances import Distances
from ensue.temporal.lifetimes import scope_points


@dataclass(frozen=True)
class Use:
    """One use of an event type by a body."""

    event: str
    span: Span
    earlier: bool
    """True if only events that end before the head does are used."""
    how: str | None
    """The construct by which more of these events can retract a result; None if the use is monotone."""


def check_recursion(
    rules: tuple[typed.Rule, ...], events: Mapping[str, typed.EventType], report: Report
) -> tuple[typed.Stratum, ...]:
    """The strata of the rules, innermost dependencies first."""
    uses = [list(_rule_uses(rule, events)) for rule in rules]
    derived: dict[str, list[int]] = {}
    for index, rule in enumerate(rules):
        derived.setdefault(rule.event, []).append(index)
    depends: dict[str, list[str]] = {name: [] for name in derived}
    at_once: dict[str, list[str]] = {name: [] for name in derived}
    for rule, used in zip(rules, uses, strict=True):
        for use in used:
            if use.event in derived:
                depends[rule.event].append(use.event)
                if not use.earlier:
                    at_once[rule.event].append(use.event)
    _report_cycles(rules, uses, at_once, report)
    strata = []
    for component in components(depends):
        recursive = len(component) > 1 or component[0] in depends[component[0]]
        inside = {name: [other for other in at_once[name] if other in component] for name in component}
        layers = tuple(tuple(i for name in layer for i in derived[name]) for layer in components(inside))
        strata.append(typed.Stratum(layers, recursive))
    return tuple(strata)


def _report_cycles(
    rules: tuple[typed.Rule, ...], uses: list[list[Use]], at_once: dict[str, list[str]], report: Report
) -> None:
    component_of = {name: i for i, component in enumerate(components(at_once)) for name in component}
    told: set[int] = set()
    for rule, used in zip(rules, uses, strict=True):
        for use in used:
            same = component_of.get(use.event) == component_of[rule.event]
            cyclic = use.event in component_of and same
            if cyclic and use.how and not use.earlier and component_of[rule.event] not in told:
                told.add(component_of[rule.event])  # one message for each circle
                circle = f", and needs `{rule.event}`" if use.event != rule.event else ""
                report.error(
                    "E601", use.span,
                    f"`{rule.event}` needs its own result at the same time: `{use.event}` is {use.how} here{circle}",
                    "use earlier results only: let an event follow it with `seq`, or use `while [w): …`",
                )  # fmt: skip


def _rule_uses(rule: typed.Rule, events: Mapping[str, typed.EventType]) -> Iterator[Use]:
    """The uses of events by a rule; an output rate depends on all of them."""
    how = "counted by `once` or `at most`" if rule.quiet is not None else None
    how = "used for matches that `all` keeps apart" if events[rule.event].each else how
    for use in _uses(rule.body, events):
        yield replace(use, how=use.how or how)


def _uses(body: typed.Body, events: Mapping[str, typed.EventType]) -> Iterator[Use]:
    distances = constrain(body, events)
    ends = [(BODY, True)]
    yield from _body_uses(body, distances, ends, None, earlier=False)


def _body_uses(
    body: typed.Body, distances: Distances, ends: list[tuple[int, bool]], how: str | None, earlier: bool
) -> Iterator[Use]:
    how = how or ("selected by the policy" if body.restricted else None)
    if body.pattern is not None:
        yield from _pattern_uses(body.pattern, distances, ends, how, earlier)
    parts: tuple[Apart, ...] = (*body.absences, *body.gatherings)
    for part in parts:
        before = earlier or not needs_whole_step(part) or _is_earlier(_closing(part, body), distances, ends)
        yield from _apart_uses(part.pattern, before, "negated" if isinstance(part, typed.Absence) else "collected")
    if body.window is not None:
        record = body.window.record
        before = earlier or (record.ends_later and not record.sees_its_end)
        yield from _apart_uses(body.window.pattern, before, "collected")
        if body.window.beginning is not None:
            yield from _apart_uses(body.window.beginning, True, "collected")


def _apart_uses(pattern: typed.Pattern, earlier: bool, how: str) -> Iterator[Use]:
    """Uses by a negated or gathered pattern: none of them is monotone."""
    for use in _pattern_uses(pattern, Distances(), [], how, earlier):
        yield Use(use.event, use.span, earlier, use.how)


def _closing(part: Apart, body: typed.Body) -> int | None:
    """The id of the pattern or timer with which a scope ends; None where something in it may end later."""
    points = None if closed_outside(part.pattern) else scope_points(part.scope, body)
    return None if points is None else points[1][0]


def _is_earlier(id_: int | None, distances: Distances, ends: list[tuple[int, bool]]) -> bool:
    """True if a pattern always ends before the end of the match that it is part of."""
    if id_ is None:
        return False
    return any((gap := distances.shortest((id_, True), end)) is not None and gap > 0 for end in ends)


def _pattern_uses(
    pattern: typed.Pattern, distances: Distances, ends: list[tuple[int, bool]], how: str | None, earlier: bool
) -> Iterator[Use]:
    earlier = earlier or _is_earlier(pattern.id, distances, ends)
    match pattern:
        case typed.Atom(event=event, span=span):
            yield Use(event, span, earlier, how)
        case typed.Pair(left=left, right=right, left_context=context):
            how = how or (None if context is None else "selected by a context")
            yield from _pattern_uses(left, distances, ends, how, earlier)
            yield from _pattern_uses(right, distances, ends, how, earlier)
        case typed.Either(alternatives=alternatives):
            for alternative in alternatives:
                yield from _pattern_uses(alternative, distances, ends, how, earlier)
        case typed.Lacking(pattern=inner):
            yield from _pattern_uses(inner, distances, ends, how, earlier)
        case typed.Run(pattern=inner):
            yield from _pattern_uses(inner, distances, ends, how or "repeated", earlier)
        case typed.Nested(body=body):
            yield from _body_uses(body, distances, ends, how, earlier)
