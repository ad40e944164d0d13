"""The meaning of patterns and bodies: all their matches among a finite set of events.

Nothing here is incremental or clever. A pattern's matches are computed from those of its parts; a body's are those of
its constituents, joined with timers and static rows, then filtered by one kind of condition after the other.

With a longest lifetime (``keep 7d.``) a match that ends at `t` is made of events that end at ``t - 7d`` or later, those
in parentheses included (`Match.oldest`); what is negated or gathered counts if it ends then or later. What stands alone
so is a match of its own, as a window is, which is decided when its last event comes or its span is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ensue.errors import DetectError
from ensue.language import typed
from ensue.language.limits import EARLIEST, MOST_OCCURRENCES
from ensue.language.semantics import equality, identity, order
from ensue.language.walk import has_aggregate, has_alternatives, names_used, visible_labels, visible_variables
from ensue.reference.contexts import Witness, paired, select
from ensue.reference.expressions import evaluate, holds
from ensue.reference.matches import (
    NOTHING,
    Event,
    Match,
    MatchPart,
    Occurrence,
    agree,
    both,
    covering,
    gather,
    together,
)
from ensue.reference.restricted import in_order, innermost, latest, preferred
from ensue.reference.static import Knowledge

TIMER_RANK = 2**31
"""Timers come after all events in the order of parts, and rows of static predicates after them."""


class World:
    """Events that have been seen, up to the end of time seen, and static knowledge."""

    def __init__(
        self, events: Mapping[str, list[Event]], knowledge: Knowledge, first_end: int | None, last_end: int
    ) -> None:
        self.events = events
        self.knowledge = knowledge
        self.first_end = first_end
        self.last_end = last_end
        self.witness: Witness | None = None
        """Called with all instances that arrive at pairings with contexts."""
        self._cache: dict[int, list[Match]] = {}
        self._by_value: dict[int, dict[Any, list[Match]]] = {}

    # --- bodies

    def body(self, body: typed.Body, outer: Match = NOTHING, head: Iterable[typed.Expression] = ()) -> list[Match]:
        """All matches of a body. `outer` is the match around a negated or collected body; `head` the head's terms."""
        if body.restricted:
            assert body.pattern is not None
            found = self._restricted(body.pattern, body, body.correlation)
            return [m for m in found if lasts(body, m) and self._all(body.where, m, outer)]
        found = [NOTHING] if body.pattern is None else self.pattern(body.pattern, body, outer)
        for lookup in body.lookups:
            found = [joined for match in found for joined in self.look_up(lookup, match)]
        found = [timed for match in found if (timed := self._set_timers(body.timers, match)) is not None]
        if body.window is not None:
            found = [seen for match in found for seen in self.windows(body, match, list(head))]
        found = [match for match in found if self.in_relation(body, match, outer) and lasts(body, match)]
        for gathering in body.gatherings:
            found = [full for match in found if (full := self._gather(gathering, body, match, outer)) is not None]
        found = [m for m in found if not any(self.inside(absence, body, m, outer) for absence in body.absences)]
        found = [m for m in found if self._all((*self.decidable(body.on, m), *body.where), m, outer)]
        return _distinct(found, typed.Nested(0, body)) if has_alternatives(body.pattern) else found

    def _all(self, conditions: Iterable[typed.Expression], match: Match, outer: Match) -> bool:
        seen = seeing(match, outer)
        return all(holds(condition, seen, self.knowledge.held) for condition in conditions)

    def decidable(self, conditions: Iterable[typed.Expression], match: Match) -> list[typed.Expression]:
        """Conditions of ``on`` without those on a cumulative constituent, which were decided when it was paired."""
        gathered = {n for members in match.gathered.values() for m in members for n in (*m.values, *m.labels)}
        return [c for c in conditions if not any(n in gathered and not match.knows(n) for n in names_used(c))]

    def in_relation(self, body: typed.Body, match: Match, outer: Match) -> bool:
        seen = seeing(match, outer)
        return all(
            related_in_time(r.relation, seen.labels[r.left], seen.labels[r.right])
            for r in body.related
            if r.left in seen.labels and r.right in seen.labels
        )

    def look_up(self, lookup: typed.Lookup, match: Match) -> Iterator[Match]:
        for values in self.knowledge.bindings(lookup.predicate, lookup.arguments, match.values):
            row = tuple(order(values[t.name]) for t in lookup.arguments if isinstance(t, typed.Variable))
            part = MatchPart((0, 0, (0,), TIMER_RANK + 1, row), ("row", lookup.predicate, row), False)
            yield replace(match, values=values, parts=(*match.parts, part))

    def _set_timers(self, timers: Iterable[typed.Timer], match: Match) -> Match | None:
        """The match with its relative timers, if they have ended."""
        for timer in timers:
            set_ = timer_of(timer, match)
            if set_.end > self.last_end:
                return None
            match = both(match, set_)
        return match

    # --- absence and accumulation

    def scope(self, scope: typed.Scope, match: Match, outer: Match) -> tuple[int, int] | None:
        match scope:
            case typed.During(label=label):
                window = seeing(match, outer).labels[label]
                return window.start, window.end
            case typed.Between(pair=id_):
                return match.spans.get(id_)
            case typed.Inside(pattern=id_):
                return match.spans.get(id_)

    def inside(
        self, part: typed.Absence | typed.Gathering, body: typed.Body, match: Match, outer: Match
    ) -> list[Match]:
        """Matches of a negated or gathered pattern in its scope that agree with the values of the match."""
        span = self.scope(part.scope, match, outer)
        if span is None:
            return []  # a side of an `or` that was not taken
        start, end = span
        first, last = start + (not typed.includes_start(part.scope)), end - (not typed.includes_end(part.scope))
        seen = seeing(match, outer)
        return [
            inner
            for inner in self._agreeing(part, body.keep, seen)
            if known_at(match.end, inner, body.keep) and first <= inner.start and inner.end <= last
        ]

    def _agreeing(self, part: typed.Absence | typed.Gathering, keep: int | None, seen: Match) -> list[Match]:
        """Matches of a negated or gathered pattern, wherever they lie, whose shared variables have the same values."""
        if not part.self_contained:
            return [m for m in self.alone(part.pattern, keep, seen) if agree(seen, m, part.shared)]
        if id(part) not in self._by_value:
            self._by_value[id(part)] = _by_value(self._inner(part.pattern, keep), part.shared)
        key = tuple(equality(seen.values[name]) for name in part.shared)
        return [] if None in key else self._by_value[id(part)].get(key, [])

    def _inner(self, pattern: typed.Pattern, keep: int | None) -> list[Match]:
        if id(pattern) not in self._cache:
            self._cache[id(pattern)] = self.alone(pattern, keep)
        return self._cache[id(pattern)]

    def alone(self, pattern: typed.Pattern, keep: int | None, outer: Match = NOTHING) -> list[Match]:
        """Matches of a pattern that stands alone, such as a negated or collected one; they count by their own end."""
        body = typed.Body(pattern, keep=keep)
        return [replace(m, oldest=m.end) for m in self.pattern(pattern, body, outer) if lasts(body, m)]

    def _gather(self, gathering: typed.Gathering, body: typed.Body, match: Match, outer: Match) -> Match | None:
        if self.scope(gathering.scope, match, outer) is None:
            return match
        members = sorted(self.inside(gathering, body, match, outer), key=lambda m: m.order)
        if len(members) < gathering.low or (gathering.high is not None and len(members) > gathering.high):
            return None
        return gather(match, gathering.id, members)

    # --- windows

    def windows(self, body: typed.Body, rest: Match, head: list[typed.Expression]) -> Iterator[Match]:
        """At each event collected, or each multiple of a length: the events of its group in the window."""
        window, keep = body.window, body.keep
        assert window is not None
        terms = [term for term in head if not has_aggregate(term)]
        if window.kind == "since":
            yield from self._since(window, keep, rest, terms)
            return
        events = [m for m in self._inner(window.pattern, keep) if agree(rest, m, _known(window.shared, rest))]
        groups: dict[Any, list[Match]] = {}
        for event in sorted(events, key=lambda m: m.order):
            groups.setdefault(self._group(window, rest, event, terms), []).append(event)
        for group in groups.values():
            if window.kind in ("each", "gap"):
                ending = self._each if window.kind == "each" else self._sessions
                yield from ending(window, keep, rest, group)
                continue
            for index, event in enumerate(group):
                match window.kind:
                    case "count":
                        members = group[max(0, index + 1 - window.size) : index + 1]
                    case "span":
                        since = event.end - window.size
                        members = [m for m in group if m is event or (m.end <= event.end and m.start > since)]
                    case unknown:
                        raise LookupError(f"there is no window {unknown}")
                yield _collected(window, keep, rest, event, members)

    def _group(self, window: typed.Window, rest: Match, event: Match, terms: list[typed.Expression]) -> Any:
        """The group of an event: the head's other terms, and the variables it shares."""
        seen = seeing(event, rest)
        values = [event.values[name] for name in (*window.shared, *window.keys)]
        values += [evaluate(term, seen, self.knowledge.held) for term in terms]
        return tuple(map(identity, values))

    def _each(self, window: typed.Window, keep: int | None, rest: Match, group: list[Match]) -> Iterator[Match]:
        ends = dict.fromkeys((event.end // window.size + 1) * window.size for event in group)
        for end in ends:
            if end <= self.last_end:
                members = [m for m in group if end - window.size <= m.end < end]
                members = [m for m in members if known_at(end, m, keep)]
                if members:
                    found = gather(_with_names(rest, members[-1]), window.id, members)
                    found = covering(found, max(end - window.size, EARLIEST), end)
                    yield replace(found, oldest=min(rest.oldest, end))

    def _sessions(self, window: typed.Window, keep: int | None, rest: Match, group: list[Match]) -> Iterator[Match]:
        """Sessions: an event belongs to the one before it if it ends no longer than the gap after that one's end."""
        sessions: list[list[Match]] = []
        for event in group:
            if sessions and event.end <= sessions[-1][-1].end + window.size:
                sessions[-1].append(event)
            else:
                sessions.append([event])
        for session in sessions:
            end = session[-1].end + window.size
            members = [m for m in session if known_at(end, m, keep)]
            if end <= self.last_end and members:
                found = gather(_with_names(rest, members[-1]), window.id, members)
                found = covering(found, min(m.start for m in members), end)
                yield replace(found, oldest=min(rest.oldest, end))

    def _since(
        self, window: typed.Window, keep: int | None, rest: Match, terms: list[typed.Expression]
    ) -> Iterator[Match]:
        assert window.beginning is not None
        beginnings = sorted(self._inner(window.beginning, keep), key=lambda m: m.order)
        events = sorted(self._inner(window.pattern, keep), key=lambda m: m.order)
        for event in events:
            before = [
                b for b in beginnings
                if b.end < event.start and known_at(event.end, b, keep)
                and agree(b, event, _known(window.shared, b))
                and agree(rest, b, tuple(n for n in b.values if n in rest.values))
            ]  # fmt: skip
            if not before:
                continue
            known = replace(both(rest, before[-1]), oldest=rest.oldest)
            if not agree(known, event, window.shared):
                continue
            group = self._group(window, known, event, terms)
            members = [
                m for m in events
                if before[-1].end < m.start and m.end <= event.end and agree(known, m, window.shared)
                and self._group(window, known, m, terms) == group
            ]  # fmt: skip
            yield _collected(window, keep, known, event, members)

    # --- patterns

    def pattern(self, pattern: typed.Pattern, body: typed.Body, outer: Match = NOTHING) -> list[Match]:
        """All matches of a pattern that stands in a body."""
        match pattern:
            case typed.Atom():
                return [found for event in self.events.get(pattern.event, []) if (found := atom_match(pattern, event))]
            case typed.Moment(id=id_, time=time, label=label):
                return [moment_of(id_, label, time)] if time <= self.last_end else []
            case typed.Periodic():
                return list(self.occurrences(pattern))
            case typed.Pair(left=left, right=right):
                return self._pair(
                    pattern, self.pattern(left, body, outer), self.pattern(right, body, outer), body, outer
                )
            case typed.Either(alternatives=alternatives):
                either = [found for alternative in alternatives for found in self.pattern(alternative, body, outer)]
                return _distinct(either, pattern, with_spans=True)
            case typed.Lacking(id=id_, pattern=inner):
                lacking = self.pattern(inner, body, outer)
                return [replace(m, spans={**m.spans, id_: (m.start, m.end)}) for m in lacking]
            case typed.Run():
                return list(self.runs(pattern, body.keep))
            case typed.Nested(id=id_, body=inner_body, label=label):
                return [replace(named(m, label), oldest=min(m.oldest, m.end)) for m in self.body(inner_body, outer)]

    def occurrences(self, pattern: typed.Periodic) -> Iterator[Match]:
        if self.first_end is None:
            return
        first = -(-self.first_end // pattern.period) * pattern.period
        times = (self.last_end - first) // pattern.period + 1
        if times > MOST_OCCURRENCES:
            raise DetectError(
                f"A timer with a period of {pattern.period} occurs {times:,} times while these events last, which is "
                f"more than {MOST_OCCURRENCES:,}. Give it a longer period, or detect over a shorter time."
            )
        for time in range(first, self.last_end + 1, pattern.period):
            yield moment_of(pattern.id, pattern.label, time)

    def _pair(
        self, pair: typed.Pair, left: list[Match], right: list[Match], body: typed.Body, outer: Match
    ) -> list[Match]:
        if pair.left_context is not None:
            return select(
                pair, left, right, lambda one, other: self.eligible(pair, body, one, other, outer), self.witness
            )
        by_value = _by_value(right, pair.shared)
        found = []
        for one in left:
            key = tuple(equality(one.values[name]) for name in pair.shared)
            if None not in key:
                others = [other for other in by_value.get(key, ()) if related_in_time(pair.relation, one, other)]
                found += [paired(pair, one, other) for other in others]
        return found

    def eligible(self, pair: typed.Pair, body: typed.Body, one: Match, other: Match, outer: Match) -> bool:
        """True if a pairing passes every temporal condition and every conjunct of ``on`` that it determines."""
        if not related_in_time(pair.relation, one, other):
            return False
        match = both(one, other)
        for timer in body.timers:
            if timer.of in match.labels:
                match = both(match, timer_of(timer, match))
        length = match.end - match.start
        if (body.within is not None and length > body.within) or not is_kept(body, match):
            return False
        if body.lasting is not None and (length > body.lasting or (pair is body.pattern and length != body.lasting)):
            return False
        determined = [c for c in body.on if all(match.knows(n) or outer.knows(n) for n in names_used(c))]
        return self.in_relation(body, match, outer) and self._all(determined, match, outer)

    def runs(self, run: typed.Run, keep: int | None) -> Iterator[Match]:
        groups: dict[Any, list[Match]] = {}
        for match in sorted(self.alone(run.pattern, keep), key=lambda m: m.order):
            groups.setdefault(tuple(identity(match.values[name]) for name in run.keys), []).append(match)
        for group in groups.values():
            for end in range(run.count, len(group) + 1):
                yield together(group[end - run.count : end], run.id, run.keys)

    # --- policy restricted

    def _restricted(self, pattern: typed.Pattern, body: typed.Body, correlation: Iterable[str]) -> list[Match]:
        """The restricted meaning of a pattern; `correlation` holds the variables that matter outside it."""
        variables = sorted(set(correlation) & visible_variables(pattern))
        match pattern:
            case typed.Either(alternatives=alternatives):
                either = [m for a in alternatives for m in self._restricted(a, body, body.correlation)]
                return latest(in_order(either), variables)
            case typed.Pair(left=left, right=right, relation=relation):
                one, other = (preferred(self._restricted(side, body, body.correlation)) for side in (left, right))
                found = [m for m in self._pair(pattern, one, other, body, NOTHING) if lasts(body, m)]
                return innermost(found, variables) if relation.word == "seq" else latest(found, variables)
            case typed.Lacking(id=id_, pattern=inner):
                (absence,) = (a for a in body.absences if a.scope == typed.Inside(id_))
                inside = self._restricted(absence.pattern, body, set(body.correlation) & set(absence.shared))
                return [
                    m for m in self._restricted(inner, body, body.correlation)
                    if not any(m.start <= a.start and a.end <= m.end and agree(m, a, absence.shared) for a in inside)
                ]  # fmt: skip
            case typed.Nested(body=nested, label=label):
                return [named(m, label) for m in self.body(nested)]
            case _:
                return latest(in_order(self.pattern(pattern, body)), variables)


# --- small steps


def lasts(body: typed.Body, match: Match) -> bool:
    """True if a match has a length that its body allows, and every part of it ended recently enough."""
    length = match.end - match.start
    return (
        (body.within is None or length <= body.within)
        and (body.lasting is None or length == body.lasting)
        and is_kept(body, match)
    )


def is_kept(body: typed.Body, match: Match) -> bool:
    return body.keep is None or match.oldest >= match.end - body.keep


def known_at(time: int, match: Match, keep: int | None) -> bool:
    """True if a negated, gathered or collected match is still kept when a match ends at a time."""
    return keep is None or match.end >= time - keep


def seeing(match: Match, outer: Match) -> Match:
    """A match that also knows the values and labels outside it."""
    if outer is NOTHING:
        return match
    return replace(match, values={**outer.values, **match.values}, labels={**outer.labels, **match.labels})


def _distinct(matches: list[Match], pattern: typed.Pattern, with_spans: bool = False) -> list[Match]:
    """Matches without those that are the same, as one event on two sides of an `or` is: the same parts, values, names.

    Matches with different spans of absences or gatherings that are still to be checked are different (`with_spans`).
    """
    variables, labels = sorted(visible_variables(pattern)), sorted(visible_labels(pattern))
    found: dict[Any, Match] = {}
    for match in matches:
        values = tuple(identity(match.values[name]) for name in variables)
        named = tuple((match.labels[label].start, match.labels[label].end) for label in labels)
        attributes = tuple(identity(tuple(match.labels[label].attributes.values())) for label in labels)
        gathered = tuple((id_, tuple(m.identity for m in members)) for id_, members in match.gathered.items())
        spans = tuple(match.spans.items()) if with_spans else ()
        found.setdefault((match.identity, values, named, attributes, gathered, spans), match)
    return list(found.values())


def _by_value(matches: list[Match], shared: tuple[str, ...]) -> dict[Any, list[Match]]:
    """Matches by the values of the variables that they share with something else."""
    groups: dict[Any, list[Match]] = {}
    for match in matches:
        groups.setdefault(tuple(equality(match.values[name]) for name in shared), []).append(match)
    return groups


def _known(names: Iterable[str], match: Match) -> tuple[str, ...]:
    return tuple(name for name in names if name in match.values)


def _with_names(match: Match, event: Match) -> Match:
    """A match that also knows the values of one collected event, for the head's other terms; that decides its place."""
    parts = (*match.parts, *(replace(part, event=False) for part in event.parts))
    values, labels = {**event.values, **match.values}, {**event.labels, **match.labels}
    return replace(match, values=values, labels=labels, parts=parts)


def _collected(window: typed.Window, keep: int | None, rest: Match, event: Match, members: list[Match]) -> Match:
    """The match of a window at one of its events."""
    members = [m for m in members if known_at(event.end, m, keep)]
    found = gather(_with_names(rest, event), window.id, members)
    found = covering(found, min(m.start for m in members), max(m.end for m in members))
    return replace(found, oldest=min(rest.oldest, event.end))


def moment_of(id_: int, label: str | None, time: int) -> Match:
    """A timer of absolute time."""
    return replace(_interval(id_, label, time, time), oldest=time)


def _interval(id_: int, label: str | None, start: int, end: int) -> Match:
    """A timer."""
    labels = {label: Occurrence(start, end)} if label is not None else {}
    part = MatchPart((end, start, (0,), TIMER_RANK, ()), ("timer", id_, start, end), False, id_)
    return Match(start, end, labels=labels, parts=(part,))


def timer_of(timer: typed.Timer, match: Match) -> Match:
    """A relative timer, for the event that it refers to."""
    of = match.labels[timer.of]
    start, end = (max((of.end if end else of.start) + shift, EARLIEST) for end, shift in timer.points)
    return _interval(timer.id, timer.label, start, end)


def named(match: Match, label: str | None) -> Match:
    if label is None:
        return match
    return replace(match, labels={**match.labels, label: Occurrence(match.start, match.end)})


def atom_match(atom: typed.Atom, event: Event) -> Match | None:
    values: dict[str, Any] = {}
    for attribute, term in atom.fields:
        value = event.attributes.get(attribute)
        if isinstance(term, typed.Constant):
            if equality(value) is None or equality(value) != equality(term.value):
                return None
        elif term.name in values:
            if equality(value) is None or equality(value) != equality(values[term.name]):
                return None
        else:
            values[term.name] = value
    labels = {atom.label: Occurrence(event.start, event.end, event.attributes)} if atom.label is not None else {}
    part = MatchPart(event.key, event.identity, pattern=atom.id)
    return Match(event.start, event.end, values, labels, (part,), sources=event.sources, oldest=event.end)


def related_in_time(relation: typed.Relation, left: Match | Occurrence, right: Match | Occurrence) -> bool:
    """True if a relation holds between two intervals."""
    points = ((left.start, left.end), (right.start, right.end))
    for distance in relation.distances:
        (earlier, earlier_end), (later, later_end) = distance.earlier, distance.later
        gap = points[later][later_end] - points[earlier][earlier_end]
        if (distance.low is not None and gap < distance.low) or (distance.high is not None and gap > distance.high):
            return False
    return True
