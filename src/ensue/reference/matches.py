"""Events, and matches of patterns with their parts, times, order and inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from ensue.language.semantics import equality
from ensue.records import dataclass

NEVER = 2**80
"""Later than any time."""


@dataclass(frozen=True, eq=False)
class Event:
    """An event, given or derived. `key` is its place in the order of events; `sources` the inputs it came from."""

    type: str
    attributes: Mapping[str, Any]
    start: int
    end: int
    key: tuple[Any, ...]
    sources: frozenset[int]
    identity: Any = None
    """Identity: the position of an input, the content of a derived event."""


@dataclass(frozen=True)
class Occurrence:
    """Value of a label in a match: an event with its attributes, or just an interval."""

    start: int
    end: int
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MatchPart:
    """A part of a match, an event or else a timer or static row: its place in the order, and its identity."""

    key: tuple[Any, ...]
    identity: Any
    event: bool = True
    pattern: int | None = None
    """The id of the atom, timer or predicate that it matches."""


@dataclass(frozen=True, eq=False)
class Match:
    """An instance of a pattern."""

    start: int
    end: int
    values: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Occurrence] = field(default_factory=dict)
    parts: tuple[MatchPart, ...] = ()
    spans: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Spans of the scopes of absences and gatherings, by the id of the pattern."""
    gathered: Mapping[int, tuple[Match, ...]] = field(default_factory=dict)
    sources: frozenset[int] = frozenset()
    oldest: int = NEVER
    """The smallest end of the events, and the timers of absolute time, that it is made of."""

    @property
    def order(self) -> tuple[Any, ...]:
        """By end, then start, then part by part as written."""
        return (self.end, self.start, tuple(part.key for part in self.parts))

    @property
    def identity(self) -> tuple[Any, ...]:
        return tuple(part.identity for part in self.parts)

    def knows(self, name: str) -> bool:
        return name in self.values or name in self.labels


NOTHING = Match(NEVER, -NEVER)
"""A match of nothing, from which a body starts. It lies nowhere, and covers nothing."""


def agree(left: Match, right: Match, shared: tuple[str, ...]) -> bool:
    """True if two matches have equal values for the variables they share; null equals nothing."""
    return all(
        (key := equality(left.values[name])) is not None and key == equality(right.values[name]) for name in shared
    )


def both(left: Match, right: Match) -> Match:
    """Two matches as one, which covers both."""
    return Match(
        min(left.start, right.start),
        max(left.end, right.end),
        {**left.values, **right.values},
        {**left.labels, **right.labels},
        left.parts + right.parts,
        {**left.spans, **right.spans},
        {**left.gathered, **right.gathered},
        left.sources | right.sources,
        min(left.oldest, right.oldest),
    )


def together(members: list[Match], gathering: int, shared: tuple[str, ...]) -> Match:
    """Several matches as one composite, gathered: only the shared values are known of it."""
    return Match(
        min(member.start for member in members),
        max(member.end for member in members),
        {name: members[0].values[name] for name in shared},
        parts=tuple(part for member in members for part in member.parts),
        gathered={gathering: tuple(members)},
        sources=frozenset().union(*(member.sources for member in members)),
        oldest=min(member.oldest for member in members),
    )


def gather(match: Match, gathering: int, members: list[Match]) -> Match:
    """A match with its collected members, which do not change its interval."""
    sources = match.sources.union(*(member.sources for member in members))
    return replace(match, gathered={**match.gathered, gathering: tuple(members)}, sources=sources)


def covering(match: Match, start: int, end: int) -> Match:
    return replace(match, start=min(match.start, start), end=max(match.end, end))
