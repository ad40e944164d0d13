"""A backtest as data: the detections of each rule, their times and keys, and those of other rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ensue.backtesting.buckets import Buckets, describe_time
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
class Backtest:
    """The detections of rules in events of the past. Printed it is text; `html` and `json` give other forms."""

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

    def text(self, width: int = 80) -> str:
        """The results as text, in lines of about `width` characters."""
        from ensue.backtesting.text import written

        return written(self, width)

    def html(self) -> str:
        """The results as a page that needs nothing else."""
        from ensue.backtesting.page import page

        return page(self)

    def json(self) -> dict[str, Any]:
        """The results as plain dicts and lists."""
        timestamps = self.buckets.timestamps
        found: dict[str, Any] = {
            "rules": self.rules_name,
            "events": self.events,
            "first": None if self.first is None else describe_time(self.first, timestamps),
            "last": None if self.last is None else describe_time(self.last, timestamps),
            "by": self.buckets.by,
            "spans": list(self.buckets.starts),
            "seconds": self.seconds,
            "found": [_plain(rule) for rule in self.rules],
        }
        if self.against_name is not None:
            found["against"] = self.against_name
            found["changes"] = [_plain(change) for change in self.changes]
        return found

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from ensue.backtesting.page import content

        return content(self)


def _plain(record: RuleResult | TypeChange) -> dict[str, Any]:
    found = asdict(record)
    if found.get("keys"):
        found["keys"]["most"] = [{"value": value, "count": count} for value, count in found["keys"]["most"]]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}
