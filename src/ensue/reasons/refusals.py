"""Reasons why an event was not derived: the nearest attempts of each rule, followed down where an event is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ensue.language import typed
from ensue.language.semantics import equality, held, identity
from ensue.language.walk import has_aggregate
from ensue.reasons.answer import Attempt, Missing, Stop, Tried
from ensue.reasons.attempts import Attempts, Try
from ensue.reasons.derivations import Derivations
from ensue.reasons.question import same
from ensue.reasons.slices import bindings
from ensue.reasons.study import Study
from ensue.reasons.timeline import Timeline, in_time
from ensue.reference.expressions import evaluate
from ensue.reference.matches import Event

MOST_ATTEMPTS = 4
"""Attempts that are shown for each rule."""
_UNKNOWN = Stop("unknown", "everything that was looked at holds, and yet it is no match of the rule")

DEEPEST = 4
"""Depth to which missing events are followed down."""


class Refusals:
    """Finds the reasons why rules derive no such event, on the events of a study."""

    def __init__(self, study: Study, shown: int = MOST_ATTEMPTS) -> None:
        self.study, self.shown = study, shown
        self.derivations = Derivations(study)
        self._path: list[tuple[str, Any]] = []

    def of(self, event: str, key: Mapping[str, Any], at: int | None = None) -> Missing | None:
        """Reasons why there is no event of a type with the attributes in `key`, that ends `at` a time if one is given.

        A question that is open already, further up, and one that is too deep are only noted.
        """
        goal = (event, frozenset((name, identity(value)) for name, value in key.items()))
        text = self.study.phrases.event(event, key)
        if goal in self._path:
            return Missing(text, notes=("this is the event in question, further up",))
        if len(self._path) >= DEEPEST:
            return Missing(text, notes=("not followed any further",))
        self._path.append(goal)
        rules = [(number, rule) for number, rule in enumerate(self.study.program.rules) if rule.event == event]
        tried = [self._rule(number, rule, key, at) for number, rule in rules]
        self._path.pop()
        notes = [] if rules else ["no rule derives it"]
        if self.study.program.events[event].declared:
            notes.append("no such event was given, either")
        return Missing(text, tuple(each for each in tried if each is not None), tuple(notes))

    def _rule(self, number: int, rule: typed.Rule, key: Mapping[str, Any], at: int | None) -> Tried | None:
        place = self.study.place(rule)
        bound = bindings(rule, key)
        if bound is None:
            constant = self._constant(rule, key)
            return Tried(place, (Attempt((), (Stop("different", constant),)),))
        attempts = Attempts(self.study, number, *bound, self.of, lambda event: self.derivations.below(event, 2))
        found = []
        for each in attempts.all():
            each = each.lacking(*self._asked(rule, key, each), *self._ending(each))
            if not each.stops:
                each = each.lacking(*self._quiet(number, rule, each))
            each = each.lacking(*self._other_time(each, at))
            found.append(each if each.stops else each.lacking(_UNKNOWN))
        found.sort(key=lambda each: each.distance)
        shown = list(_different(found))
        timeline = Timeline(self.study, rule, attempts.world)
        made = []
        for each in shown[: self.shown]:
            lines = in_time(timeline.matched(each.match, attempts.stops.unseen)) if each.match.parts else ()
            made.append(Attempt(lines, each.stops))
        limited = attempts.limited or self.study.chosen.limited
        return Tried(place, tuple(made), len(shown) - len(made), limited)

    def _constant(self, rule: typed.Rule, key: Mapping[str, Any]) -> str:
        wrong = [
            f"{name}={self.study.phrases.value(term.value, term.type)}"
            for name, term in rule.head
            if isinstance(term, typed.Constant) and name in key and equality(term.value) != equality(key[name])
        ]
        return f"this rule derives {rule.event} with {', '.join(wrong) or 'other values'} only"

    def _asked(self, rule: typed.Rule, key: Mapping[str, Any], attempt: Try) -> Iterator[Stop]:
        """Attributes that would differ from the requested ones."""
        for name, value in self._attributes(rule, attempt).items():
            if name in key and not same(value, key[name]):
                phrases, type_ = self.study.phrases, self.study.program.events[rule.event].attributes[name]
                there, wanted = phrases.value(value, type_), phrases.value(key[name], type_)
                yield Stop("different", f"{name} would be {there}, not {wanted}", 0.9)

    def _attributes(self, rule: typed.Rule, attempt: Try) -> dict[str, Any]:
        """The attributes of the event that an attempt would derive, as far as they are known."""
        types, found = self.study.program.events[rule.event].attributes, {}
        for name, term in rule.head:
            try:
                if attempt.complete or not has_aggregate(term):
                    value = evaluate(term, attempt.match, self.study.knowledge.held)
                    found[name] = held(value, types[name])
            except KeyError:
                continue  # it depends on what is missing
        return found

    def _ending(self, attempt: Try) -> Iterator[Stop]:
        """A timer or a window that has not ended."""
        match, horizon = attempt.match, self.study.horizon
        if attempt.complete and match.end > horizon and not any(s.kind in ("late", "until") for s in attempt.stops):
            phrases = self.study.phrases
            text = (
                f"it is not over: it ends at {phrases.time(match.end)}, {phrases.length(match.end - horizon)} after "
                f"the end of time seen, {phrases.time(horizon)}"
            )
            yield Stop("until", text, 0.1)

    def _other_time(self, attempt: Try, at: int | None) -> Iterator[Stop]:
        if at is not None and attempt.complete and attempt.match.end != at:
            phrases, end = self.study.phrases, attempt.match.end
            off = abs(end - at)
            text = f"it ends at {phrases.time(end)}, not at {phrases.time(at)}"
            yield Stop("different", text, 0.9 + 0.1 * off / (off + 1))

    def _quiet(self, number: int, rule: typed.Rule, attempt: Try) -> Iterator[Stop]:
        """Stop of an event that ``once`` or ``at most`` suppressed."""
        if rule.quiet is None:
            return
        found, kept = self.study.quiet(number)
        identities = self.study.derived_by(number, attempt.match)
        for event in found:
            if event.identity in identities and all(event.identity != each.identity for each in kept):
                yield self._quiet_stop(rule.quiet, event, kept)
                return

    def _quiet_stop(self, quiet: typed.Quiet, event: Event, kept: list[Event]) -> Stop:
        phrases = self.study.phrases
        group = [identity(event.attributes[name]) for name in quiet.keys]
        before = [
            each for each in kept
            if [identity(each.attributes[name]) for name in quiet.keys] == group
            and 0 <= event.end - each.end < quiet.length
        ]  # fmt: skip
        per = f" per {', '.join(quiet.keys)}" if quiet.keys else ""
        often = "once" if quiet.most == 1 else f"at most {quiet.most}"
        shown = ", ".join(map(phrases.at, before[:3]))
        ago = phrases.length(event.end - before[-1].end) if before else ""
        were = "was" if len(before) == 1 else "were"
        text = (
            f"{phrases.at(event)} was not kept, because of `{often}{per} in {phrases.length(quiet.length)}`: "
            f"{shown} {were}, {ago} before"
        )
        return Stop("quiet", text, 0.1)


def _different(tries: list[Try]) -> Iterator[Try]:
    """Attempts in their order, without those that only combine events that were shown before."""
    shown: set[Any] = set()
    said: set[Any] = set()
    for each in tries:
        events = {part.identity for part in each.match.parts if part.event}
        texts = tuple(stop.text for stop in each.stops)
        if (events and events <= shown) or (not each.complete and texts in said):
            continue
        shown |= events
        said.add(texts)
        yield replace(each, stops=tuple({stop.text: stop for stop in each.stops}.values()))
