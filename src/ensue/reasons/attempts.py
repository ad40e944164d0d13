"""Attempts to match a rule: events of one key combined as the rule requires, with everything that they lack.

A pattern's attempts are made of those of its parts, as the reference makes its matches; a reason to drop a match is
noted instead, as a stop. An attempt without a stop is a match. Where a part has no event at all, that is a stop, too,
and conditions that depend on it are left open. The nearest attempts are kept at each step: those with the fewest stops,
then those that are off by the least. Their number is limited, and an answer says where the limit was reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ensue.language import typed
from ensue.language.semantics import equality
from ensue.language.walk import conjuncts, names_used, patterns
from ensue.reasons.answer import Stop
from ensue.reasons.choices import Choices
from ensue.reasons.conditions import condition_stop
from ensue.reasons.stops import Explained, Stops, Unfolded
from ensue.reasons.study import Study
from ensue.reasons.timing import Side, relation_stops, within_stop
from ensue.records import dataclass
from ensue.reference.contexts import paired
from ensue.reference.evaluate import World, atom_match, is_kept, moment_of, named, timer_of
from ensue.reference.matches import NOTHING, Event, Match, both, gather, together

MOST_EVENTS = 100
"""Events of one key that are tried for one place of a pattern."""
MOST_KEPT = 120
"""Attempts that are kept at each step."""


@dataclass(frozen=True)
class Try:
    """Parts of a match, and their stops. It is `complete` where no event is missing."""

    match: Match
    stops: tuple[Stop, ...] = ()
    complete: bool = True

    @property
    def distance(self) -> tuple[int, int, float, int]:
        """Distance from a match, for sorting: number of stops, of missing events, total weight; later ones first."""
        missing = sum(stop.kind == "missing" for stop in self.stops)
        return len(self.stops), missing, sum(stop.weight for stop in self.stops), -self.match.end

    def lacking(self, *stops: Stop) -> Try:
        """The same with more stops."""
        return replace(self, stops=(*self.stops, *stops)) if stops else self


class Attempts:
    """Makes the attempts of one rule, for events whose variables and attributes have certain values."""

    def __init__(
        self, study: Study, number: int, bound: Mapping[str, Any], attributes: Mapping[tuple[str, str], Any],
        missing: Explained, unfold: Unfolded,
    ) -> None:  # fmt: skip
        self.study, self.rule = study, study.program.rules[number]
        self.bound, self.attributes = bound, attributes
        self.stops = Stops(study, self.rule, missing, unfold)
        self.phrases = study.phrases
        self.world: World = study.beyond()
        self.limited = False
        own = study.world(study.horizon)
        contexts = any(
            isinstance(each, typed.Pair) and each.left_context is not None for each in patterns(self.rule.body)
        )
        self.choices = Choices.of(self.rule, own) if contexts else Choices()
        self._own = own

    def all(self) -> list[Try]:
        """The attempts for the whole rule, the nearest first."""
        return self.body(self.rule.body, [term for _, term in self.rule.head])

    # --- bodies

    def body(self, body: typed.Body, head: Iterable[typed.Expression] = ()) -> list[Try]:
        """The attempts for a body."""
        tries = [Try(NOTHING)] if body.pattern is None else self.pattern(body.pattern, body)
        for lookup in body.lookups:
            tries = [joined for each in tries for joined in self._look_up(lookup, each)]
        tries = [self._set_timers(body.timers, each) for each in tries]
        if body.window is not None:
            tries = [seen for each in tries for seen in self._windows(body, body.window, each, list(head))]
        tries = [each.lacking(*self._timing(body, each)) for each in self._nearest(tries)]
        tries = [self._gather(body, each) for each in tries]
        tries = [each.lacking(*self._absences(body, each)) for each in tries]
        tries = [each.lacking(*self._conditions(body, each)) for each in tries]
        if body.restricted:
            tries = self._restricted(body, tries)
        return self._nearest(tries)

    def _look_up(self, lookup: typed.Lookup, attempt: Try) -> Iterator[Try]:
        rows = list(self.world.look_up(lookup, attempt.match))[:MOST_EVENTS]
        yield from (replace(attempt, match=row) for row in rows)
        if not rows:
            yield attempt.lacking(self.stops.no_row(lookup, attempt.match))

    def _set_timers(self, timers: Iterable[typed.Timer], attempt: Try) -> Try:
        match = attempt.match
        for timer in timers:
            if timer.of in match.labels:
                match = both(match, timer_of(timer, match))
        return replace(attempt, match=match)

    def _windows(
        self, body: typed.Body, window: typed.Window, attempt: Try, head: list[typed.Expression]
    ) -> Iterator[Try]:
        if not attempt.complete:
            yield attempt
            return
        found = [m for m in self.world.windows(body, attempt.match, head) if self._is_of_key(m)]
        if len(found) > MOST_EVENTS:
            self.limited = True
            found = sorted(found, key=lambda m: -m.end)[:MOST_EVENTS]
        yield from (replace(attempt, match=each) for each in found)
        if not found:
            yield replace(attempt.lacking(*self._nothing_collected(window, body, attempt)), complete=False)

    def _nothing_collected(self, window: typed.Window, body: typed.Body, attempt: Try) -> Iterator[Stop]:
        collected = [m for m in self.world.alone(window.pattern, body.keep) if self._is_of_key(m)]
        values = {**self.bound, **attempt.match.values}
        if window.beginning is not None and collected:
            beginning = self.phrases.pattern(window.beginning, values)
            first = min(collected, key=lambda m: m.start)
            yield self.stops.missing(
                window.beginning,
                values,
                f"no {beginning} came before {self.stops.describe(first)}, so nothing counts since it",
            )
        else:
            yield self.stops.missing(window.pattern, values)

    def _is_of_key(self, match: Match) -> bool:
        return all(
            equality(match.values[name]) == equality(value)
            for name, value in self.bound.items()
            if name in match.values
        )

    def _timing(self, body: typed.Body, attempt: Try) -> Iterator[Stop]:
        match, length = attempt.match, self.phrases.length
        timers = {timer.label for timer in body.timers}
        for each in body.related:
            if each.left in match.labels and each.right in match.labels:
                left, right = (Side(n, match.labels[n], n in timers) for n in (each.left, each.right))
                yield from relation_stops(each.relation, left, right, length)
        taken = match.end - match.start
        if body.within is not None and taken > body.within:
            yield within_stop(taken, body.within, "within", length)
        if body.lasting is not None and attempt.complete and taken != body.lasting:
            yield within_stop(taken, body.lasting, "lasting", length)
        if body.keep is not None and not is_kept(body, match):
            excess = match.end - body.keep - match.oldest
            text = f"a part ended {length(match.end - match.oldest)} before it, longer than `keep {length(body.keep)}`"
            yield Stop("time", text, excess / (excess + body.keep + 1))

    # --- what is gathered, negated, and compared

    def _gather(self, body: typed.Body, attempt: Try) -> Try:
        for part in body.gatherings:
            match = attempt.match
            try:
                span = self.world.scope(part.scope, match, NOTHING)
                if span is None:
                    continue
                members = sorted(self.world.inside(part, body, match, NOTHING), key=lambda m: m.order)
            except KeyError:
                continue  # it depends on what is missing
            attempt = replace(attempt, match=gather(match, part.id, members))
            if len(members) < part.low or (part.high is not None and len(members) > part.high):
                attempt = attempt.lacking(self.stops.count(part, members, span, match))
        return attempt

    def _absences(self, body: typed.Body, attempt: Try) -> Iterator[Stop]:
        for absence in body.absences:
            try:
                span = self.world.scope(absence.scope, attempt.match, NOTHING)
                came = self.world.inside(absence, body, attempt.match, NOTHING) if span is not None else []
            except KeyError:
                continue  # it depends on what is missing
            if not came or span is None:
                continue
            yield self.stops.absence(absence, came, span)

    def _conditions(self, body: typed.Body, attempt: Try) -> Iterator[Stop]:
        match = attempt.match
        on = self.world.decidable(body.on, match)
        for condition in (*on, *body.where):
            for each in conjuncts(condition):
                if not all(match.knows(name) for name in names_used(each)):
                    continue  # it depends on what is missing
                stop = condition_stop(each, match, self.study, body)
                if stop is not None:
                    yield stop

    def _restricted(self, body: typed.Body, tries: list[Try]) -> list[Try]:
        """Tries that ``policy restricted`` does not choose, though it matches."""
        own = self._own.body(body)
        chosen = {match.identity for match in own}
        found = []
        for each in tries:
            if each.stops or not each.complete or each.match.identity in chosen:
                found.append(each)
                continue
            inside = [m for m in own if each.match.start <= m.start and m.end <= each.match.end]
            inside = [m for m in inside if all(m.values.get(n) == each.match.values.get(n) for n in body.correlation)]
            instead = f"{self.stops.describe(inside[0])} instead" if inside else "another with the same end"
            found.append(each.lacking(Stop("policy", f"`policy restricted` keeps {instead}", 0.6)))
        return found

    # --- patterns

    def pattern(self, pattern: typed.Pattern, body: typed.Body) -> list[Try]:
        """The attempts for a pattern that stands in a body."""
        match pattern:
            case typed.Atom():
                return self._atom(pattern)
            case typed.Moment(id=id_, time=time, label=label):
                return [Try(moment_of(id_, label, time))]
            case typed.Periodic():
                return self._periodic(pattern)
            case typed.Pair(left=left, right=right):
                return self._pair(pattern, self.pattern(left, body), self.pattern(right, body), body)
            case typed.Either(alternatives=alternatives):
                return self._nearest(each for side in alternatives for each in self.pattern(side, body))
            case typed.Lacking(id=id_, pattern=inner):
                return [_spanning(each, id_) for each in self.pattern(inner, body)]
            case typed.Run():
                return self._run(pattern, body)
            case typed.Nested(body=inner_body, label=label):
                tries = self.body(inner_body)
                return [self._nested(each, label) for each in tries]

    def _nested(self, attempt: Try, label: str | None) -> Try:
        match = attempt.match
        if not attempt.complete:
            return attempt
        return replace(attempt, match=replace(named(match, label), oldest=min(match.oldest, match.end)))

    def _atom(self, atom: typed.Atom) -> list[Try]:
        asked = any(isinstance(term, typed.Variable) and term.name in self.bound for _, term in atom.fields)
        asked = asked or any(label == atom.label for label, _ in self.attributes)
        loose = replace(atom, fields=tuple(each for each in atom.fields if isinstance(each[1], typed.Variable)))
        found: list[Try] = []
        for event, stops in self._events(atom.event):
            if not self._has_key(atom, event):
                continue
            wrong = tuple(self.stops.constants(atom, event))
            match = atom_match(loose, event)
            if match is not None and (asked or not wrong):
                found.append(Try(match, (*stops, *wrong)))
        if len(found) > MOST_EVENTS:
            self.limited = True
            found = sorted(found, key=lambda each: (len(each.stops), -each.match.end))[:MOST_EVENTS]
        return found or [Try(NOTHING, (self.stops.missing(atom, self.bound),), False)]

    def _events(self, type_: str) -> Iterator[tuple[Event, tuple[Stop, ...]]]:
        for event in self.world.events.get(type_, ()):
            yield event, ()
        for unseen in self.study.unseen:
            if unseen.event.type == type_:
                yield unseen.event, (Stop(unseen.kind, f"{self.phrases.at(unseen.event)}: {unseen.reason}", 0.3),)

    def _has_key(self, atom: typed.Atom, event: Event) -> bool:
        for attribute, term in atom.fields:
            wanted = self.bound.get(term.name) if isinstance(term, typed.Variable) else None
            if wanted is not None and equality(event.attributes.get(attribute)) != equality(wanted):
                return False
        return all(
            equality(event.attributes.get(attribute)) == equality(value)
            for (label, attribute), value in self.attributes.items()
            if label == atom.label
        )

    def _periodic(self, pattern: typed.Periodic) -> list[Try]:
        """The occurrences of a timer that are next to an event."""
        period, first, last = pattern.period, self.study.detection.first_end, self.study.horizon
        times = {t for e in self.study.by_identity.values() for end in (e.start, e.end)
                 for t in (end // period * period, -(-end // period) * period)}  # fmt: skip
        times = {time for time in times if first is not None and first <= time <= last}
        found = sorted(times)[-MOST_EVENTS:]
        self.limited = self.limited or len(found) < len(times)
        missing = Stop("missing", f"every({self.phrases.length(period)}) does not occur while these events last")
        return [Try(moment_of(pattern.id, pattern.label, t)) for t in found] or [Try(NOTHING, (missing,), False)]

    def _run(self, run: typed.Run, body: typed.Body) -> list[Try]:
        found = [m for m in self.world.runs(run, body.keep) if self._is_of_key(m)]
        if found:
            self.limited = self.limited or len(found) > MOST_EVENTS
            return [Try(m) for m in found[-MOST_EVENTS:]]
        there = [m for m in self.world.alone(run.pattern, body.keep) if self._is_of_key(m)]
        if not there:
            return [Try(NOTHING, (self.stops.missing(run.pattern, self.bound),), False)]
        groups: dict[Any, list[Match]] = {}
        for each in there:
            groups.setdefault(tuple(equality(each.values[name]) for name in run.keys), []).append(each)
        group = max(groups.values(), key=len)
        few = self.stops.run(run, group, self.bound)
        return [Try(together(group, run.id, run.keys), (few,), False)]

    # --- pairs

    def _pair(self, pair: typed.Pair, left: list[Try], right: list[Try], body: typed.Body) -> list[Try]:
        found: list[Try] = []
        gathers = pair.left_gathering is not None or pair.right_gathering is not None
        if gathers:
            found += self._composites(pair)
        for one in left:
            for other in right:
                made = self._paired(pair, one, other, body, gathers)
                if made is not None:
                    found.append(made)
            if len(found) > 20 * MOST_KEPT:
                found = self._nearest(found)
        return self._nearest(found)

    def _composites(self, pair: typed.Pair) -> Iterator[Try]:
        """The composites of a pairing that gathers a side: they are as the reference made them."""
        for arrival in self.choices.composites(pair):
            sides = [list(arrival.taken), [arrival.match]]
            if arrival.side == 0:
                sides.reverse()
            made = []
            for members, gathering in zip(sides, (pair.left_gathering, pair.right_gathering), strict=True):
                made.append(members[0] if gathering is None else together(members, gathering, pair.shared))
            match = paired(pair, *made)
            if self._is_of_key(match):
                yield Try(match)

    def _paired(self, pair: typed.Pair, one: Try, other: Try, body: typed.Body, gathers: bool) -> Try | None:
        left, right = one.match, other.match
        stops = [*one.stops, *other.stops]
        complete = one.complete and other.complete
        for name in pair.shared:
            if name in left.values and name in right.values:
                values = left.values[name], right.values[name]
                if equality(values[0]) is None or equality(values[0]) != equality(values[1]):
                    stops.append(self.stops.differs(name, pair, *values))
        if complete:
            sides = Side(self.stops.name(pair.left, left), left), Side(self.stops.name(pair.right, right), right)
            apart = list(relation_stops(pair.relation, *sides, self.phrases.length))
            if apart and _share_an_event(left, right):
                return self._without_another(pair, one)
            stops += apart
        if pair.left_context is not None and complete:
            if _share_an_event(left, right):
                return None
            if not stops and self.world.eligible(pair, body, left, right, NOTHING):
                if self.choices.paired(pair, left, right):
                    if gathers:
                        return None  # it is part of a composite
                else:
                    stops.append(self.choices.stop(pair, left, right, self.stops.describe))
        match = paired(pair, left, right) if complete else both(left, right)
        return Try(match, tuple(stops), complete)

    def _without_another(self, pair: typed.Pair, one: Try) -> Try | None:
        """A side alone, where there is none for the other but the event that it has itself."""
        if not isinstance(pair.right, typed.Atom):
            return None
        said = self.phrases.pattern(pair.right, {**self.bound, **one.match.values})
        missing = self.stops.missing(pair.right, one.match.values, f"there is no other {said}")
        return Try(one.match, (*one.stops, missing), False)

    def _nearest(self, tries: Iterable[Try]) -> list[Try]:
        found = sorted(tries, key=lambda each: each.distance)
        self.limited = self.limited or len(found) > MOST_KEPT
        return found[:MOST_KEPT]


def _spanning(attempt: Try, id_: int) -> Try:
    match = attempt.match
    if not attempt.complete:
        return attempt
    return replace(attempt, match=replace(match, spans={**match.spans, id_: (match.start, match.end)}))


def _share_an_event(one: Match, other: Match) -> bool:
    events = {part.identity for part in one.parts if part.event}
    return any(part.event and part.identity in events for part in other.parts)
