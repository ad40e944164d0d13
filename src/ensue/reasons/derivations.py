"""Derivations of an event: the matches that it comes from, each followed down to the given events."""

from __future__ import annotations

from ensue.reasons.answer import Derivation, Detected
from ensue.reasons.study import Study
from ensue.reasons.timeline import Timeline, in_time
from ensue.reference.matches import Event, Match

DEEPEST = 5
"""Number of derivations that are followed below an event."""
MOST_DERIVATIONS = 3
"""Number of matches that are shown, if several derive one event."""
MOST_UNFOLDED = 40
"""Derived events that are followed in one answer."""


class Derivations:
    """Follows derived events of a study. An event that was followed already is not followed again."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._followed = 0

    def of(self, event: Event, depth: int = 0) -> Detected:
        """Derivations of an event."""
        matches = [
            (number, match)
            for number, rule in enumerate(self.study.program.rules)
            if rule.event == event.type
            for match in self.study.matches(number, event)
        ]
        shown = tuple(self._derivation(number, match, depth) for number, match in matches[:MOST_DERIVATIONS])
        return Detected(self.study.shown(event), shown, len(matches) - len(shown))

    def below(self, event: Event, depth: int = 0) -> tuple[Detected, ...]:
        """Derivations of an event that another is made of; nothing for a given one, or where there is too much."""
        if event.identity not in self.study.detection.derived:
            return ()
        if depth >= DEEPEST or self._followed >= MOST_UNFOLDED:
            return (Detected(self.study.shown(event), (), -1),)
        self._followed += 1
        return (self.of(event, depth + 1),)

    def _derivation(self, number: int, match: Match, depth: int) -> Derivation:
        rule = self.study.program.rules[number]
        world = self.study.world(self.study.horizon)
        timeline = Timeline(self.study, rule, world, lambda event: self.below(event, depth))
        lines = in_time(timeline.matched(match) + timeline.looked_for(match))
        return Derivation(self.study.place(rule), lines)
