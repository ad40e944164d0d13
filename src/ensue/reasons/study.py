"""The world of a question: the reference's detection on its events, and everything that an answer looks up in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from ensue.language import typed
from ensue.language.source import Source
from ensue.reasons.answer import RuleLocation, Shown
from ensue.reasons.phrases import Phrases
from ensue.records import dataclass
from ensue.reference.detect import Detection, Given, kept, merged
from ensue.reference.evaluate import World
from ensue.reference.matches import NEVER, Event, Match
from ensue.reference.static import Knowledge, Row


@dataclass(frozen=True)
class Unseen:
    """An event that was not seen: it came too late, or time does not run so far. `reason` says which, in words."""

    event: Event
    kind: str
    reason: str


@dataclass(frozen=True)
class Chosen:
    """The events that concern a question, the numbers of their rows, and how far time runs."""

    given: Sequence[Given]
    rows: Sequence[int]
    first_end: int | None
    last_end: int
    late: Mapping[int, str] = field(default_factory=dict)
    """Descriptions of events that came too late, by their position in `given`."""
    totals: Mapping[str, int] = field(default_factory=dict)
    """Number of events of each type, whatever their key."""
    limited: bool = False
    """True where these are not all: there were too many."""


class Study:
    """A program's detection on chosen events, by the reference."""

    def __init__(
        self, program: typed.Program, source: Source, phrases: Phrases, chosen: Chosen,
        tables: Mapping[str, Sequence[Row]],
    ) -> None:  # fmt: skip
        self.program, self.source, self.phrases, self.chosen = program, source, phrases, chosen
        self.horizon = chosen.last_end
        self.knowledge = Knowledge(program, tables)
        seen = [place for place in range(len(chosen.given)) if place not in chosen.late]
        self._places = seen
        first = None if chosen.first_end is None or chosen.first_end > self.horizon else chosen.first_end
        self.detection = Detection(
            program, [chosen.given[place] for place in seen], self.horizon, first, self.knowledge
        )
        self.derived = self.detection.run()
        self._quiet: dict[int, tuple[list[Event], list[Event]]] = {}
        self._matches: dict[tuple[int, int], list[tuple[Event, Match]]] = {}
        self._worlds: dict[int, World] = {}

    @cached_property
    def recursive(self) -> set[int]:
        """The numbers of rules that depend on themselves, which are evaluated step by step."""
        strata = (stratum for stratum in self.program.strata if stratum.recursive)
        return {number for stratum in strata for layer in stratum.layers for number in layer}

    @cached_property
    def by_identity(self) -> dict[Any, Event]:
        """All known events, by their identities."""
        return {event.identity: event for events in self.detection.known.values() for event in events}

    @cached_property
    def unseen(self) -> list[Unseen]:
        """Given events that came too late, or end after the end of time seen."""
        found = []
        for place, (type_, attributes, start, end, sequence) in enumerate(self.chosen.given):
            late = self.chosen.late.get(place)
            if late is None and end <= self.horizon:
                continue
            event = Event(type_, attributes, start, end, (), frozenset(), ("unseen", place))
            event = replace(event, key=self.detection.key_of(event, sequence))
            if late is not None:
                found.append(Unseen(event, "late", late))
            else:
                after = f"it ends after the end of time seen, {self.phrases.time(self.horizon)}"
                found.append(Unseen(event, "until", after))
        return found

    def row(self, event: Event) -> int | None:
        """The number of the row that gave an event; None for one that is derived."""
        match event.identity:
            case int(position):
                return self.chosen.rows[self._places[position]]
            case ("unseen", int(place)):
                return self.chosen.rows[place]
            case _:
                return None

    # --- worlds and matches

    def world(self, time: int) -> World:
        """The world up to a time."""
        if time not in self._worlds:
            self._worlds[time] = self.detection.world(time)
        return self._worlds[time]

    def matches(self, number: int, event: Event) -> list[Match]:
        """The matches of a rule that derive an event."""
        time = event.end if number in self.recursive else self.horizon
        if (number, time) not in self._matches:
            self._matches[number, time] = list(self.detection.matches(number, self.world(time)))
        return [match for found, match in self._matches[number, time] if found.identity == event.identity]

    def derived_by(self, number: int, match: Match) -> set[Any]:
        """Identities of the events that a rule derives from a match with the same parts."""
        found = self.detection.matches(number, self.world(self.horizon))
        return {event.identity for event, each in found if each.identity == match.identity}

    def beyond(self) -> World:
        """All known events, in a world in which every timer ends, to look at pending matches."""
        events = self.world(self.horizon).events
        return _Beyond(events, self.knowledge, self.detection.first_end, self.horizon)

    def quiet(self, number: int) -> tuple[list[Event], list[Event]]:
        """For a rule with ``once`` or ``at most``: all its events, and those that it keeps."""
        if number not in self._quiet:
            quiet = self.program.rules[number].quiet
            assert quiet is not None
            found = merged(event for event, _ in self.detection.matches(number, self.world(self.horizon)))
            self._quiet[number] = found, kept(found, quiet)
        return self._quiet[number]

    # --- shown

    def shown(self, event: Event) -> Shown:
        """An event as an answer holds it."""
        declared = self.program.events.get(event.type)
        types = declared.attributes if declared is not None else {}
        attributes = {
            name: self.phrases.value(value, types[name]) if types.get(name) in ("timestamp", "time") else value
            for name, value in event.attributes.items()
        }
        start, end = self.phrases.time(event.start), self.phrases.time(event.end)
        text = self.phrases.event(event.type, event.attributes)
        return Shown(event.type, attributes, start, end, text, self.row(event))

    def place(self, rule: typed.Rule) -> RuleLocation:
        """The place where a rule is written."""
        line, _ = self.source.position(rule.span.start)
        return RuleLocation(rule.label, rule.event, self.source.name, line)


class _Beyond(World):
    """A world without an end of time, but for timers that occur again and again."""

    def __init__(
        self, events: Mapping[str, list[Event]], knowledge: Knowledge, first_end: int | None, horizon: int
    ) -> None:
        super().__init__(events, knowledge, first_end, NEVER)
        self.horizon = horizon

    def occurrences(self, pattern: typed.Periodic) -> Any:
        within = World(self.events, self.knowledge, self.first_end, self.horizon)
        return within.occurrences(pattern)
