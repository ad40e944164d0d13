"""All events that a program derives from a finite set of events.

Rules are evaluated stratum by stratum. A stratum that depends on itself is evaluated step by step, one step for each
end time: events that end earlier are known, and those that end now are derived layer by layer until none is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ensue.errors import DetectError, LimitError
from ensue.language import typed
from ensue.language.limits import MOST_TURNS
from ensue.language.semantics import held, identity, order
from ensue.reference.evaluate import World
from ensue.reference.expressions import evaluate
from ensue.reference.matches import Event, Match
from ensue.reference.static import Knowledge, Row

Given = tuple[str, Mapping[str, Any], int, int, Any]
"""An input event: type, attributes, start, end, and its sequence (None if there is none)."""


def detect(
    program: typed.Program,
    given: Sequence[Given],
    until: int | None = None,
    tables: Mapping[str, Sequence[Row]] | None = None,
    first_end: int | None = None,
    last_end: int | None = None,
    suppressed: dict[int, int] | None = None,
    most: int | None = None,
) -> list[Event]:
    """The derived events, in order. `first_end` and `last_end` count rows that are not among those given, too.

    `suppressed` takes how many events each rule did not keep because of ``once`` or ``at most``, by its number. A rule
    that has more than `most` matches is an error.
    """
    ends = [end for *_, end, _ in given] + [end for end in (first_end, last_end) if end is not None]
    horizon = until if until is not None else max(ends, default=None)
    if horizon is None:
        return []
    seen = [end for end in ends if end <= horizon]
    detection = Detection(program, given, horizon, min(seen, default=None), Knowledge(program, tables or {}))
    detection.most = most
    found = detection.run()
    if suppressed is not None:
        suppressed.update(detection.suppressed())
    return found


class Detection:
    """Detection at work: all events that are known so far, given and derived."""

    def __init__(
        self, program: typed.Program, given: Sequence[Given], last_end: int, first_end: int | None, knowledge: Knowledge
    ) -> None:
        self.program = program
        self.last_end = last_end
        self.first_end = first_end
        self.knowledge = knowledge
        self.ranks = {name: rank for rank, name in enumerate(program.events)}
        self.known: dict[str, list[Event]] = {}
        self.derived: dict[Any, Event] = {}
        self.taken = len(given)
        self.most: int | None = None
        """Most matches of one rule."""
        for position, (type_, attributes, start, end, sequence) in enumerate(given):
            if end <= last_end:
                event = Event(type_, attributes, start, end, (), frozenset((position,)), position)
                self._know(replace(event, key=self.key_of(event, sequence)))

    def run(self) -> list[Event]:
        for stratum in self.program.strata:
            if stratum.recursive:
                self._step_by_step(stratum)
            else:
                rules = [i for layer in stratum.layers for i in layer]
                for event in merged(self._results(rules, self.world(self.last_end))):
                    self._derive(event)
        return sorted(self.derived.values(), key=lambda e: e.key)

    def _step_by_step(self, stratum: typed.Stratum) -> None:
        rules = [i for layer in stratum.layers for i in layer]
        time: int | None = None
        while True:
            # Events that would end later are not final, but their ends, as those of timers, are times to look again.
            found = [event for i in rules for event in self._matched(i, self.world(time))]
            later = {event.end for event in found if time is None or event.end > time}
            later |= {e.end for events in self.known.values() for e in events if time is None or e.end > time}
            if not later:
                return
            time = min(later)
            for layer in stratum.layers:
                self._settle(layer, time)

    def _settle(self, layer: Iterable[int], time: int) -> None:
        """Derives all that ends now, until nothing new follows."""
        for _ in range(MOST_TURNS):
            results = [event for event in self._results(layer, self.world(time)) if event.end == time]
            if not sum(self._derive(event) for event in merged(results)):
                return
        types = ", ".join(sorted({self.program.rules[i].event for i in layer}))
        raise DetectError(
            f"The rules for {types} derive event after event at time {time} and do not come to an end. "
            "Let each turn need a later event, or bound it with a condition."
        )

    def world(self, time: int | None) -> World:
        """The world up to a time."""
        limit = self.last_end if time is None else time
        events = {type_: [e for e in known if e.end <= limit] for type_, known in self.known.items()}
        if time is None:
            events = {}
        return World(events, self.knowledge, self.first_end, self.last_end)

    def _results(self, rules: Iterable[int], world: World) -> list[Event]:
        return [event for i in rules for event in self._apply(i, world)]

    def _apply(self, number: int, world: World) -> list[Event]:
        """Derive the events of a rule, without those that ``once`` or ``at most`` suppress."""
        found, quiet = self._matched(number, world), self.program.rules[number].quiet
        return found if quiet is None else kept(merged(found), quiet)

    def suppressed(self) -> dict[int, int]:
        """Number of events suppressed by each rule with ``once per`` or ``at most``, by the rule's number."""
        world = self.world(self.last_end)
        rules = {number: rule.quiet for number, rule in enumerate(self.program.rules) if rule.quiet is not None}
        found = {number: merged(self._matched(number, world)) for number in rules}
        return {number: len(found[number]) - len(kept(found[number], quiet)) for number, quiet in rules.items()}

    def _matched(self, number: int, world: World) -> list[Event]:
        return [event for event, _ in self.matches(number, world)]

    def matches(self, number: int, world: World) -> Iterator[tuple[Event, Match]]:
        """The matches of a rule, each with the event that it derives."""
        rule = self.program.rules[number]
        event_type = self.program.events[rule.event]
        types = event_type.attributes
        for count, match in enumerate(world.body(rule.body, head=[term for _, term in rule.head])):
            if count == self.most:
                which = f"A rule for `{rule.event}`" if rule.label is None else f"The rule `{rule.label}`"
                raise LimitError.of_matches(which, count, self.taken)
            attributes = {
                name: held(evaluate(term, match, self.knowledge.held), types[name]) for name, term in rule.head
            }
            start = match.start if rule.beginning is None else match.labels[rule.beginning].start
            event = Event(rule.event, attributes, start, match.end, (), match.sources)
            if event.end <= self.last_end:
                same = _same(event)
                itself = (number, same, match.identity) if event_type.each else same
                yield replace(event, key=self.key_of(event, None), identity=itself), match

    def key_of(self, event: Event, sequence: Any) -> tuple[Any, ...]:
        """The place in the order of events: end, start, sequence, type, attributes."""
        declared = self.program.events.get(event.type)
        names = declared.attributes if declared is not None else sorted(event.attributes)
        attributes = tuple(order(event.attributes.get(name)) for name in names)
        rank = self.ranks.get(event.type, len(self.ranks))
        return (event.end, event.start, order(sequence), rank, attributes)

    def _derive(self, event: Event) -> bool:
        """Add a derived event; True if it is new, or has more sources than before."""
        before = self.derived.get(event.identity)
        if before is None:
            self._know(event)
        elif event.sources <= before.sources:
            return False
        else:
            event = replace(event, sources=event.sources | before.sources)
            known = self.known[event.type]
            known[known.index(before)] = event
        self.derived[event.identity] = event
        return True

    def _know(self, event: Event) -> None:
        self.known.setdefault(event.type, []).append(event)


def kept(events: Iterable[Event], quiet: typed.Quiet) -> list[Event]:
    """A rule's events without those that ``once`` or ``at most`` suppress, in their order."""
    found: list[Event] = []
    ends: dict[Any, list[int]] = {}
    for event in sorted(events, key=lambda event: event.key):
        group = ends.setdefault(tuple(identity(event.attributes[name]) for name in quiet.keys), [])
        if sum(event.end - end < quiet.length for end in group) < quiet.most:
            group.append(event.end)
            found.append(event)
    return found


def _same(event: Event) -> Any:
    values = tuple((name, identity(value)) for name, value in event.attributes.items())
    return (event.type, event.start, event.end, values)


def merged(events: Iterable[Event]) -> list[Event]:
    """Derivations of the same event as one, which came from the inputs of all."""
    found: dict[Any, Event] = {}
    for event in events:
        if event.identity in found:
            event = replace(event, sources=found[event.identity].sources | event.sources)
        found[event.identity] = event
    return list(found.values())
