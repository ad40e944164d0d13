"""Temporal conditions that can never hold together, and events that may stand in two places at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product

from ensue.language import typed
from ensue.language.diagnostics import Report
from ensue.language.source import Span
from ensue.temporal.constraints import BODY, bodies, constrain, labelled, length_of_event, parts
from ensue.temporal.describe import describe_expression, describe_length
from ensue.temporal.distances import Distances, Point
from ensue.temporal.lifetimes import scope_points


def check_possible(rule: typed.Rule, program: typed.Program, report: Report) -> None:
    """Report impossible conditions of a rule, and warn where one event may be matched twice."""
    events = program.events
    possible = [_check_contradiction(body, program, report) for body in bodies(rule.body)]
    possible.append(_check_own_parts(rule.body, events, report))
    if all(possible):
        for body in bodies(rule.body):
            _warn_of_too_short_a_life(body, program, report)
        _check_instant(rule, events, report)
        _warn_of_twins(rule.body, events, report)


def _check_contradiction(body: typed.Body, program: typed.Program, report: Report) -> bool:
    """True if the conditions of a body can hold together; reports an error if not."""
    reasons = constrain(body, program.events, kept=False).contradiction()
    if reasons is None:
        return True
    place, parts = _told(reasons, body, program, report.source.text)
    if len(parts) > 1:
        message = f"these can never hold together: {', '.join(parts[:-1])} and {parts[-1]}"
    else:
        message = "this can never happen"
    report.error("E501", place, message, "change one of them, or the rule will never find anything")
    return False


def _warn_of_too_short_a_life(body: typed.Body, program: typed.Program, report: Report) -> None:
    """Warn where a match would need events that ended longer ago than they are kept."""
    reasons = constrain(body, program.events).contradiction()
    if reasons is None:
        return
    others = [reason for reason in reasons if reason != ("keep", body)]
    place, parts = _told(others, body, program, report.source.text)
    because = f", because of {' and '.join(parts)}" if parts else ""
    report.warning(
        "W004", place, f"this never happens with `keep {describe_length(body.keep or 0, program)}`{because}",
        "keep events longer, or shorten the time that the rule needs",
    )  # fmt: skip


def _told(reasons: Iterable[object], body: typed.Body, program: typed.Program, text: str) -> tuple[Span, list[str]]:
    """The best place to show a contradiction, and a phrase for each condition that takes part in it."""
    spans = sorted({span for reason in reasons for span in _spans(reason, text)})
    parts = [f"`{_short(' '.join(text[s.start : s.end].split()))}`" for s in spans]
    parts += [_lasting(r.event, program) for r in reasons if isinstance(r, typed.Atom)]
    parts += [f"`{describe_expression(r, program)}`" for r in reasons if isinstance(r, typed.Operation)]
    return spans[-1] if spans else body.span, list(dict.fromkeys(parts))


def _lasting(event: str, program: typed.Program) -> str:
    """Phrase for the length of events of a type."""
    low, high = length_of_event(event, program.events)
    if high == 0:
        return f"`{event}` is instantaneous"
    length = partial(describe_length, program=program)
    if high is None:
        return f"`{event}` lasts {length(low)} at least"
    if low == high:
        return f"`{event}` lasts {length(low)}"
    return f"`{event}` lasts {f'{length(low)} to {length(high)}' if low else f'{length(high)} at most'}"


def _check_own_parts(body: typed.Body, events: Mapping[str, typed.EventType], report: Report) -> bool:
    """True unless a negated event is always there, because the match itself has it; reports an error if so.

    Where only a null could keep the match from having it, that is a warning.
    """
    distances = constrain(body, events)
    for absence in body.absences:
        negated, shared = absence.pattern, set(absence.shared)
        if body.restricted or not isinstance(negated, typed.Atom):
            continue
        for part, certain in _surely_matched_in(absence.scope, body):
            if not _always_matches(negated, part, shared, shared) or not _lies_in(absence.scope, part, body, distances):
                continue
            if _always_matches(negated, part, shared, certain):
                report.error(
                    "E501", negated.span,
                    f"this can never happen: an event `{part.event}` is always inside, the one that is matched",
                    _elsewhere(absence.scope, part.event),
                )  # fmt: skip
                return False
            names = " or ".join(f"`{name}`" for name in absence.shared if name not in certain)
            report.warning(
                "W012", negated.span,
                f"this holds only where {names} is null: an event `{part.event}` is always inside, the one that is "
                "matched",
                _elsewhere(absence.scope, part.event),
            )  # fmt: skip
    return True


def _elsewhere(scope: typed.Scope, event: str) -> str:
    if isinstance(scope, typed.During):
        return f"leave out the end of the window at which this `{event}` is: `while [w)` or `while (w]`"
    return f"look for it between other events, with `not {event}(…) in [… , …]`"


def _surely_matched_in(scope: typed.Scope, body: typed.Body) -> Iterator[tuple[typed.Atom, set[str]]]:
    """The events of every match that may lie in a scope, with the variables that are surely not null."""
    match scope:
        case typed.Inside(pattern=id_):
            yield from _surely_inside(body.pattern, id_)
        case typed.During() if body.pattern is not None:
            yield from _surely_matched(body.pattern, set())


def _lies_in(scope: typed.Scope, part: typed.Atom, body: typed.Body, distances: Distances) -> bool:
    """True if an event always lies in a scope."""
    points = scope_points(scope, body) if isinstance(scope, typed.During) else None
    if points is None:
        return isinstance(scope, typed.Inside)
    after = distances.shortest(points[0], (part.id, False))
    until = distances.shortest((part.id, True), points[1])
    first, last = not typed.includes_start(scope), not typed.includes_end(scope)
    return after is not None and after >= first and until is not None and until >= last


def _surely_inside(pattern: typed.Pattern | None, id_: int) -> Iterator[tuple[typed.Atom, set[str]]]:
    """The events that every instance of a ``without`` consists of, with the variables that are surely not null."""
    match pattern:
        case typed.Lacking(pattern=inner) if pattern.id == id_:
            yield from _surely_matched(inner, set())
        case typed.Lacking(pattern=inner):
            yield from _surely_inside(inner, id_)
        case typed.Pair(left=left, right=right):
            yield from _surely_inside(left, id_)
            yield from _surely_inside(right, id_)


def _surely_matched(pattern: typed.Pattern, certain: set[str]) -> Iterator[tuple[typed.Atom, set[str]]]:
    match pattern:
        case typed.Atom():
            yield pattern, certain
        case typed.Lacking(pattern=inner):
            yield from _surely_matched(inner, certain)
        case typed.Pair(left=left, right=right, shared=shared, left_gathering=None, right_gathering=None):
            yield from _surely_matched(left, certain | set(shared))
            yield from _surely_matched(right, certain | set(shared))
        case typed.Nested(body=typed.Body(pattern=inner, restricted=False)) if inner is not None:
            yield from _surely_matched(inner, certain)


def _always_matches(negated: typed.Atom, part: typed.Atom, shared: set[str], certain: set[str]) -> bool:
    """True if an event that matches `part` always matches `negated`, too; a null equals nothing."""
    known = dict(part.fields)
    if negated.event != part.event or len({name for name, _ in negated.fields}) < len(negated.fields):
        return False
    free = [term.name for _, term in negated.fields if isinstance(term, typed.Variable) and term.name not in shared]
    if len(set(free)) < len(free):
        return False
    return all(
        known.get(name) == term and (isinstance(term, typed.Constant) or term.name in certain)
        for name, term in negated.fields
        if isinstance(term, typed.Constant) or term.name in shared
    )


def _spans(reason: object, text: str) -> Iterator[Span]:
    """The places where a reason is written."""
    match reason:
        case (str(word), typed.Body(span=span)):
            written = _blanked(text, span)
            suffixes = list(re.finditer(rf"\b{word}\s+[\w.]+", written))
            if suffixes:
                yield Span(*suffixes[-1].span())
            elif span.end:
                yield span
        case typed.Related(span=span) | typed.Pair(span=span) | typed.Timer(span=span) | typed.Either(span=span) if (
            span.end
        ):
            yield span


def _blanked(text: str, span: Span) -> str:
    """The text up to the end of a span, with blanks for all before it and for strings inside it."""
    inside = re.sub(r'"(\\.|[^"\\])*"|`[^`]*`|#[^\n]*', lambda found: " " * len(found[0]), text[span.start : span.end])
    return " " * span.start + inside


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:30]} … {text[-30:]}"


def _check_instant(rule: typed.Rule, events: Mapping[str, typed.EventType], report: Report) -> None:
    """Report an event declared as `instant` that its rule may derive over an interval."""
    event = events[rule.event]
    if not (event.declared and event.instant):  # others are instants where their rules make them so
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
            "E410", head_span(rule, report.source.text),
            f"`{rule.event}` is declared as `instant`, but this rule derives it over an interval",
            "leave `instant` out of its declaration, or start it at its end: `… from e <- …`",
        )  # fmt: skip


def head_span(rule: typed.Rule, text: str) -> Span:
    """The place of the name in the head of a rule."""
    found = re.compile(rf"`?{re.escape(rule.event)}`?(?=[\s(])").search(text, *rule.span)
    return Span(*found.span()) if found else rule.span


def _warn_of_twins(body: typed.Body, events: Mapping[str, typed.EventType], report: Report) -> None:
    """Warn of `a(x) and a(y)`, which one event may match, once on each side."""
    if body.pattern is None:
        return
    twins: list[tuple[typed.Atom, typed.Atom]] = []
    _twins(body.pattern, twins)
    conditions = [each for inner in (body, *_inner(body.pattern)) for each in (*inner.on, *inner.where)]
    distances = constrain(body, events)
    warned: set[int] = set()
    for one, other in twins:
        if other.id in warned or _differ(one, other) or not _can_coincide(one.id, other.id, distances):
            continue
        if any(_tells_apart(condition, one, other) for condition in conditions):
            continue
        warned.add(other.id)
        report.warning(
            "W001", other.span, f"one `{one.event}` event can match both here and in an earlier place",
            "if you do not want that, put them in order with `seq`, or compare attributes that differ",
        )  # fmt: skip


def _differ(one: typed.Atom, other: typed.Atom) -> bool:
    """True if two atoms require different constants in one attribute."""
    values = dict(other.fields)
    return any(
        isinstance(value, typed.Constant) and isinstance(values.get(name), typed.Constant) and values[name] != value
        for name, value in one.fields
    )


def _tells_apart(condition: typed.Expression, one: typed.Atom, other: typed.Atom) -> bool:
    """True if a condition compares one attribute of two events, so that they cannot be the same one."""
    match condition:
        case typed.Operation(name="and", arguments=conjuncts):
            return any(_tells_apart(conjunct, one, other) for conjunct in conjuncts)
        case typed.Operation(name="<" | ">" | "!=", arguments=(left, right)):
            return any(
                not _attributes(left, first).isdisjoint(_attributes(right, second))
                for first, second in ((one, other), (other, one))
            )
    return False


def _attributes(expression: typed.Expression, atom: typed.Atom) -> set[str]:
    """The attributes of an event that an expression stands for."""
    match expression:
        case typed.Variable(name=variable):
            return {name for name, term in atom.fields if isinstance(term, typed.Variable) and term.name == variable}
        case typed.AttributeOf(label=label, attribute=attribute) if label == atom.label:
            return {attribute}
    return set()


def _can_coincide(one: int, other: int, distances: Distances) -> bool:
    """True if the two can have the same start and the same end: no cycle through the joined points is negative."""
    starts, ends = ((one, False), (other, False)), ((one, True), (other, True))

    def least(leave: tuple[Point, Point], arrive: tuple[Point, Point]) -> int | None:
        found = (distances.longest(a, b) for a in leave for b in arrive)
        return min((length for length in found if length is not None), default=None)

    there, back = least(starts, ends), least(ends, starts)
    around = (least(starts, starts), least(ends, ends), None if there is None or back is None else there + back)
    return all(length is None or length >= 0 for length in around)


def _twins(pattern: typed.Pattern, found: list[tuple[typed.Atom, typed.Atom]]) -> list[typed.Atom]:
    """The atoms of a pattern; `found` gets each two of one type, except those on two sides of a context."""
    match pattern:
        case typed.Atom():
            return [pattern]
        case typed.Pair(left=left, right=right, left_context=context):
            first, second = _twins(left, found), _twins(right, found)
            if context is None:
                found += [(one, other) for one, other in product(first, second) if one.event == other.event]
            return first + second
        case typed.Lacking(pattern=inner):
            return _twins(inner, found)
        case typed.Nested(body=typed.Body(pattern=inner)) if inner is not None:
            return _twins(inner, found)
        case _:
            return []


def _inner(pattern: typed.Pattern) -> Iterator[typed.Body]:
    """The bodies in parentheses that each match of a pattern has a match of."""
    match pattern:
        case typed.Pair(left=left, right=right):
            yield from _inner(left)
            yield from _inner(right)
        case typed.Lacking(pattern=inner):
            yield from _inner(inner)
        case typed.Nested(body=body) if body.pattern is not None:
            yield body
            yield from _inner(body.pattern)
