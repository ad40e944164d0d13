"""The answer to a question as data: a tree of events, timelines, rules, attempts and their stops.

Times are as events have them: integers, or text of ISO 8601 where they are timestamps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ensue.records import dataclass

Time = int | str


@dataclass(frozen=True)
class Shown:
    """An event as it is shown. `row` is the number of the row that gave it; None for one that rules derive."""

    type: str
    attributes: Mapping[str, Any]
    start: Time
    end: Time
    text: str
    row: int | None = None


@dataclass(frozen=True)
class RuleLocation:
    """A rule: its name, the event that it derives, and where it is written."""

    name: str | None
    event: str
    file: str
    line: int

    def __str__(self) -> str:
        name = f"rule {self.name}" if self.name is not None else f"rule for {self.event}"
        return f"{name} ({self.file}:{self.line})"


@dataclass(frozen=True)
class Line:
    """A line of a timeline: something that was matched, looked for or computed, and when.

    `kind` is ``event``, ``timer``, ``collected``, ``window``, ``absent``, ``row``, ``condition``, ``time`` or ``note``.
    """

    kind: str
    text: str
    start: Time | None = None
    end: Time | None = None
    event: Shown | None = None
    inner: tuple[Detected, ...] = ()
    """For a derived event: why it was."""


@dataclass(frozen=True)
class Derivation:
    """One match that derives an event."""

    rule: RuleLocation
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Detected:
    """An event that rules derive, with the matches that it comes from."""

    event: Shown
    derivations: tuple[Derivation, ...]
    more: int = 0
    """Number of further matches that derive it and are not shown."""


@dataclass(frozen=True)
class Stop:
    """Something that an attempt lacks.

    `kind` is ``missing`` (no event), ``time`` (a bound, a relation, a length), ``condition``, ``absence`` (a negated
    event came), ``count`` (too few or too many were collected), ``value`` (values that must be equal), ``table`` (no
    row), ``context`` or ``policy`` (another match was chosen), ``quiet`` (``once``, ``at most``), ``late``, ``until``
    (time did not run so far), or ``different`` (it would be another detection than the requested one).
    """

    kind: str
    text: str
    weight: float = 1.0
    """Distance from the requested detection, to put near misses first: 0 is the nearest."""
    inner: tuple[Missing | Detected, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """Events that come near to a match of a rule, and their stops."""

    lines: tuple[Line, ...]
    stops: tuple[Stop, ...]


@dataclass(frozen=True)
class Tried:
    """The attempts to match one rule, the nearest first."""

    rule: RuleLocation
    attempts: tuple[Attempt, ...]
    more: int = 0
    limited: bool = False
    """True where there was too much to look at all of it."""


@dataclass(frozen=True)
class Missing:
    """A detection that is missing, with the attempts of each rule for it."""

    text: str
    rules: tuple[Tried, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """Detections that fit a question, or else why there is none."""

    type: str
    key: Mapping[str, Any]
    question: str
    """The question as an event: ``overdue(id=42)``."""
    found: tuple[Detected, ...] = ()
    more: int = 0
    """Number of further detections that fit."""
    missing: Missing | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def detected(self) -> bool:
        """True if something was detected that fits."""
        return bool(self.found)
