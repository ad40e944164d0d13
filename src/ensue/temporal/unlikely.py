"""Rules that are probably not meant: they have a meaning, but not the one that most people expect."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.language import typed
from ensue.language.contained import Apart
from ensue.language.diagnostics import Report
from ensue.language.walk import atoms, has_aggregate, names_used, pairs, patterns
from ensue.temporal.possible import head_span

IN_ORDER = frozenset({"seq", "before", "after"})
"""Relations in which one side ends before the other one starts."""


def warn_of_unlikely(rule: typed.Rule, program: typed.Program, report: Report) -> None:
    """Warn of sequences of events that always overlap, and of aggregates over grouping variables."""
    _warn_of_overlapping(rule, program, report)
    _warn_of_groups(rule, report)
    _warn_of_compared_groups(rule, report)


def _bodies(rule: typed.Rule) -> Iterator[typed.Body]:
    """The body of a rule, and those in parentheses in it."""
    yield rule.body
    yield from (each.body for each in patterns(rule.body) if isinstance(each, typed.Nested))


# --- sequences of windows


def _warn_of_overlapping(rule: typed.Rule, program: typed.Program, report: Report) -> None:
    for body in _bodies(rule):
        for pair in pairs(body.pattern):
            match pair:
                case typed.Pair(left=typed.Atom(event=one), right=typed.Atom(event=other, span=span)):
                    neighbours = _neighbours(one, program) if one == other and pair.relation.word in IN_ORDER else None
                    if neighbours is not None:
                        share, hint = neighbours
                        report.warning(
                            "W011", span,
                            f"each `{one}` covers the events that it is computed from, so two neighbours {share} "
                            f"and are never in `{pair.relation.word}`: this finds only pairs that are further apart",
                            hint,
                        )  # fmt: skip


def _neighbours(event: str, program: typed.Program) -> tuple[str, str] | None:
    """The position of an event relative to the next of its type, if windows derive it, and a hint for the user."""
    rules = [rule for rule in program.rules if rule.event == event]
    if not rules or program.events[event].declared or any(rule.beginning is not None for rule in rules):
        return None
    if all(rule.body.window is not None and rule.body.window.kind == "each" for rule in rules):
        return "touch", f"`{event}(…) meets {event}(…)` compares one with the next"
    if all(_slides(rule.body) for rule in rules):
        return "overlap", (
            f"derive it at one moment: `{event}(…) from e <- e: …, w: extend_backward(e, 5m), while [w]: collect …`"
        )
    return None


def _slides(body: typed.Body) -> bool:
    """True if one match and the next have events in common."""
    match body:
        case typed.Body(window=typed.Window(kind="count", size=size)):
            return size > 1
        case typed.Body(window=typed.Window(kind="span" | "since")):
            return True
        case typed.Body(pattern=typed.Run(count=count)):
            return count > 1
    return False


# --- groups


def _warn_of_groups(rule: typed.Rule, report: Report) -> None:
    """Warn of an aggregate over variables that are the same for the whole group, as they stand in the head, too."""
    keys: dict[int, set[str]] = {}
    for pattern in patterns(rule.body):
        if isinstance(pattern, typed.Run):
            keys[pattern.id] = set(pattern.keys)
    if rule.body.window is not None:
        keys[rule.body.window.id] = set(rule.body.window.keys)
    expressions = [*(term for _, term in rule.head), *(each for body in _bodies(rule) for each in body.where)]
    head = {name for _, term in rule.head if not has_aggregate(term) for name in names_used(term)}
    for aggregate in dict.fromkeys(found for each in expressions for found in _aggregates(each)):
        names = set(names_used(aggregate.argument))
        same = keys.get(aggregate.path[-1], set()) & head
        if aggregate.name != "count" and names and names <= same:
            listed = " and ".join(f"`{name}`" for name in sorted(names))
            report.warning(
                "W013", head_span(rule, report.source.text),
                f"{listed} {'is' if len(names) == 1 else 'are'} in the head, so each value is a group of its own, and "
                f"`{aggregate.name}` sees one value again and again",
                f"leave {listed} out of the head, or use it in an aggregate there, as in `last(…)`",
            )  # fmt: skip


def _warn_of_compared_groups(rule: typed.Rule, report: Report) -> None:
    """Warn of repeated events that are grouped by a float which a condition bounds: the group is one value."""
    head = {name for _, term in rule.head if not has_aggregate(term) for name in names_used(term)}
    bounded = {
        side.name
        for body in _bodies(rule)
        for each in body.where
        if isinstance(each, typed.Operation) and each.name in ("<", "<=", ">", ">=")
        for side in each.arguments
        if isinstance(side, typed.Variable) and side.type == "float"
    }
    for pattern in patterns(rule.body):
        if isinstance(pattern, typed.Run) and pattern.count > 1:
            for name in sorted(set(pattern.keys) & head & bounded):
                report.warning(
                    "W013", head_span(rule, report.source.text),
                    f"`{name}` is in the head, so each value is a group of its own, and {pattern.count} events must "
                    "have the very same",
                    f"leave `{name}` out of the head and compare all of them: `min(…)` or `max(…)`",
                )  # fmt: skip


def _aggregates(expression: typed.Expression | None) -> Iterator[typed.Aggregate]:
    match expression:
        case typed.Aggregate():
            yield expression
        case typed.Operation(arguments=terms) | typed.Holds(arguments=terms):
            for term in terms:
                yield from _aggregates(term)


# --- windows without brackets


def note_strict_ends(program: typed.Program, report: Report) -> None:
    """Report a note on windows without brackets that begin or end with an event: events at that moment are excluded."""
    for rule in program.rules:
        for body in _bodies(rule):
            apart: tuple[Apart, ...] = (*body.absences, *body.gatherings)
            for part in apart:
                _note_strict_end(part, body, rule, report)


def _note_strict_end(part: Apart, body: typed.Body, rule: typed.Rule, report: Report) -> None:
    scope = part.scope
    if not isinstance(scope, typed.During) or scope.bare is None:
        return
    timers = {timer.label: timer for timer in body.timers if timer.label is not None}
    if scope.label not in timers:
        return
    types = _types(body.pattern)
    inside = {atom.event for atom in atoms(typed.Body(part.pattern))}
    for end, verb in ((False, "begins"), (True, "ends")):
        label = _event_at(scope.label, end, timers)
        if label is None or types.get(label) in inside or rule.event in inside:
            continue  # an event of the same type would be that event itself
        what = " or ".join(f"`{event}`" for event in sorted(inside)) or "a timer"
        report.note(
            "W010", scope.bare,
            f"{what} at the moment of `{label}` does not count here: "
            f"`{scope.label}` {verb} with it, and has no brackets",
            f"`while [{scope.label}]:` counts both ends, `while [{scope.label}):` and `while ({scope.label}]:` one; "
            f"`while ({scope.label}):` states that you mean neither",
        )  # fmt: skip
        return


def _event_at(label: str, end: bool, timers: dict[str, typed.Timer]) -> str | None:
    """The event at whose start or end a timer begins or ends, if there is one."""
    while label in timers:
        timer = timers[label]
        point, shift = timer.points[end]
        if shift:
            return None
        label, end = timer.of, point
    return label


def _types(pattern: typed.Pattern | None) -> dict[str, str]:
    """The types of named events."""
    return {
        each.label: each.event
        for each in (patterns(typed.Body(pattern)) if pattern is not None else ())
        if isinstance(each, typed.Atom) and each.label is not None
    }
