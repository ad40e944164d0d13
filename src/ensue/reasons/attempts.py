"""Attempts to match a rule: events of one key put together as the rule says, with everything that they lack.

A pattern's attempts are made of those of its parts, as the reference makes its matches; what a match would be dropped
for is noted instead, as a stop. An attempt without a stop is a match. Where a part has no event at all, that is a stop,
too, and whatever depends on it is left open. The nearest attempts are kept at each step: those with the fewest stops,
then those that are off by the least. How many are looked at is limited, and an answer says where the limit was reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ensue.language import typed
from ensue.language.walk import conjuncts, names_used, patterns
from ensue.reasons.answer import Detected, Missing, Stop
from ensue.reasons.choices import Choices
from ensue.reasons.conditions import condition_stop
from ensue.reasons.study import Study
from ensue.reasons.timing import Side, relation_stops, within_stop
from ensue.reference.contexts import paired
from ensue.reference.evaluate import World, atom_match, is_kept, moment_of, named, timer_of
from ensue.reference.matches import NOTHING, Event, Match, both, gather, together
from ensue.temporal.said import events_said, scope_said
from ensue.values import equality

MOST_EVENTS = 200
"""Events of one key that are tried for one place of a pattern."""
MOST_KEPT = 120
"""Attempts that are kept at each step."""

Explained = Callable[[str, Mapping[str, Any]], Missing | None]
"""Why there is no event of a derived type with certain attributes."""
Unfolded = Callable[[Event], tuple[Detected, ...]]


@dataclass(frozen=True)
class Try:
    """Parts of a match, and what they lack. It is `complete` where no event is missing."""

    match: Match
    stops: tuple[Stop, ...] = ()
    complete: bool = True

    @property
    def distance(self) -> tuple[int, int, float, int]:
        """How far it is from a match: fewest stops first, then no event missing, then how much is lacking."""
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
        self.missing, self.unfold = missing, unfold
        self.phrases = study.phrases
        self.world: World = study.beyond()
        self.limited = False
        self.unseen = {each.event.identity: each.event for each in study.unseen}
        own = study.world(study.horizon)
        contexts = any(
            isinstance(each, typed.Pair) and each.left_context is not None for each in patterns(self.rule.body)
        )
        self.choices = Choices.of(self.rule, own) if contexts else Choices()
        self._own = own
        self._atoms = [each.event for each in patterns(self.rule.body) if isinstance(each, typed.Atom)]

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
            known = []
            columns = self.study.program.predicates[lookup.predicate].columns
            for (column, type_), term in zip(columns.items(), lookup.arguments, strict=True):
                if isinstance(term, typed.Constant):
                    known.append(f"{column}={self.phrases.value(term.value, type_)}")
                elif isinstance(term, typed.Variable) and term.name in attempt.match.values:
                    known.append(f"{column}={self.phrases.value(attempt.match.values[term.name], type_)}")
            rows_there = len(self.study.knowledge.rows[lookup.predicate])
            text = f"the table {lookup.predicate} has no row with {', '.join(known)}" if known else "no row"
            text = text if rows_there else f"the table {lookup.predicate} has no rows"
            yield attempt.lacking(Stop("table", text, 0.6))

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
            yield self._missing_stop(
                window.beginning, values, f"no {beginning} came before {self.said(first)}, so nothing counts since it"
            )
        else:
            yield self._missing_stop(window.pattern, values)

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
                if self.world.scope(part.scope, match, NOTHING) is None:
                    continue
                members = sorted(self.world.inside(part, body, match, NOTHING), key=lambda m: m.order)
            except KeyError:
                continue  # it depends on what is missing
            attempt = replace(attempt, match=gather(match, part.id, members))
            if len(members) < part.low or (part.high is not None and len(members) > part.high):
                attempt = attempt.lacking(self._count_stop(part, members, match))
        return attempt

    def _count_stop(self, part: typed.Gathering, members: list[Match], match: Match) -> Stop:
        span = self.world.scope(part.scope, match, NOTHING)
        assert span is not None
        what, where = self.phrases.pattern(part.pattern, match.values), self._where(part.scope, span)
        if not members:
            needed = "" if part.low == 1 else f"; {part.low} are needed"
            return Stop("count", f"no {what} came {where}{needed}", 1.0)
        few = len(members) < part.low
        wanted = part.low if few else part.high
        assert wanted is not None
        text = f"{len(members)} {what} came {where}; at {'least' if few else 'most'} {wanted} are needed"
        return Stop("count", text, abs(len(members) - wanted) / (len(members) + wanted))

    def _where(self, scope: typed.Scope, span: tuple[int, int]) -> str:
        name = {typed.Between: "between the two", typed.Inside: "inside it"}.get(type(scope))
        if isinstance(scope, typed.During):
            name = f"in {scope_said(scope)}"
        return f"{name}, {self.phrases.time(span[0])} – {self.phrases.time(span[1])}"

    def _absences(self, body: typed.Body, attempt: Try) -> Iterator[Stop]:
        for absence in body.absences:
            try:
                span = self.world.scope(absence.scope, attempt.match, NOTHING)
                came = self.world.inside(absence, body, attempt.match, NOTHING) if span is not None else []
            except KeyError:
                continue  # it depends on what is missing
            if not came or span is None:
                continue
            first = min(came, key=lambda m: m.order)
            more = f" and {len(came) - 1} more" if len(came) > 1 else ""
            after, before = first.start - span[0], span[1] - first.end
            text = f"{self.said(first)}{more} came {self._where(absence.scope, span)}"
            weight = min(after, before) / (span[1] - span[0] + 1) / 2 + 0.01 * len(came)
            inner = tuple(each for part in first.parts if part.event for each in self._below(part.identity))
            yield Stop("absence", text, min(weight, 1.0), inner)

    def _below(self, identity: Any) -> tuple[Detected, ...]:
        event = self.study.by_identity.get(identity)
        return () if event is None else self.unfold(event)

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
        """What ``policy restricted`` does not choose, though it matches."""
        own = self._own.body(body)
        chosen = {match.identity for match in own}
        found = []
        for each in tries:
            if each.stops or not each.complete or each.match.identity in chosen:
                found.append(each)
                continue
            inside = [m for m in own if each.match.start <= m.start and m.end <= each.match.end]
            inside = [m for m in inside if all(m.values.get(n) == each.match.values.get(n) for n in body.correlation)]
            instead = f"{self.said(inside[0])} instead" if inside else "another with the same end"
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
            wrong = tuple(self._constant_stops(atom, event))
            match = atom_match(loose, event)
            if match is not None and (asked or not wrong):
                found.append(Try(match, (*stops, *wrong)))
        if len(found) > MOST_EVENTS:
            self.limited = True
            found = sorted(found, key=lambda each: (len(each.stops), -each.match.end))[:MOST_EVENTS]
        return found or [Try(NOTHING, (self._missing_stop(atom, self.bound),), False)]

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

    def _constant_stops(self, atom: typed.Atom, event: Event) -> Iterator[Stop]:
        for attribute, term in atom.fields:
            value = event.attributes.get(attribute)
            if isinstance(term, typed.Constant) and (
                equality(value) is None or equality(value) != equality(term.value)
            ):
                wanted, there = self.phrases.value(term.value, term.type), self.phrases.value(value, term.type)
                yield Stop("value", f"{attribute} of {atom.event} is {there}, not {wanted}", 0.5)

    def _missing_stop(self, pattern: typed.Pattern, values: Mapping[str, Any], text: str | None = None) -> Stop:
        said = self.phrases.pattern(pattern, values)
        inner: tuple[Missing, ...] = ()
        if isinstance(pattern, typed.Atom):
            total = self.study.chosen.totals.get(pattern.event, 0)
            declared = self.study.program.events[pattern.event]
            if declared.derived:
                asked = {
                    attribute: term.value if isinstance(term, typed.Constant) else values[term.name]
                    for attribute, term in pattern.fields
                    if isinstance(term, typed.Constant) or term.name in values
                }
                below = self.missing(pattern.event, asked) if text is None else None
                inner = () if below is None else (below,)
                text = text or f"there is no {said}"
            elif text is None:
                among = "" if not total else f" among the {total:,} {pattern.event} events"
                text = f"there is no {said}{among}"
        return Stop("missing", text or f"there is no {said}", 1.0, inner)

    def _periodic(self, pattern: typed.Periodic) -> list[Try]:
        """Of the occurrences of a timer those next to an event."""
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
            return [Try(NOTHING, (self._missing_stop(run.pattern, self.bound),), False)]
        groups: dict[Any, list[Match]] = {}
        for each in there:
            groups.setdefault(tuple(equality(each.values[name]) for name in run.keys), []).append(each)
        group = max(groups.values(), key=len)
        said = self.phrases.pattern(run.pattern, {**self.bound, **{n: group[0].values[n] for n in run.keys}})
        text = f"there {'is' if len(group) == 1 else 'are'} {len(group)} {said}, {run.count} are needed"
        return [Try(together(group, run.id, run.keys), (Stop("count", text, 1 - len(group) / run.count),), False)]

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
                    stops.append(self._differs(name, pair, *values))
        if complete:
            sides = Side(self._name(pair.left, left), left), Side(self._name(pair.right, right), right)
            stops += relation_stops(pair.relation, *sides, self.phrases.length)
        if pair.left_context is not None and complete:
            if _share_an_event(left, right):
                return None
            if not stops and self.world.eligible(pair, body, left, right, NOTHING):
                if self.choices.paired(pair, left, right):
                    if gathers:
                        return None  # it is part of a composite
                else:
                    stops.append(self.choices.stop(pair, left, right, self.said))
        match = paired(pair, left, right) if complete else both(left, right)
        return Try(match, tuple(stops), complete)

    def _differs(self, name: str, pair: typed.Pair, left: Any, right: Any) -> Stop:
        sides = (events_said(pair.left), events_said(pair.right))
        if left is None or right is None:
            side = sides[0] if left is None else sides[1]
            return Stop("value", f"{name} of {side} is null, and null equals nothing", 0.5)
        said = f"{name} is {self.phrases.value(left)} in {sides[0]} and {self.phrases.value(right)} in {sides[1]}"
        return Stop("value", said, 0.7)

    def _name(self, pattern: typed.Pattern, match: Match) -> str:
        """What a side of a pairing is called; with its time where several events of the rule have the name."""
        if isinstance(pattern, typed.Atom) and self._atoms.count(pattern.event) > 1:
            return f"{pattern.event} @ {self.phrases.span(match.start, match.end)}"
        types = dict.fromkeys(event.type for event in self._matched(match))
        return ", ".join(types) if len(types) == 1 else f"({', '.join(types) or events_said(pattern)})"

    def said(self, match: Match) -> str:
        """The events of an instance, with their times."""
        shown = list(map(self.phrases.at, self._matched(match)))
        return ", ".join(shown[:3]) + (", …" if len(shown) > 3 else "") or "a timer"

    def _matched(self, match: Match) -> list[Event]:
        events = [self.study.by_identity.get(p.identity) or self.unseen.get(p.identity) for p in match.parts if p.event]
        return [event for event in events if event is not None]

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
