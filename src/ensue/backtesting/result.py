"""A backtest as data: the detections of each rule, their times and keys, and those of other rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ensue.backtesting.buckets import Buckets
from ensue.records import dataclass

Sample = Mapping[str, Any]
"""A detection as JSON has it."""


@dataclass(frozen=True)
class Keys:
    """The values of an attribute that most detections have, with how many; and how many different ones there are."""

    attribute: str
    most: tuple[tuple[str, int], ...]
    different: int


@dataclass(frozen=True)
class RuleResult:
    """The detections of one rule."""

    name: str
    """Its label, or else the event that it derives."""
    event: str
    line: int
    title: str | None
    found: int
    counts: tuple[int, ...]
    """Number of detections in each span of time."""
    keys: Keys | None
    samples: tuple[Sample, ...]
    seconds: float | None
    """Seconds that it takes alone, without compilation; None if that was not measured."""
    kept: int | None
    """The most events and matches that it kept at once; None where that was not measured."""
    suppressed: int | None = None
    """Number of events that `once` or `at most` suppressed."""


@dataclass(frozen=True)
class TypeChange:
    """Detections of one type that one of two sets of rules finds, and the other does not."""

    event: str
    same: int
    new: int
    gone: int
    new_counts: tuple[int, ...]
    gone_counts: tuple[int, ...]
    new_samples: tuple[Sample, ...]
    gone_samples: tuple[Sample, ...]
    moved: int = 0
    """Number of new detections that replace one with other times and the same attributes."""
    ignored: tuple[str, ...] = ()
    """Attributes that only one of the two has; they are not compared."""


@dataclass(frozen=True)
class Result:
    """The detections of rules in events of the past, as data."""

    rules_name: str
    events: int
    first: int | None
    last: int | None
    buckets: Buckets
    rules: tuple[RuleResult, ...]
    seconds: float
    """Seconds that all rules took together, without reading."""
    against_name: str | None = None
    changes: tuple[TypeChange, ...] = ()
    """The difference from the detections of other rules, for each type that either derives."""

    @property
    def found(self) -> int:
        """Number of detections of all rules."""
        return sum(rule.found for rule in self.rules)
