"""The plan of a rule: for each part of it what it keeps, for how long, and which joins do less than they might.

A pure function of the typed program. Executions build what it says, `explain` shows it, and `check` warns of what it
keeps for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ensue.language import typed
from ensue.language.contained import Apart, self_contained
from ensue.language.walk import pairs
from ensue.temporal.adjacent import ended_by
from ensue.temporal.constraints import Events, parts
from ensue.temporal.instants import latest_is_enough
from ensue.temporal.joins import Side, sides_of
from ensue.temporal.lifetimes import Frame, Lifetime, distances_of, lifetime, scope_reach, since
from ensue.temporal.memory import UNBOUNDED, Kind, Memory, constant, until, window
from ensue.temporal.partners import Partners, partners_of
from ensue.temporal.said import events_said, pattern_said, relation_said


@dataclass(frozen=True)
class Kept:
    """What a part of a rule keeps: by which key, for how long after its end, and how much that is."""

    what: str
    key: tuple[str, ...]
    memory: Memory
    advice: str | None = None
    """Which change to the rule would bound it, where nothing does."""
    partners: tuple[str, ...] = ()
    """What it is kept for only as long as that is there, or can come: see `temporal.partners`."""

    @property
    def lifetime(self) -> int | None:
        """How long each is kept after its end, where that is a length of time."""
        return self.memory.size if self.memory.kind is Kind.WINDOW else None


@dataclass(frozen=True)
class Part:
    """A part of a rule: an event, a join, a body, what is absent.

    `kind` and `id` tell it from the other parts of its rule. `streams` are sides that are not stored, `suppresses`
    those that are not evaluated while nothing waits for them.
    """

    kind: str
    id: int
    title: str
    cost: str
    kept: tuple[Kept, ...] = ()
    streams: tuple[str, ...] = ()
    suppresses: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    event: str | None = None
    """The type of events that it takes, where it is one."""

    @property
    def key(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def memory(self) -> Memory:
        """The largest bound of what it keeps itself."""
        return max((kept.memory for kept in self.kept), key=lambda m: (m.kind, m.size), default=constant(0))

    def walk(self) -> Iterator[Part]:
        yield self
        for part in self.parts:
            yield from part.walk()


SOME = 2**56
"""A length of time, to see what any would do; longer than those that rules write."""


@dataclass(frozen=True)
class Known:
    """What is known beside a rule: the types of events, and how lengths of time are said."""

    events: Events
    length: Callable[[int], str]


def plan_of_rule(rule: typed.Rule, events: Events, length: Callable[[int], str] = str) -> Part:
    """The plan of a rule, with advice where something is kept for ever; `length` says lengths of time."""
    known = Known(events, length)
    plan = _body(Frame.of(rule.body), known)
    if all(kept.memory.bounded for part in plan.walk() for kept in part.kept):
        return plan
    bounded = replace(rule.body, within=SOME) if rule.body.within is None and not rule.body.lasting else rule.body
    with_length = {part.key: part for part in _body(Frame.of(bounded), known).walk()}
    return _advised(plan, with_length)


def without_partners(part: Part) -> Part:
    """A plan as generated code follows it, where each join keeps what it needs by itself."""
    kept = tuple(replace(each, partners=()) for each in part.kept)
    return replace(part, kept=kept, parts=tuple(map(without_partners, part.parts)))


def _advised(part: Part, with_length: dict[str, Part]) -> Part:
    bounds = {kept.what: kept.memory for kept in with_length[part.key].kept}
    kept = []
    for each in part.kept:
        if not each.memory.bounded and each.advice is None and bounds[each.what].bounded:
            each = replace(each, advice="say how long it may take, with `within` at the end of the rule")
        kept.append(each)
    return replace(part, kept=tuple(kept), parts=tuple(_advised(inner, with_length) for inner in part.parts))


# --- bodies


def _body(frame: Frame, known: Known) -> Part:
    body = frame.body
    inner: list[Part] = []
    if body.pattern is not None:
        matched = _restricted if body.restricted else _pattern
        inner.append(matched(body.pattern, frame, known))
    ending = _ending(frame, known)
    apart: tuple[Apart, ...] = () if body.restricted else (*body.absences, *body.gatherings)
    inner += [_scope(part, frame, known, part in ending) for part in apart]
    if body.window is not None:
        inner.append(_window(body.window, body.pattern is not None, known))
    kept: tuple[Kept, ...] = ()
    if body.pattern is not None and any(timer.end_shift > 0 for timer in body.timers):
        ends = (since(frame, (id_, True), known.events) for id_ in (body.pattern.id, *parts(typed.Body(body.pattern))))
        waits = min((length for length in ends if length is not None), default=None)
        kept = (Kept(f"matches of {events_said(body.pattern)} until their timers end", (), window(waits)),)
    checks = bool(body.on or body.where or body.related or body.within or body.lasting)
    cost = "checks each match" if checks else "passes on each match"
    return Part("body", frame.id, "match", cost, kept, parts=tuple(inner))


def _ending(frame: Frame, known: Known) -> list[typed.Absence]:
    """The absences that end what waits in a join, so that they keep nothing themselves."""
    if frame.body.restricted:
        return []
    return [absence for pair in pairs(frame.body.pattern) for absence in ended_by(frame, pair, known.events)]


def _scope(part: Apart, frame: Frame, known: Known, ends: bool) -> Part:
    """What is negated or gathered in a scope."""
    absent = isinstance(part, typed.Absence)
    where = {typed.During: "during", typed.Between: "between", typed.Inside: "inside"}[type(part.scope)]
    of = f" {part.scope.label}" if isinstance(part.scope, typed.During) else " it" if where == "inside" else ""
    between = " the two" if where == "between" else ""
    title = f"{'no' if absent else 'all'} {pattern_said(part.pattern)} {where}{of}{between}"
    inner = _pattern(part.pattern, Frame.of(typed.Body(part.pattern)), known)
    kind = "absence" if absent else "gathering"
    said = events_said(part.pattern)
    if ends:
        cost = f"each {said} ends what waits before it"
        return Part(kind, part.pattern.id, title, cost, (), parts=(inner,))
    if self_contained(part)[0] is None:
        advice = f"let {said} share variables with the rest, instead of naming it in parentheses"
        kept = Kept("every event", (), UNBOUNDED, advice)
        return Part(kind, part.pattern.id, title, "for each match: all events anew", (kept,), parts=(inner,))
    kept = Kept(said, part.shared, window(scope_reach(part.scope, frame, known.events)))
    return Part(
        kind,
        part.pattern.id,
        title,
        f"for each match: {_looked_at(said, part.shared)} in its scope",
        (kept,),
        parts=(inner,),
    )


def _window(window_: typed.Window, beside: bool, known: Known) -> Part:
    """A window; beside a pattern all events are kept for matches that are still to come."""
    said, of, keys = events_said(window_.pattern), pattern_said(window_.pattern), (*window_.shared, *window_.keys)
    advice = None
    match window_.kind:
        case "count":
            bound, title = constant(window_.size), f"last {window_.size} {of}"
        case "span":
            bound, title = window(window_.size), f"all {of} of the last {known.length(window_.size)}"
        case "each":
            bound, title = window(window_.size), f"all {of} of each {known.length(window_.size)}"
        case _:
            bound, title = UNBOUNDED, f"all {of} since"
            advice = "count back over a length of time, with `while last 1h: collect …`"
    if beside:
        bound, advice = UNBOUNDED, "give the window a rule of its own, and use what that derives"
    inner = [_pattern(window_.pattern, Frame.of(typed.Body(window_.pattern)), known)]
    if window_.beginning is not None:
        title += f" {pattern_said(window_.beginning)}"
        inner.append(_pattern(window_.beginning, Frame.of(typed.Body(window_.beginning)), known))
    cost = f"for each {said}: its aggregates"
    return Part("window", window_.id, title, cost, (Kept(said, keys, bound, advice),), parts=tuple(inner))


# --- patterns


def _pattern(pattern: typed.Pattern, frame: Frame, known: Known) -> Part:
    match pattern:
        case typed.Atom(event=event, fields=fields):
            filters = any(isinstance(term, typed.Constant) for _, term in fields)
            cost = f"compares each {event}" if filters else f"takes each {event}"
            return Part("event", pattern.id, pattern_said(pattern), cost, event=event)
        case typed.Moment() | typed.Periodic():
            return Part("timer", pattern.id, pattern_said(pattern, known.length), "nothing but time")
        case typed.Pair():
            inner = tuple(_pattern(side, frame, known) for side in (pattern.left, pattern.right))
            return (
                _join(pattern, frame, known, inner)
                if pattern.left_context is None
                else _select(pattern, frame, known, inner)
            )
        case typed.Either(alternatives=alternatives):
            inner = tuple(_pattern(each, frame, known) for each in alternatives)
            return Part("or", pattern.id, "or", "passes on each, once", parts=inner)
        case typed.Lacking(pattern=inside):
            return _pattern(inside, frame, known)
        case typed.Run(pattern=inside, count=count, keys=keys):
            kept = Kept(events_said(inside), keys, constant(count))
            inner = (_pattern(inside, Frame.of(typed.Body(inside)), known),)
            return Part("run", pattern.id, f"{count} in a row", "the last of the group", (kept,), parts=inner)
        case typed.Nested():
            return _body(frame.inside(pattern), known)


def _join(pair: typed.Pair, frame: Frame, known: Known, inner: tuple[Part, ...]) -> Part:
    sides, ends = sides_of(frame, pair, known.events), ended_by(frame, pair, known.events)
    names = _names(pair)
    needed = partners_of(frame, pair, sides, known.events)
    kept = []
    for side, name, partners in zip(sides, names, needed, strict=True):
        if not side.stored:
            continue
        bound = _bound(side.lifetime)
        if side is sides[0] and ends and not (bound.bounded and bound.size == 0):
            by = " or ".join(dict.fromkeys(events_said(absence.pattern) for absence in ends))
            bound = constant(1) if by == events_said(pair.left) else until(by)
        kept.append(Kept(name, pair.shared, bound, partners=_partners_said(partners, name)))
    title, cost = relation_said(pair.relation, known.length), _probes(pair, sides, names, bool(ends))
    return Part(
        "join", pair.id, title, cost, tuple(kept),
        tuple(name for side, name in zip(sides, names, strict=True) if not side.stored),
        tuple(name for side, name in zip(sides, names, strict=True) if side.suppressed),
        inner,
    )  # fmt: skip


def _partners_said(partners: Partners, name: str) -> tuple[str, ...]:
    """What partners are called: by their events, if that tells them from what needs them."""
    said = ((events_said(each.pattern), pattern_said(each.pattern)) for each in partners)
    return tuple(dict.fromkeys(pattern if events == name else events for events, pattern in said))


def _names(pair: typed.Pair) -> tuple[str, str]:
    """What the sides of a pairing are called: by their events, if that tells them apart."""
    left, right = events_said(pair.left), events_said(pair.right)
    return (left, right) if left != right else (pattern_said(pair.left), pattern_said(pair.right))


def _probes(pair: typed.Pair, sides: tuple[Side, Side], names: tuple[str, str], newest: bool) -> str:
    """What is looked at for each instance of a side that has something to look for."""
    looks = []
    for side, name, other in zip(sides, names, reversed(names), strict=True):
        if side.looks:
            looked = f"the newest {other} of its key" if newest else _looked_at(other, pair.shared)
            looks.append(f"for each {name}: {looked}")
    return "; ".join(dict.fromkeys(looks)) or "nothing"


def _looked_at(name: str, shared: tuple[str, ...]) -> str:
    return f"each {name} of its key" if shared else f"every {name}"


def _select(pair: typed.Pair, frame: Frame, known: Known, inner: tuple[Part, ...]) -> Part:
    """A pairing with contexts: initiators wait until they are used up, or can no longer be eligible."""
    distances = distances_of(frame, pair, known.events)
    contexts, sides = (pair.left_context, pair.right_context), (pair.left, pair.right)
    kept, streams = [], []
    for number, side in enumerate(sides):
        name, other = events_said(side), events_said(sides[1 - number])
        if pair.initiator not in (None, number):
            streams.append(name)
            continue
        bound = _bound(lifetime(distances, side.id, pair))
        kept.append(Kept(name, pair.shared, bound if bound.bounded else until(other)))
    words = "/".join(context.initiator for context in contexts if context is not None)
    cost = f"for each that ends a pair: {_looked_at('initiator', pair.shared)}"
    title = f"{relation_said(pair.relation, known.length)}, {words}"
    return Part("select", pair.id, title, cost, tuple(kept), tuple(streams), (), inner)


def _restricted(pattern: typed.Pattern, frame: Frame, known: Known) -> Part:
    """The restricted meaning of a pattern: a pairing keeps what it can still need, and the latest start of a key."""
    body = frame.body
    match pattern:
        case typed.Either(alternatives=alternatives):
            inner = tuple(_restricted(each, frame, known) for each in alternatives)
            return Part("or", pattern.id, "or, the latest start", "passes on each", parts=inner)
        case typed.Pair(left=left, right=right):
            inner = tuple(_restricted(side, frame, known) for side in (left, right))
            joined = _join(pattern, Frame.of(typed.Body(pattern, within=body.within)), known, inner)
            kept = tuple(replace(each, partners=()) for each in joined.kept)
            if pattern.relation.word == "seq":
                kept = (*kept, Kept("the latest start", body.correlation, constant(1)))
            if latest_is_enough(pattern, body, known.events):
                kept = tuple(replace(each, memory=constant(1)) for each in kept)
            return replace(joined, title=f"{joined.title}, restricted", kept=kept, suppresses=())
        case typed.Lacking(id=id_, pattern=inside):
            (absence,) = (each for each in body.absences if each.scope == typed.Inside(id_))
            absent = _pattern(absence.pattern, Frame.of(typed.Body(absence.pattern)), known)
            said = events_said(absence.pattern)
            title, cost = (
                f"no {pattern_said(absence.pattern)} inside it",
                f"for each match: {_looked_at(said, absence.shared)}",
            )
            kept = (Kept(said, absence.shared, UNBOUNDED),)
            inner = (_restricted(inside, frame, known), absent)
            return Part("absence", absence.pattern.id, title, cost, kept, parts=inner)
        case _:
            return _pattern(pattern, frame, known)


def _bound(life: Lifetime) -> Memory:
    lengths = [length for length in (life.start, life.end) if length is not None]
    return window(min(lengths, default=None))
